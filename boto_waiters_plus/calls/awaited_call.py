"""Calls that a task waits for: those that are awaited, and in threads those that block."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, Literal, Protocol, TypeVar

from ..common.process import call_soon
from ..options import CancelEvent
from .bounded_call import discard_response
from .budget import AwaitedBudget, CallEnded, Reply, awaited_budget
from .client_events import note_arrivals, refuse_late_retries
from .clock import SHUTDOWN_GRACE, current_time
from .credentials import ask_for_codes
from .threads import start
from .watch import LISTEN_AFTER, monotonic

T = TypeVar("T")

ANSWER_GRACE: Final = 0.25
"""Seconds after the deadline in which a call whose answer has arrived may return."""


async def await_within(
    budget: AwaitedBudget,
    call: Callable[[], Awaitable[T]],
    *,
    client: Any,
    cancel: CancelEvent | None = None,
) -> T:
    """Await a call in a task of its own, and cancel the task at the deadline.

    What the call returns or raises after its deadline counts if the answer had arrived in time.
    Time that a test controls stands still while a client is called.

    Args:
        budget: the real time that the call has.
        call: returns what is awaited.
        client: the client whose method is called; None: the call is not a method of a client.
        cancel: ends the call when it is set; another thread may set it.

    Returns:
        What the call returned.

    Raises:
        CallEnded: the call was ended, or not made because the time was up or the event set. The
            error that the call raised, if any, is the cause.
    """
    if cancel is not None and cancel.is_set():
        raise CallEnded("cancelled")
    if not budget.deadline > monotonic():
        raise CallEnded("deadline")
    if client is None:
        return await _ended_in_time(budget, call, None, cancel)
    refuse_late_retries(client)
    note_arrivals(client)
    ask_for_codes(client)
    with current_time().hold():
        return await _ended_in_time(budget, call, client, cancel)


async def _ended_in_time(
    budget: AwaitedBudget,
    call: Callable[[], Awaitable[T]],
    client: Any,
    cancel_event: CancelEvent | None,
) -> T:
    token = awaited_budget.set(budget)
    try:
        if budget.deadline == math.inf and cancel_event is None:
            return await call()
        # Not `asyncio.wait_for`: its TimeoutError could be one that the call itself raised.
        task = asyncio.ensure_future(call())
    finally:
        awaited_budget.reset(token)
    reason: Literal["deadline", "cancelled"] | None = None
    is_closed = False
    try:
        reason = await _reason_to_end(task, budget, cancel_event)
        if reason == "deadline" and budget.is_answered:
            # It was parsed meanwhile, unless a hook of the caller's suspends the call.
            done, _ = await asyncio.wait({task}, timeout=ANSWER_GRACE)
            reason = None if done else reason
    except GeneratorExit:
        is_closed = True
        raise
    finally:
        budget.ended = True
        if is_closed:
            # A coroutine that is closed cannot await the end.
            task.cancel()
        else:
            await _end(task)
    error = None if task.cancelled() else task.exception()
    if reason is not None:
        if error is None and client is not None and not task.cancelled():
            discard_response(task.result())
        raise CallEnded(reason) from error
    if error is not None and error is budget.refused_retry:
        raise CallEnded("retry refused") from error
    return task.result()


async def _reason_to_end(
    task: asyncio.Future[Any],
    budget: AwaitedBudget,
    cancel_event: CancelEvent | None,
) -> Literal["deadline", "cancelled"] | None:
    """Wait for a task; return why to wait no longer, or None if the task is done."""
    if cancel_event is None:
        done, _ = await asyncio.wait({task}, timeout=_timeout(budget.left))
        return None if done else "deadline"
    done, _ = await asyncio.wait({task}, timeout=min(max(budget.left, 0.0), LISTEN_AFTER))
    if done:
        return None
    cancelled = budget.listen(cancel_event, asyncio.get_running_loop())
    await asyncio.wait(
        {task, cancelled},
        timeout=_timeout(budget.left),
        return_when=asyncio.FIRST_COMPLETED,
    )
    if task.done():
        return None
    return "cancelled" if cancelled.done() else "deadline"


def _timeout(left: float) -> float | None:
    return None if left == math.inf else max(0.0, left)


async def _end(task: asyncio.Future[Any]) -> None:
    """Cancel a task and wait until it is over.

    A cancellation that arrives meanwhile is meant for the caller, and is raised afterwards.
    """
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


# --- a call that blocks --------------------------------------------------------------------------


class Call(Protocol):
    """A call that blocks."""

    @property
    def is_answered(self) -> bool:
        """Whether it has its answer, and only parses it."""
        ...

    def make(self, time_left: float | None) -> Reply:
        """Make it, in at most `time_left` seconds (None: no limit)."""
        ...


async def reply_from_thread(
    call: Call, time_left: float | None, abandoned: threading.Event
) -> Reply:
    """Make a call in a thread: a daemon, and not one of the loop's own, which are joined at exit.

    A call that ignores its deadline and its cancellation is abandoned.

    Args:
        call: ends at its deadline, and when `abandoned` is set.
        time_left: the seconds that the call has; None: no limit.
        abandoned: is set when nothing awaits the call any more.
    """
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    notify = partial(call_soon, loop, partial(over.set_result, None))
    with current_time().hold():
        # Inside: a call that sleeps in virtual time lets go of it.
        make = partial(call.make, time_left)
        thread, future, caller = start(make, "call", loop.call_soon_threadsafe, notify)
        if thread is None:
            raise RuntimeError("can't start new thread")
        longest = None if time_left is None else time_left + SHUTDOWN_GRACE
        try:
            await asyncio.wait({over}, timeout=longest)
            while not over.done() and call.is_answered:
                await asyncio.wait({over}, timeout=SHUTDOWN_GRACE)
        except asyncio.CancelledError:
            abandoned.set()
            await asyncio.wait({over}, timeout=SHUTDOWN_GRACE)
            raise
        finally:
            caller.close()
            if over.done():
                # The thread has nothing left to do.
                thread.join(SHUTDOWN_GRACE)
            else:
                abandoned.set()
    if not over.done():
        return Reply(ended="deadline")
    try:
        return future.result()
    finally:
        # The traceback of an error has this frame.
        del future
