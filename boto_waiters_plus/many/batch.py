"""The waits of one call of `wait_all` and its relatives, from their checks to their results."""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Literal

from ..arguments import count, flag, seconds, with_methods
from ..aws.client_kind import is_async
from ..aws.private_names import marked_as_waiter
from ..deadlines import seconds_left
from ..options import CancelEvent, Seconds
from ..outcome import WaiterOutcome
from ..progress import Progress, ProgressTable, WaitProgress
from ..runtime.clock import SYSTEM_TIME, current_time
from ..runtime.scheduler import Scheduler, run_in_thread
from ..runtime.scheduler_async import AsyncScheduler, run_in_task
from ..runtime.tasks import Task
from .callbacks import Callbacks
from .failures import Result, waiters_error
from .grouping import Grouping
from .preparation import Preparation, least
from .wait import Wait

ProgressCallback = Callable[[WaitProgress], object]
EndsRest = Callable[[Task], bool]
OnFailure = Literal["raise", "collect", "cancel"]


class Batch:
    """The waits of one call, from their checks to their results.

    Args:
        name: the function that was called.
        waits, max_wait, threads, progress, cancel_event, coalesce: its arguments.

    Raises:
        TypeError, ValueError: an argument is wrong.
    """

    def __init__(
        self,
        name: str,
        waits: Iterable[Wait],
        max_wait: Seconds | None,
        threads: int,
        progress: bool | ProgressCallback,  # noqa: FBT001 - the argument of a public function
        cancel_event: CancelEvent | None,
        coalesce: bool,  # noqa: FBT001 - the same
    ) -> None:
        self.waits, self._is_async = _checked(waits, name)
        self._name = name
        self._max_wait = None if max_wait is None else seconds("max_wait", max_wait)
        if self._max_wait is None and seconds_left() is None:
            self._need_max_wait()
        self._threads = count("threads", threads)
        self._cancels: list[CancelEvent] = []
        if cancel_event is not None:
            self._cancels.append(with_methods("cancel_event", cancel_event, "is_set", "wait"))
        self._stop = threading.Event()
        """Set when no reply is needed any more."""
        self._grouping = Grouping(self._stop) if flag("coalesce", coalesce) else None
        self._callbacks = Callbacks()
        self._progress = self._make_progress(progress)
        self._results: dict[int, Result] = {}
        self._has_failures = False

    def __enter__(self) -> None:
        if self._progress is not None:
            self._progress.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.__exit__(kind, error, traceback)
        # Leaving the loop over `as_completed` is an end like any other.
        if error is None or isinstance(error, GeneratorExit):
            self._callbacks.warn()

    def need_a_wait(self) -> None:
        """Raise `ValueError` if there are no waits."""
        if not self.waits:
            raise ValueError(f"{self._name} needs at least one wait")

    def run(self, cancel_rest_after: EndsRest | None = None) -> None:
        """Run all waits to their end; callbacks are called in the calling thread.

        Args:
            cancel_rest_after: tells of a wait that has ended whether the others are cancelled.
        """
        with self, contextlib.ExitStack() as stack:
            tasks = self._tasks()
            if self._callbacks and current_time() is SYSTEM_TIME:
                # The waits have a thread of their own: a slow callback must not hold them up.
                ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
                self._callbacks.defer(ready)
                # Ctrl-C leaves the ends of the waits in the queue.
                stack.callback(_call_rest, ready)
                run = self._noted(self._scheduler(tasks, cancel_rest_after, self._stop).run())
                run = run_in_thread(run, self._stop, ready)
            else:
                run = self._noted(self._scheduler(tasks, cancel_rest_after).run())
            stack.enter_context(contextlib.closing(run))
            for item in run:
                if not isinstance(item, Task):
                    item()

    def completed(self) -> Generator[tuple[Wait, Result], None, None]:
        """Yield each wait with its result when it has ended; go on while the caller is busy."""
        with self, contextlib.ExitStack() as stack:
            tasks = self._tasks()
            run: Generator[Task, None, None]
            if current_time() is SYSTEM_TIME:
                ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
                stack.enter_context(self._callbacks.called_in_thread(ready.put))
                run = self._noted(self._scheduler(tasks, None, self._stop).run())
                run = run_in_thread(run, self._stop, ready)
            else:
                run = self._noted(self._scheduler(tasks).run())
            stack.enter_context(contextlib.closing(run))
            for task in run:
                yield self.waits[task.index], self._results[task.index]

    async def run_async(self, cancel_rest_after: EndsRest | None = None) -> None:
        """Run all waits to their end as part of the calling task; see `run`."""
        with self:
            run = self._async_scheduler(cancel_rest_after).run()
            async with contextlib.aclosing(run):
                async for task in run:
                    self._note(task)

    async def completed_async(self) -> AsyncGenerator[tuple[Wait, Result], None]:
        """Yield each wait with its result when it has ended; go on while the caller is busy."""
        with self:
            run = run_in_task(self._noted_async(self._async_scheduler().run()))
            async with contextlib.aclosing(run):
                async for task in run:
                    yield self.waits[task.index], self._results[task.index]

    def results(self, on_failure: OnFailure = "raise") -> list[Any]:
        """Return the results in the order of the waits.

        Raises:
            WaitersError: `on_failure` is not `"collect"`, and a wait did not succeed.
        """
        results = [self._results[index] for index in range(len(self.waits))]
        if self._has_failures and on_failure != "collect":
            raise waiters_error(self._name, self.waits, results, self._max_wait)
        return results

    def first_success(self) -> tuple[Wait, WaiterOutcome[Any]]:
        """Return the wait that succeeded first, and its outcome.

        Raises:
            WaitersError: none succeeded.
        """
        for index, result in self._results.items():
            if isinstance(result, WaiterOutcome):
                return self.waits[index], result
        results = [self._results[index] for index in range(len(self.waits))]
        raise waiters_error(self._name, self.waits, results, self._max_wait)

    # --- parts -----------------------------------------------------------------------------

    def _need_max_wait(self) -> None:
        for index, wait in enumerate(self.waits):
            if wait.max_wait is None:
                raise TypeError(f"waits[{index}] needs max_wait (seconds), or {self._name} does")

    def _make_progress(
        self,
        progress: bool | ProgressCallback,  # noqa: FBT001 - of this module
    ) -> Progress | None:
        if progress is False:
            return None
        waits = [(wait.bound.description, wait.label) for wait in self.waits]
        if progress is True:
            return ProgressTable(waits)
        if not callable(progress) or inspect.iscoroutinefunction(progress):
            raise TypeError("progress must be True, False or a plain function")
        return Progress(waits, self._callbacks.guarded(progress, "progress"))

    def _tasks(self) -> list[Task]:
        return Preparation(
            bound=least(self._max_wait, seconds_left()),
            stop=self._stop,
            grouping=self._grouping,
            callbacks=self._callbacks,
            progress=self._progress,
            is_async=self._is_async,
        ).tasks(self.waits)

    def _scheduler(
        self,
        tasks: Sequence[Task],
        cancel_rest_after: EndsRest | None = None,
        *stops: CancelEvent,
    ) -> Scheduler:
        return Scheduler(
            tasks,
            threads=self._threads,
            cancels=[*self._cancels, *stops],
            cancel_rest_after=cancel_rest_after,
            context=_context(),
            stop=self._stop,
        )

    def _async_scheduler(self, cancel_rest_after: EndsRest | None = None) -> AsyncScheduler:
        return AsyncScheduler(
            self._tasks(),
            threads=self._threads,
            cancels=self._cancels,
            cancel_rest_after=cancel_rest_after,
            context=_context(),
            stop=self._stop,
        )

    def _noted(self, run: Generator[Task, None, None]) -> Generator[Any, None, None]:
        with contextlib.closing(run):
            for task in run:
                self._note(task)
                yield task

    async def _noted_async(self, run: AsyncGenerator[Task, None]) -> AsyncGenerator[Task, None]:
        async with contextlib.aclosing(run):
            async for task in run:
                self._note(task)
                yield task

    def _note(self, task: Task) -> None:
        result = task.result
        assert result is not None, "the task has ended"
        self._results[task.index] = result
        self._has_failures = self._has_failures or isinstance(result, Exception)
        if self._progress is not None:
            self._callbacks.post(partial(self._progress.ended, task.index), result)


