"""The blocking waits of the standard library, which tell virtual time that a thread waits."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import selectors
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from .loop_jumper import ready_of
from .sleepers import Sleepers

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
            (threading.Thread, "start", _starting(sleepers)),
            (threading.Thread, "join", _joining(sleepers)),
            (selectors.DefaultSelector, "select", _selecting(sleepers)),
            # That of the event loops of Windows.
            (getattr(asyncio, "IocpProactor", None), "select", _selecting(sleepers)),
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


def _starting(sleepers: Sleepers) -> Callable[..., Any]:
    def starting(real: Callable[..., None]) -> Callable[..., None]:
        def start(thread: threading.Thread) -> None:
            # It waits for the new thread, which the clock does not know.
            with sleepers.waiting(lambda: False):
                real(thread)

        return start

    return starting


def _joining(sleepers: Sleepers) -> Callable[..., Any]:
    def joining(real: Callable[..., None]) -> Callable[..., None]:
        def join(thread: threading.Thread, timeout: float | None = None) -> None:
            with sleepers.waiting(thread.is_alive):
                real(thread, timeout)

        return join

    return joining


def _selecting(sleepers: Sleepers) -> Callable[..., Any]:
    def selecting(real: Callable[..., Any]) -> Callable[..., Any]:
        def select(selector: Any, timeout: float | None = None) -> Any:
            if timeout is not None and timeout <= 0:
                return real(selector, timeout)
            ready = None
            with contextlib.suppress(RuntimeError):
                ready = ready_of(asyncio.get_running_loop())
            with sleepers.waiting(lambda: not ready):
                return real(selector, timeout)

        return select

    return selecting
