"""The thread that ends calls at their deadline.

It runs no code but this package's: cancel events, which may be objects of any class, are
waited for by threads of their own.
"""

from __future__ import annotations

import contextvars
import importlib.util
import math
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, Protocol

from ..common.errors import logger
from ..common.process import renew_in_forks, start_thread
from ..options import CancelEvent
from .clock import separate

# --- threads that wait for cancel events while calls are in flight -------------------------------
# Each event has a thread, because it may be an object of any class: it may take its time, raise,
# or never return. A `threading.Event` is waited for, so that nothing polls it.

EVENT_SLICE: Final = 1.0
"""Seconds of one wait for a `threading.Event`; the thread ends at the first without a call."""

OTHER_SLICE: Final = 0.1
"""Seconds of one wait for any other event, whose `wait` may not notice that it is set."""

SHORTEST_SLICE: Final = 0.05
"""Seconds between two questions to an event whose `wait` returns at once."""


class CancellableCall(Protocol):
    """A call that a cancel event ends."""

    ended: bool
    """Whether the call is over."""
    context: contextvars.Context | None
    """The context variables that its events see."""

    def cancel(self) -> None:
        """End the call because a cancel event is set."""
        ...


class _Listeners:
    """A thread for each event that calls in flight have."""

    def __init__(self) -> None:
        renew_in_forks(self.renew)

    def renew(self) -> None:
        self._lock = threading.RLock()
        self._calls: dict[int, set[CancellableCall]] = {}

    def add(self, event: CancelEvent, call: CancellableCall) -> None:
        with self._lock:
            calls = self._calls.get(id(event))
            if calls is not None:
                calls.add(call)
                return
            calls = self._calls[id(event)] = {call}
        context = contextvars.Context() if call.context is None else call.context
        run = partial(context.copy().run, self._listen, event, calls)
        if start_thread(run, "cancel listener") is None:
            self._forget(event, calls)

    def _listen(self, event: CancelEvent, calls: set[CancellableCall]) -> None:
        while not _is_set_soon(event):
            with self._lock:
                calls -= {call for call in calls if call.ended}
                if not calls:
                    self._forget(event, calls)
                    return
        self._forget(event, calls)
        for call in calls:
            call.cancel()

    def _forget(self, event: CancelEvent, calls: set[CancellableCall]) -> None:
        with self._lock:
            if self._calls.get(id(event)) is calls:
                del self._calls[id(event)]


_listeners = _Listeners()


def when_set(event: CancelEvent, call: CancellableCall) -> None:
    """Cancel the call when the event is set, until the call is over."""
    for each in separate(event):
        _listeners.add(each, call)


def _is_set_soon(event: CancelEvent) -> bool:
    """Wait for an event a while; return whether it is set."""
    if type(event) is threading.Event:
        return event.wait(EVENT_SLICE)
    began = time.perf_counter()
    try:
        if event.is_set():
            return True
        # What it returns is not relied on; that of an `asyncio.Event` raises.
        event.wait(OTHER_SLICE)
        if event.is_set():
            return True
    # The wait asks the same event in the caller's thread, where its error is seen.
    except BaseException:
        logger.debug("cancel event raised an exception", exc_info=True)
    if time.perf_counter() - began < SHORTEST_SLICE:
        # Not by `time.sleep`, which tests replace.
        threading.Event().wait(SHORTEST_SLICE)
    return False


# --- the watchdog --------------------------------------------------------------------------------

IDLE_TIMEOUT: Final = 0.4
"""Seconds that the thread sleeps at most; after two sleeps without a call it ends."""

LISTEN_AFTER: Final = 0.03
"""Seconds that a call lasts before its cancel events are listened to; most are over by then."""


# `time.monotonic` as the interpreter made it. It is taken from a copy of the module, because
# freezegun and `testing.virtual_time` replace the function in `time`, freezegun also in every
# module that imported it, and this module may be imported while they do.
_spec: Any = importlib.util.find_spec("time")
_time = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_time)
monotonic: Final[Callable[[], float]] = _time.monotonic


class WatchedCall(CancellableCall, Protocol):
    """A call that the watchdog ends."""

    deadline: float
    """The time, by `monotonic`, at which the call ends."""
    listen_at: float
    """The time, by `monotonic`, from which the cancel events are listened to."""
    cancel_events: tuple[CancelEvent, ...]

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
        renew_in_forks(self.renew)

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
                when_set(event, call)
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
