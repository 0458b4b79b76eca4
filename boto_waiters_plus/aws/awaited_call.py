"""An awaited call that ends at its deadline."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..options import CancelEvent
from ..runtime.cancel_listener import listen
from ..runtime.clock import current_time
from ..runtime.watchdog import LISTEN_AFTER, monotonic
from .bounded_call import discard_response
from .call_budget import CallEnded
from .late_retries import awaited_budget, refuse_late_retries

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


async def awaited_call(
    call: Callable[[], Awaitable[T]],
    *,
    client: Any,
    seconds: float | None,
    cancel_event: CancelEvent | None = None,
) -> T:
    """Await a call in a task of its own, and cancel the task at the deadline.

    Time that a test controls stands still while a client is called.

    Args:
        call: returns what is awaited.
        client: the client whose method is called; None: the call is not a method of a client.
        seconds: the real time that the call has; None: no deadline.
        cancel_event: ends the call when it is set; another thread may set it.

    Returns:
        What the call returned.

    Raises:
        CallEnded: the call was ended, or not made because the time was up or the event set. The
            error that the call raised, if any, is the cause.
    """
    if cancel_event is not None and cancel_event.is_set():
        raise CallEnded("cancelled")
    if seconds is not None and not seconds > 0:
        raise CallEnded("deadline")
    if client is None:
        return await _ended_in_time(call, None, seconds, cancel_event)
    refuse_late_retries(client)
    with current_time().hold():
        return await _ended_in_time(call, client, seconds, cancel_event)


async def _ended_in_time(
    call: Callable[[], Awaitable[T]],
    client: Any,
    seconds: float | None,
    cancel_event: CancelEvent | None,
) -> T:
    if seconds is None and cancel_event is None:
        return await call()
    # A program that only blocks never imports asyncio, which takes 11 ms.
    import asyncio  # noqa: PLC0415

    budget = AwaitedBudget(seconds, asyncio.get_running_loop())
    token = awaited_budget.set(budget)
    try:
        # Not `asyncio.wait_for`: its TimeoutError could be one that the call itself raised.
        task = asyncio.ensure_future(call())
    finally:
        awaited_budget.reset(token)
    reason: Literal["deadline", "cancelled"] | None = None
    try:
        reason = await _reason_to_end(task, budget, seconds, cancel_event)
    finally:
        budget.ended = True
        await _end(task)
    error = None if task.cancelled() else task.exception()
    if reason is not None:
        if error is None and client is not None and not task.cancelled():
            discard_response(task.result())
        raise CallEnded(reason) from error
    if error is not None and error is budget.refused_retry:
        raise CallEnded("retry refused") from error
    return task.result()


class AwaitedBudget:
    """The time and the cancellation of one awaited call."""

    over_because = None
    """Nothing here ends the call: its task does."""

    def __init__(self, seconds: float | None, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._end = math.inf if seconds is None else monotonic() + seconds
        self.cancelled: asyncio.Future[None] = loop.create_future()
        """Done when a cancel event is set."""
        self.ended = False
        self.refused_retry: Exception | None = None
        """The error that was raised in place of a retry that would not fit."""

    @property
    def left(self) -> float:
        """The time left, in seconds."""
        return self._end - monotonic()

    def cancel(self) -> None:
        """Cancel from the thread of a cancel listener."""
        # The loop may be closed by now, and the call over with it.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._set_cancelled)

    def _set_cancelled(self) -> None:
        if not self.cancelled.done():
            self.cancelled.set_result(None)


async def _reason_to_end(
    task: asyncio.Future[Any],
    budget: AwaitedBudget,
    seconds: float | None,
    cancel_event: CancelEvent | None,
) -> Literal["deadline", "cancelled"] | None:
    """Wait for a task; return why to wait no longer, or None if the task is done."""
    import asyncio  # noqa: PLC0415 - see above

    if cancel_event is None:
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return None if done else "deadline"
    first = LISTEN_AFTER if seconds is None else min(seconds, LISTEN_AFTER)
    done, _ = await asyncio.wait({task}, timeout=first)
    if done:
        return None
    left = None if seconds is None else seconds - first
    listen(cancel_event, budget)
    await asyncio.wait({task, budget.cancelled}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        return None
    return "cancelled" if budget.cancelled.done() else "deadline"


async def _end(task: asyncio.Future[Any]) -> None:
    """Cancel a task and wait until it is over.

    A cancellation that arrives meanwhile is meant for the caller, and is raised afterwards.
    """
    import asyncio  # noqa: PLC0415 - see above

    interrupt: asyncio.CancelledError | None = None
    while not task.done():
        task.cancel()
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            interrupt = error
    if not task.cancelled():
        # Retrieved, so that the event loop does not report it.
        task.exception()
    if interrupt is not None:
        raise interrupt
