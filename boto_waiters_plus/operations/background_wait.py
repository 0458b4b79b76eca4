"""The checks of a wait that runs in the background."""

from __future__ import annotations

from typing import Any

from ..batch.wait import Wait
from ..calls.clients import is_async
from ..engine.model import WaiterDefinition
from ..options import refuse_short_wait
from ..service.client_waits import split_keywords
from ..service.waits import find_waiter


def background_wait(
    client: Any, waiter: str | WaiterDefinition, max_wait: Any, keywords: dict[str, Any]
) -> Wait:
    """Return a checked wait with a time bound; raises as `start`."""
    states = keywords.pop("until_state"), keywords.pop("state_path")
    bound_waiter, _ = find_waiter(client, waiter, *states)
    _check(client, max_wait)
    options, parameters = split_keywords(bound_waiter, keywords)
    refuse_short_wait(options, max_wait)
    waiter = waiter if states[0] is None else bound_waiter.definition
    return Wait.with_options(client, waiter, parameters, options, max_wait=max_wait)


def check_background(wait: Any) -> None:
    """Raise TypeError for what is no `Wait`, is asynchronous or has no time bound."""
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
