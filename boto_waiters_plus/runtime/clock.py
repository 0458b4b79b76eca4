"""The one place that sleeps; `testing.virtual_time` replaces `TIME` while it is open."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from ..engine.machine import Cancelled, Woken
from ..options import CancelEvent, Subscribable, WakeSignal

LONGEST_SLEEP = 4_000_000.0
"""Seconds of one system sleep: no platform's clock overflows at 46 days."""

SIGNAL_SLICE = 0.05
"""Seconds between two looks at the second event where a wait has two to watch."""


class TimeSource(Protocol):
    """What a wait needs to know and do about time."""

    def clock(self) -> Callable[[], float]:
        """The clock function for one wait; a wait keeps the one it began with."""
        ...

    def sleep(self, seconds: float, sleep: Callable[[float], object] | None) -> None:
        """Sleep; by `sleep` where the caller has its own way."""
        ...

    def sleep_on(self, seconds: float, event: CancelEvent) -> bool:
        """Sleep until the event is set; whether it is."""
        ...

    async def sleep_async(self, seconds: float) -> None:
        """Sleep without blocking the loop."""
        ...

    def hold(self) -> AbstractContextManager[object]:
        """Let no time pass but what really does: a call over the network is under way."""
        ...


class SystemTime:
    """Real time, by the functions of the standard library, looked up when they are called.

    Tests that patch `time.sleep` or freeze `time.monotonic` reach a wait through this.
    """

    def clock(self) -> Callable[[], float]:
        """`time.monotonic` as it is now: a freeze that begins during a wait must not move it."""
        return time.monotonic

    def sleep(self, seconds: float, sleep: Callable[[float], object] | None) -> None:
        """Sleep by the function given, else by `time.sleep`."""
        sleep = time.sleep if sleep is None else sleep
        while seconds > LONGEST_SLEEP:
            sleep(LONGEST_SLEEP)
            seconds -= LONGEST_SLEEP
        sleep(seconds)

    def sleep_on(self, seconds: float, event: CancelEvent) -> bool:
        """Sleep on the event."""
        while seconds > LONGEST_SLEEP:
            if event.wait(LONGEST_SLEEP):
                return True
            seconds -= LONGEST_SLEEP
        return event.wait(seconds)

    async def sleep_async(self, seconds: float) -> None:
        """Sleep by `asyncio.sleep`."""
        # 11 ms that a program which only blocks never pays.
        import asyncio  # noqa: PLC0415

        while seconds > LONGEST_SLEEP:
            await asyncio.sleep(LONGEST_SLEEP)
            seconds -= LONGEST_SLEEP
        await asyncio.sleep(seconds)

    def hold(self) -> AbstractContextManager[object]:
        """Nothing to do: real time passes by itself."""
        return contextlib.nullcontext()


SYSTEM_TIME = SystemTime()
_current: TimeSource = SYSTEM_TIME


def current_time() -> TimeSource:
    """The time source in force."""
    return _current


def set_time(source: TimeSource) -> None:
    """Put another time source in force, for the whole process."""
    global _current  # noqa: PLW0603 - process-wide on purpose: waits of all threads follow it
    _current = source


def pause(
    seconds: float,
    *,
    cancel: CancelEvent | None = None,
    wake: WakeSignal | None = None,
    sleep: Callable[[float], object] | None = None,
) -> Woken | Cancelled:
    """Sleep, unless one of the events ends it, and say what did."""
    source = current_time()
    if cancel is not None and wake is not None:
        return _pause_on_both(source, seconds, cancel, wake)
    if cancel is not None:
        return Cancelled() if source.sleep_on(seconds, cancel) else Woken()
    if wake is not None:
        return _signalled(wake) if source.sleep_on(seconds, wake) else Woken()
    source.sleep(seconds, sleep)
    return Woken()


