"""Callables that return a value, and callables that return what is awaited."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any


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
