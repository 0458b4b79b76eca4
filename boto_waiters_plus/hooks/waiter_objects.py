"""botocore's waiter objects: those of `get_waiter`, and the settings of any other."""

from __future__ import annotations

import contextvars
import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import botocore
import botocore.waiter

from ..arguments import nearest
from ..aws import stock_waiter
from ..aws.client_kind import is_async
from ..aws.defined_waiters import Definition, waiter_object
from ..aws.stock_judge import keep_acceptors, share_acceptors
from ..aws.waiter_config import mark_as_unchosen
from ..settings import Settings
from .clients import ClientHook, hook_of
from .state import INSTALLED
from .wrapping import AIO_WAITER, is_mock, wait_wrapper

OUTCOMES: contextvars.ContextVar[list[Any] | None] = contextvars.ContextVar(
    "boto_waiters_plus_outcomes", default=None
)
"""Where the outcomes of waits go past a caller that drops them (a boto3 resource)."""


def get_waiter(client: Any, name: str, get_stock_waiter: Callable[[str], Any]) -> Any:
    """Return a waiter of a hooked client, whose `wait` returns the outcome.

    Raises:
        ValueError: there is no such waiter; in botocore's words, with the nearest name.
    """
    hook = hook_of(client)
    if hook is None or not hook.runs_waiters():
        return get_stock_waiter(name)
    try:
        waiter = get_stock_waiter(name)
    except ValueError as error:
        waiter = _defined_waiter(client, hook, name, error)
    kept = hook.waiters(client).acceptors
    share_acceptors(waiter, kept)
    _return_outcomes(waiter, hook, kept)
    return waiter


def _defined_waiter(client: Any, hook: ClientHook, name: str, error: ValueError) -> Any:
    """Return the waiter object for a name that botocore does not have."""
    if not isinstance(name, str):
        raise error
    service = hook.waiters(client).service
    bound = service.by_snake_name.get(name)
    if bound is None:
        near = nearest(botocore.xform_name(name), {*client.waiter_names, *service.readable})
        hint = f"; did you mean {near!r}?" if near else ""
        raise ValueError(f"{error}{hint}") from None
    module = sys.modules["aiobotocore.waiter"] if is_async(type(client)) else botocore.waiter
    return waiter_object(client, bound, module.create_waiter_with_client)


def _return_outcomes(waiter: Any, hook: ClientHook, kept: dict[str, Any]) -> None:
    """Make `wait` of a waiter object return the outcome; botocore's returns None.

    The class was made for this one object, so that changing it changes nothing else.
    """
    waiter_class = type(waiter)
    stock_wait = waiter_class.wait

    async def wait_async(self: Any, **keywords: Any) -> Any:
        # AIOWaiter, or AnyioWaiter, whose event loop may be another than asyncio's.
        parent: Any = waiter_class.__mro__[1]
        current = vars(parent).get("wait")
        if parent.__name__ == AIO_WAITER and _is_own(parent, current) and _runs_here(self, hook):
            return await stock_waiter.wait_async(self, keywords, hook.level.merged())
        return await parent.wait(self, **keywords)

    def wait(self: Any, **keywords: Any) -> Any:
        # Looked up now: a test may have put a mock there.
        if _is_stock_wait() and _runs_here(self, hook):
            outcome: Any = stock_waiter.wait(self, keywords, hook.level.merged())
            keep_acceptors(self, kept)
        else:
            stock: Any = botocore.waiter.Waiter.wait
            outcome = stock(self, **keywords)
        collected = OUTCOMES.get()
        if collected is not None:
            collected.append(outcome)
        return outcome

    method = wait_async if inspect.iscoroutinefunction(stock_wait) else wait
    waiter_class.wait = functools.wraps(stock_wait)(method)
    waiter_class.outcome = None
    mark_as_unchosen(waiter.config)


def _is_stock_wait() -> bool:
    """Return whether `Waiter.wait` is botocore's, below our wrapper at most."""
    wait = vars(botocore.waiter.Waiter)["wait"]
    if getattr(wait, "_self_wrapper", None) is wait_wrapper:
        wait = wait.__wrapped__
    return _is_own(botocore.waiter.Waiter, wait)


def _is_own(owner: type, function: Any) -> bool:
    """Return whether a function is the class's own; another was put there on purpose."""
    is_function = type(function) is types.FunctionType and not is_mock(function)
    return is_function and function.__module__ == owner.__module__


def _runs_here(waiter: Any, hook: ClientHook) -> bool:
    """Return whether the engine runs a waiter: after `uninstall` only if botocore's loop cannot."""
    return hook.runs_waiters() or Definition.of(waiter) is not None


def settings_of(waiter: Any) -> Settings | None:
    """Return the settings for a waiter object; None where botocore's own loop has to run."""
    hook = hook_of(stock_waiter.client_of(waiter))
    if hook is not None:
        return hook.level.merged() if _runs_here(waiter, hook) else None
    is_ours = INSTALLED.on and INSTALLED.runs_waiters
    return INSTALLED.level.own if is_ours else None
