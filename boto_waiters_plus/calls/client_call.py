"""The calls of a wait: of an operation of a client or of any callable, blocking or awaited."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from ..options import CancelEvent
from .bounded_call import call_within
from .budget import AwaitedBudget, Budget, CallBudget, CallEnded, Reply
from .clients import client_behind, is_async
from .clock import current_time, either
from .errors import callers_error, is_of_the_call
from .flow import value_of

NO_TIME_LEFT: Final = Reply(ended="deadline", made=False)
"""The reply to a call that is not made, because its time is used up."""

IsReply = Callable[[Exception], bool]
"""Whether an exception is a reply of what is called; any other is raised."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Calls:
    """How the calls of a wait are made; the waits of a client may share it."""

    client: Any = None
    """The client that is called; None: not known."""
    awaited: bool | None = None
    """Whether a task awaits what `send` returns; None: if the client is one of aiobotocore."""
    is_reply: IsReply = is_of_the_call
    """Tells which exceptions are replies."""
    reply: Callable[[Any], Reply | Awaitable[Reply]] | None = None
    """Makes a reply of what was returned; None: that is the response."""
    cancel: CancelEvent | None = None
    """Ends a call in flight."""
    in_thread: bool = False
    """Make each blocking call in a thread that can be abandoned."""
    is_callable: bool = False
    """The call is of any callable, which blocks for as long as it likes unless it is called in a
    thread, and during which virtual time goes on."""

    def __post_init__(self) -> None:
        self.client = client_behind(self.client)
        if self.awaited is None:
            self.awaited = is_async(type(self.client))

    def of_reads(self) -> Calls:
        """Return how reads after a failure are made, any of whose errors is a reply."""
        return replace(self, is_reply=lambda _: True)

    def of_client(self, send: Callable[[], Any]) -> BlockingCall | AwaitedCall:
        """Return a call as the client makes it, blocking or awaited."""
        return AwaitedCall(self, send) if self.awaited else BlockingCall(self, send)


@dataclass(slots=True, eq=False, repr=False)
class CallStep:
    """One call of a wait, as a step of its flow."""

    calls: Calls
    send: Callable[[], Any]
    time_left: float | None

    def run(self) -> Reply:
        """Make it in the calling thread."""
        return BlockingCall(self.calls, self.send).make(self.time_left)

    def run_async(self) -> Awaitable[Reply]:
        """Make it as part of the calling task; one that blocks is made in a thread."""
        calls = self.calls
        if calls.awaited:
            return AwaitedCall(calls, self.send).make(self.time_left)
        # Imports asyncio: 11 ms that a program without tasks never pays.
        from .awaited_call import reply_from_thread  # noqa: PLC0415

        abandoned = threading.Event()
        cancel = either(abandoned, calls.cancel)
        call = BlockingCall(replace(calls, cancel=cancel, in_thread=False), self.send)
        return reply_from_thread(call, self.time_left, abandoned)


class _EndedCall:
    """A call that is ended at its deadline or by a cancel event.

    Args:
        calls: how it is made.
        send: makes the bare call.
    """

    __slots__ = ("_budget", "calls", "send")

    def __init__(self, calls: Calls, send: Callable[[], Any]) -> None:
        self.calls, self.send = calls, send
        self._budget: Budget | None = None

    @property
    def is_answered(self) -> bool:
        """Whether the call in flight has its answer, and only parses it."""
        return self._budget is not None and self._budget.is_answered


class BlockingCall(_EndedCall):
    """A call that blocks."""

    __slots__ = ()

    def make(self, time_left: float | None) -> Reply:
        """Make the call, which ends after `time_left` seconds; with 0 or less it is not made.

        An error that is no reply (bad parameters, a bug in a user's hook) is raised. A reply that
        time or a cancel event ended is given to no judge.
        """
        calls = self.calls
        is_endless = calls.is_callable and not calls.in_thread
        if time_left is not None and time_left <= 0 and not is_endless:
            return NO_TIME_LEFT
        budget: Any = Budget(None) if is_endless else CallBudget(time_left, calls.cancel)
        self._budget = budget
        try:
            if is_endless:
                response = self.send()
            else:
                client, in_thread = calls.client, calls.in_thread
                with nullcontext() if calls.is_callable else current_time().hold():
                    response = call_within(budget, self.send, client=client, in_thread=in_thread)
        except Exception as error:
            raised = error
        else:
            if calls.reply is None:
                return Reply(response, arrived=budget.arrived)
            return calls.reply(response)  # type: ignore[return-value]  # which is not awaitable
        finally:
            self._budget = None
        try:
            return _reply_of(raised, calls.is_reply, budget)
        finally:
            del raised  # Its traceback has this frame.


class AwaitedCall(_EndedCall):
    """A call that is awaited."""

    __slots__ = ("_is_reply",)

    async def make(self, time_left: float | None) -> Reply:
        """Await the call, at most `time_left` seconds; see `BlockingCall.make`."""
        if time_left is not None and time_left <= 0:
            return NO_TIME_LEFT
        # It brings asyncio: 11 ms that a program without tasks never pays.
        from .awaited_call import await_within  # noqa: PLC0415

        calls, self._is_reply = self.calls, self.calls.is_reply
        self._budget = budget = AwaitedBudget(time_left)
        send = self.send if calls.reply is None else self._replied
        try:
            response = await await_within(budget, send, client=calls.client, cancel=calls.cancel)
        except Exception as error:
            raised = error
        else:
            return response if calls.reply else Reply(response, arrived=budget.arrived)
        finally:
            self._budget = None
        try:
            return _reply_of(raised, self._is_reply, budget)
        finally:
            del raised  # Its traceback has this frame.

    async def _replied(self) -> Reply:
        calls = self.calls
        assert calls.reply is not None, "or nothing calls this"
        value = await value_of(self.send)
        # An error of what makes the reply is the caller's.
        self._is_reply = lambda _: False
        reply: Reply = await value_of(partial(calls.reply, value))
        return reply


def _reply_of(error: Exception, is_reply: IsReply, budget: Budget) -> Reply:
    """Return the reply that an error of a call is, or raise the error as other code raised it.

    It has to be called after the `except` that caught the error: what is raised there would get
    the error as its context.
    """
    if isinstance(error, CallEnded):
        # There is one if a retry of the SDK was refused because it would not have fitted.
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else None
        return Reply(error=cause, ended=error.reason, arrived=budget.arrived)
    error = callers_error(error, budget.handled) or error
    if is_reply(error):
        return Reply(error=error, arrived=budget.arrived)
    try:
        raise error
    finally:
        del error
