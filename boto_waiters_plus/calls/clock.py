"""Clocks, sleeps and cancel events; `testing.virtual_time` puts its own time source in force."""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final, Generic, Protocol, TypeVar

from ..common.process import start_thread
from ..options import CancelEvent

ItemT = TypeVar("ItemT")

LONGEST_SLEEP = 4_000_000.0
"""Seconds of one system sleep: 46 days overflow no platform's clock."""

SHUTDOWN_GRACE: Final = 0.25
"""Seconds that calls have to end when nothing needs them any more, before they are abandoned."""

SIGNAL_SLICE = 0.05
"""Seconds between two checks of an event that cannot be waited for."""


class TimeSource(Protocol):
    """The clock and the sleeps of waits."""

    def clock(self) -> Callable[[], float]:
        """Return the clock function of one wait, which uses it until its end."""
        ...

    def sleep(self, seconds: float, sleep: Callable[[float], object] | None) -> None:
        """Sleep, by the caller's own `sleep` function if there is one."""
        ...

    def sleep_on(self, seconds: float, event: CancelEvent) -> bool:
        """Sleep until the event is set, at most `seconds`; return whether it is set."""
        ...

    async def sleep_async(self, seconds: float) -> None:
        """Sleep without blocking the event loop."""
        ...

    def hold(self) -> AbstractContextManager[object]:
        """Return a context in which no virtual time passes: a call to a service is in flight."""
        ...

    def idle(self, is_waiting: Callable[[], bool]) -> AbstractContextManager[object]:
        """Return a context in which the calling thread waits for another while that says so.

        Once `is_waiting` has returned False, it does so until the thread has left the context.
        """
        ...


class SystemTime:
    """Real time, by functions of the standard library that are looked up at each use.

    So a test that patches `time.sleep` or freezes `time.monotonic` affects waits.
    """

    def clock(self) -> Callable[[], float]:
        """Return the present `time.monotonic`: a later freeze must not affect the wait."""
        return time.monotonic

    def sleep(self, seconds: float, sleep: Callable[[float], object] | None) -> None:
        """Sleep by the given function, else by `time.sleep`."""
        sleep = time.sleep if sleep is None else sleep
        for piece in _pieces(seconds):
            sleep(piece)

    def sleep_on(self, seconds: float, event: CancelEvent) -> bool:
        """Wait for the event."""
        return any(event.wait(piece) for piece in _pieces(seconds))

    async def sleep_async(self, seconds: float) -> None:
        """Sleep by `asyncio.sleep`."""
        # A program that only blocks never imports asyncio, which takes 11 ms.
        import asyncio  # noqa: PLC0415

        for piece in _pieces(seconds):
            await asyncio.sleep(piece)

    def hold(self) -> AbstractContextManager[object]:
        """Return a context that does nothing."""
        return _NOTHING_HELD

    def idle(self, is_waiting: Callable[[], bool]) -> AbstractContextManager[object]:  # noqa: ARG002
        """Return a context that does nothing."""
        return _NOTHING_HELD


def _pieces(seconds: float) -> Iterator[float]:
    while seconds > LONGEST_SLEEP:
        yield LONGEST_SLEEP
        seconds -= LONGEST_SLEEP
    yield seconds


_NOTHING_HELD = contextlib.nullcontext()
SYSTEM_TIME = SystemTime()
_current: TimeSource = SYSTEM_TIME


def current_time() -> TimeSource:
    """Return the time source in force."""
    return _current


def set_time(source: TimeSource) -> None:
    """Put another time source in force, for the whole process."""
    global _current  # noqa: PLW0603 - process-wide on purpose, for waits of all threads
    _current = source


def start_timed_thread(run: Callable[[], None], name: str) -> threading.Thread | None:
    """Start a thread as `start_thread` does, which virtual time knows from its beginning."""
    source, begun = current_time(), threading.Event()

    def work() -> None:
        source.clock()
        begun.set()
        run()

    with source.hold():
        thread = start_thread(work, name)
        if thread is not None and source is not SYSTEM_TIME:
            begun.wait()
    return thread


class IdleQueue(Generic[ItemT]):
    """A `queue.SimpleQueue` whose reader stops no virtual time while there is nothing for it."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[ItemT] = queue.SimpleQueue()
        # One for each item, from before it is there until after it was taken.
        self._items: deque[None] = deque()

    def put(self, item: ItemT) -> None:
        """Add an item."""
        self._items.append(None)
        self._queue.put(item)

    def get(self, timeout: float | None = None) -> ItemT:
        """Take an item; wait for one.

        Raises:
            queue.Empty: there was none for `timeout` seconds.
        """
        with current_time().idle(self.is_unused):
            item = self._queue.get(timeout=timeout)
        self._items.pop()
        return item

    def get_nowait(self) -> ItemT:
        """Take an item.

        Raises:
            queue.Empty: there is none.
        """
        item = self._queue.get_nowait()
        self._items.pop()
        return item

    def qsize(self) -> int:
        """Return how many items there are."""
        return self._queue.qsize()

    def is_unused(self) -> bool:
        """Return whether nothing is in it or on its way to a reader."""
        return not self._items


def slices(seconds: float) -> Iterator[float]:
    """Yield the lengths of short sleeps that make up a pause.

    On a busy machine each takes longer, so the clock counts too; but the clock may stand still.
    """
    now = current_time().clock()
    end, left = now() + seconds, seconds
    while left > 0:
        yield min(left, SIGNAL_SLICE)
        left = min(left - SIGNAL_SLICE, end - now())


class _Either:
    """An event that is set when one of two is."""

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
        for piece in slices(math.inf if timeout is None else timeout):
            if self.is_set():
                break
            self._first.wait(piece)
        return self.is_set()


def either(first: CancelEvent, second: CancelEvent | None) -> CancelEvent:
    """Return an event that is set when one of two is; the second may be None."""
    return first if second is None else _Either(first, second)


def separate(event: CancelEvent) -> tuple[CancelEvent, ...]:
    """Return the events that `either` made one of, or the event itself."""
    return event.parts if isinstance(event, _Either) else (event,)
