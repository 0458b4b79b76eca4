"""One wait among many, checked when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botocore.model import OperationModel

from ..aws.client_kind import is_async
from ..aws.port import AsyncClientPort, ClientPort
from ..engine.machine import Policy
from ..engine.model import WaiterDefinition
from ..hooks.methods import find_waiter
from ..hooks.sessions import _installed_scope, client_scope
from ..options import (
    NO_OPTIONS,
    CancelEvent,
    WaitOptions,
    policy_for,
    seconds,
    split_options,
)
from ..settings import Scope


class Wait:
    """One wait to be run with others; checked when it is made, and never changed by a run.

    Args:
        client: a botocore client.
        waiter: `"BucketExists"` or `"bucket_exists"`.
        parameters: the operation's parameters.
        max_wait: seconds (or a `timedelta`) to wait at most, from the start of the run. May be
            left out where the run has a `max_wait`, or a `deadline` around it.
        options: fields of `WaitOptions`.

    Raises:
        TypeError: not a client, or an option is of the wrong kind.
        ValueError: no such waiter, an option out of range, or an empty list of ids.
    """

    __slots__ = ("_bound", "client", "max_wait", "options", "parameters")

    def __init__(
        self,
        client: Any,
        waiter: str,
        parameters: Mapping[str, Any],
        /,
        *,
        max_wait: Any = None,
        **options: Any,
    ) -> None:
        if not isinstance(waiter, str):
            raise TypeError(f"waiter must be a waiter's name, not {type(waiter).__name__}")
        if not isinstance(parameters, Mapping):
            raise TypeError(f"parameters must be a mapping, not {type(parameters).__name__}")
        self._bound = find_waiter(client, waiter, _installed_scope)
        self._bound.refuse_empty_lists(parameters)
        self.client = client
        self.parameters: Mapping[str, Any] = dict(parameters)
        self.max_wait = None if max_wait is None else seconds("max_wait", max_wait)
        self.options = _only_options(options)
        # For what it raises.
        self._policy(client_scope(client), self.max_wait or 1)
        self._bound.warn()

    @property
    def definition(self) -> WaiterDefinition:
        """The definition of the waiter."""
        return self._bound.definition

    @property
    def operation(self) -> OperationModel:
        """The operation that is polled."""
        return self._bound.operation

    @property
    def waiter(self) -> str:
        """The name of the waiter."""
        return self._bound.definition.name

    def __repr__(self) -> str:
        # The parameters stay out: reprs end up in logs.
        service = self._bound.operation.service_model.service_name
        return f"Wait({service} {self.waiter}, max_wait={self.max_wait})"

    def _port(self, cancel: CancelEvent, options: WaitOptions) -> ClientPort | AsyncClientPort:
        port = ClientPort(
            self.client,
            self._bound,
            self.parameters,
            cancel=cancel,
            in_thread=bool(options.call_in_thread),
        )
        return AsyncClientPort(port) if is_async(type(self.client)) else port

    def _policy(self, scope: Scope, max_wait: float) -> tuple[Policy, WaitOptions]:
        options = self.options.over(scope.defaults)
        return policy_for(self._bound.definition, options, max_wait), options


def _only_options(keywords: Mapping[str, Any]) -> WaitOptions:
    if not keywords:
        return NO_OPTIONS
    options, others = split_options(keywords)
    if others:
        names = ", ".join(sorted(others))
        raise TypeError(f"unexpected {names}: the operation's parameters are the third argument")
    return options
