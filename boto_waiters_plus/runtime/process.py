"""What the package keeps once per process: locks that survive a fork, and what a child renews.

A child of a fork has one thread. Locks that another thread held stay locked there for ever, and
threads are gone; everything here is renewed in the child before any other code runs in it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final

_renewals: Final[list[Callable[[], None]]] = []


def after_fork(renew: Callable[[], None]) -> None:
    """Call `renew` in each child of a fork, in the order of registration."""
    _renewals.append(renew)


class ProcessLock:
    """A re-entrant lock that is free in a child of a fork, whoever held it in the parent.

    Re-entrant because a signal handler or a finalizer may start a wait of its own in the thread
    that holds it.
    """

    def __init__(self) -> None:
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()


def _renew_all() -> None:
    for renew in _renewals:
        renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
