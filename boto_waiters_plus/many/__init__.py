"""Many waits at once: `wait_all`, `wait_any`, `as_completed` and their asyncio twins.

All of them run on a few threads and step every wait in one thread. Each wait keeps its own
schedule, acceptors and budget, and ends as it would alone. Beside what `runtime.schedule` says of
calls at once:

- Time runs for all waits from the start, also for one whose first call has to queue.
- A callback of the caller's (`on_attempt`, `on_event`, `progress`) that raises does not end a
  wait: the first error of each is logged, and one RuntimeWarning tells of them at the end.
- Waits of one kind on one client are polled by one call, where the operation takes a list of
  identifiers and the answer can be told apart (`coalesce=False` turns it off). Each is answered
  by its own part; it ends as it would alone, by the schedule that it has in common with them.
- What the port of a wait raises as it is (bad parameters, no credentials) is that wait's error.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Generator, Iterable
from typing import Any, Literal, overload

from ..options import CancelEvent, Seconds
from ..outcome import WaiterOutcome
from ..runtime.clock import SYSTEM_TIME, current_time
from ..runtime.schedule import DEFAULT_THREADS
from ..runtime.scheduler import run_in_thread
from ..runtime.scheduler_async import run_in_task
from .batch import Batch, ProgressCallback, Result
from .wait import Wait

__all__ = [
    "Wait",
    "as_completed",
    "as_completed_async",
    "wait_all",
    "wait_all_async",
    "wait_any",
    "wait_any_async",
]

OnFailure = Literal["raise", "collect", "cancel"]


@overload
def wait_all(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: Literal["raise", "cancel"] = "raise",
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
    coalesce: bool = True,
) -> list[WaiterOutcome[Any]]: ...
@overload
def wait_all(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: Literal["collect"],
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
    coalesce: bool = True,
) -> list[Result]: ...
def wait_all(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: OnFailure = "raise",
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
    coalesce: bool = True,
) -> list[Any]:
    """Wait for all of many waits.

    Args:
        waits: the waits; none twice.
        max_wait: seconds (or a `timedelta`) for all of them together; each keeps its own bound
            where that is the nearer.
        on_failure: `"raise"`: run every wait to its end, then raise if any did not succeed, so
            that all that went wrong is told at once. `"cancel"`: stop the rest as soon as one
            does not succeed, then raise. `"collect"`: raise nothing, return the errors in the
            places of their waits.
        threads: calls at once, at most.
        progress: True draws a table on stderr (needs rich); a function is called with a
            `progress.WaitProgress` after each attempt and at each end.
        cancel_event: stops all waits when it is set.
        coalesce: whether waits of one kind on one client may share calls, where the operation
            takes a list of identifiers.

    Returns:
        The outcomes in the order of the waits.

    Raises:
        TypeError, ValueError: before the first request, a bad argument.
        WaitersError: waits did not succeed; it names each, and has the outcomes of the others.
    """
    if on_failure not in ("raise", "collect", "cancel"):
        raise ValueError(f'on_failure must be "raise", "collect" or "cancel", not {on_failure!r}')
    batch = Batch(waits, max_wait, threads, progress, cancel_event, coalesce, name="wait_all")
    with batch:
        scheduler = batch.scheduler()
        with contextlib.closing(batch.noted(scheduler.run())) as ended:
            for task in ended:
                if on_failure == "cancel" and isinstance(task.result, Exception):
                    scheduler.cancel_rest()
    return batch.results() if on_failure == "collect" else batch.outcomes()


@overload
async def wait_all_async(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: Literal["raise", "cancel"] = "raise",
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
    coalesce: bool = True,
) -> list[WaiterOutcome[Any]]: ...
@overload
async def wait_all_async(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: Literal["collect"],
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
    coalesce: bool = True,
) -> list[Result]: ...
async def wait_all_async(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    on_failure: OnFailure = "raise",
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
    coalesce: bool = True,
) -> list[Any]:
    """`wait_all` from asyncio: aiobotocore clients are awaited, others are called in threads.

    Cancelling the task stops every wait at once.
    """
    if on_failure not in ("raise", "collect", "cancel"):
        raise ValueError(f'on_failure must be "raise", "collect" or "cancel", not {on_failure!r}')
    batch = Batch(waits, max_wait, threads, progress, cancel_event, coalesce, name="wait_all_async")
    with batch:
        scheduler = batch.async_scheduler()
        async with contextlib.aclosing(batch.noted_async(scheduler.run())) as ended:
            async for task in ended:
                if on_failure == "cancel" and isinstance(task.result, Exception):
                    scheduler.cancel_rest()
    return batch.results() if on_failure == "collect" else batch.outcomes()


def wait_any(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
    coalesce: bool = True,
) -> tuple[Wait, WaiterOutcome[Any]]:
    """Wait for the first of many waits that succeeds, and stop the others.

    Args:
        waits, max_wait, threads, progress, cancel_event, coalesce: see `wait_all`.

    Returns:
        The wait that succeeded first, and its outcome.

    Raises:
        TypeError, ValueError: before the first request, a bad argument; no waits at all.
        WaitersError: none succeeded.
    """
    batch = Batch(waits, max_wait, threads, progress, cancel_event, coalesce, name="wait_any")
    batch.needs_one()
    first = None
    with batch:
        scheduler = batch.scheduler()
        with contextlib.closing(batch.noted(scheduler.run())) as ended:
            for task in ended:
                if first is None and isinstance(task.result, WaiterOutcome):
                    first = batch.waits[task.index], task.result
                    scheduler.cancel_rest()
    if first is None:
        raise batch.error()
    return first


async def wait_any_async(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
    coalesce: bool = True,
) -> tuple[Wait, WaiterOutcome[Any]]:
    """`wait_any` from asyncio; see `wait_all_async`."""
    batch = Batch(waits, max_wait, threads, progress, cancel_event, coalesce, name="wait_any_async")
    batch.needs_one()
    first = None
    with batch:
        scheduler = batch.async_scheduler()
        async with contextlib.aclosing(batch.noted_async(scheduler.run())) as ended:
            async for task in ended:
                if first is None and isinstance(task.result, WaiterOutcome):
                    first = batch.waits[task.index], task.result
                    scheduler.cancel_rest()
    if first is None:
        raise batch.error()
    return first


def as_completed(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
    coalesce: bool = True,
) -> Generator[tuple[Wait, Result], None, None]:
    """Wait for many waits and give each as it ends.

    Polling begins when the first is asked for, and goes on in a thread of its own while the
    caller is busy with one; callbacks are called in that thread. In virtual time it goes on only
    while the next one is asked for.

    Args:
        waits, max_wait, threads, progress, cancel_event, coalesce: see `wait_all`.

    Returns:
        An iterator of waits, each with its outcome or its error. Closing it (as leaving the loop
        does) stops the waits that have not ended.

    Raises:
        TypeError, ValueError: before the first request, a bad argument.
    """
    batch = Batch(waits, max_wait, threads, progress, cancel_event, coalesce, name="as_completed")

    def completed() -> Generator[tuple[Wait, Result], None, None]:
        with batch:
            run = batch.noted(batch.scheduler(batch.stop).run())
            if current_time() is SYSTEM_TIME:
                run = run_in_thread(run, batch.stop)
            with contextlib.closing(run) as ended:
                for task in ended:
                    yield batch.item(task)

    return completed()


def as_completed_async(
    waits: Iterable[Wait],
    /,
    *,
    max_wait: Seconds | None = None,
    threads: int = DEFAULT_THREADS,
    progress: bool | ProgressCallback = False,
    cancel_event: CancelEvent | None = None,
    coalesce: bool = True,
) -> AsyncGenerator[tuple[Wait, Result], None]:
    """`as_completed` from asyncio: polling goes on in a task of its own; see `wait_all_async`."""
    batch = Batch(
        waits, max_wait, threads, progress, cancel_event, coalesce, name="as_completed_async"
    )

    async def completed() -> AsyncGenerator[tuple[Wait, Result], None]:
        with batch:
            run = run_in_task(batch.noted_async(batch.async_scheduler().run()))
            async with contextlib.aclosing(run) as ended:
                async for task in ended:
                    yield batch.item(task)

    return completed()
