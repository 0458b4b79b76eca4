"""Calls of any callable, blocking or awaited."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from ..calls.bounded_call import bounded_call
from ..calls.budget import CallEnded, Reply
from ..calls.client_call import IsReply, reply_of
from ..options import WaitOptions


class CallableCall:
    """A blocking call of a plain callable.

    It runs in the calling thread and is not interrupted. With `call_in_thread` it runs in a thread
    that is abandoned at the deadline or when the cancel event is set.

    Args:
        function: called without arguments.
        options: `call_in_thread` and `cancel_event` apply.
        is_reply: tells which exceptions are replies.
        reply: makes a reply of the value, in the calling thread.
        twin: the function to recommend if the value has to be awaited.
    """

    def __init__(
        self,
        function: Callable[[], Any],
        options: WaitOptions,
        is_reply: IsReply,
        *,
        reply: Callable[[Any], Reply] = Reply,
        twin: str,
    ) -> None:
        refuse_coroutine_function("the callable", function, twin)
        self._function = function
        self._in_thread = bool(options.call_in_thread)
        self._cancel = options.cancel_event
        self._is_reply = is_reply
        self._reply = reply
        self._twin = twin

    def make(self, time_left: float | None) -> Reply:
        """Call the callable."""
        handled = sys.exc_info()[1]
        try:
            value = self._value(time_left)
        except Exception as error:
            raised = error
        else:
            refuse_coroutine(value, self._twin)
            return self._reply(value)
        try:
            return reply_of(raised, self._is_reply, handled=handled)
        finally:
            del raised  # Its traceback has this frame.

    def _value(self, time_left: float | None) -> Any:
        if not self._in_thread:
            return self._function()
        return bounded_call(
            self._function,
            client=None,
            seconds=time_left,
            cancel_event=self._cancel,
            in_thread=True,
        )


class AsyncCallableCall:
    """A call whose result is awaited if it is awaitable.

    It is cancelled at the deadline or when the cancel event is set.

    Args:
        function: called without arguments.
        options: `cancel_event` applies.
        is_reply: tells which exceptions are replies.
        reply: makes a reply of the value.
    """

    def __init__(
        self,
        function: Callable[[], Any],
        options: WaitOptions,
        is_reply: IsReply,
        *,
        reply: Callable[[Any], Awaitable[Reply] | Reply] = Reply,
    ) -> None:
        self._function = function
        self._cancel = options.cancel_event
        self._is_reply = is_reply
        self._reply = reply

    async def make(self, time_left: float | None) -> Reply:
        """Call the callable and await its result."""
        # It brings asyncio: 11 ms that a program without tasks never pays.
        from ..calls.awaited_call import awaited_call  # noqa: PLC0415

        try:
            return await awaited_call(
                self._replied, client=None, seconds=time_left, cancel_event=self._cancel
            )
        except CallEnded as ended:
            return reply_of(ended, self._is_reply)

    async def _replied(self) -> Reply:
        handled = sys.exc_info()[1]
        try:
            value = await value_of(self._function)
        except Exception as error:
            raised = error
        else:
            reply = self._reply(value)
            return reply if isinstance(reply, Reply) else await reply
        try:
            return reply_of(raised, self._is_reply, handled=handled)
        finally:
            del raised  # Its traceback has this frame.


async def value_of(function: Callable[[], Any]) -> Any:
    """Call a function; await what it returns if that is awaitable."""
    value = function()
    return await value if inspect.isawaitable(value) else value


def refuse_coroutine_function(what: str, function: object, twin: str) -> None:
    """Refuse a coroutine function where its result would not be awaited.

    Raises:
        TypeError: it is one.
    """
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"{what} is a coroutine function and must be awaited: use {twin}")


def refuse_coroutine(value: object, twin: str) -> None:
    """Refuse a coroutine where it would not be awaited.

    Raises:
        TypeError: it is one.
    """
    if inspect.iscoroutine(value):
        # Closed here, or Python would warn that it was never awaited.
        value.close()
        raise TypeError(f"the callable returned a coroutine, which must be awaited: use {twin}")
