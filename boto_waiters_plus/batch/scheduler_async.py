"""The asyncio driver of many waits; what blocks is called in threads."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import math
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from ..calls.clock import SHUTDOWN_GRACE, SYSTEM_TIME, current_time
from ..common.process import call_soon
from .call_executor import ThreadCallExecutor
from .groups import CallGroup, FinishedCall, Task, time_left
from .schedule import Schedule


async def run_waits_async(
    run: Schedule,
    tasks: Sequence[Task],
    *,
    context: contextvars.Context | None = None,
    stop: threading.Event | None = None,
) -> AsyncGenerator[Task, None]:
    """Run many waits as part of the calling task; see `run_waits`."""
    executor = AsyncCallExecutor(run.now, context, stop)
    finished: Sequence[FinishedCall] = ()
    try:
        run.add(tasks)
        while True:
            for task in run.turn(finished, executor.begin):
                yield task
            if not run.open:
                return
            end, seconds = run.next_turn()
            finished = await executor.finished(seconds)
            if not finished:
                run.now.is_at_least(end)
    finally:
        # Before the `await`, which may be cancelled.
        run.close()
        await executor.close()


class AsyncCallExecutor:
    """Makes calls of either kind: awaited ones, and in threads those that block.

    In virtual time the latter are made at once: time would not stand still for a thread while
    other tasks sleep.

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
        self._awaited: set[asyncio.Task[None]] = set()
        self._finished: list[FinishedCall] = []
        self._changed = asyncio.Event()
        notify = partial(call_soon, self._loop, self._changed.set)
        self._threads = ThreadCallExecutor(now, self._context, stop=stop, on_finished=notify)

    def begin(self, target: Task | CallGroup) -> None:
        """Make the call for these waits, without waiting until it is over."""
        if inspect.iscoroutinefunction(target.call.make):
            self._context.copy().run(self._start, self._await(target))
        elif current_time() is SYSTEM_TIME:
            self._threads.begin(target)
        else:
            self._add(self._threads.make(target))

    async def finished(self, seconds: float) -> Sequence[FinishedCall]:
        """Return the calls that are over; if there are none, wait up to `seconds` for one."""
        found = self._finished_by_now()
        if found:
            # Other tasks of the loop have their turn, however fast the replies come.
            await current_time().sleep_async(0)
            return found
        sleeper = None
        if seconds < math.inf:
            sleeper = self._start(current_time().sleep_async(seconds))
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

    async def _await(self, target: Task | CallGroup) -> None:
        try:
            target.has_turn = True
            reply = await target.call.make(time_left(target, self._now()))
            finished = FinishedCall(target, reply, None)
        # Raised again in the task of the run, whatever it is.
        except BaseException as error:
            finished = FinishedCall(target, None, error)
        self._add(finished)

    def _add(self, finished: FinishedCall) -> None:
        self._finished.append(finished)
        self._changed.set()


async def run_in_task(run: AsyncGenerator[Task, None]) -> AsyncGenerator[Task, None]:
    """Iterate over a run in a task of its own, so that it goes on while the caller is busy."""
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
