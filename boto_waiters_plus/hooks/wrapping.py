"""Wrapping functions of botocore and aiobotocore, once, and taking the wrappers off again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

AIO_WAITER = "AIOWaiter"


def wait_wrapper(
    wrapped: Callable[..., Any], waiter: Any, args: Any, keywords: dict[str, Any]
) -> Any:
    """Stand in `Waiter.wait`."""
    from ..aws import stock_waiter  # noqa: PLC0415 - imported by the first wait
    from .waiter_objects import settings_of  # noqa: PLC0415 - the same

    settings = settings_of(waiter)
    if settings is None or args:
        return wrapped(*args, **keywords)
    return stock_waiter.wait(waiter, keywords, settings)


def aio_wait_wrapper(
    wrapped: Callable[..., Any], waiter: Any, args: Any, keywords: dict[str, Any]
) -> Any:
    """Stand in aiobotocore's `AIOWaiter.wait`, which is a function of its own."""
    from ..aws import stock_waiter  # noqa: PLC0415 - imported by the first wait
    from .waiter_objects import settings_of  # noqa: PLC0415 - the same

    runs_on_asyncio = any(base.__name__ == AIO_WAITER for base in type(waiter).__mro__[:2])
    settings = settings_of(waiter)
    if settings is None or args or not runs_on_asyncio:
        return wrapped(*args, **keywords)
    return stock_waiter.wait_async(waiter, keywords, settings)


def wrap(owner: type, name: str, wrapper: Callable[..., Any]) -> None:
    """Put a wrapper around a function of a class, once, whatever wrapped it since."""
    # 16 ms that a program without `install` never pays.
    import wrapt  # noqa: PLC0415

    current = layer = owner.__dict__[name]
    while layer is not None:
        if getattr(layer, "_self_wrapper", None) is wrapper:
            return
        if is_mock(layer):
            # A test's mock is to be called, and is removed with all that is wrapped around it.
            return
        layer = getattr(layer, "__wrapped__", None)
    setattr(owner, name, wrapt.FunctionWrapper(current, wrapper))


def unwrap(owner: type, name: str, wrapper: Callable[..., Any]) -> None:
    """Take a wrapper off if it lies on top; below another's it stays and passes through."""
    current = owner.__dict__[name]
    if getattr(current, "_self_wrapper", None) is wrapper:
        setattr(owner, name, current.__wrapped__)


def is_mock(value: Any) -> bool:
    """Return whether a value is a mock of `unittest.mock`, or autospecced by it."""
    # Importing it takes 170 ms, and where it was not imported there is no mock.
    module = sys.modules.get("unittest.mock")
    return module is not None and (
        isinstance(value, module.NonCallableMock) or hasattr(value, "mock")
    )
