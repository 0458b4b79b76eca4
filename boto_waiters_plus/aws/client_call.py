"""Calls of an operation of a botocore client: blocking, awaited, or in a thread."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from ..options import CancelEvent, WaitOptions
from ..runtime.attempt import AsyncCall, Reply
from ..runtime.clock import current_time, either
from .bound_waiter import BoundWaiter
from .bounded_call import bounded_call
from .call_budget import CallEnded
from .client_kind import is_async
from .errors import is_of_the_call
from .parameters import refuse_empty_id_list

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
    if is_async(type(client)) if awaited is None else awaited:
        return AwaitedCall(send, client, is_reply=is_reply, cancel=cancel)
    return BlockingCall(send, client, is_reply=is_reply, cancel=cancel, in_thread=in_thread)


def async_call_for(
    client: Any, send: Callable[[], Any], *, cancel: CancelEvent | None = None
) -> AsyncCall:
    """Return a call of a client for a task: a blocking one is made in a thread; see `call_for`."""
    if is_async(type(client)):
        return AwaitedCall(send, client, cancel=cancel)
    # Imports asyncio: 11 ms that a program without tasks never pays.
    from .thread_call import ThreadCall  # noqa: PLC0415

    abandoned = threading.Event()
    return ThreadCall(BlockingCall(send, client, cancel=either(abandoned, cancel)), abandoned)


class BlockingCall:
    """A blocking call, ended at its deadline or by a cancel event.

    Args:
        send: makes the bare call.
        client: the client that it calls; None: not known.
        is_reply: tells which exceptions are replies.
        cancel: ends a call in flight.
        in_thread: make each call in a thread that can be abandoned.
    """

    __slots__ = ("_cancel", "_client", "_in_thread", "_is_reply", "send")

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

    def make(self, time_left: float | None) -> Reply:
        """Make the call, which ends after `time_left` seconds."""
        if time_left is not None and time_left <= 0:
            return NO_TIME_LEFT
        try:
            with current_time().hold():
                response = bounded_call(
                    self.send,
                    client=self._client,
                    seconds=time_left,
                    cancel_event=self._cancel,
                    in_thread=self._in_thread,
                )
        except Exception as error:
            return _reply_of(error, self._is_reply)
        return Reply(response)


class AwaitedCall:
    """A call of an aiobotocore client, ended as a `BlockingCall` is.

    Args:
        send: makes the bare call.
        client: the client that it calls; None: not known.
        is_reply: tells which exceptions are replies.
        cancel: ends a call in flight.
    """

    __slots__ = ("_cancel", "_client", "_is_reply", "send")

    def __init__(
        self,
        send: Callable[[], Awaitable[Any]],
        client: Any,
        *,
        is_reply: IsReply = is_of_the_call,
        cancel: CancelEvent | None = None,
    ) -> None:
        self.send = send
        self._client = client
        self._is_reply = is_reply
        self._cancel = cancel

    async def make(self, time_left: float | None) -> Reply:
        """Await the call, at most `time_left` seconds."""
        if time_left is not None and time_left <= 0:
            return NO_TIME_LEFT
        from .awaited_call import awaited_call  # noqa: PLC0415 - no blocking call needs it

        try:
            return Reply(
                await awaited_call(
                    self.send,
                    client=self._client,
                    seconds=time_left,
                    cancel_event=self._cancel,
                )
            )
        except Exception as error:
            return _reply_of(error, self._is_reply)


def _reply_of(error: Exception, is_reply: IsReply) -> Reply:
    if isinstance(error, CallEnded):
        cause = error.__cause__
        return Reply(error=cause if isinstance(cause, Exception) else None, ended=error.reason)
    if is_reply(error):
        return Reply(error=error)
    raise error


class ClientRequest:
    """The request that each attempt of a wait makes; its parameters never change.

    Args:
        client: a botocore client.
        waiter: the definition on its operation.
        parameters: the operation's parameters.

    Raises:
        ValueError: a list of identifiers is empty.
    """

    __slots__ = ("_fixed", "_waiter", "client", "parameters")

    def __init__(self, client: Any, waiter: BoundWaiter, parameters: Mapping[str, Any]) -> None:
        # Those of a `Wait` are within the caller's reach until the batch begins.
        refuse_empty_id_list(waiter.operation, parameters)
        self.client = client
        self.parameters = parameters
        self._waiter = waiter
        self._fixed = parameters
        if waiter.operation.idempotent_members:
            from .tokens import with_marked_tokens  # noqa: PLC0415 - two waiters in a hundred

            self._fixed = with_marked_tokens(waiter.operation, parameters)

    def __call__(self) -> Any:
        """Make the bare call."""
        return getattr(self.client, self._waiter.client_method)(**self._fixed)

    def __str__(self) -> str:
        """Return the label of the resource that the request is about."""
        return self._waiter.resource_label.text(self.parameters)

    def label_under(self, options: WaitOptions) -> object:
        """Return the label of a wait, or the request, of which `str` makes it when it is needed."""
        return self._waiter.resource_label.service if options.show_parameters is False else self

    def send_for(self, member: str, ids: list[str]) -> Any:
        """Make the bare call for these identifiers."""
        return getattr(self.client, self._waiter.client_method)(**{**self._fixed, member: ids})
