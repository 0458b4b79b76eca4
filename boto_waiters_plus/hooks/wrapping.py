"""Stand-ins for functions of botocore, and what those of `wait` do; see `patches`."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from .state import INSTALLED

if TYPE_CHECKING:
    from ..settings import Settings

AIO_WAITER = "AIOWaiter"


def wait_wrapper(
    wrapped: Callable[..., Any], waiter: Any, args: Any, keywords: dict[str, Any]
) -> Any:
    """Stand in for `Waiter.wait`."""
    if args:  # botocore takes none, and says so
        return wrapped(*args, **keywords)
    engine, settings = _engine_of(waiter)
    return wrapped(**keywords) if settings is None else engine.wait(waiter, keywords, settings)


def aio_wait_wrapper(
    wrapped: Callable[..., Any], waiter: Any, args: Any, keywords: dict[str, Any]
) -> Any:
    """Stand in for aiobotocore's `AIOWaiter.wait`, which is a function of its own."""
    # Not AnyioWaiter, whose event loop may be another; before 2.13.3 it is botocore's class.
    runs_on_asyncio = any(base.__name__ == AIO_WAITER for base in type(waiter).__mro__[:2])
    if args or not runs_on_asyncio:
        return wrapped(*args, **keywords)
    engine, settings = _engine_of(waiter)
    if settings is None:
        return wrapped(**keywords)
    return engine.wait_async(waiter, keywords, settings)


def _engine_of(waiter: Any) -> tuple[Any, Settings | None]:
    """Return what runs a waiter object, and its settings; None: botocore's own loop has to."""
    from ..stock import stock_waiter  # noqa: PLC0415 - imported by the first wait

    is_ours = INSTALLED.on and INSTALLED.runs_waiters
    return stock_waiter, stock_waiter.settings_of(waiter, INSTALLED.level.own if is_ours else None)


def is_mock(value: Any) -> bool:
    """Return whether a value is a mock of `unittest.mock`, or autospecced by it."""
    # Importing it takes 170 ms, and where it was not imported there is no mock.
    module = sys.modules.get("unittest.mock")
    return module is not None and (
        isinstance(value, module.NonCallableMock) or hasattr(value, "mock")
    )


_WRAPPERS: Final = WeakKeyDictionary[Any, Callable[..., Any]]()
"""What each stand-in calls."""


def stand_in_for(function: Any, wrapper: Callable[..., Any]) -> Any:
    """Return what stands in a class for a function, and gives it to a wrapper, bound.

    `wrapt.FunctionWrapper` does the same, but its import brings asyncio, which takes 12 ms.
    """

    def stand_in(self: Any, /, *args: Any, **keywords: Any) -> Any:
        return wrapper(function.__get__(self, type(self)), self, args, keywords)

    async def awaited(self: Any, /, *args: Any, **keywords: Any) -> Any:
        return await stand_in(self, *args, **keywords)

    made = awaited if inspect.iscoroutinefunction(function) else stand_in
    _WRAPPERS[made] = wrapper
    return functools.wraps(function)(made)


def is_stand_in(layer: Any, wrapper: Callable[..., Any]) -> bool:
    """Return whether this is our stand-in with this wrapper, and no proxy of it."""
    return type(layer) is FunctionType and _WRAPPERS.get(layer) is wrapper
