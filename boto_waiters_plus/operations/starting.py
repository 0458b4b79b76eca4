"""`start` and `get`: operations by their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..aws.client_kind import is_async
from ..aws.client_waits import split_keywords
from ..engine.model import WaiterDefinition
from ..hooks.waits import find_waiter
from ..many.wait import Wait
from .in_memory import get, start_in_memory

if TYPE_CHECKING:
    from .operation import Operation
    from .store import Store

__all__ = ["background_wait", "get", "start"]


def start(
    client: Any,
    waiter: str | WaiterDefinition,
    /,
    *,
    max_wait: Any,
    in_store: Store | None = None,
    **keywords: Any,
) -> Operation:
    """Start a wait in the background.

    All background waits of a process share one thread for their schedules and a few for their
    calls, and waits of one kind share calls, as in `wait_all`. Callbacks (`on_attempt`,
    `add_done_callback`) are called in another thread. A `deadline` around the call does not
    bound the wait.

    Args:
        client: a boto3 or botocore client.
        waiter: `"BucketExists"`, `"bucket_exists"`, or a definition.
        max_wait: seconds (or a `timedelta`) to wait at most.
        in_store: a `Store`: the wait outlives this process, and a worker of the store drives it.
            By default it ends with the process.
        keywords: fields of `WaitOptions`, and the operation's parameters. With `in_store` see
            `Store.start` for what can be stored.

    Returns:
        The operation, a future.

    Raises:
        ValueError: no such waiter, or an option out of range.
        TypeError: an option is of the wrong kind, or the client is asynchronous.
    """
    if in_store is not None:
        return in_store.start(client, waiter, max_wait=max_wait, **keywords)
    return start_in_memory(background_wait(client, waiter, max_wait, keywords))


def background_wait(
    client: Any, waiter: str | WaiterDefinition, max_wait: Any, keywords: dict[str, Any]
) -> Wait:
    """Return a checked wait with a bound.

    Raises:
        ValueError, TypeError: an argument is wrong.
    """
    bound, _ = find_waiter(client, waiter)
    _check(client, max_wait)
    _, parameters = split_keywords(bound, keywords)
    options = {name: value for name, value in keywords.items() if name not in parameters}
    return Wait(client, waiter, parameters, max_wait=max_wait, **options)


def check_background(wait: Any) -> None:
    """Refuse what cannot be a background wait.

    Raises:
        TypeError: not a wait, one on an asynchronous client, or one without a bound.
    """
    if not isinstance(wait, Wait):
        raise TypeError(f"waits must be Wait objects, not {type(wait).__name__}")
    try:
        _check(wait.client, wait.max_wait)
    except TypeError as error:
        raise TypeError(f"{wait!r}: {error}") from None


def _check(client: Any, max_wait: Any) -> None:
    if is_async(type(client)):
        raise TypeError("client is an aiobotocore client: background waits need a blocking one")
    if max_wait is None:
        raise TypeError("a background wait needs max_wait, the number of seconds to wait at most")
