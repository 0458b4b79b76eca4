"""Many waits at once: `wait_all`, `wait_any`, `as_completed` and their asyncio twins.

They run all waits on a few threads. Each wait keeps its own schedule, acceptors and limits, and
ends as it would alone:

- The time of every wait runs from the start, even if its first call has to queue.
- An error that a callback (`on_attempt`, `on_event`, `progress`) raises ends no wait: the first
  error of each callback is logged, and a RuntimeWarning at the end names them.
- Waits of one waiter on one client share calls where the operation takes a list of identifiers
  and its response can be split (`coalesce=False` turns that off). Each wait judges its own share
  of the response.
- Where calls cannot be shared, a list from the service may tell which of many waits are worth a
  call of their own (`screen=False` turns that off). The outcome is always that of the wait's own
  call.
- What a call of one wait raises unchanged (bad parameters, no credentials) is the error of that
  wait.
- Waits on callables (`conditions.ConditionWait`) and operations (of `begin` and
  `operations.start`) run beside those on clients. An operation goes on after the batch.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

from .batch.batch import Batch, BatchOptions, OnFailure, Result, WaitT
from .batch.wait import Wait
from .calls import flow
from .calls.flow import EitherWay, Flow
from .common.signatures import shown_with
from .common.wrong_arguments import wrong_value
from .options import Seconds
from .outcome import WaiterOutcome

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "BatchOptions",
    "Wait",
    "as_completed",
    "as_completed_async",
    "wait_all",
    "wait_all_async",
    "wait_any",
    "wait_any_async",
]


class _BoundedOptions(BatchOptions, total=False):
    max_wait: Seconds | None


def _all(name: str, waits: Iterable[Any], on_failure: OnFailure, options: Any) -> Flow[list[Any]]:
    if on_failure not in ("raise", "collect", "cancel"):
        raise wrong_value("on_failure", on_failure, '"raise", "collect" or "cancel"')
    batch = Batch(name, waits, **options)
    batch.cancel_rest_after = Exception if on_failure == "cancel" else None
    yield EitherWay(batch.run, batch.run_async)
    return batch.results(on_failure)


def _any(batch: Batch[WaitT]) -> Flow[tuple[WaitT, WaiterOutcome[Any]]]:
    batch.need_a_wait()
    batch.cancel_rest_after = WaiterOutcome
    yield EitherWay(batch.run, batch.run_async)
    return batch.first_success()


@overload
def wait_all(
    waits: Iterable[WaitT],
    /,
    *,
    on_failure: Literal["raise", "cancel"] = "raise",
    **options: Unpack[_BoundedOptions],
) -> list[WaiterOutcome[Any]]: ...
@overload
def wait_all(
    waits: Iterable[WaitT], /, *, on_failure: Literal["collect"], **options: Unpack[_BoundedOptions]
) -> list[Result]: ...
@shown_with(Batch)
def wait_all(
    waits: Iterable[Any], /, *, on_failure: OnFailure = "raise", **options: Any
) -> list[Any]:
    """Wait for all of many waits.

    Args:
        waits: `Wait`, `conditions.ConditionWait` and `operations.Operation`, in any mixture;
            none twice.
        max_wait: seconds (or a `timedelta`) for all waits together; a wait's own `max_wait` holds
            if it ends sooner.
        on_failure: `"raise"`: run every wait to its end, then raise one error that has all
            failures. `"cancel"`: cancel the other waits as soon as one does not succeed, then
            raise. `"collect"`: raise nothing; return the errors in the places of their waits.
        options: fields of `BatchOptions`: `threads`, `progress`, `cancel_event`, `coalesce` and
            `screen`.

    Returns:
        The outcomes in the order of the waits.

    Raises:
        TypeError, ValueError: before the first request, a bad argument.
        WaitersError: waits did not succeed; it has each error, and the outcomes of the others.
    """
    return flow.run(_all("wait_all", waits, on_failure, options))


@overload
async def wait_all_async(
    waits: Iterable[WaitT],
    /,
    *,
    on_failure: Literal["raise", "cancel"] = "raise",
    **options: Unpack[_BoundedOptions],
) -> list[WaiterOutcome[Any]]: ...
@overload
async def wait_all_async(
    waits: Iterable[WaitT], /, *, on_failure: Literal["collect"], **options: Unpack[_BoundedOptions]
) -> list[Result]: ...
@shown_with(Batch)
async def wait_all_async(
    waits: Iterable[Any], /, *, on_failure: OnFailure = "raise", **options: Any
) -> list[Any]:
    """`wait_all` from asyncio: aiobotocore clients are awaited, others are called in threads.

    Cancelling the task ends every wait at once. Callbacks are called in the event loop.
    """
    return await flow.run_async(_all("wait_all_async", waits, on_failure, options))


@shown_with(Batch)
def wait_any(
    waits: Iterable[WaitT], /, **options: Unpack[_BoundedOptions]
) -> tuple[WaitT, WaiterOutcome[Any]]:
    """Wait for the first of many waits that succeeds, and cancel the others.

    Args:
        waits, max_wait, options: see `wait_all`.

    Returns:
        The wait that succeeded first, and its outcome.

    Raises:
        TypeError, ValueError: before the first request, a bad argument; no waits at all.
        WaitersError: none succeeded.
    """
    return flow.run(_any(Batch("wait_any", waits, **options)))


@shown_with(Batch)
async def wait_any_async(
    waits: Iterable[WaitT], /, **options: Unpack[_BoundedOptions]
) -> tuple[WaitT, WaiterOutcome[Any]]:
    """`wait_any` from asyncio; see `wait_all_async`."""
    return await flow.run_async(_any(Batch("wait_any_async", waits, **options)))


@shown_with(Batch)
def as_completed(
    waits: Iterable[WaitT], /, **options: Unpack[_BoundedOptions]
) -> Generator[tuple[WaitT, Result], None, None]:
    """Wait for many waits, and yield each as it ends.

    Polling begins when the first result is asked for. It goes on in a thread of its own while the
    caller is busy with a result; callbacks are called in yet another thread. In virtual time,
    polling goes on only while the caller waits for the next result.

    Args:
        waits, max_wait, options: see `wait_all`.

    Returns:
        An iterator of waits, each with its outcome or its error. Closing it (as leaving the loop
        does) cancels the waits that have not ended.

    Raises:
        TypeError, ValueError: before the first request, a bad argument.
    """
    return Batch("as_completed", waits, **options).completed()


@shown_with(Batch)
def as_completed_async(
    waits: Iterable[WaitT], /, **options: Unpack[_BoundedOptions]
) -> AsyncGenerator[tuple[WaitT, Result], None]:
    """`as_completed` from asyncio: polling goes on in a task of its own; see `wait_all_async`."""
    return Batch("as_completed_async", waits, **options).completed_async()
