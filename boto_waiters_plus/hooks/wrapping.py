"""What stands in for `Waiter.wait` and `AIOWaiter.wait`; see `patches`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .state import INSTALLED

if TYPE_CHECKING:
    from ..service.clients import ClientHook
    from ..settings import Settings

AIO_WAITER = "AIOWaiter"


def wait_wrapper(
    wrapped: Callable[..., Any], waiter: Any, args: Any, keywords: dict[str, Any]
) -> Any:
    """Stand in for `Waiter.wait`."""
    if args:  # botocore takes none, and says so
        return wrapped(*args, **keywords)
    from ..stock import stock_waiter  # noqa: PLC0415 - imported by the first wait

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


def runs_here(waiter: Any, hook: ClientHook) -> bool:
    """Return whether the engine runs a waiter: after `uninstall` only if botocore's loop cannot."""
    from ..stock.defined_waiters import bound_waiter_of  # noqa: PLC0415 - as above

    return hook.runs_waiters() or bound_waiter_of(waiter) is not None


def settings_of(waiter: Any) -> Settings | None:
    """Return the settings for a waiter object; None where botocore's own loop has to run."""
    from ..service.clients import hook_of  # noqa: PLC0415 - as above
    from ..stock.stock_waiter import client_of  # noqa: PLC0415 - as above

    hook = hook_of(client_of(waiter))
    if hook is not None:
        return hook.level.merged() if runs_here(waiter, hook) else None
    is_ours = INSTALLED.on and INSTALLED.runs_waiters
    return INSTALLED.level.own if is_ours else None
