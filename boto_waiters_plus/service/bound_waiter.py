"""A definition together with the operation that it polls.

The lookup of a method needs no more than the two, so that what a wait needs of them is imported
where it is computed: that was half of what the first lookup of a process cost, and `max_wait`
counts the time of a wait.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from botocore import xform_name
from botocore.model import OperationModel

from ..common.errors import warn
from ..engine.acceptors import OutputMatcher
from ..engine.computed_once import computed_once
from ..engine.model import WaiterDefinition
from .places import botocore_is_newer

if TYPE_CHECKING:
    from ..engine.machine import Facts
    from ..engine.matching import Matching
    from ..engine.model import WaitDescription
    from ..wait.facts import FoundReason, ReasonFinder
    from .data_model import DataModel
    from .labels import ResourceLabel
    from .reasons import Compared
    from .screens import Screen
    from .sharing import Coalescing

METHOD_PREFIX = "wait_until_"


class OfChange(Protocol):
    """How the responses of a poll are judged for a change that is waited for."""

    def items_of(self, call: Mapping[str, Any]) -> Sequence[Any] | None:
        """The items of a call that are judged one by one; None: a response is judged whole."""

    def unmet(self, output: Any, call: Mapping[str, Any]) -> str | None:
        """Return how a response differs from what a call asked for, in words."""

    def settling(self, index: int | None) -> Mapping[str, Any]:
        """Return the members of `Facts` that `settle_for` goes by."""
        ...


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
        self.from_user = from_user
        self._warned = False

    is_shipped = False
    """Whether the acceptors are known to come with this package, under whatever name."""

    certain: Collection[int] = ()
    """The indexes of the acceptors that tell of a change, whatever the state was before it."""

    @property
    def of_change(self) -> OfChange | None:
        """What the acceptors see of a change that is waited for; None: of none."""
        return None

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
        from ..engine.model import WaitDescription  # noqa: PLC0415 - see the module

        return WaitDescription.of(self.definition, self.service_name, self.new_failures)

    @property
    def new_failures(self) -> frozenset[str]:
        """The states that say failure, and that only a newer botocore knows."""
        if not botocore_is_newer():
            return frozenset()
        from . import new_states  # noqa: PLC0415 - see the module

        find = new_states.new_failures if self.is_shipped else new_states.failures_to_warn_of
        comparisons = new_states.comparisons_of(self.definition)
        return find(self.definition.name, comparisons, self.operation)

    @computed_once
    def stock_description(self) -> WaitDescription:
        """The description for waiter objects, in botocore's words where it has any."""
        from .botocores_words import in_botocores_words  # noqa: PLC0415 - see the module

        return in_botocores_words(self.description, self.definition)

    @computed_once
    def resource_label(self) -> ResourceLabel:
        """Makes the labels of waits."""
        from .labels import ResourceLabel  # noqa: PLC0415 - see the module

        return ResourceLabel(self.operation)

    @computed_once
    def matching(self) -> Matching:
        """The compiled acceptors."""
        from ..engine.matching import Matching  # noqa: PLC0415 - see the module
        from .state_member import state_path  # noqa: PLC0415

        by_model = partial(state_path, self.operation)
        return Matching(self.definition.acceptors, state_by_model=by_model)

    @computed_once
    def data_model(self) -> DataModel:
        """The parts of a response that the acceptors can see."""
        from .data_model import DataModel  # noqa: PLC0415 - see the module

        return DataModel(self.operation, self.matching.paths)

    @computed_once
    def screen(self) -> Screen | None:
        """What tells the states of many resources at once; None if nothing does."""
        from .screens import screen_by  # noqa: PLC0415 - see the module

        return screen_by(self.definition, self.operation)

    @computed_once
    def _compared(self) -> tuple[Compared | None, ...]:
        """The state that each acceptor compares; None for one that compares no output."""
        from .reasons import Compared  # noqa: PLC0415 - see the module

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
        from .reasons import indexes_of_missing  # noqa: PLC0415 - see the module

        return indexes_of_missing(self._compared)

    @computed_once
    def coalescing(self) -> Coalescing | None:
        """How a response is split by the identifiers of the request; None: it has none."""
        from .sharing import coalescing_of  # noqa: PLC0415 - see the module

        return coalescing_of(self.operation)

    @computed_once
    def of_response(self) -> Mapping[int | None, tuple[Facts, ReasonFinder]]:
        """The facts and the reason finder for the acceptor that matches a response, or for none.

        All waits share them: made for each attempt, they would be a tenth of the memory of a wait.
        """
        from ..engine.machine import Facts  # noqa: PLC0415 - see the module

        return {
            index: (
                Facts(
                    acceptor=index,
                    certain=index in self.certain,
                    missing=index in self.of_missing,
                    **({} if self.of_change is None else self.of_change.settling(index)),
                ),
                partial(self.reason, index),
            )
            for index in (None, *range(len(self.definition.acceptors)))
        }

    def reason(self, matched: int | None, response: Any) -> FoundReason:
        """Return the service's reason for the state of a response; see `find_reason`."""
        from .reasons import find_reason  # noqa: PLC0415 - see the module

        return find_reason(self.operation, response, self._compared, matched)

    def warn(self) -> None:
        """Warn at the first wait if the waiter is deprecated or may modify resources."""
        if self._warned:
            return
        self._warned = True
        warn_if_deprecated(self.definition)
        # Definitions on the search path may name any operation.
        if self.from_user:
            self._warn_if_changing()

    def _warn_if_changing(self) -> None:
        from ..definitions.words import is_changing  # noqa: PLC0415 - see the module

        name, operation = self.definition.name, self.operation
        if is_changing(operation.name, operation.http.get("method")):
            message = f"waiter {name} polls {operation.name}, which may modify resources"
            warn(message, UserWarning)


def warn_if_deprecated(definition: WaiterDefinition) -> None:
    """Warn the caller, outside the package, of a deprecated waiter."""
    if definition.deprecated:
        warn(f"waiter {definition.name} is deprecated", DeprecationWarning)
