"""`wait_until` and `wait_until_async`: a wait on any client, hooked or not."""

from __future__ import annotations

from typing import Any

from ..arguments import unknown
from ..aws.bound_waiter import BoundWaiter
from ..aws.client_kind import is_async
from ..aws.client_waits import wait_on, wait_on_async
from ..engine.model import WaiterDefinition
from ..outcome import WaiterOutcome
from ..settings import Settings
from .clients import waiters_of


def wait_until(
    client: Any, waiter: str | WaiterDefinition, /, *, max_wait: Any = None, **keywords: Any
) -> WaiterOutcome[Any]:
    """Wait for any client, hooked or not.

    Args:
        client: a botocore client.
        waiter: `"BucketExists"`, `"bucket_exists"`, or a definition.
        max_wait: seconds (or a `timedelta`) to wait at most.
        keywords: fields of `WaitOptions`, and the operation's parameters.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        ValueError: no such waiter, or an option out of range.
        TypeError: `max_wait` is missing, or an option is of the wrong kind.
        WaiterError: the wait did not succeed (section "Waiter workflow").
    """
    bound, settings = find_waiter(client, waiter)
    if is_async(type(client)):
        raise TypeError("client is an aiobotocore client: await wait_until_async instead")
    return wait_on(client, bound, settings, max_wait=max_wait, keywords=keywords)


async def wait_until_async(
    client: Any, waiter: str | WaiterDefinition, /, *, max_wait: Any = None, **keywords: Any
) -> WaiterOutcome[Any]:
    """`wait_until` as part of the calling task.

    An aiobotocore client is awaited. Any other is called in a thread, one per call; for many
    waits at once `wait_all_async` shares a few. Cancelling the task ends either, the request in
    flight included.

    Args:
        client: an aiobotocore or a botocore client.
        waiter, max_wait, keywords: as for `wait_until`.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        ValueError, TypeError, WaiterError: as `wait_until`.
    """
    bound, settings = find_waiter(client, waiter)
    return await wait_on_async(client, bound, settings, max_wait=max_wait, keywords=keywords)


def find_waiter(client: Any, waiter: str | WaiterDefinition) -> tuple[BoundWaiter, Settings]:
    """Return a client's waiter by either form of its name or by its definition, and its settings.

    Raises:
        TypeError: not a botocore client, or neither a name nor a definition.
        ValueError: no such waiter; the message has the nearest name.
        WaiterDefinitionError: the definition does not fit the client's service.
    """
    waiters = waiters_of(client)
    service = waiters.service
    if isinstance(waiter, WaiterDefinition):
        return service.bind(waiter), waiters.settings
    if not isinstance(waiter, str):
        raise TypeError(
            f"waiter must be the name of a waiter or a definition, not {type(waiter).__name__}"
        )
    bound = service.get(waiter)
    if bound is None:
        known = [w.definition.name for w in service.by_snake_name.values()]
        names = list(service.by_snake_name) if waiter.islower() else known
        raise ValueError(f"Waiter does not exist: {unknown(waiter, names, 'waiter')}")
    return bound, waiters.settings
