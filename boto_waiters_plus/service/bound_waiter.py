"""A definition together with the operation that it polls: what the lookup of a method needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore import xform_name
from botocore.model import OperationModel

from ..common.errors import warn
from ..definitions.words import is_changing
from ..engine.computed_once import computed_once
from ..engine.model import WaiterDefinition

if TYPE_CHECKING:
    from .polling_waiter import PollingWaiter

METHOD_PREFIX = "wait_until_"

UNTIL_GONE = "until_state='gone'"
"""The source of a waiter that was made for the end of a resource: requests have to name one."""


class BoundWaiter:
    """A definition together with the operation that it polls.

    Args:
        definition: the waiter.
        operation: the model of its operation.
        from_user: whether the definition comes neither with this package nor with botocore.
        polling: what a wait needs of it; None: it is that of any definition.
    """

    def __init__(
        self,
        definition: WaiterDefinition,
        operation: OperationModel,
        *,
        from_user: bool = False,
        polling: PollingWaiter | None = None,
    ) -> None:
        self.definition = definition
        self.operation = operation
        self.from_user = from_user
        self._polling = polling
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
    def polling(self) -> PollingWaiter:
        """What a wait needs of it."""
        if self._polling is not None:
            return self._polling
        # It takes most of what a first wait imports, and a lookup needs none of it.
        from .polling_waiter import PollingWaiter  # noqa: PLC0415

        return PollingWaiter(self.definition, self.operation, from_user=self.from_user)

    def warn(self) -> None:
        """Warn at the first wait if the waiter is deprecated or may modify resources."""
        if self._warned:
            return
        self._warned = True
        warn_if_deprecated(self.definition)
        name, operation = self.definition.name, self.operation
        # Definitions on the search path may name any operation.
        if self.from_user and is_changing(operation.name, operation.http.get("method")):
            message = f"waiter {name} polls {operation.name}, which may modify resources"
            warn(message, UserWarning)


def warn_if_deprecated(definition: WaiterDefinition) -> None:
    """Warn the caller, outside the package, of a deprecated waiter."""
    if definition.deprecated:
        warn(f"waiter {definition.name} is deprecated", DeprecationWarning)
