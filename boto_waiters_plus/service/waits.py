"""`wait_until` and `wait_until_async`: a wait on any client, hooked or not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol, TypeVar, overload

from ..calls.clients import client_behind, is_async
from ..common.arguments import unknown
from ..common.signatures import signature_of
from ..common.wrong_arguments import WrongTypeError, wrong_type
from ..engine.model import WaiterDefinition
from ..outcome import WaiterOutcome
from ..settings import Settings
from ..wait.drivers import PreparedWait
from .bound_waiter import BoundWaiter
from .client_waits import prepared_wait
from .clients import waiters_of
from .service_waiters import ServiceWaiters

T_co = TypeVar("T_co", covariant=True)


class _WaitUntil(Protocol[T_co]):
    """The types of `wait_until`, and of its awaited twin."""

    # fmt: off
    @overload
    def __call__(
        self, client: Any, waiter: str | WaiterDefinition, /, *, until_state: None = None,
        state_path: None = None, max_wait: Any = None, **keywords: Any,
    ) -> T_co: ...
    @overload
    def __call__(
        self, client: Any, operation: str, /, *, until_state: str | Iterable[str],
        state_path: str | None = None, max_wait: Any = None, **keywords: Any,
    ) -> T_co: ...
    # fmt: on


def _wait_until(
    client: Any,
    waiter: str | WaiterDefinition,
    /,
    *,
    until_state: str | Iterable[str] | None = None,
    state_path: str | None = None,
    max_wait: Any = None,
    **keywords: Any,
) -> Callable[[], PreparedWait]:
    own: dict[str, Any] = {"max_wait": max_wait, "called_at": time.monotonic()}
    found = find_waiter(client, waiter, until_state, state_path)
    return partial(prepared_wait, client, *found, keywords=keywords, **own)


def _typed(function: Callable[..., T_co]) -> _WaitUntil[T_co]:
    return signature_of(_wait_until)(function)


@_typed
def wait_until(*arguments: Any, **keywords: Any) -> WaiterOutcome[Any]:
    """Run one wait on any client, hooked or not.

    Args:
        client: a botocore client, or a proxy whose `__wrapped__` it is.
        waiter: `"BucketExists"`, `"bucket_exists"`, or a definition; with `until_state`, an
            operation that only reads, such as `"DescribeTable"`.
        until_state: the state to wait for, or several, each of which is a success. The other states
            that the model lists are failures if their names say so, such as `FAILED`. In a list
            of resources, all must have the state. `"gone"` is the end of the resource: its error
            for what is not found, a state such as `DELETED`, or an empty list where it is named.
        state_path: the JMESPath expression for the state, where a response has several.
        max_wait: seconds (or a `timedelta`) to wait at most.
        keywords: fields of `WaitOptions`, and the operation's parameters.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        ValueError: no such waiter, operation or state, or an option out of range.
        TypeError: `max_wait` is missing, or an option is of the wrong kind.
        WaiterError: the wait did not succeed (section "Waiter workflow").
    """
    prepare = _wait_until(*arguments, **keywords)
    if is_async(type(client_behind(arguments[0]))):
        raise TypeError("client is an aiobotocore client: await wait_until_async instead")
    return prepare().run()


@_typed
async def wait_until_async(*arguments: Any, **keywords: Any) -> WaiterOutcome[Any]:
    """`wait_until` as part of the calling task.

    An aiobotocore client is awaited. Any other is called in a thread, one per call; for many
    waits at once, `wait_all_async` shares a few threads. Cancelling the task ends the wait in
    either case, the request in flight included.

    Args:
        client: an aiobotocore or a botocore client.
        waiter, until_state, state_path, max_wait, keywords: as for `wait_until`.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        ValueError, TypeError, WaiterError: as `wait_until`.
    """
    return await _wait_until(*arguments, **keywords)().run_async()


def find_waiter(
    client: Any,
    waiter: str | WaiterDefinition | BoundWaiter,
    until_state: str | Iterable[str] | None = None,
    state_path: str | None = None,
) -> tuple[BoundWaiter, Settings]:
    """Return a client's waiter, and its settings.

    Args:
        client: the client.
        waiter: a waiter by either form of its name, a definition, the name of an operation, or
            what was found before.
        until_state, state_path: with an operation; see `wait_until`.

    Raises:
        TypeError: not a botocore client, or an argument of the wrong type.
        ValueError: no such waiter (the message has the nearest names), operation or state.
        WaiterDefinitionError: the definition does not fit the client's service.
    """
    waiters = waiters_of(client)
    service = waiters.service
    if until_state is not None:
        return _made(service, waiter, until_state, state_path), waiters.settings
    if isinstance(waiter, BoundWaiter):
        return waiter, waiters.settings
    if state_path is not None:
        problem = " goes with until_state, the state to wait for"
        raise WrongTypeError.of("state_path", state_path, problem)
    if isinstance(waiter, WaiterDefinition):
        return service.bind(waiter), waiters.settings
    if not isinstance(waiter, str):
        raise wrong_type("waiter", waiter, "the name of a waiter or a definition")
    bound_waiter = service.find(waiter)
    if bound_waiter is None:
        from ..definitions.near_waiters import did_you_mean  # noqa: PLC0415 - only for a wrong name

        known = [w.definition.name for w in service.values()]
        hint = did_you_mean(waiter, service if waiter.islower() else known)
        if service.operation(waiter) is not None:
            hint = f"; {waiter} is an operation: give until_state, the state to wait for"
        raise ValueError(
            f"Waiter does not exist: {service.service_name} has no waiter {waiter!r}{hint}"
        )
    return bound_waiter, waiters.settings


def _made(
    service: ServiceWaiters, operation: Any, until_state: Any, state_path: Any
) -> BoundWaiter:
    """Return the waiter for a state of what an operation describes."""
    from .on_the_spot import made_waiter  # noqa: PLC0415 - rarely needed

    if not isinstance(operation, str):
        problem = f" goes with the name of an operation, not {type(operation).__name__}"
        raise WrongTypeError.of("until_state", until_state, problem)
    found = service.operation(operation)
    if found is None:
        bound_waiter = service.find(operation)
        if bound_waiter is not None:
            raise ValueError(
                f"{operation} is a waiter: until_state goes with an operation, such as "
                f"{bound_waiter.operation.name}"
            )
        hint = unknown(operation, service.operation_names, "operation")
        raise ValueError(f"{service.service_name}: {hint}")
    return service.bind(made_waiter(found, until_state, state_path))
