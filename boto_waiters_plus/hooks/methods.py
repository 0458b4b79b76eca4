"""The `wait_until_*` methods of a client, with their signatures and documentation."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..calls.clients import is_async
from ..exceptions import WaiterDefinitionError
from ..option_checks import OPTION_NAMES
from ..service.bound_waiter import BoundWaiter
from ..service.clients import ClientHook
from .docstrings import WaitDocstring

if TYPE_CHECKING:
    from ..outcome import WaiterOutcome


def build_method(client: Any, hook: ClientHook, name: str) -> Callable[..., Any] | None:
    """Return the function behind `client.wait_until_<name>`; None if there is no such waiter.

    Raises:
        WaiterDefinitionError: a definition for the service is malformed.
    """
    service = hook.waiters(client).service
    try:
        bound_waiter = service.get(name)
    except WaiterDefinitionError as error:
        raise _RefusedError(
            error.problem, source=error.source, waiter=error.waiter, acceptor=error.acceptor
        ) from error
    return None if bound_waiter is None else _method_of(client, hook, bound_waiter)


def _method_of(client: Any, hook: ClientHook, bound_waiter: BoundWaiter) -> Callable[..., Any]:
    def wait_until(self: Any, /, *, max_wait: Any = None, **keywords: Any) -> WaiterOutcome[Any]:
        called_at = time.monotonic()
        # What runs waits is imported in a wait, whose `max_wait` counts that time.
        from ..service.client_waits import wait_on  # noqa: PLC0415

        settings = hook.level.merged()
        return wait_on(
            self, bound_waiter, settings, max_wait=max_wait, keywords=keywords, called_at=called_at
        )

    async def wait_until_async(
        self: Any, /, *, max_wait: Any = None, **keywords: Any
    ) -> WaiterOutcome[Any]:
        called_at = time.monotonic()
        from ..service.client_waits import wait_on_async  # noqa: PLC0415 - as above

        settings = hook.level.merged()
        return await wait_on_async(
            self, bound_waiter, settings, max_wait=max_wait, keywords=keywords, called_at=called_at
        )

    definition = bound_waiter.definition
    method: Any = wait_until_async if is_async(type(client)) else wait_until
    method.__name__ = bound_waiter.method_name
    method.__qualname__ = f"{type(client).__name__}.{bound_waiter.method_name}"
    only_in_botocore = partial(hook.waiters(client).service.only_in_botocore, definition)
    method.__doc__ = WaitDocstring(bound_waiter, only_in_botocore)
    method.__signature__ = _signature(bound_waiter)
    method.definition = definition
    function: Callable[..., Any] = method
    return function


class _RefusedError(WaiterDefinitionError, AttributeError):
    """A method that does not exist because of a malformed definition.

    An AttributeError too, so that `hasattr` and autospec go past it.
    """


def _signature(bound_waiter: BoundWaiter) -> inspect.Signature:
    """Return the real parameters: max_wait, the operation's (required first), the options."""
    keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    parameters = [
        inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY),
        keyword("max_wait", annotation="float | timedelta"),
    ]
    shape = bound_waiter.operation.input_shape
    members = list(shape.members) if shape is not None else []
    required = list(shape.required_members) if shape is not None else []
    optional = [name for name in members if name not in required]
    parameters += [keyword(name) for name in required]
    parameters += [keyword(name, default=None) for name in (*optional, *OPTION_NAMES)]
    return inspect.Signature(parameters, return_annotation="WaiterOutcome")
