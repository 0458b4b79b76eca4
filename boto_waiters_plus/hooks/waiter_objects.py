"""botocore's waiter objects: those of `get_waiter`."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, Final

import botocore.client
import botocore.waiter
from botocore.docs.docstring import LazyLoadedDocstring

from ..calls.clients import is_async
from ..calls.private_names import botocores, module_of
from ..common.process import frames_of
from ..service.clients import ClientHook, hook_of
from ..stock import stock_waiter
from ..stock.defined_waiters import runs_here, waiter_object
from ..stock.stock_judge import share_acceptors
from ..stock.waiter_config import mark_as_unchosen
from .wrapping import AIO_WAITER, aio_wait_wrapper, is_mock, wait_wrapper

# --- the docstring of `wait` of botocore's waiter objects: what is new, then botocore's own

_NEW: Final = """\
{summary}

::

    {call}

:param max_wait: Seconds (or a timedelta) that the wait may take, calls included; also
  ``WaiterConfig={{'MaxWait': 300}}``. Without it, the limit is the sum of the delays below.
:param min_delay, max_attempts, ...: the options; see ``help(boto_waiters_plus.WaitOptions)``.
:returns: {returns}
:raises: WaiterFailedError, WaiterTimeoutError, WaiterAttemptsError or WaiterCancelledError, each a
  ``botocore.exceptions.WaiterError``.

