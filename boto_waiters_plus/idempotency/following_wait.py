"""The wait that follows a call, on the resource that the call made."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jmespath
from botocore import xform_name
from botocore.model import OperationModel

from ..aws.client_waits import wait_on, wait_on_async
from ..aws.tokens import shape_id_of
from ..definitions.idempotency_traits import shipped_produces
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterFailedError, WaiterTimeoutError
from ..hooks.waits import find_waiter
from ..options import CancelEvent
from ..outcome import WaiterOutcome

ParametersOf = Callable[[Any], Mapping[str, Any]]
"""Returns a waiter's parameters, given the response of the call."""

WaiterChoice = str | WaiterDefinition | tuple[str | WaiterDefinition, ParametersOf]
"""A waiter, or a waiter and a function."""


class FollowingWait:
    """A waiter, and where its parameters come from.

    Args:
        client: the client of the call.
        choice: the waiter.
        operation: the operation of the call.
        input: the parameters of the call.

    Raises:
        TypeError: not a waiter.
        ValueError: no such waiter of this service; nothing is known of its parameters; or one
            of them comes from a parameter of the call that was not given.
    """

    def __init__(
        self, client: Any, choice: Any, operation: OperationModel, input: Mapping[str, Any]
    ) -> None:
        name, function = choice if isinstance(choice, tuple) else (choice, None)
        self._client = client
        self._bound, self._settings = find_waiter(client, name)
        self._operation = operation
        self._input = input
        self._function = function
        self._paths = shipped_produces(shape_id_of(operation)).get(self.name, {})
        if function is None:
            self._check_paths()
        elif not callable(function):
            kind = type(function).__name__
            raise TypeError(f"then_wait takes a waiter and a function of the response, not {kind}")

    @property
    def name(self) -> str:
        """The waiter's name."""
        return self._bound.definition.name

    def step(self, response: Any, max_wait: float, cancel_event: CancelEvent | None) -> WaitStep:
        """Return the wait for the resource of a response.

        Raises:
            WaiterFailedError: the response does not tell the resource.
            WaiterTimeoutError: no time is left.
        """
        parameters = self._parameters(response)
        if max_wait <= 0:
            raise WaiterTimeoutError(self.name, "timed out: the call took all of max_wait")
        keywords = {**parameters, "cancel_event": cancel_event}
        wait = (self._client, self._bound, self._settings)
        rest: dict[str, Any] = {"max_wait": max_wait, "keywords": keywords}
        return WaitStep(partial(wait_on, *wait, **rest), partial(wait_on_async, *wait, **rest))

    def _parameters(self, response: Any) -> Mapping[str, Any]:
        if self._function is not None:
            return dict(self._function(response))
        parameters = evaluated_paths(self._paths, self._input, response)
        missing = [name for name, value in parameters.items() if is_empty(value)]
        if missing:
            reason = f"the response of {self._operation.name} has no {', '.join(missing)}"
            raise WaiterFailedError(self.name, reason, response)
        return parameters

    def _check_paths(self) -> None:
        if not self._paths:
            method = xform_name(self._operation.name)
            raise ValueError(
                f"then_wait: it is not known which parameters {self.name} takes from the response "
                f"of {method}. Pass a function: then_wait=({self.name!r}, lambda response: {{...}})"
            )
        from_input = {name: path for name, path in self._paths.items() if not _needs_output(path)}
        for name, value in evaluated_paths(from_input, self._input, {}).items():
            if is_empty(value):
                needed = " or ".join(re.findall(r"input\.(\w+)", from_input[name]))
                raise ValueError(f"then_wait: {self.name} needs the parameter {needed} of the call")


@dataclass(frozen=True, slots=True)
class WaitStep:
    """One wait that is ready to run."""

    drive: Callable[[], WaiterOutcome[Any]]
    """Waits."""
    drive_async: Callable[[], Awaitable[WaiterOutcome[Any]]]
    """Waits as part of a task."""


def evaluated_paths(
    paths: Mapping[str, str], input: Mapping[str, Any], output: Any = None, error: Any = None
) -> dict[str, Any]:
    """Return the values of paths on the input of a call, and on its output or its error."""
    document = {"input": input, "output": output, "error": error}
    return {name: jmespath.search(path, document) for name, path in paths.items()}


def describing_calls(
    client: Any, operation: OperationModel, input: Mapping[str, Any]
) -> Iterator[tuple[OperationModel, dict[str, Any]]]:
    """Yield the calls that describe the resource of a call by that call's own parameters."""
    for waiter, paths in shipped_produces(shape_id_of(operation)).items():
        if not any(map(_needs_output, paths.values())):
            parameters = evaluated_paths(paths, input, {})
            if not any(map(is_empty, parameters.values())):
                yield find_waiter(client, waiter)[0].operation, parameters


def _needs_output(path: str) -> bool:
    return "output." in path


def is_empty(value: Any) -> bool:
    """Whether a value, or a part of it, was not there."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return not value or any(map(is_empty, value))
    return value in (None, "")
