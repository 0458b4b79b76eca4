"""The threads that use virtual time, and which of them sleep or wait for another."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import math
import selectors
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import monotonic
from typing import Any
from unittest import mock

from ..common.errors import warn
from .loop_jumper import ready_of

STUCK_AFTER = 60.0
"""Real seconds after which time moves without a thread that neither sleeps nor ends.

It may wait for a lock that a sleeping thread holds; nothing tells the clock of that.
"""

IsWaiting = Callable[[], bool]
"""Whether a thread waits for another; once False, it stays False until the thread runs."""

Sleep = tuple[float | None, Callable[[], bool]]


class Sleeper:
    """A thread that uses virtual time."""

    def __init__(self, thread: threading.Thread) -> None:
        self.thread = thread
        self.error: BaseException | None = None
        """What its sleep is to raise."""
        self.waits: list[IsWaiting] = []
        """The blocking waits that it is in."""
        self.since = monotonic()
        """The real time of its last change."""
        self._end: float | None = None
        self._is_over: Callable[[], bool] = lambda: False

    def sleep(self, end: float, is_over: Callable[[], bool]) -> Sleep:
        """Note that it sleeps; return the sleep around this one, of an action that sleeps."""
        before = self._end, self._is_over
        self._end, self._is_over = end, is_over
        return before

    def restore(self, before: Sleep) -> None:
        """Note that the sleep is over."""
        self._end, self._is_over = before
        self.error = None
        self.since = monotonic()

    def wake(self) -> None:
        """Note that it runs, although its sleep is not over."""
        self._end = None
        self.since = monotonic()

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

    def is_idle(self, now: float) -> bool:
        """Return whether it sleeps, or waits for another thread."""
        if self.is_in_sleep:
            return self.is_asleep(now)
        waits = tuple(self.waits)
        return bool(waits) and all(is_waiting() for is_waiting in waits)

    def is_stuck(self) -> bool:
        """Return whether it has stopped time for so long that it may wait for a lock."""
        if self.is_in_sleep or monotonic() - self.since <= STUCK_AFTER:
            return False
        warn(
            f"thread {self.thread.name} has stopped virtual time for {STUCK_AFTER:g} s; time "
            "moves without it. Put it inside hold() to stop time.",
            RuntimeWarning,
        )
        return True


class Sleepers:
    """The threads that use virtual time; its users hold the lock of the clock.

    Only `waiting` and what it calls are used without it: a thread that begins to wait may hold a
    lock of its own.
    """

    def __init__(self) -> None:
        self._of_thread: dict[threading.Thread, Sleeper] = {}
        # Another object whenever a thread has become idle.
        self._version = object()

    def known(self) -> Sleeper | None:
        """Return the calling thread if it uses virtual time."""
        return self._of_thread.get(threading.current_thread())

    def of_this_thread(self) -> Sleeper:
        """Return the calling thread, which uses virtual time from now on."""
        thread = threading.current_thread()
        return self._of_thread.setdefault(thread, Sleeper(thread))

    def forget(self, thread: threading.Thread) -> None:
        """Note that a thread uses this time no more."""
        self._of_thread.pop(thread, None)

    def begin_wait(self, sleeper: Sleeper, is_waiting: IsWaiting) -> None:
        """Note that a thread waits for another."""
        # Before it counts as idle: see `all_sleep`.
        self._version = object()
        sleeper.waits.append(is_waiting)

    @contextlib.contextmanager
    def waiting(self, is_waiting: IsWaiting) -> Iterator[None]:
        """Note that the calling thread waits for another in this block, if it uses this clock."""
        sleeper = self.known()
        if sleeper is None:
            yield
            return
        self.begin_wait(sleeper, is_waiting)
        try:
            yield
        finally:
            sleeper.since = monotonic()
            sleeper.waits.remove(is_waiting)

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
        sleeper = self.known()
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
        self._version = object()
        sleeper.sleep(end, is_over)

    def is_asleep(self, thread: threading.Thread, now: float) -> bool:
        """Return whether a thread sleeps."""
        sleeper = self._of_thread.get(thread)
        return sleeper is not None and sleeper.is_asleep(now)

    def runs(self, thread: threading.Thread, now: float) -> bool:
        """Return whether a thread neither sleeps nor waits nor has ended."""
        sleeper = self._of_thread.get(thread)
        return (
            sleeper is not None
            and thread.is_alive()
            and not sleeper.is_idle(now)
            and not self._is_left_behind(sleeper)
        )

    def all_sleep(self, now: float, others: set[threading.Thread]) -> bool:
        """Return whether all threads sleep or wait for another, except for `others`.

        A thread that was idle when it was asked may have been woken by one that is asked later,
        and is idle by then; so none may have become idle meanwhile.
        """
        version = self._version
        found = list(self._of_thread.values())
        # All are asked for this first: one may do something for another, and end.
        ended = [sleeper for sleeper in found if not sleeper.thread.is_alive()]
        for sleeper in ended:
            del self._of_thread[sleeper.thread]
        return (
            all(
                sleeper.is_idle(now) or self._is_left_behind(sleeper)
                for sleeper in found
                if sleeper not in ended and sleeper.thread not in others
            )
            and version is self._version
        )

    def _is_left_behind(self, sleeper: Sleeper) -> bool:
        """Return whether a thread is stuck; it is forgotten until it sleeps again."""
        if not sleeper.is_stuck():
            return False
        self.forget(sleeper.thread)
        return True


# --- the blocking waits of the standard library, which tell virtual time that a thread waits

Future = concurrent.futures.Future[Any]
Pool = concurrent.futures.ThreadPoolExecutor


@contextlib.contextmanager
def blocking_waits_noted(sleepers: Sleepers) -> Iterator[None]:
    """Note in this block which threads wait for another.

    They do in conditions (so in events, semaphores, barriers, queues and futures), in `join`, in
    the selector of an event loop, and in a thread pool that has no job for them. A thread that is
    notified counts as running at once, not only when the system lets it run.
    """
    conditions, pools = _Conditions(sleepers), _Pools(sleepers)
    with contextlib.ExitStack() as stack:
        for owner, name, make in (
            (threading.Condition, "wait", conditions.wait),
            (threading.Condition, "notify", conditions.notify),
            (threading.Thread, "start", partial(_starting, sleepers)),
            (threading.Thread, "join", partial(_joining, sleepers)),
            (selectors.DefaultSelector, "select", partial(_selecting, sleepers)),
            # That of the event loops of Windows.
            (getattr(asyncio, "IocpProactor", None), "select", partial(_selecting, sleepers)),
            (Pool, "submit", pools.submit),
            (concurrent.futures.Future, "set_result", pools.finish),
            (concurrent.futures.Future, "set_exception", pools.finish),
        ):
            if owner is not None:
                stack.enter_context(mock.patch.object(owner, name, make(getattr(owner, name))))
        yield


class _Conditions:
    """Knows which threads wait for each condition, in their order."""

    def __init__(self, sleepers: Sleepers) -> None:
        self._sleepers = sleepers
        # By the id of a condition that threads wait for; changed by those that hold its lock.
        self._waiting: dict[int, list[object]] = {}

    def wait(self, real: Callable[..., bool]) -> Callable[..., bool]:
        """Return `Condition.wait`; a thread waits until it is notified."""

        def wait(condition: threading.Condition, timeout: float | None = None) -> bool:
            token = object()
            waiting = self._waiting.setdefault(id(condition), [])
            waiting.append(token)
            try:
                with self._sleepers.waiting(lambda: token in waiting):
                    return real(condition, timeout)
            finally:
                if token in waiting:
                    waiting.remove(token)
                if not waiting:
                    self._waiting.pop(id(condition), None)

        return wait

    def notify(self, real: Callable[..., None]) -> Callable[..., None]:
        """Return `Condition.notify`; it ends the waits of those that are first in the row."""

        def notify(condition: threading.Condition, n: int = 1) -> None:
            waiting = self._waiting.get(id(condition))
            if waiting:
                # Threads that have waited since before virtual time are first.
                before = len(getattr(condition, "_waiters", waiting)) - len(waiting)
                del waiting[: max(0, n - before)]
            real(condition, n)

        return notify


class _Pools:
    """Knows which jobs wait for a thread, and which threads wait for a job."""

    def __init__(self, sleepers: Sleepers) -> None:
        self._sleepers = sleepers
        self._lock = threading.RLock()
        self._waiting: weakref.WeakKeyDictionary[Pool, set[Future]] = weakref.WeakKeyDictionary()
        # Of each thread: its job, and the jobs that wait for a thread of its pool.
        self._job_of: weakref.WeakKeyDictionary[threading.Thread, tuple[Future, set[Future]]] = (
            weakref.WeakKeyDictionary()
        )

    def submit(self, real: Callable[..., Future]) -> Callable[..., Future]:
        """Return `submit` of a thread pool."""

        def submit(
            pool: Pool, function: Callable[..., Any], /, *args: Any, **kwargs: Any
        ) -> Future:
            with self._lock:
                waiting = self._waiting.setdefault(pool, set())
                job: list[Future] = []

                def run() -> Any:
                    self._begin(job, waiting)
                    return function(*args, **kwargs)

                job.append(real(pool, run))
                waiting.add(job[0])
            # It may be cancelled.
            job[0].add_done_callback(waiting.discard)
            return job[0]

        return submit

    def _begin(self, job: list[Future], waiting: set[Future]) -> None:
        with self._lock:
            sleeper = self._sleepers.known()
            if sleeper is not None:
                sleeper.waits.clear()
            waiting.discard(job[0])
            self._job_of[threading.current_thread()] = job[0], waiting

    def finish(self, real: Callable[..., None]) -> Callable[..., None]:
        """Return `Future.set_result`; after that of its job, a thread of a pool waits."""

        def finish(future: Future, value: Any) -> None:
            real(future, value)
            job, waiting = self._job_of.get(threading.current_thread(), (None, set()))
            sleeper = self._sleepers.known()
            if job is future and sleeper is not None:
                self._sleepers.begin_wait(sleeper, lambda: not waiting)

        return finish


def _starting(sleepers: Sleepers, real: Callable[..., None]) -> Callable[..., None]:
    def start(thread: threading.Thread) -> None:
        # It waits for the new thread, which the clock does not know.
        with sleepers.waiting(lambda: False):
            real(thread)

    return start


def _joining(sleepers: Sleepers, real: Callable[..., None]) -> Callable[..., None]:
    def join(thread: threading.Thread, timeout: float | None = None) -> None:
        with sleepers.waiting(thread.is_alive):
            real(thread, timeout)

    return join


def _selecting(sleepers: Sleepers, real: Callable[..., Any]) -> Callable[..., Any]:
    def select(selector: Any, timeout: float | None = None) -> Any:
        if timeout is not None and timeout <= 0:
            return real(selector, timeout)
        ready = None
        with contextlib.suppress(RuntimeError):
            ready = ready_of(asyncio.get_running_loop())
        with sleepers.waiting(lambda: not ready):
            return real(selector, timeout)

    return select