What follows is botocore's. Its delay and its number of checks hold if ``WaiterConfig`` or
``waiter.config`` sets them; otherwise the delays have jitter, and add up to the same time.
"""

_OUTCOME: Final = (
    "``ResponseOutcome``, whose ``response`` is the last one, or\n"
    "  ``ExceptionOutcome``, whose ``exception`` is the expected error"
)


class StockWaitDocstring(LazyLoadedDocstring):
    """The docstring of a waiter object's `wait`, written when it is read.

    Args:
        stock: botocore's own.
        awaited: whether the waiter is aiobotocore's.
    """

    def _write_docstring(self, section: Any, stock: str | None, *, awaited: bool) -> None:
        if awaited:
            new = _NEW.format(
                summary="Wait on boto_waiters_plus; ``waiter.outcome`` is the outcome.",
                call="response = await waiter.wait(..., max_wait=300)",
                returns=f"the last response. ``waiter.outcome`` is a {_OUTCOME}.",
            )
        else:
            new = _NEW.format(
                summary="Wait on boto_waiters_plus, and return the outcome.",
                call="outcome = waiter.wait(..., max_wait=300)",
                returns=f"the outcome: {_OUTCOME}. It is ``waiter.outcome`` too.",
            )
        # One that is not written yet is an empty string.
        own = "" if stock is None else str(stock)
        own = own.rstrip().removesuffix(":returns: None")
        for line in f"{new}\n{own.strip()}".splitlines():
            section.writeln(line)


# --- the objects ---------------------------------------------------------------------------------

_outcomes: contextvars.ContextVar[list[Any] | None] = contextvars.ContextVar(
    "boto_waiters_plus_outcomes", default=None
)


@contextlib.contextmanager
def outcomes_inside() -> Iterator[list[Any]]:
    """Give the outcomes of the waits inside, past a caller that drops them (a resource)."""
    collected: list[Any] = []
    token = _outcomes.set(collected)
    try:
        yield collected
    finally:
        _outcomes.reset(token)


def get_waiter(client: Any, name: str, get_stock_waiter: Callable[[str], Any]) -> Any:
    """Return a waiter of a hooked client, whose `wait` returns the outcome.

    Raises:
        ValueError: there is no such waiter; in botocore's words, with the nearest names.
    """
    hook = hook_of(client)
    if hook is None or not hook.runs_waiters():
        return get_stock_waiter(name)
    try:
        waiter = get_stock_waiter(name)
    except ValueError as error:
        waiter = _defined_waiter(client, hook, name, error)
    wait = vars(type(waiter)).get("wait")
    # The class is the library's, made for this waiter alone. A test may have put something else in
    # the place of its `get_waiter`.
    if (
        type(wait) is types.FunctionType
        and botocores(str(wait.__globals__.get("__name__"))) == botocore.waiter.__name__
        and "<locals>" in wait.__qualname__
    ):
        share_acceptors(waiter, hook.waiters(client).acceptors)
        _return_outcomes(waiter, hook)
    return waiter


def _defined_waiter(client: Any, hook: ClientHook, name: str, error: ValueError) -> Any:
    """Return the waiter object for a name that botocore does not have."""
    # Any other error is one of a test's, in the place of botocore's `get_waiter`.
    is_unknown = isinstance(name, str) and str(error).endswith(f" exist: {name}")
    if not is_unknown or module_of(frames_of(error)[-1]) != botocore.client.__name__:
        raise error
    service = hook.waiters(client).service
    bound_waiter = service.get(name)
    if bound_waiter is None:
        from ..definitions.near_waiters import did_you_mean  # noqa: PLC0415 - only for a wrong name

        hint = did_you_mean(name, {*client.waiter_names, *service.readable_names})
        raise ValueError(f"{error} (service: {service.service_name}){hint}") from None
    module = sys.modules["aiobotocore.waiter"] if is_async(type(client)) else botocore.waiter
    return waiter_object(client, bound_waiter, module.create_waiter_with_client)


def _return_outcomes(waiter: Any, hook: ClientHook) -> None:
    """Make `wait` of a waiter object return the outcome; botocore's returns None.

    The class was made for this one object, so that changing it changes nothing else.
    """
    waiter_class = type(waiter)
    stock_wait = waiter_class.wait

    async def wait_async(self: Any, **keywords: Any) -> Any:
        # AIOWaiter, or AnyioWaiter, whose event loop may be another than asyncio's.
        parent: Any = waiter_class.__mro__[1]
        is_stock = parent.__name__ == AIO_WAITER and _is_stock_wait(parent, aio_wait_wrapper)
        if is_stock and runs_here(self, hook):
            response = await stock_waiter.wait_async(self, keywords, hook.level.merged())
            _collect(self.outcome)
            return response
        # Not `parent.wait`: before 2.13.3 the parent is botocore's blocking waiter.
        return await stock_wait(self, **keywords)

    def wait(self: Any, **keywords: Any) -> Any:
        # Looked up now: a test may have put a mock there.
        if _is_stock_wait(botocore.waiter.Waiter, wait_wrapper) and runs_here(self, hook):
            outcome: Any = stock_waiter.wait(self, keywords, hook.level.merged())
        else:
            stock: Any = botocore.waiter.Waiter.wait
            outcome = stock(self, **keywords)
        _collect(outcome)
        return outcome

    awaited = inspect.iscoroutinefunction(stock_wait)
    method = functools.wraps(stock_wait)(wait_async if awaited else wait)
    if not awaited or waiter_class.__mro__[1].__name__ == AIO_WAITER:
        method.__doc__ = StockWaitDocstring(stock_wait.__doc__, awaited=awaited)
    waiter_class.wait = method
    waiter_class.outcome = None
    mark_as_unchosen(waiter.config)


def _collect(outcome: Any) -> None:
    collected = _outcomes.get()
    if collected is not None:
        collected.append(outcome)


def _is_stock_wait(owner: type, wrapper: Callable[..., Any]) -> bool:
    """Return whether `wait` of a class is the library's, below our wrapper at most."""
    wait = vars(owner).get("wait")
    if getattr(wait, "_self_wrapper", None) is wrapper:
        wait = wait.__wrapped__  # type: ignore[union-attr]  # a wrapper has it
    # Another function was put there on purpose.
    is_function = type(wait) is types.FunctionType and not is_mock(wait)
    return is_function and wait.__module__ == owner.__module__
