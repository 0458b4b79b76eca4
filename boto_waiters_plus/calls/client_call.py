"""Calls of an operation of a botocore client: blocking, awaited, or in a thread."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, Final

from ..options import CancelEvent
from .bounded_call import call_within
from .budget import AsyncCall, AwaitedBudget, Budget, CallBudget, CallEnded, Reply
from .clients import client_behind, is_async
from .clock import current_time, either
from .errors import callers_error, is_of_the_call

NO_TIME_LEFT: Final = Reply(ended="deadline", made=False)
"""The reply to a call that is not made, because its time is used up."""

IsReply = Callable[[Exception], bool]
"""Whether an exception is a reply of what is called; any other is raised."""


def call_for(
    client: Any,
    send: Callable[[], Any],
    *,
    awaited: bool | None = None,
    is_reply: IsReply = is_of_the_call,
    cancel: CancelEvent | None = None,
    in_thread: bool = False,
) -> Any:
    """Return the `Call` or `AsyncCall` of an operation of a client.

    Args:
        client: the client that is called; None: not known.
        send: makes the bare call.
        awaited: whether the call is awaited; None: if the client is one of aiobotocore.
        is_reply: tells which exceptions are replies.
        cancel: ends a call in flight.
        in_thread: make each blocking call in a thread that can be abandoned.
    """
    client = client_behind(client)
    is_awaited = is_async(type(client)) if awaited is None else awaited
    kind = AwaitedCall if is_awaited else BlockingCall
    return kind(send, client, is_reply=is_reply, cancel=cancel, in_thread=in_thread)


def async_call_for(
    client: Any,
    send: Callable[[], Any],
    *,
    is_reply: IsReply = is_of_the_call,
    cancel: CancelEvent | None = None,
) -> AsyncCall:
    """Return a call of a client for a task: a blocking one is made in a thread; see `call_for`."""
    client = client_behind(client)
    if is_async(type(client)):
        return AwaitedCall(send, client, is_reply=is_reply, cancel=cancel)
    # Imports asyncio: 11 ms that a program without tasks never pays.
    from .thread_call import ThreadCall  # noqa: PLC0415

    abandoned = threading.Event()
    cancel = either(abandoned, cancel)
    return ThreadCall(BlockingCall(send, client, is_reply=is_reply, cancel=cancel), abandoned)


class _ClientCall:
    """A call, ended at its deadline or by a cancel event.

    Args:
        send: makes the bare call.
        client: the client that it calls; None: not known.
        is_reply: tells which exceptions are replies.
        cancel: ends a call in flight.
        in_thread: make each blocking call in a thread that can be abandoned.
    """

    __slots__ = ("_budget", "_cancel", "_client", "_in_thread", "_is_reply", "send")

    def __init__(
        self,
        send: Callable[[], Any],
        client: Any,
        *,
        is_reply: IsReply = is_of_the_call,
        cancel: CancelEvent | None = None,
        in_thread: bool = False,
    ) -> None:
        self.send = send
        self._client = client
        self._is_reply = is_reply
        self._cancel = cancel
        self._in_thread = in_thread
        self._budget: Budget | None = None

    @property
    def is_answered(self) -> bool:
        """Whether the call in flight has its answer, and only parses it."""
        return self._budget is not None and self._budget.is_answered


class BlockingCall(_ClientCall):
    """A blocking call."""

    __slots__ = ()

    def make(self, time_left: float | None) -> Reply:
        """Make the call, which ends after `time_left` seconds."""
        if time_left is not None and time_left <= 0:
            return NO_TIME_LEFT
        self._budget = budget = CallBudget(time_left, self._cancel)
        try:
            with current_time().hold():
                response = call_within(
                    budget, self.send, client=self._client, in_thread=self._in_thread
                )
        except Exception as error:
            raised = error
        else:
            return Reply(response, arrived=budget.arrived)
        finally:
            self._budget = None
        try:
            return reply_of(raised, self._is_reply, handled=budget.handled, arrived=budget.arrived)
        finally:
            del raised  # Its traceback has this frame.


class AwaitedCall(_ClientCall):
    """A call of an aiobotocore client."""

    __slots__ = ()

    async def make(self, time_left: float | None) -> Reply:
        """Await the call, at most `time_left` seconds."""
        if time_left is not None and time_left <= 0:
            return NO_TIME_LEFT
        # It brings asyncio: 11 ms that a program without tasks never pays.
        from .awaited_call import await_within  # noqa: PLC0415

        self._budget = budget = AwaitedBudget(time_left)
        try:
            response = await await_within(
                budget, self.send, client=self._client, cancel=self._cancel
            )
        except Exception as error:
            raised = error
        else:
            return Reply(response, arrived=budget.arrived)
        finally:
            self._budget = None
        try:
            return reply_of(raised, self._is_reply, handled=budget.handled, arrived=budget.arrived)
        finally:
            del raised  # Its traceback has this frame.


def reply_of(
    error: Exception,
    is_reply: IsReply,
    *,
    handled: BaseException | None = None,
    arrived: float = math.inf,
) -> Reply:
    """Return the reply that an error of a call is, or raise the error as other code raised it.

    It has to be called after the `except` that caught the error: what is raised there would get
    the error as its context. `handled` is what was being handled when the call began.
    """
    if isinstance(error, CallEnded):
        # There is one if a retry of the SDK was refused because it would not have fitted.
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else None
        return Reply(error=cause, ended=error.reason, arrived=arrived)
    error = callers_error(error, handled) or error
    if is_reply(error):
        return Reply(error=error, arrived=arrived)
    try:
        raise error
    finally:
        del error
