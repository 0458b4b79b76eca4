"""Virtual time: the clock stands still and jumps over every sleep.

While `virtual_time()` is open, it replaces `time.monotonic`, `time.sleep`, `asyncio.sleep` and the
pauses of all waits in the whole process. The wall clock (`time.time`, `datetime`), the timers of
event loops, and the timeouts of sockets and locks stay real.

A blocking sleep advances time at once. For sleeping tasks, time jumps to the next planned moment
when the event loop has nothing to run and nothing holds time. Calls of waits on AWS clients hold
time, and so does code inside `VirtualClock.hold()`. Put other input and output of tasks inside
`hold()`, because time may jump while a task waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sized
from contextvars import ContextVar
from unittest import mock

from ..options import CancelEvent
from ..runtime.clock import SYSTEM_TIME, current_time, set_time

TURNS_BEFORE_JUMP = 2
"""Idle turns of the event loop before time jumps; the loop polls for input between them."""

TURNS_WITHOUT_INSIGHT = 20
"""The same for a loop that does not show what is ready to run: a task needs a few turns from the
result of a future to its next sleep."""

HELD_SLICE = 0.001
"""Real seconds between two checks whether time is still held."""

_holds: ContextVar[tuple[_Hold, ...]] = ContextVar("boto_waiters_plus_holds", default=())


class VirtualClock:
    """The clock of an open `virtual_time()`; it begins at 0."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._now = 0.0
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._order = itertools.count()
        self._held: set[_Hold] = set()
        self._jumpers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Jumper] = (
            weakref.WeakKeyDictionary()
        )

    @property
    def now(self) -> float:
        """The seconds that have passed."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Advance time; actions planned for the time between run at their times.

        Raises:
            ValueError: `seconds` is negative.
        """
        if seconds < 0:
            raise ValueError(f"time does not go back: {seconds}")
        self._advance_to(self._now + seconds)

    def call_at(self, when: float, action: Callable[[], object]) -> None:
        """Plan an action for a time of this clock, such as a resource that becomes ready."""
        with self._lock:
            heapq.heappush(self._due, (when, next(self._order), action))

    def jump(self) -> None:
        """Advance time to the next planned action."""
        with self._lock:
            due = self._due[0][0] if self._due else self._now
        self._advance_to(due)

    def _advance_to(self, when: float) -> None:
        while True:
            with self._lock:
                if not self._due or self._due[0][0] > when:
                    self._now = max(self._now, when)
                    return
                due, _, action = heapq.heappop(self._due)
                self._now = max(self._now, due)
            action()

    # --- the time source of waits ---

    def clock(self) -> Callable[[], float]:
        """Return the clock function of a wait."""
        return lambda: self._now

    def sleep(self, seconds: float, sleep: Callable[[float], object] | None = None) -> None:
        """Jump over a sleep; call the caller's own sleep function too, which may be a mock."""
        before = self._now
        if sleep is not None:
            sleep(seconds)
        if self._now == before:
            self.advance(max(0.0, seconds))

    def sleep_on(self, seconds: float, event: CancelEvent) -> bool:
        """Jump to the end of a sleep, or to the planned action that sets the event."""
        end = self._now + seconds
        while not event.is_set():
            with self._lock:
                due = self._due[0][0] if self._due else end
            if due >= end:
                self._advance_to(end)
                break
            self._advance_to(due)
        return event.is_set()

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Stop time for sleeping tasks until this block ends or sleeps itself.

        Use it for what takes real time in a task: `with clock.hold(): await session.get(url)`.
        """
        hold = _Hold()
        token = _holds.set((*_holds.get(), hold))
        with self._lock:
            self._held.add(hold)
        try:
            yield
        finally:
            with self._lock:
                self._held.discard(hold)
            _holds.reset(token)

    @property
    def is_held(self) -> bool:
        """Whether something holds time."""
        with self._lock:
            return any(not hold.sleepers for hold in self._held)

    async def sleep_async(self, seconds: float) -> None:
        """Sleep until time jumps to the end of the sleep."""
        loop = asyncio.get_running_loop()
        woken = loop.create_future()
        self.call_at(
            self._now + max(0.0, seconds),
            lambda: None if loop.is_closed() else loop.call_soon_threadsafe(_wake, woken),
        )
        jumper = self._jumpers.get(loop)
        if jumper is None:
            jumper = self._jumpers[loop] = _Jumper(self, loop)
        holds = _holds.get()
        self._count_sleeper(holds, 1)
        try:
            await jumper.rest(woken)
        finally:
            self._count_sleeper(holds, -1)

    def _count_sleeper(self, holds: tuple[_Hold, ...], count: int) -> None:
        with self._lock:
            for hold in holds:
                hold.sleepers += count


class _Hold:
    """One block that holds time, except while one of its tasks sleeps in virtual time."""

    def __init__(self) -> None:
        self.sleepers = 0


class _Jumper:
    """Jumps to the next planned moment when an event loop has nothing else to run.

    Each loop has one. If every sleeping task jumped for itself, the second would jump before the
    task that the first woke has run.
    """

    def __init__(self, clock: VirtualClock, loop: asyncio.AbstractEventLoop) -> None:
        self._clock = clock
        self._loop = loop
        self._ready = _ready_of(loop)
        self._enough = TURNS_WITHOUT_INSIGHT if self._ready is None else TURNS_BEFORE_JUMP
        self._sleepers = 0
        self._idle_turns = 0
        self._turning = False

    async def rest(self, woken: asyncio.Future[None]) -> None:
        """Sleep until the future is done."""
        self._sleepers += 1
        self._idle_turns = 0
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._turn)
        try:
            await woken
        finally:
            self._sleepers -= 1
            self._idle_turns = 0

    def _turn(self) -> None:
        if not self._sleepers:
            self._turning = False
            return
        if self._clock.is_held:
            self._idle_turns = 0
            self._loop.call_later(HELD_SLICE, self._turn)
            return
        self._idle_turns = 0 if self._ready else self._idle_turns + 1
        if self._idle_turns >= self._enough:
            self._idle_turns = 0
            self._clock.jump()
        self._loop.call_soon(self._turn)


def _ready_of(loop: asyncio.AbstractEventLoop) -> Sized | None:
    """Return the callbacks that are ready in a loop; None: the loop does not show them.

    There is no public API for it; without it, see `TURNS_WITHOUT_INSIGHT`.
    """
    return getattr(loop, "_ready", None)


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


_open = threading.Lock()


@contextlib.contextmanager
def virtual_time() -> Iterator[VirtualClock]:
    """Let no real time pass in the waits of this process while the block is open.

    Yields:
        The clock: `now`, `advance(seconds)`, `call_at(when, action)`.

    Raises:
        RuntimeError: virtual time is open already; it does not nest.
    """
    if not _open.acquire(blocking=False):
        raise RuntimeError("virtual_time() is open already, and it does not nest")
    try:
        clock = VirtualClock()
        real_monotonic = time.monotonic

        def _loop_time(_: asyncio.AbstractEventLoop) -> float:
            return real_monotonic()

        previous = current_time()
        assert previous is SYSTEM_TIME
        set_time(clock)
        try:
            with (
                mock.patch.object(time, "monotonic", clock.clock()),
                mock.patch.object(time, "sleep", clock.advance),
                mock.patch.object(asyncio, "sleep", _async_sleep(clock)),
                mock.patch.object(asyncio.BaseEventLoop, "time", _loop_time),
            ):
                yield clock
        finally:
            set_time(previous)
    finally:
        _open.release()


def _async_sleep(clock: VirtualClock) -> Callable[..., object]:
    async def sleep(delay: float, result: object = None) -> object:
        await clock.sleep_async(delay)
        return result

    return sleep
