"""The loop around a schedule as part of a task; what blocks is called in threads."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any

from ..options import CancelEvent
from .call_executor import SHUTDOWN_GRACE, RunClock, ThreadCallExecutor
from .clock import SIGNAL_SLICE, SYSTEM_TIME, current_time
from .schedule import DEFAULT_THREADS, Schedule
from .schedule_events import ScheduleEvents
from .tasks import FinishedCall, PlannedCall, Task


class AsyncCallExecutor:
    """Makes calls of either kind: an `AsyncCall` is awaited, a `Call` is made in a thread.

    In virtual time a `Call` is made at once: time would not stand still for a thread while other
    tasks sleep.

    Args:
        now: the clock of the run.
        context: the context variables that the calls see.
        stop: set when replies are no longer needed.
    """

    def __init__(
        self,
        now: Callable[[], float],
        context: contextvars.Context | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._now = now
        self._context = contextvars.copy_context() if context is None else context
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadCallExecutor(now, self._context, stop=stop, on_finished=self._notify)
        self._awaited: set[asyncio.Task[None]] = set()
        self._finished: list[FinishedCall] = []
        self._changed = asyncio.Event()

    def begin(self, call: PlannedCall) -> None:
        """Make a call, without waiting until it is over."""
        if inspect.iscoroutinefunction(call.target.call.make):
            self._context.copy().run(self._start, self._await(call))
        elif current_time() is SYSTEM_TIME:
            self._threads.begin(call)
        else:
            self._add(self._threads.make(call))

    async def finished(self, seconds: float | None) -> list[FinishedCall]:
        """Return the calls that are over; if there are none, wait up to `seconds` for one."""
        found = self._finished_by_now()
        if found:
            # Other tasks of the loop have their turn, however fast the replies come.
            await current_time().sleep_async(0)
            return found
        sleeper = None
        if seconds is not None:
            sleeper = self._start(_sleep(seconds))
            sleeper.add_done_callback(lambda _: self._changed.set())
        try:
            while not found and (sleeper is None or not sleeper.done()):
                await self._changed.wait()
                found = self._finished_by_now()
        finally:
            if sleeper is not None:
                sleeper.cancel()
        return found

    async def close(self) -> None:
        """End the calls that are awaited, and those in threads as far as possible."""
        # This blocks the loop, so only for threads that have nothing left to do.
        self._threads.close(0 if self._threads.is_calling else SHUTDOWN_GRACE)
        for task in self._awaited:
            task.cancel()
        await asyncio.gather(*self._awaited, return_exceptions=True)

    def _finished_by_now(self) -> list[FinishedCall]:
        self._changed.clear()
        found, self._finished = self._finished, []
        return [*found, *self._threads.finished_by_now()]

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that `close` ends."""
        task = self._loop.create_task(work)
        self._awaited.add(task)
        task.add_done_callback(self._awaited.discard)
        return task

    async def _await(self, call: PlannedCall) -> None:
        target = call.target
        try:
            reply = await target.call.make(call.time_left(self._now()))
            finished = FinishedCall(target, reply, None)
        # Raised again in the task of the run, whatever it is.
        except BaseException as error:
            finished = FinishedCall(target, None, error)
        self._add(finished)

    def _add(self, finished: FinishedCall) -> None:
        self._finished.append(finished)
        self._changed.set()

    def _notify(self) -> None:
        # The loop may be closed by the time an abandoned call ends.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._changed.set)


async def _sleep(seconds: float) -> None:
    await current_time().sleep_async(seconds)


class AsyncScheduler:
    """The loop of `Scheduler`, as part of the calling task; the arguments are those of it."""

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        threads: int = DEFAULT_THREADS,
        cancels: Sequence[CancelEvent] = (),
        cancel_rest_after: Callable[[Task], bool] | None = None,
        context: contextvars.Context | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._schedule = Schedule(tasks, threads, cancel_rest_after=cancel_rest_after)
        self._events = ScheduleEvents(tasks, cancels)
        self._now = RunClock()
        self._context = context
        self._stop = stop

    async def run(self) -> AsyncGenerator[Task, None]:
        """Run the waits; see `Scheduler.run`."""
        schedule, now = self._schedule, self._now
        executor = AsyncCallExecutor(now, self._context, self._stop)
        try:
            schedule.begin(now())
            while True:
                moment = now()
                self._events.apply(schedule, moment)
                for call in schedule.calls(moment):
                    executor.begin(call)
                for task in schedule.ended(moment):
                    yield task
                if not schedule.waits:
                    return
                for finished in await self._wait(executor):
                    schedule.finish(finished, now())
        finally:
            self._events.close()
            # Not behind the `await`, which may be cancelled.
            schedule.close()
            await executor.close()

    async def _wait(self, executor: AsyncCallExecutor) -> list[FinishedCall]:
        """Wait for a reply, for the next time of the schedule, or to check the events."""
        end = self._schedule.next_time()
        if self._events.watched:
            check_at = self._now() + SIGNAL_SLICE
            end = check_at if end is None else min(end, check_at)
        seconds = None if end is None else max(0.0, end - self._now())
        finished = await executor.finished(seconds)
        if not finished and end is not None:
            self._now.is_at_least(end)
        return finished


async def run_in_task(run: AsyncGenerator[Task, None]) -> AsyncGenerator[Task, None]:
    """Iterate over a run in a task of its own, so that it goes on while the caller is busy.

    Args:
        run: of an `AsyncScheduler`.

    Yields:
        The items of the run.
    """
    ended: asyncio.Queue[Task | None] = asyncio.Queue()

    async def work() -> None:
        async with contextlib.aclosing(run):
            async for task in run:
                ended.put_nowait(task)

    worker = asyncio.get_running_loop().create_task(work())
    worker.add_done_callback(lambda _: ended.put_nowait(None))
    try:
        while (task := await ended.get()) is not None:
            yield task
        worker.result()
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
