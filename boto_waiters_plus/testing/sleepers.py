"""The threads that use virtual time, and which of them sleep."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from time import monotonic

from ..common.warning import warn

CHECK_INTERVAL = 0.001
"""Real seconds between two checks whether time may move."""

WAITING_AFTER = 0.1
"""Real seconds after which a thread in one of `WAITING_MODULES` counts as waiting for another.

On a busy machine a thread that could go on may be there for a few hundredths of a second.
"""

STUCK_AFTER = 5.0
"""The same for a thread anywhere else, which might wait for a lock that a sleeping thread holds."""

WAITING_MODULES = frozenset((
    "boto_waiters_plus.batch.callbacks",
    "boto_waiters_plus.operations.worker",
    "boto_waiters_plus.batch.background",
    "boto_waiters_plus.batch.call_executor",
    "boto_waiters_plus.batch.scheduler",
    "concurrent.futures._base",
    "concurrent.futures.thread",
    "queue",
    "selectors",
    "threading",
))  # fmt: skip
"""Where threads wait for each other."""

Sleep = tuple[float | None, Callable[[], bool]]


class Sleeper:
    """A thread that uses virtual time."""

    def __init__(self, thread: threading.Thread) -> None:
        self.thread = thread
        self.error: BaseException | None = None
        """What its sleep is to raise."""
        self._end: float | None = None
        self._is_over: Callable[[], bool] = lambda: False
        self._position: tuple[int, int] | None = None
        self._since = 0.0

    def sleep(self, end: float, is_over: Callable[[], bool]) -> Sleep:
        """Note that it sleeps; return the sleep around this one, of an action that sleeps."""
        before = self._end, self._is_over
        self._end, self._is_over = end, is_over
        return before

    def restore(self, before: Sleep) -> None:
        """Note that the sleep is over."""
        self._end, self._is_over = before
        self.error = self._position = None

    def wake(self) -> None:
        """Note that it runs, although its sleep is not over."""
        self._end = None

    @property
    def end(self) -> float:
        """When its sleep ends."""
        return math.inf if self._end is None else self._end

    @property
    def is_in_sleep(self) -> bool:
        """Whether it is between the beginning and the end of a sleep."""
        return self._end is not None

    def is_over(self, now: float) -> bool:
        """Return whether its sleep is over."""
        return self.end <= now or self._is_over()

    def is_asleep(self, now: float) -> bool:
        """Return whether it sleeps, and neither time nor its event has ended that."""
        return self.is_in_sleep and self.error is None and not self.is_over(now)

    def is_waiting(self) -> bool:
        """Return whether it has ended, or waits for another, by how long it is in one place."""
        # A thread that has ended may have left its ident to another.
        if not self.thread.is_alive():
            return True
        frame = sys._current_frames().get(self.thread.ident or 0)  # noqa: SLF001 - documented
        if frame is None:
            return False
        position = id(frame), frame.f_lasti
        if position != self._position:
            self._position, self._since = position, monotonic()
            return False
        module = frame.f_globals.get("__name__")
        if module in WAITING_MODULES:
            return monotonic() - self._since > WAITING_AFTER
        if monotonic() - self._since <= STUCK_AFTER:
            return False
        warn(
            f"thread {self.thread.name} has been in {module}, line {frame.f_lineno}, for "
            f"{STUCK_AFTER:g} s; virtual time moves without it. Put it inside hold() to stop time.",
            RuntimeWarning,
        )
        return True


class Sleepers:
    """The threads that use virtual time; its users hold the lock of the clock."""

    def __init__(self) -> None:
        self._of_thread: dict[threading.Thread, Sleeper] = {}

    def of_this_thread(self) -> Sleeper:
        """Return the calling thread, which uses virtual time from now on."""
        thread = threading.current_thread()
        return self._of_thread.setdefault(thread, Sleeper(thread))

    @contextlib.contextmanager
    def acting(self) -> Iterator[None]:
        """Note that the calling thread runs an action, although it may be in a sleep."""
        sleeper = self.of_this_thread()
        before = sleeper.sleep(math.inf, lambda: False)
        sleeper.wake()
        try:
            yield
        finally:
            sleeper.restore(before)

    def wake_this_thread(self) -> None:
        """Note that the calling thread runs: it moves time."""
        sleeper = self._of_thread.get(threading.current_thread())
        if sleeper is not None:
            sleeper.wake()

    def fail(self, error: BaseException) -> Iterable[threading.Thread]:
        """Let every sleep raise an error; return the threads."""
        found = [each for each in self._of_thread.values() if each.is_in_sleep]
        for sleeper in found:
            sleeper.error = error
        return [sleeper.thread for sleeper in found]

    def next_end(self) -> float:
        """Return when the first sleep ends; infinity if nothing sleeps."""
        return min((sleeper.end for sleeper in self._of_thread.values()), default=math.inf)

    def sleep_on(self, sleeper: Sleeper, end: float, is_over: Callable[[], bool]) -> None:
        """Note that a thread sleeps again, after it moved time."""
        self._of_thread[sleeper.thread] = sleeper
        sleeper.sleep(end, is_over)

    def is_asleep(self, thread: threading.Thread, now: float) -> bool:
        """Return whether a thread sleeps."""
        sleeper = self._of_thread.get(thread)
        return sleeper is not None and sleeper.is_asleep(now)

    def all_sleep(self, now: float, loops: set[threading.Thread]) -> bool:
        """Return whether all threads sleep, except for those of loops, which know it themselves.

        A thread that ended, or that waits for another, is forgotten until it sleeps again.
        """
        for sleeper in tuple(self._of_thread.values()):
            if sleeper.is_asleep(now) or sleeper.thread in loops:
                continue
            if sleeper.is_in_sleep or not sleeper.is_waiting():
                return False
            del self._of_thread[sleeper.thread]
        return True


def is_in_selector(thread: threading.Thread) -> bool:
    """Return whether the event loop of a thread waits for input."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - documented
    return frame is not None and frame.f_globals.get("__name__") == "selectors"
