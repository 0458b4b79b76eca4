"""What exists once per process: locks, threads, signals, and what a forked child renews.

A child of a fork has one thread. Locks that other threads held stay locked there forever, and the
threads themselves are gone, so everything here is renewed in the child before other code runs.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Final

_renewals: Final = weakref.WeakKeyDictionary[Any, Callable[[Any], None]]()


def after_fork(renew: Callable[[], None]) -> None:
    """Call a method of an object in each child of a fork, in the order of registration.

    It is called as long as the object is in use; this does not keep the object. Of one object, one
    method is called.
    """
    assert inspect.ismethod(renew), "only an object can be forgotten"
    _renewals[renew.__self__] = renew.__func__


def start_thread(run: Callable[[], None], name: str) -> threading.Thread | None:
    """Start a daemon thread, or return None if no thread can be started.

    Threads cannot be started during interpreter shutdown (Python 3.12 and later), nor when the
    system has no more to give.
    """
    thread = threading.Thread(target=run, name=f"boto_waiters_plus {name}", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread


@contextlib.contextmanager
def ended_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at SIGTERM and SIGHUP while the block runs, if this is the main thread.

    After the block, the program's own handler of SIGTERM is called.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def handle(number: int, _: Any) -> None:
        received.append(number)
        stop()

    names = ("SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    # One that is ignored stays so, as SIGHUP under nohup.
    numbers = [each for each in numbers if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, handle) for each in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    own = before.get(signal.SIGTERM)
    if received and callable(own):
        own(received[0], None)


class ProcessLock:
    """A re-entrant lock that is free in a child of a fork, even if it was held in the parent.

    It is re-entrant because a signal handler or a finalizer may start a wait in the thread that
    holds it.
    """

    def __init__(self) -> None:
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


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


def _renew_all() -> None:
    for owner, method in list(_renewals.items()):
        method(owner)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=fork_gate.before_fork,
        after_in_parent=fork_gate.after_fork_in_parent,
        after_in_child=_renew_all,
    )
