"""A background wait on an aiobotocore client, in the event loop that began it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Sequence

from ..batch.background import TaskEnd
from ..batch.callbacks import Callbacks
from ..batch.groups import Task
from ..batch.preparation import Preparation, marked_context
from ..batch.schedule import Schedule
from ..batch.scheduler_async import run_waits_async
from ..batch.wait import Wait
from ..common.errors import caller
from ..engine.wait_event import WaitEvent


class LoopPool:
    """Runs one wait as a task of the running loop; in the place of a `WaitPool`.

    Raises:
        RuntimeError: no event loop is running.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = threading.Event()
        self._driving: asyncio.Task[None] | None = None

    @property
    def is_here(self) -> bool:
        """Whether the calling thread runs the loop, which a blocking call would stop."""
        with contextlib.suppress(RuntimeError):
            return asyncio.get_running_loop() is self._loop
        return False

    def prepared(
        self,
        wait: Wait,
        on_attempt: Callable[[WaitEvent], object],
        *,
        called_at: float | None = None,
    ) -> Task:
        """Return a wait for `add`; see `WaitPool.prepared`."""
        preparation = Preparation(
            stop=self._stop, callbacks=Callbacks(), caller=caller(), called_at=called_at
        )
        (task,) = preparation.tasks([wait])
        task.run.observe_attempts(on_attempt)
        return task

    def add(self, waits: Sequence[tuple[Task, TaskEnd]]) -> None:
        """Start the wait; see `WaitPool.add`."""
        [(task, on_end)] = waits
        self._driving = self._loop.create_task(self._drive(task, on_end))

    def cancel(self, _: Task) -> None:
        """End the wait, if it has not ended."""
        if self._driving is not None:
            self._loop.call_soon_threadsafe(self._driving.cancel)

    def on_break(
        self,
        function: Callable[[BaseException | None], object],
        before: Callable[[], Awaitable[object]],
    ) -> None:
        """Call a function if the task ends before the wait: with its error, or None if cancelled.

        The end of `asyncio.run` cancels it. `before` is awaited once it is cancelled.
        """
        self._before_cancel = before
        assert self._driving is not None, "it was started"

        def over(driving: asyncio.Task[None]) -> None:
            error = None if driving.cancelled() else driving.exception()
            if driving.cancelled() or error is not None:
                function(error)

        self._driving.add_done_callback(over)

    async def _drive(self, task: Task, on_end: TaskEnd) -> None:
        run = run_waits_async(Schedule(1), [task], context=marked_context(), stop=self._stop)
        try:
            async with contextlib.aclosing(run):
                async for _ in run:
                    on_end(task)
        except asyncio.CancelledError:
            await self._before_cancel()
            raise
