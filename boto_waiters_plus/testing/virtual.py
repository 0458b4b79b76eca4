"""Virtual time: the clock stands still and jumps over every sleep.

While `virtual_time()` is open, it replaces `time.monotonic`, `time.sleep`, `asyncio.sleep` and the
pauses of all waits in the whole process. The wall clock (`time.time`, `datetime`), the timers of
event loops, and the timeouts of sockets and locks stay real.

Time jumps to the next planned moment when every thread and task that uses it sleeps: event loops
have nothing to run, and nothing holds time. A thread uses it from its first wait or sleep on;
`time.sleep(0)` is enough. It then stops time whenever it does not sleep, except while it waits for
another thread: in `threading` (but for a lock), `queue.Queue`, `concurrent.futures` or a selector.
After a minute in which it does neither, time moves without it, with a warning. Calls of waits on
AWS clients hold time, and so does code inside `VirtualClock.hold()`. Put other input and output of
tasks inside `hold()`, because time may jump while a task waits for it.

Functions of the standard library that would combine this clock with real timeouts, and never end,
raise RuntimeError: `concurrent.futures.as_completed` with a timeout, and the waits of
`multiprocessing` with one.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import FrameType, SimpleNamespace
from unittest import mock

from ..calls.clock import SYSTEM_TIME, set_time
from ..options import CancelEvent
from .loop_jumper import CHECK_INTERVAL, LoopJumper, ready_of, wake
from .time import IsWaiting, Sleepers, blocking_waits_noted

_holds: ContextVar[tuple[object, ...]] = ContextVar("boto_waiters_plus_holds", default=())


class VirtualClock:
    """The clock of an open `virtual_time()`; it begins at 0."""

    def __init__(self) -> None:
        self._changed = _RealCondition(threading.RLock())
        self._now = 0.0
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._order = itertools.count()
        # The tasks that sleep in virtual time, of each block that holds it but for them.
        self._held: dict[object, int] = {}
        self._sleepers = Sleepers()
        self._acting: list[threading.Thread] = []
        self._jumpers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopJumper] = (
            weakref.WeakKeyDictionary()
        )
        self._opened_by = threading.current_thread()
        self.error: BaseException | None = None
        """The error of an action that the thread that opened the block has not seen."""

    @property
    def now(self) -> float:
        """The seconds that have passed."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Advance time at once; actions planned for the time between run at their times.

        Raises:
            ValueError: `seconds` is negative.
        """
        if seconds < 0:
            raise ValueError(f"time does not go back: {seconds}")
        self._advance_to(self._now + seconds)

    def call_at(self, when: float, action: Callable[[], object]) -> None:
        """Plan an action for a time of this clock, such as a resource that becomes ready.

        An error of the action is raised in everything that sleeps, and so leaves the block.
        """
        with self._changed:
            heapq.heappush(self._due, (when, next(self._order), action))

    def _advance_to(self, when: float) -> None:
        while True:
            with self._changed:
                if not self._due or self._due[0][0] > when:
                    self._now = max(self._now, when)
                    self._changed.notify_all()
                    return
                due, _, action = heapq.heappop(self._due)
                self._now = max(self._now, due)
                self._acting.append(threading.current_thread())
            try:
                with self._sleepers.acting():
                    action()
            # Whatever it is: a failed assertion of a test framework may be no Exception.
            except BaseException as error:
                self._fail(error)
                raise
            finally:
                self._acting.remove(threading.current_thread())

    def _fail(self, error: BaseException) -> None:
        """Let all that sleeps raise the error of an action."""
        opener = self._opened_by
        with self._changed:
            threads = {threading.current_thread(), *self._sleepers.fail(error)}
            for jumper in tuple(self._jumpers.values()):
                threads |= jumper.fail(error)
            self.error = None if opener in threads else error
            self._changed.notify_all()

    # --- jumps ---

    def jump(self, jumper: LoopJumper | None = None) -> bool:
        """Advance time to the next planned moment; return whether nothing prevents that.

        Args:
            jumper: that of the calling loop; None: the calling thread sleeps itself.
        """
        with self._changed:
            if self.is_held or not self._all_sleep(jumper):
                return False
            due = self._due[0][0] if self._due else math.inf
            moment = min(due, self._sleepers.next_end())
            if moment == math.inf:
                return False
            # From here on until its actions are over, nothing else jumps.
            for each in tuple(self._jumpers.values()):
                each.is_awake()
            self._sleepers.wake_this_thread()
        self._advance_to(moment)
        return True

    def _all_sleep(self, own: LoopJumper | None) -> bool:
        """Return whether all other loops and threads that use this clock sleep."""
        others = set()
        for jumper in tuple(self._jumpers.values()):
            if jumper.is_turning and (jumper is own or jumper.is_opaque):
                if jumper.is_idle:
                    others.add(jumper.thread)
                elif jumper is own or not self._sleepers.is_asleep(jumper.thread, self._now):
                    return False
        return self._sleepers.all_sleep(self._now, others)

    # --- the time source of waits ---

    def clock(self) -> Callable[[], float]:
        """Return the clock function of a wait; the thread stops time from now on."""
        self._use()
        return lambda: self._now

    def idle(self, is_waiting: IsWaiting) -> AbstractContextManager[object]:
        """Return a context in which the calling thread waits for another while that says so."""
        self._use()
        return self._sleepers.waiting(is_waiting)

    def _use(self) -> None:
        """Note that the calling thread uses this clock."""
        with contextlib.suppress(RuntimeError):
            if ready_of(asyncio.get_running_loop()) is None:
                # Its loop would not tell when it waits.
                return
        with self._changed:
            self._sleepers.of_this_thread()

    def leave(self) -> None:
        """Let time move without the calling thread, for what still sleeps after the block."""
        with self._changed:
            self._sleepers.forget(threading.current_thread())

    def sleep(self, seconds: float, sleep: Callable[[float], object] | None = None) -> None:
        """Sleep until time has passed; call the caller's own sleep function too, if given."""
        if seconds < 0:
            raise ValueError(f"time does not go back: {seconds}")
        end = self._now + seconds
        if sleep is not None:
            sleep(seconds)
        self._sleep_until(end, lambda: False)

    def sleep_on(self, seconds: float, event: CancelEvent) -> bool:
        """Sleep until the event is set, at most until time has passed."""
        self._sleep_until(self._now + seconds, event.is_set)
        return event.is_set()

    def _sleep_until(self, end: float, is_over: Callable[[], bool]) -> None:
        if is_over():
            return
        with self._changed:
            sleeper = self._sleepers.of_this_thread()
        if end <= self._now:
            self._advance_to(self._now)
            return
        holds = _holds.get()
        with self._changed:
            before = sleeper.sleep(end, is_over)
            self._count_sleeper(holds, 1)
        try:
            while sleeper.error is None and not sleeper.is_over(self._now):
                if not self.jump():
                    self._wait()
                self._sleepers.sleep_on(sleeper, end, is_over)
            while self._others_act():
                self._wait()
            if sleeper.error is not None:
                raise sleeper.error
        finally:
            with self._changed:
                sleeper.restore(before)
                self._count_sleeper(holds, -1)

    def _others_act(self) -> bool:
        """Return whether other threads run actions now, and do not wait for others."""
        with self._changed:
            others = set(self._acting) - {threading.current_thread()}
            return any(self._sleepers.runs(thread, self._now) for thread in others)

    def _wait(self) -> None:
        """Wait a moment of real time, or until time has moved."""
        with self._changed:
            self._changed.wait(CHECK_INTERVAL)

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Stop time for sleeping tasks until this block ends or sleeps itself.

        Use it for what takes real time in a task: `with clock.hold(): await session.get(url)`.
        """
        hold = object()
        token = _holds.set((*_holds.get(), hold))
        with self._changed:
            self._held[hold] = 0
        try:
            yield
        finally:
            with self._changed:
                del self._held[hold]
            _holds.reset(token)

    @property
    def is_held(self) -> bool:
        """Whether something holds time."""
        with self._changed:
            return 0 in self._held.values()

    async def sleep_async(self, seconds: float) -> None:
        """Sleep until time jumps to the end of the sleep."""
        loop = asyncio.get_running_loop()
        woken = loop.create_future()
        self.call_at(
            self._now + max(0.0, seconds),
            lambda: None if loop.is_closed() else loop.call_soon_threadsafe(wake, woken),
        )
        self._use()
        with self._changed:
            jumper = self._jumpers.get(loop)
            if jumper is None:
                jumper = self._jumpers[loop] = LoopJumper(loop, self.jump, lambda: self.is_held)
        holds = _holds.get()
        self._count_sleeper(holds, 1)
        try:
            await jumper.rest(woken)
        finally:
            self._count_sleeper(holds, -1)

    def _count_sleeper(self, holds: tuple[object, ...], count: int) -> None:
        with self._changed:
            for hold in self._held.keys() & holds:
                self._held[hold] += count


class _RealCondition(threading.Condition):
    """A condition whose waits are not noted: threads that sleep wait for it."""

    wait = threading.Condition.wait
    notify = threading.Condition.notify


_open = threading.Lock()


@contextlib.contextmanager
def virtual_time() -> Iterator[VirtualClock]:
    """Let no real time pass in the waits of this process while the block is open.

    Yields:
        The clock: `now`, `advance(seconds)`, `call_at(when, action)`.

    Raises:
        RuntimeError: virtual time is open already; it does not nest.
        BaseException: a planned action raised this, and only other threads slept then.
    """
    clock = VirtualClock()
    if not _open.acquire(blocking=False):
        raise RuntimeError("virtual_time() is open already, and it does not nest")
    try:
        set_time(clock)
        with (
            # Patched in the module, not on the class: freezegun leaves copies of the method of the
            # class on subclasses. Patched first, because loops of other threads go on meanwhile.
            mock.patch.object(asyncio.base_events, "time", SimpleNamespace(**vars(time))),
            mock.patch.object(time, "monotonic", _monotonic(clock)),
            mock.patch.object(time, "sleep", clock.sleep),
            mock.patch.object(asyncio, "sleep", _async_sleep(clock)),
            blocking_waits_noted(clock._sleepers),  # noqa: SLF001 - of this module
        ):
            yield clock
        if clock.error is not None:
            raise clock.error
    finally:
        set_time(SYSTEM_TIME)
        clock.leave()
        _open.release()


def _monotonic(clock: VirtualClock) -> Callable[[], float]:
    def virtual_monotonic() -> float:
        _refuse_real_timeout(sys._getframe(1))  # noqa: SLF001 - documented
        return clock.now

    return virtual_monotonic


def _refuse_real_timeout(caller: FrameType) -> None:
    """Refuse a function that waits in real time until this clock has moved: it would not end."""
    module, function = str(caller.f_globals.get("__name__")), caller.f_code.co_name
    is_as_completed = module == "concurrent.futures._base" and function == "as_completed"
    if is_as_completed or module.startswith("multiprocessing."):
        raise RuntimeError(
            f"{module}.{function} with a timeout would not end in virtual time: it blocks in real "
            "time. Call it without a timeout, or outside virtual_time()."
        )


def _async_sleep(clock: VirtualClock) -> Callable[..., object]:
    async def sleep(delay: float, result: object = None) -> object:
        await clock.sleep_async(delay)
        return result

    return sleep
