"""What stands in for `Waiter.wait` and `AIOWaiter.wait`; see `patches`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

AIO_WAITER = "AIOWaiter"


def wait_wrapper(
    wrapped: Callable[..., Any], waiter: Any, args: Any, keywords: dict[str, Any]
) -> Any:
    """Stand in for `Waiter.wait`."""
    if args:  # botocore takes none, and says so
        return wrapped(*args, **keywords)
    from ..stock import stock_waiter  # noqa: PLC0415 - imported by the first wait
    from .waiter_settings import settings_of  # noqa: PLC0415 - the same

    settings = settings_of(waiter)
    if settings is None:
        return wrapped(*args, **keywords)
    return stock_waiter.wait(waiter, keywords, settings)


def aio_wait_wrapper(
    wrapped: Callable[..., Any], waiter: Any, args: Any, keywords: dict[str, Any]
) -> Any:
    """Stand in for aiobotocore's `AIOWaiter.wait`, which is a function of its own."""
    # Not AnyioWaiter, whose event loop may be another; before 2.13.3 it is botocore's class.
    runs_on_asyncio = any(base.__name__ == AIO_WAITER for base in type(waiter).__mro__[:2])
    if args or not runs_on_asyncio:
        return wrapped(*args, **keywords)
    from ..stock import stock_waiter  # noqa: PLC0415 - imported by the first wait
    from .waiter_settings import settings_of  # noqa: PLC0415 - the same

    settings = settings_of(waiter)
    if settings is None:
        return wrapped(*args, **keywords)
    return stock_waiter.wait_async(waiter, keywords, settings)


def is_mock(value: Any) -> bool:
    """Return whether a value is a mock of `unittest.mock`, or autospecced by it."""
    # Importing it takes 170 ms, and where it was not imported there is no mock.
    module = sys.modules.get("unittest.mock")
    return module is not None and (
        isinstance(value, module.NonCallableMock) or hasattr(value, "mock")
    )
