"""The frames of an error, and what exists once per process: signal handlers, locks and threads.

A child of a fork has one thread. Locks that other threads held stay locked there forever, and the
threads themselves are gone, so everything here is renewed in the child before other code runs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any, Final

# --- the frames of an error, and whether a signal handler raised it, wherever the signal arrived -


def frames_of(error: BaseException) -> list[FrameType]:
    """Return the frames that an error came through, of each time it was raised, outermost first."""
    # Not `walk_tb`, which looks up the line of each.
    frames, place = [], error.__traceback__
    while place is not None:
        frames.append(place.tb_frame)
        place = place.tb_next
    return frames


def locals_of(frame: FrameType) -> Mapping[str, Any]:
    """Return the local variables of a frame, which is where some things are kept and nowhere else.

    They are to be read at once and may lack any name: a frame may have been cleared, and may run
    on. From Python 3.13 on this is a view of it, no snapshot (PEP 667).
    """
    return frame.f_locals


def is_of_handler(error: BaseException) -> bool:
    """Return whether a signal handler raised an error.

    A handler is given the frame that it interrupts, which is the one below its own, and is mostly
    installed still. The frames of each time that the error was raised are looked at: libraries
    raise an error again, and hand it to generators.
    """
    frames = frames_of(error)
    if len(frames) < 2:
        return False
    installed = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    return any(
        frame.f_code in installed or any(given is frames[index] for given in _arguments(frame))
        for index, frame in enumerate(frames[1:])
    )


def _code_of(handler: object) -> object:
    """Return the code of a function, a method, a partial function or an object that is called."""
    if not callable(handler) or isinstance(handler, signal.Handlers):
        return None
    function = getattr(handler, "func", handler)
    function = getattr(function, "__func__", function)
    of_class = vars(type(function)).get("__call__")
    return getattr(function, "__code__", getattr(of_class, "__code__", None))


def _arguments(frame: FrameType) -> Iterator[object]:
    code, values = frame.f_code, locals_of(frame)
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 1]:
        value = values.get(name)
        yield from value if isinstance(value, tuple) else (value,)


@contextlib.contextmanager
def handling_signals(
    numbers: Iterable[int], handler: Callable[[int, Any], object]
) -> Iterator[Mapping[int, Any]]:
    """Handle signals inside, if this is the main thread; yield the handlers that they had."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {each: signal.signal(each, handler) for each in numbers if is_main}
    try:
        yield before
    finally:
        for number, own in before.items():
            signal.signal(number, own)


# --- locks and threads, and what a forked child renews -------------------------------------------

_renewals: Final = weakref.WeakKeyDictionary[Any, Callable[[Any], None]]()


def after_fork(renew: Callable[[], None]) -> None:
    """Call a method of an object in each child of a fork, in the order of registration.

    It is called as long as the object is in use; this does not keep the object. Of one object, one
    method is called.
    """
    assert isinstance(renew, types.MethodType), "only an object can be forgotten"
    _renewals[renew.__self__] = renew.__func__


def renew_in_forks(renew: Callable[[], None]) -> None:
    """Call a method of an object now, and again in each child of a fork; see `after_fork`."""
    renew()
    after_fork(renew)


def start_thread(
    run: Callable[[], None], name: str, note: Callable[[threading.Thread], object] = lambda _: None
) -> threading.Thread | None:
    """Start a daemon thread, or return None if no thread can be started.

    `note` is given the thread before it runs: Ctrl-C may come right after its start.

    Threads cannot be started during interpreter shutdown (Python 3.12 and later), nor when the
    system has no more to give.
    """
    thread = threading.Thread(target=run, name=f"boto_waiters_plus {name}", daemon=True)
    note(thread)
    try:
        thread.start()
    except RuntimeError as error:
        if is_of_handler(error):
            raise
        return None
    return thread


def call_soon(loop: Any, function: Callable[[], object]) -> None:
    """Call a function in an event loop, from any thread; not if the loop is closed by now."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function)


class JobThread:
    """Does jobs one after another, in a daemon thread that ends with the last of them.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        renew_in_forks(self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()
        self._jobs: deque[Callable[[], object]] = deque()
        self._thread: threading.Thread | None = None

    def put(self, job: Callable[[], object]) -> bool:
        """Do a job, which raises nothing, after the others; return False if no thread can start."""
        with self._lock:
            self._jobs.append(job)
            if self._thread is None:
                self._thread = self._start()
                if self._thread is None:
                    self._jobs.clear()
            return self._thread is not None

    def join(self, seconds: float | None = None) -> None:
        """Wait until nothing is left to do, at most so many seconds; not in a job."""
        thread = self._thread
        if thread not in (None, threading.current_thread()):
            thread.join(seconds)

    def _start(self) -> threading.Thread | None:
        return start_thread(self._run, self._name)

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._jobs:
                    self._thread = None
                    return
                job = self._jobs.popleft()
            self._do(job)

    def _do(self, job: Callable[[], object]) -> None:
        job()


class ProcessLock:
    """A re-entrant lock that is free in a child of a fork, even if it was held in the parent.

    It is re-entrant because a signal handler or a finalizer may start a wait in the thread that
    holds it.
    """

    def __init__(self) -> None:
        renew_in_forks(self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _renew_all() -> None:
    for owner, method in list(_renewals.items()):
        method(owner)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
