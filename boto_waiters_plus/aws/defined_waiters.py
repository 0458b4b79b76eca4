"""Waiter objects for definitions that botocore has no waiter for.

`client.get_waiter("query_execution_succeeded")` gives a real `botocore.waiter.Waiter`. Its config
is the definition as far as `waiters-2` can express it, for readers of `config.acceptors`; its
replies are judged by the definition itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from botocore.exceptions import ClientError
from botocore.waiter import AcceptorConfig, WaiterModel, is_valid_waiter_error

from ..definitions.waiters2 import acceptor_to_waiters2, to_waiters2
from ..engine.model import MatchedAcceptor
from ..engine.wait_description import WaitDescription
from ..runtime.attempt import Attempt, Judge, Reply
from .bound_waiter import BoundWaiter
from .definition_judge import DefinitionJudge
from .waiter_config import mark_as_unchosen

_DEFINITION = "_boto_waiters_plus_definition"
"""The attribute of a waiter object's class that holds its `Definition`."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition that a waiter object runs."""

    bound: BoundWaiter
    description: WaitDescription

    @staticmethod
    def of(waiter: Any) -> Definition | None:
        """Return the definition of a waiter object; None if botocore's acceptors judge."""
        found = getattr(type(waiter), _DEFINITION, None)
        return found if isinstance(found, Definition) else None


def waiter_object(
    client: Any, bound: BoundWaiter, create: Callable[[str, WaiterModel, Any], Any]
) -> Any:
    """Return a waiter object that runs a definition.

    Args:
        client: the client it will call.
        bound: the definition on its operation.
        create: `create_waiter_with_client`, botocore's or aiobotocore's.
    """
    name = bound.definition.name
    model = WaiterModel({"version": 2, "waiters": {name: to_waiters2(bound.definition)}})
    waiter = create(name, model, client)
    mark_as_unchosen(waiter.config, (bound.definition.min_delay, bound.definition.max_delay))
    # Its class was made for this one object.
    setattr(type(waiter), _DEFINITION, Definition(bound, _description(bound)))
    return waiter


def defined_judge(
    definition: Definition, client: Any, parameters: Mapping[str, Any], *, is_replaced: bool
) -> Judge:
    """Return the judge of one wait.

    Args:
        definition: the waiter object's.
        client: the client that it calls.
        parameters: the operation's parameters.
        is_replaced: another function stands in the operation's place; it may return error
            responses.
    """
    endpoint = None if client is None else client.meta.endpoint_url
    judge = DefinitionJudge(definition.bound, parameters, endpoint)
    return _ErrorResponses(judge, definition.bound.operation.name) if is_replaced else judge


class _ErrorResponses:
    """Judges error responses that were returned instead of raised."""

    def __init__(self, judge: Judge, operation: str) -> None:
        self._judge = judge
        self._operation = operation

    def judge(self, reply: Reply) -> Attempt:
        if reply.error is None and is_valid_waiter_error(reply.response):
            reply = Reply(error=ClientError(reply.response, self._operation))
        return self._judge.judge(reply)


def _description(bound: BoundWaiter) -> WaitDescription:
    """Return what is waited for, in botocore's words where it has any."""
    acceptors = []
    for index, acceptor in enumerate(bound.definition.acceptors):
        config = acceptor_to_waiters2(acceptor)
        text = acceptor.matcher.describe() if config is None else AcceptorConfig(config).explanation
        acceptors.append(MatchedAcceptor(index, text))
    return replace(bound.description, goal="", acceptors=tuple(acceptors))
