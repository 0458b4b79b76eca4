"""Waiter objects for definitions that botocore has no waiter for.

`client.get_waiter("query_execution_succeeded")` gives a real `botocore.waiter.Waiter`. Its config
is the definition as far as `waiters-2` can express it, for readers of `config.acceptors`; its
replies are judged by the definition itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from botocore.exceptions import ClientError
from botocore.waiter import AcceptorConfig, WaiterModel, is_valid_waiter_error

from ..definitions.waiters2 import acceptor_to_waiters2, to_waiters2
from ..engine.model import MatchedAcceptor, WaiterDefinition
from ..engine.wait_description import WaitDescription
from ..runtime.attempt import Attempt, Judge, Reply
from .bound_waiter import BoundWaiter
from .waiter_config import mark_as_unchosen

_BOUND_WAITER = "_boto_waiters_plus_definition"
"""The attribute of a waiter object's class that holds its `BoundWaiter`."""


def bound_waiter_of(waiter: Any) -> BoundWaiter | None:
    """Return what a waiter object runs; None if botocore's acceptors judge."""
    found = getattr(type(waiter), _BOUND_WAITER, None)
    return found if isinstance(found, BoundWaiter) else None


def waiter_object(
    client: Any, bound_waiter: BoundWaiter, create: Callable[[str, WaiterModel, Any], Any]
) -> Any:
    """Return a waiter object that runs a definition.

    Args:
        client: the client it will call.
        bound_waiter: the definition on its operation.
        create: `create_waiter_with_client`, botocore's or aiobotocore's.
    """
    definition = bound_waiter.definition
    document = {"version": 2, "waiters": {definition.name: to_waiters2(definition)}}
    waiter = create(definition.name, WaiterModel(document), client)
    mark_as_unchosen(waiter.config, (definition.min_delay, definition.max_delay))
    # Its class was made for this one object.
    setattr(type(waiter), _BOUND_WAITER, bound_waiter)
    return waiter


def in_botocores_words(
    description: WaitDescription, definition: WaiterDefinition
) -> WaitDescription:
    """Return what is waited for, in botocore's words where it has any."""
    acceptors = []
    for index, acceptor in enumerate(definition.acceptors):
        config = acceptor_to_waiters2(acceptor)
        text = acceptor.matcher.describe() if config is None else AcceptorConfig(config).explanation
        acceptors.append(MatchedAcceptor(index, text))
    return replace(description, goal="", acceptors=tuple(acceptors))


class ErrorResponses:
    """Judges error responses that were returned instead of raised.

    They are where another function stands in the operation's place.

    Args:
        judge: of errors that were raised, and of other responses.
        operation: the name of the operation.
    """

    def __init__(self, judge: Judge, operation: str) -> None:
        self._judge = judge
        self._operation = operation

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this response or error."""
        if reply.error is None and is_valid_waiter_error(reply.response):
            reply = Reply(error=ClientError(reply.response, self._operation))
        return self._judge.judge(reply)
