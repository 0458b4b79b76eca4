"""Many waits at once: `wait_all`, `wait_any`, `as_completed` and their asyncio twins.

They run all waits on a few threads. Each wait keeps its own schedule, acceptors and bounds, and
ends as it would alone:

- The time of every wait runs from the start, also if its first call has to queue.
- An error that a callback (`on_attempt`, `on_event`, `progress`) raises ends no wait: the first
  error of each callback is logged, and a RuntimeWarning at the end names them.
- Waits of one waiter on one client share calls where the operation takes a list of identifiers
  and its response can be split (`coalesce=False` turns that off). Each wait judges its own share
  of the response.
- What a call of one wait raises unchanged (bad parameters, no credentials) is the error of that
  wait.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable
from typing import Any, Literal, overload

from ..arguments import answers_other_names
from ..options import MAX_WAIT_NAMES, CancelEvent, Seconds
from ..outcome import WaiterOutcome
from ..runtime.schedule import DEFAULT_THREADS
from .batch import Batch, OnFailure, ProgressCallback, has_failed, has_succeeded
from .failures import Result
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

_takes_max_wait = answers_other_names(MAX_WAIT_NAMES)


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
@_takes_max_wait
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
        max_wait: seconds (or a `timedelta`) for all waits together; a wait with a nearer bound of
            its own keeps that.
        on_failure: `"raise"`: run every wait to its end, then raise one error that has all
            failures. `"cancel"`: cancel the other waits as soon as one does not succeed, then
            raise. `"collect"`: raise nothing; return the errors in the places of their waits.
        threads: the number of calls that may be in flight at once.
        progress: True draws a table on stderr (needs rich); a function is called with a
            `progress.WaitProgress` after each attempt and at the end of each wait.
        cancel_event: cancels all waits when it is set.
        coalesce: whether waits of one waiter on one client may share calls.

    Returns:
        The outcomes in the order of the waits.

    Raises:
        TypeError, ValueError: before the first request, a bad argument.
        WaitersError: waits did not succeed; it has each error, and the outcomes of the others.
    """
    _check(on_failure)
    batch = Batch("wait_all", waits, max_wait, threads, progress, cancel_event, coalesce)
    batch.run(has_failed if on_failure == "cancel" else None)
    return batch.results(on_failure)


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
@_takes_max_wait
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

    Cancelling the task ends every wait at once. Callbacks are called in the event loop.
    """
    _check(on_failure)
    batch = Batch("wait_all_async", waits, max_wait, threads, progress, cancel_event, coalesce)
    await batch.run_async(has_failed if on_failure == "cancel" else None)
    return batch.results(on_failure)


@_takes_max_wait
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
    """Wait for the first of many waits that succeeds, and cancel the others.

    Args:
        waits, max_wait, threads, progress, cancel_event, coalesce: see `wait_all`.

    Returns:
        The wait that succeeded first, and its outcome.

    Raises:
        TypeError, ValueError: before the first request, a bad argument; no waits at all.
        WaitersError: none succeeded.
    """
    batch = Batch("wait_any", waits, max_wait, threads, progress, cancel_event, coalesce)
    batch.need_a_wait()
    batch.run(has_succeeded)
    return batch.first_success()


@_takes_max_wait
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
    batch = Batch("wait_any_async", waits, max_wait, threads, progress, cancel_event, coalesce)
    batch.need_a_wait()
    await batch.run_async(has_succeeded)
    return batch.first_success()


@_takes_max_wait
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

    Polling begins when the first result is asked for, and goes on in a thread of its own while
    the caller is busy with it; callbacks are called in another one. In virtual time polling goes
    on only while the next result is asked for.

    Args:
        waits, max_wait, threads, progress, cancel_event, coalesce: see `wait_all`.

    Returns:
        An iterator of waits, each with its outcome or its error. Closing it (as leaving the loop
        does) cancels the waits that have not ended.

    Raises:
        TypeError, ValueError: before the first request, a bad argument.
    """
    name = "as_completed"
    return Batch(name, waits, max_wait, threads, progress, cancel_event, coalesce).completed()


@_takes_max_wait
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
    name = "as_completed_async"
    return Batch(name, waits, max_wait, threads, progress, cancel_event, coalesce).completed_async()


def _check(on_failure: str) -> None:
    if on_failure not in ("raise", "collect", "cancel"):
        raise ValueError(f'on_failure must be "raise", "collect" or "cancel", not {on_failure!r}')