async def pause_async(
    seconds: float, *, cancel: CancelEvent | None = None, wake: WakeSignal | None = None
) -> Woken | Cancelled:
    """`pause` for a task; events of threads are looked at in turns, a `Signal` calls back."""
    source = current_time()
    if cancel is None and wake is None:
        await source.sleep_async(seconds)
        return Woken()
    listen = getattr(wake, "listen", None)
    if cancel is None and wake is not None and listen is not None:
        return await _pause_until_told(source, seconds, wake, listen)
    for piece in _slices(seconds):
        if cancel is not None and cancel.is_set():
            return Cancelled()
        if wake is not None and wake.is_set():
            return _signalled(wake)
        await source.sleep_async(piece)
    return Woken()


def _pause_on_both(
    source: TimeSource, seconds: float, cancel: CancelEvent, wake: WakeSignal
) -> Woken | Cancelled:
    for piece in _slices(seconds):
        woken = source.sleep_on(piece, wake)
        if cancel.is_set():
            return Cancelled()
        if woken:
            return _signalled(wake)
    return Woken()


async def _pause_until_told(
    source: TimeSource,
    seconds: float,
    wake: WakeSignal,
    listen: Callable[[Callable[[], object]], Callable[[], None]],
) -> Woken:
    import asyncio  # noqa: PLC0415 - see SystemTime.sleep_async

    loop = asyncio.get_running_loop()
    told: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        # The loop may be closed by now, and the wait that slept on it gone.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: None if told.done() else told.set_result(None))

    stop = listen(tell)
    sleeper = asyncio.ensure_future(source.sleep_async(seconds))
    try:
        # What came before we listened counts too.
        if not wake.is_set():
            await asyncio.wait({sleeper, told}, return_when=asyncio.FIRST_COMPLETED)
        early = wake.is_set() or not sleeper.done()
    finally:
        stop()
        sleeper.cancel()
        await asyncio.gather(sleeper, return_exceptions=True)
    return _signalled(wake) if early else Woken()


def _slices(seconds: float) -> Iterator[float]:
    """A pause in pieces; on a busy machine each lasts longer than asked, so the clock counts too.

    The clock alone would not do: it may stand still.
    """
    now = current_time().clock()
    end, left = now() + seconds, seconds
    while left > 0:
        yield min(left, SIGNAL_SLICE)
        left = min(left - SIGNAL_SLICE, end - now())


@contextlib.contextmanager
def subscribed(wake: WakeSignal | Subscribable | None) -> Iterator[WakeSignal | None]:
    """The signal as one wait sees it, for as long as it waits."""
    if wake is None:
        yield None
        return
    view = subscribe(wake)
    try:
        yield view
    finally:
        unsubscribe(view)


def subscribe(wake: WakeSignal | Subscribable) -> WakeSignal:
    """A view of its own for one wait, where several may share the signal."""
    return wake.subscribe() if isinstance(wake, Subscribable) else wake


class _Either:
    """Two events as one."""

    __slots__ = ("_first", "_second")

    def __init__(self, first: CancelEvent, second: CancelEvent) -> None:
        self._first = first
        self._second = second

    @property
    def parts(self) -> tuple[CancelEvent, ...]:
        return *separate(self._first), *separate(self._second)

    def is_set(self) -> bool:
        return self._first.is_set() or self._second.is_set()

    def wait(self, timeout: float | None = None, /) -> bool:
        left = math.inf if timeout is None else timeout
        while left > 0 and not self.is_set():
            self._first.wait(min(left, SIGNAL_SLICE))
            left -= SIGNAL_SLICE
        return self.is_set()


def either(first: CancelEvent, second: CancelEvent | None) -> CancelEvent:
    """What is set when one of two events is; the second may not be there."""
    return first if second is None else _Either(first, second)


def separate(event: CancelEvent) -> tuple[CancelEvent, ...]:
    """Return the events that `either` made one of, or the event itself."""
    return event.parts if isinstance(event, _Either) else (event,)


def unsubscribe(view: WakeSignal) -> None:
    """The wait that had the view is over."""
    end = getattr(view, "unsubscribe", None)
    if end is not None:
        end()


def _signalled(wake: WakeSignal) -> Woken:
    wake.clear()
    return Woken(early=True)
