"""What stands in for `Waiter.wait` and `AIOWaiter.wait`; see `patches`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
