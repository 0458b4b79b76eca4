"""Callables that return a value, and callables that return what is awaited."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ..aws.bounded_call import bounded_call
from ..options import WaitOptions

T = TypeVar("T")


def called(call: Callable[[], T], options: WaitOptions, time_left: float | None) -> T:
    """What a callable returns; in a thread, where the options ask for one.

    Raises:
        CallEnded: the thread was abandoned.
    """
    if not options.call_in_thread:
        return call()
    return bounded_call(
        call, client=None, seconds=time_left, cancel_event=options.cancel_event, in_thread=True
    )


async def value_of(call: Callable[[], Awaitable[Any] | Any]) -> Any:
    """What a callable returns, awaited if need be."""
    value = call()
    return await value if inspect.isawaitable(value) else value


def refuse_coroutine_function(what: str, function: object, twin: str) -> None:
    """Refuse what would have to be awaited, where nothing awaits.

    Raises:
        TypeError: it is a coroutine function.
    """
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"{what} has to be awaited: use {twin}")


def refuse_coroutine(value: object, twin: str) -> None:
    """Refuse a value that would have to be awaited, where nothing awaits.

    Raises:
        TypeError: it is a coroutine.
    """
    if inspect.iscoroutine(value):
        # Closed, because nobody else will: "never awaited" would be one more complaint.
        value.close()
        raise TypeError(f"what the callable returned has to be awaited: use {twin}")
