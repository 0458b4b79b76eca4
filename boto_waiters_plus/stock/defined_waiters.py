"""Waiter objects for definitions that botocore has no waiter for.

`client.get_waiter("query_execution_succeeded")` gives a real `botocore.waiter.Waiter`. Its config
is the definition in botocore's form, for readers of `config.acceptors`; its replies are judged by
the definition itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jmespath
from botocore.exceptions import ClientError
from botocore.utils import ArgumentGenerator
from botocore.waiter import AcceptorConfig, WaiterModel, is_valid_waiter_error
from jmespath.exceptions import JMESPathError

from ..calls.budget import Reply
from ..definitions.waiters2 import acceptor_to_waiters2, to_waiters2
from ..engine.acceptors import Acceptor, OutputMatcher
from ..service.bound_waiter import BoundWaiter
from ..service.clients import ClientHook
from ..wait.facts import Attempt, Judge
from .waiter_config import UnchosenConfig, mark_as_unchosen

_BOUND_WAITER = "_boto_waiters_plus_definition"
"""The attribute of a waiter object's class that holds its `BoundWaiter`."""


def bound_waiter_of(waiter: Any) -> BoundWaiter | None:
    """Return what a waiter object runs; None if botocore's acceptors judge."""
    found = getattr(type(waiter), _BOUND_WAITER, None)
    return found if isinstance(found, BoundWaiter) else None


def runs_here(waiter: Any, hook: ClientHook) -> bool:
    """Return whether the engine runs a waiter: after `uninstall` only if botocore's loop cannot."""
    return hook.runs_waiters() or bound_waiter_of(waiter) is not None


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
    mark_as_unchosen(waiter.config)
    if isinstance(waiter.config, UnchosenConfig):
        waiter.config.__class__ = DefinedConfig
        waiter.config.bound_waiter = bound_waiter
    # Its class was made for this one object.
    setattr(type(waiter), _BOUND_WAITER, bound_waiter)
    return waiter


class DefinedConfig(UnchosenConfig):
    """The config of a waiter that runs a definition."""

    bound_waiter: BoundWaiter

    @property
    def acceptors(self) -> list[AcceptorConfig]:
        """All acceptors; those that botocore's form cannot express are `SpecificationAcceptor`."""
        shape = self.bound_waiter.operation.output_shape
        generator = ArgumentGenerator(use_member_names=True)
        sample = {} if shape is None else generator.generate_skeleton(shape)
        return [_acceptor_config(each, sample) for each in self.bound_waiter.definition.acceptors]


class SpecificationAcceptor(AcceptorConfig):
    """An acceptor in the specification's words: `matcher` is `output` or `inputOutput`.

    Args:
        acceptor: compares a value of a path.
    """

    def __init__(self, acceptor: Acceptor) -> None:
        matcher: Any = acceptor.matcher
        on_output = replace(acceptor, matcher=OutputMatcher(matcher.matcher))
        super().__init__(acceptor_to_waiters2(on_output) or {})
        if matcher != on_output.matcher:
            # A response alone does not tell.
            self.matcher_func = lambda _: False
        (self.matcher,) = matcher.to_json()
        self._explanation = matcher.describe()

    @property
    def explanation(self) -> str:
        """The acceptor in words."""
        return str(self._explanation)


def _acceptor_config(acceptor: Acceptor, sample: Any) -> AcceptorConfig:
    """Return an acceptor in botocore's form, if its path has a value there.

    Args:
        acceptor: of a definition.
        sample: a response as botocore's `ArgumentGenerator` makes it up. It has no value where only
            the service knows the names of members, and no number where the specification has one.
    """
    body = acceptor_to_waiters2(acceptor)
    if body is None:
        return SpecificationAcceptor(acceptor)
    if "argument" in body:
        try:
            value = jmespath.search(body["argument"], sample)
        except JMESPathError:
            value = None
        if value is None or (body["matcher"] != "path" and not isinstance(value, list)):
            return SpecificationAcceptor(acceptor)
    return AcceptorConfig(body)


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
