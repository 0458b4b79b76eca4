"""A definition together with the operation that it polls."""

from __future__ import annotations

import warnings
from typing import Any

from botocore import xform_name
from botocore.model import OperationModel

from ..arguments import caller_stacklevel
from ..definitions.operation_names import is_changing
from ..engine.computed_once import computed_once
from ..engine.matching import Matching
from ..engine.model import OutputMatcher, WaiterDefinition
from ..runtime.wait_run import WaitDescription
from .data_model import DataModel
from .labels import ResourceLabel
from .reasons import Compared, find_reason, indexes_of_missing

METHOD_PREFIX = "wait_until_"


class BoundWaiter:
    """A definition together with the operation that it polls.

    Whatever is the same for every wait is computed at first use and kept.

    Args:
        definition: the waiter.
        operation: the model of its operation.
        from_user: whether the definition comes neither with this package nor with botocore.
    """

    def __init__(
        self, definition: WaiterDefinition, operation: OperationModel, *, from_user: bool = False
    ) -> None:
        self.definition = definition
        self.operation = operation
        self._from_user = from_user
        self._warned = False

    @computed_once
    def method_name(self) -> str:
        """The name of the attached method."""
        return METHOD_PREFIX + xform_name(self.definition.name)

    @computed_once
    def service_name(self) -> str:
        """The botocore name of the service."""
        return self.operation.service_model.service_name

    @computed_once
    def client_method(self) -> str:
        """The name of the client's method that calls the operation."""
        return xform_name(self.operation.name)

    @computed_once
    def description(self) -> WaitDescription:
        """The waiter, as messages and observers name it."""
        return WaitDescription.of(self.definition, self.service_name)

    @computed_once
    def resource_label(self) -> ResourceLabel:
        """Makes the labels of waits."""
        return ResourceLabel(self.operation)

    @computed_once
    def matching(self) -> Matching:
        """The compiled acceptors."""
        return Matching(self.definition.acceptors)

    @computed_once
    def data_model(self) -> DataModel:
        """The parts of a response that the acceptors can see."""
        return DataModel(self.operation, self.matching.paths)

    @computed_once
    def idempotency_members(self) -> tuple[str, ...]:
        """The input members that botocore fills with a fresh token if they are not given."""
        return tuple(self.operation.idempotent_members)

    @computed_once
    def streaming_member(self) -> str | None:
        """The output member that is a stream; None if there is none."""
        shape = self.operation.output_shape
        if shape is None or not self.operation.has_streaming_output:
            return None
        member: str | None = shape.serialization.get("payload")
        return member

    @computed_once
    def _compared(self) -> tuple[Compared | None, ...]:
        """The state that each acceptor compares; None for one that compares no output."""
        return tuple(
            Compared(
                acceptor.matcher.matcher.path, acceptor.matcher.matcher.expected, acceptor.state
            )
            if isinstance(acceptor.matcher, OutputMatcher)
            else None
            for acceptor in self.definition.acceptors
        )

    @computed_once
    def of_missing(self) -> frozenset[int]:
        """The indexes of the acceptors that say that the resource was not found."""
        return indexes_of_missing(self._compared)

    def reason(self, matched: int | None, response: Any) -> str | None:
        """Return the service's reason for the state of a response; see `find_reason`."""
        return find_reason(self.operation, response, self._compared, matched)

    def warn(self) -> None:
        """Warn at the first wait if the waiter is deprecated or may modify resources."""
        if self._warned:
            return
        self._warned = True
        name, operation = self.definition.name, self.operation
        warn_if_deprecated(self.definition)
        # Definitions on the search path may name any operation.
        if self._from_user and is_changing(operation.name, operation.http.get("method")):
            message = f"waiter {name} polls {operation.name}, which may modify resources"
            warnings.warn(message, UserWarning, stacklevel=caller_stacklevel())


def warn_if_deprecated(definition: WaiterDefinition) -> None:
    """Warn the caller, outside the package, of a deprecated waiter."""
    if definition.deprecated:
        message = f"waiter {definition.name} is deprecated"
        warnings.warn(message, DeprecationWarning, stacklevel=caller_stacklevel())
