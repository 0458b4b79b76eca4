"""Threads that wait for cancel events while calls are in flight.

Each event has a thread, because it may be an object of any class: it may take its time, raise, or
never return. A `threading.Event` is waited for, so that nothing polls it.
"""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from functools import partial
from typing import Final, Protocol

from ..common.process import after_fork, start_thread
from ..options import CancelEvent
from .clock import separate

logger = logging.getLogger("boto_waiters_plus")

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


class _Listener:
    """The thread of one event."""

    def __init__(self, event: CancelEvent) -> None:
        self.event = event
        self.calls: set[CancellableCall] = set()

    def run(self) -> None:
        while not self._is_set():
            with _listeners.lock:
                self.calls = {call for call in self.calls if not call.ended}
                if not self.calls:
                    _listeners.forget(self)
                    return
        with _listeners.lock:
            _listeners.forget(self)
            calls = self.calls
        for call in calls:
            call.cancel()

    def _is_set(self) -> bool:
        """Wait for the event a while; return whether it is set."""
        if type(self.event) is threading.Event:
            return self.event.wait(EVENT_SLICE)
        began = time.perf_counter()
        try:
            if self.event.is_set():
                return True
            # What it returns is not relied on; that of an `asyncio.Event` raises.
            self.event.wait(OTHER_SLICE)
            if self.event.is_set():
                return True
        # The wait asks the same event in the caller's thread, where its error is seen.
        except BaseException:
            logger.debug("cancel event raised an exception", exc_info=True)
        if time.perf_counter() - began < SHORTEST_SLICE:
            # Not by `time.sleep`, which tests replace.
            threading.Event().wait(SHORTEST_SLICE)
        return False


class _Listeners:
    def __init__(self) -> None:
        self.renew()
        after_fork(self.renew)

    def renew(self) -> None:
        self.lock = threading.RLock()
        self._by_event: dict[int, _Listener] = {}

    def add(self, event: CancelEvent, call: CancellableCall) -> None:
        with self.lock:
            listener = self._by_event.get(id(event))
            if listener is not None:
                listener.calls.add(call)
                return
            listener = self._by_event[id(event)] = _Listener(event)
            listener.calls.add(call)
        context = contextvars.Context() if call.context is None else call.context
        run = partial(context.copy().run, listener.run)
        if start_thread(run, "cancel listener") is None:
            with self.lock:
                self.forget(listener)

    def forget(self, listener: _Listener) -> None:
        if self._by_event.get(id(listener.event)) is listener:
            del self._by_event[id(listener.event)]


_listeners = _Listeners()


def listen(event: CancelEvent, call: CancellableCall) -> None:
    """Cancel the call when the event is set, until the call is over."""
    for each in separate(event):
        _listeners.add(each, call)
