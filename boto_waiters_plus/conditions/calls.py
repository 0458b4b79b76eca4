"""Calls of any callable, blocking or awaited."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from ..calls.budget import Reply
from ..calls.client_call import Calls, IsReply
from ..options import WaitOptions


def calls_of(
    function: Callable[[], Any],
    options: WaitOptions,
    is_reply: IsReply,
    *,
    reply: Callable[[Any], Reply | Awaitable[Reply]] = Reply,
    twin: str | None,
) -> Calls:
    """Return the calls of a callable.

    One that blocks runs in the calling thread and is not interrupted; with `call_in_thread` it runs
    in a thread that is abandoned at the deadline or when the cancel event is set. One that is
    awaited is cancelled then.

    Args:
        function: called without arguments.
        options: `call_in_thread` and `cancel_event` apply.
        is_reply: tells which exceptions are replies.
        reply: makes a reply of the value.
        twin: the function to recommend if the value has to be awaited; None: it is awaited.
    """
    if twin is not None:
        refuse_coroutine_function("the callable", function, twin)

    def checked_reply(value: Any) -> Reply | Awaitable[Reply]:
        if twin is not None:
            refuse_coroutine(value, twin)
        return reply(value)

    return Calls(
        send=function,
        awaited=twin is None,
        is_reply=is_reply,
        reply=checked_reply,
        cancel=options.cancel_event,
        in_thread=bool(options.call_in_thread),
        is_callable=True,
    )


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