def _call_rest(ready: queue.SimpleQueue[Any]) -> None:
    """Call the callbacks that are left in the queue of a run that is over."""
    with contextlib.ExitStack() as stack:
        # Not a loop: one that raises, such as by Ctrl-C, must not keep the others from their turn.
        items = [ready.get() for _ in range(ready.qsize())]
        for item in reversed(items):
            if callable(item):
                stack.callback(item)


def has_failed(task: Task) -> bool:
    """Return whether a wait that has ended did not succeed."""
    return isinstance(task.result, Exception)


def has_succeeded(task: Task) -> bool:
    """Return whether a wait that has ended succeeded."""
    return isinstance(task.result, WaiterOutcome)


def _context() -> contextvars.Context:
    """Return the caller's context variables, for calls that are marked as a waiter's."""
    with marked_as_waiter():
        return contextvars.copy_context()


def _checked(waits: Any, name: str) -> tuple[list[Wait], bool]:
    """Return the waits as a list, and whether their clients are asynchronous.

    Raises:
        TypeError: not waits, or not all on clients of the kind that `name` calls.
        ValueError: a wait that is given twice.
    """
    if isinstance(waits, Wait) or not isinstance(waits, Iterable):
        raise TypeError(f"waits must be several Wait objects, not {type(waits).__name__}")
    checked: list[Wait] = []
    places: dict[int, int] = {}
    kinds: dict[type, bool] = {}
    first_of_kind: dict[bool, int] = {}
    for index, wait in enumerate(waits):
        if not isinstance(wait, Wait):
            raise TypeError(f"waits[{index}] must be a Wait, not {type(wait).__name__}")
        first = places.setdefault(id(wait), index)
        if first != index:
            raise ValueError(f"waits[{index}] and waits[{first}] are the same object: {wait!r}")
        checked.append(wait)
        kind = type(wait.client)
        if kind not in kinds:
            kinds[kind] = is_async(kind)
            first_of_kind.setdefault(kinds[kind], index)
    if len(first_of_kind) > 1:
        raise TypeError(
            f"waits[{first_of_kind[True]}] is on an asynchronous client, others are on blocking "
            "ones: they cannot be waited on together"
        )
    awaited = True in first_of_kind
    if awaited and not name.endswith("_async"):
        raise TypeError(f"waits[0] is on an asynchronous client: use {name}_async, in its loop")
    return checked, awaited
