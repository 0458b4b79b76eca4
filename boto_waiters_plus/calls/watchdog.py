"""The thread that ends calls at their deadline.

It runs no code but this package's: cancel events, which may be objects of any class, are
waited for by the threads of `cancel_listener`.
"""

from __future__ import annotations

import importlib.util
import math
import threading
from collections.abc import Callable
from contextvars import Context
from typing import Final, Literal, Protocol

from ..common.process import after_fork, start_thread
from ..options import CancelEvent
from .cancel_listener import listen

IDLE_TIMEOUT: Final = 0.4
"""Seconds that the thread sleeps at most; after two sleeps without a call it ends."""

LISTEN_AFTER: Final = 0.03
"""Seconds that a call lasts before its cancel events are listened to; most are over by then."""


def untouched_monotonic() -> Callable[[], float]:
    """Return `time.monotonic` as the interpreter made it.

    It is taken from a copy of the module, because freezegun and `testing.virtual_time` replace
    the function in `time`, freezegun also in every module that imported it, and this module may
    be imported while they do.
    """
    spec = importlib.util.find_spec("time")
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    monotonic: Callable[[], float] = copy.monotonic
    return monotonic


monotonic = untouched_monotonic()


class WatchedCall(Protocol):
    """A call that the watchdog ends."""

    deadline: float
    """The time, by `monotonic`, at which the call ends."""
    listen_at: float
    """The time, by `monotonic`, from which the cancel events are listened to."""
    cancel_events: tuple[CancelEvent, ...]
    context: Context | None
    """What the cancel events see."""
    ended: bool
    """Whether the call is over."""

    def cancel(self) -> None:
        """End the call because a cancel event is set."""
        ...

    def cut(self, reason: Literal["deadline", "cancelled"], /) -> None:
        """Abort what is in flight; called with the lock held."""
        ...

    def end(self) -> None:
        """Give up what the call holds; called with the lock held."""
        ...


class Watchdog:
    """Ends calls at their deadline, in a thread that exists while there are calls.

    `lock` guards every socket handle and every end of a call. It is re-entrant, and no code of
    others runs while it is held.
    """

    def __init__(self) -> None:
        self._calls: set[WatchedCall] = set()
        self.renew()
        after_fork(self.renew)

    def renew(self) -> None:
        """Forget the calls and threads of the parent process."""
        abandoned = self._calls
        self.lock = threading.RLock()
        self._condition = threading.Condition(self.lock)
        self._calls = set()
        self._thread: threading.Thread | None = None
        self._wakes_at = math.inf
        self._in_use = False
        for call in abandoned:
            call.end()

    def watch(self, call: WatchedCall) -> bool:
        """End the call at its deadline; return False if there is no thread to do so."""
        # Without the lock: the thread reads `_calls` after every write to the other two members.
        self._calls.add(call)
        self._in_use = True
        wakes_at = min(call.listen_at, call.deadline)
        if self._thread is not None and wakes_at >= self._wakes_at:
            return True
        with self.lock:
            if self._thread is None:
                self._thread = start_thread(self._run, "watchdog")
                return self._thread is not None
            self._condition.notify()
        return True

    def release(self, call: WatchedCall) -> None:
        """Stop watching the call, which is over."""
        with self.lock:
            self._calls.discard(call)
            call.end()

    def cut(self, call: WatchedCall, reason: Literal["deadline", "cancelled"]) -> None:
        """End the call now, unless it is over."""
        with self.lock:
            if call in self._calls:
                self._calls.discard(call)
                call.cut(reason)

    def _run(self) -> None:
        try:
            while self._goes_on():
                pass
        except BaseException:
            self._thread = None
            raise

    def _goes_on(self) -> bool:
        """Check the calls once and sleep; return False when there was none for a while."""
        unheard = self._cut_late_calls()
        # The lock is not held: this starts threads.
        for call in unheard:
            for event in call.cancel_events:
                listen(event, call)
        with self.lock:
            # From here on, a new call notifies.
            self._wakes_at = math.inf
            if not self._in_use:
                self._thread = None
                if not self._calls:
                    return False
                self._thread = threading.current_thread()
            self._in_use = bool(self._calls)
            now = monotonic()
            wakes_at = now + IDLE_TIMEOUT
            for call in list(self._calls):
                wakes_at = min(wakes_at, call.deadline, call.listen_at)
            self._wakes_at = wakes_at
            self._condition.wait(max(0.0, wakes_at - now))
        return True

    def _cut_late_calls(self) -> list[WatchedCall]:
        """End the calls whose deadline has passed; return those to listen for from now on."""
        now = monotonic()
        unheard = []
        for call in list(self._calls):
            if call.deadline <= now:
                self.cut(call, "deadline")
            elif call.listen_at <= now:
                call.listen_at = math.inf
                unheard.append(call)
        return unheard


watchdog: Final = Watchdog()
