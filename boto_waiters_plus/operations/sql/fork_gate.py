"""Holds a fork back while another thread is inside SQLite."""

from __future__ import annotations

import os
import threading
from typing import Final

from ...common.process import after_fork

LONGEST_FORK: Final = 15.0
"""Seconds for which a fork is held back; more than a transaction waits for another writer."""


class _ForkGate:
    """Holds a fork back while other threads are inside a library whose locks a child inherits.

    SQLite has locks for the whole process. A child that is forked while another thread holds one
    would wait for it forever.
    """

    def __init__(self) -> None:
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._changed = threading.Condition(threading.RLock())
        self._inside: list[int] = []
        self._is_forking = False

    def __enter__(self) -> None:
        this_thread = threading.get_ident()
        with self._changed:
            if this_thread not in self._inside:
                self._changed.wait_for(lambda: not self._is_forking, LONGEST_FORK)
            self._inside.append(this_thread)

    def __exit__(self, *_: object) -> None:
        with self._changed:
            # A child that was forked inside begins with an empty list.
            if (this_thread := threading.get_ident()) in self._inside:
                self._inside.remove(this_thread)
            self._changed.notify_all()

    def before_fork(self) -> None:
        """Wait until no other thread is inside, and let none in."""
        this_thread = threading.get_ident()
        self._changed.acquire()
        self._is_forking = True
        self._changed.wait_for(lambda: {*self._inside} <= {this_thread}, LONGEST_FORK)

    def after_fork_in_parent(self) -> None:
        """Let the threads go on."""
        self._is_forking = False
        self._changed.notify_all()
        self._changed.release()


fork_gate: Final = _ForkGate()
"""Entered (`with fork_gate:`) around calls into SQLite."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=fork_gate.before_fork, after_in_parent=fork_gate.after_fork_in_parent
    )
