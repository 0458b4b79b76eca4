"""Many waits in one event loop; what blocks is called in threads."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import AsyncGenerator, Coroutine, Sequence
from typing import Any

from ..options import CancelEvent
from .clock import SIGNAL_SLICE, SYSTEM_TIME, current_time
from .schedule import DEFAULT_THREADS, Answer, PlannedCall, Schedule, Task
from .schedule_events import Signals
from .scheduler import SHUTDOWN_GRACE, Now, Workers


class AsyncCrew:
    """Makes calls of either kind: an `AsyncCall` is awaited, a `Call` gets a thread.

    Under a clock of a test's own a `Call` is made at once: time would not stand still for a
    thread where other tasks sleep.

    Args:
        context: what the calls see of context variables.
        stop: is set when there is no more use for answers.
    """

    def __init__(
        self, context: contextvars.Context | None = None, stop: threading.Event | None = None
    ) -> None:
        self._context = contextvars.copy_context() if context is None else context
        self._loop = asyncio.get_running_loop()
        self._workers = Workers(self._context, stop=stop, on_answer=self._notify)
        self._awaited: set[asyncio.Task[None]] = set()
        self._answers: list[Answer] = []
        self._changed = asyncio.Event()

    def call(self, call: PlannedCall) -> None:
        """Make a call."""
        if inspect.iscoroutinefunction(call.task.call.make):
            self._context.copy().run(self._start, self._await(call))
        elif current_time() is SYSTEM_TIME:
            self._workers.call(call)
        else:
            self._answered(self._workers.answer(call))

    async def answers(self, seconds: float | None) -> list[Answer]:
        """Calls that are over; if there are none, waits for the first, at most so long."""
        found = self._answers_there()
        if found:
            # Other tasks of the loop have their turn, however fast the answers come.
            await current_time().sleep_async(0)
            return found
        nap = None
        if seconds is not None:
            nap = self._start(_nap(seconds))
            nap.add_done_callback(lambda _: self._changed.set())
        try:
            while not found and (nap is None or not nap.done()):
                await self._changed.wait()
                found = self._answers_there()
        finally:
            if nap is not None:
                nap.cancel()
        return found

    async def close(self) -> None:
        """End the calls that are awaited, and those in threads as far as they can be."""
        # The loop is held up for threads that have nothing to do but end.
        self._workers.close(patience=0 if self._workers.are_calling else SHUTDOWN_GRACE)
        for task in self._awaited:
            task.cancel()
        await asyncio.gather(*self._awaited, return_exceptions=True)

    def _answers_there(self) -> list[Answer]:
        self._changed.clear()
        found, self._answers = self._answers, []
        return [*found, *self._workers.answers_there()]

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task that is not left behind."""
        task = self._loop.create_task(work)
        self._awaited.add(task)
        task.add_done_callback(self._awaited.discard)
        return task

    async def _await(self, call: PlannedCall) -> None:
        task, time_left = call
        try:
            answer = Answer(task, await task.call.make(time_left), None)
        # For the task that decides, whatever it is.
        except BaseException as error:
            answer = Answer(task, None, error)
        self._answered(answer)

    def _answered(self, answer: Answer) -> None:
        self._answers.append(answer)
        self._changed.set()

    def _notify(self) -> None:
        # The loop may be closed: nobody asks for the answer of a call that was left to itself.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._changed.set)


async def _nap(seconds: float) -> None:
    await current_time().sleep_async(seconds)


class AsyncScheduler:
    """The loop of `Scheduler`, as part of the calling task.

    Args:
        tasks: the waits; their time begins with `run`.
        threads: calls that may run at once.
        cancels: events that stop all of them.
        context: what the calls see of context variables.
        stop: is set when there is no more use for answers.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        threads: int = DEFAULT_THREADS,
        cancels: Sequence[CancelEvent] = (),
        context: contextvars.Context | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._tasks = tasks
        self._schedule = Schedule(threads)
        self._signals = Signals(tasks, cancels)
        self._context = context
        self._stop = stop
        self._now = Now()

    async def run(self) -> AsyncGenerator[Task, None]:
        """Run the waits; see `Scheduler.run`."""
        schedule, now = self._schedule, self._now
        crew = AsyncCrew(self._context, self._stop)
        try:
            schedule.begin(self._tasks, now())
            while True:
                self._signals.heed(schedule, now())
                schedule.pass_time(now())
                for call in schedule.calls(now()):
                    crew.call(call)
                for task in schedule.ended():
                    yield task
                if not schedule.waits:
                    return
                for answer in await self._rest(crew):
                    schedule.answered(answer, now())
        finally:
            self._signals.close()
            await crew.close()

    def cancel_rest(self) -> None:
        """Stop every wait that has not ended; they are still to be yielded."""
        self._schedule.cancel_rest(self._now())

    async def _rest(self, crew: AsyncCrew) -> list[Answer]:
        """Wait for an answer, for the next time of the schedule, or to look at the events."""
        end = self._schedule.next_time()
        if self._signals.events:
            look_at = self._now() + SIGNAL_SLICE
            end = look_at if end is None else min(end, look_at)
        seconds = None if end is None else max(0.0, end - self._now())
        answers = await crew.answers(seconds)
        if not answers and end is not None:
            self._now.is_at_least(end)
        return answers


async def run_in_task(run: AsyncGenerator[Task, None]) -> AsyncGenerator[Task, None]:
    """What a run yields, while the run goes on in a task of its own.

    Args:
        run: of an `AsyncScheduler`.

    Yields:
        The tasks as they end, whenever they are asked for.
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
