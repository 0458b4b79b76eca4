"""What a wait needs of a definition and the operation that it polls; the same for every wait."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from botocore.model import OperationModel

from ..definitions.shipped import is_from_data
from ..definitions.waiters2 import acceptor_to_waiters2
from ..engine.acceptors import MatchedAcceptor, OutputMatcher
from ..engine.computed_once import computed_once
from ..engine.machine import Facts
from ..engine.matching import Matching
from ..engine.model import FAILS_BY_WORDS, WaitDescription, WaiterDefinition
from ..wait.facts import FoundReason, ReasonFinder
from .data_model import DataModel
from .labels import ResourceLabel
from .new_states import comparisons_of, failure_by_words, failures_to_warn_of, new_failures
from .reasons import Compared, find_reason, indexes_of_missing
from .reports import StateReports, WordsWithPaths, shipped_reports
from .screens import Screen, screen_by
from .shapes import state_path
from .sharing import Coalescing, coalescing_of


class PollingWaiter:
    """What a wait needs of a definition and the operation that it polls.

    It is computed at first use and kept.

    Args:
        definition: the waiter.
        operation: the model of its operation.
        from_user: whether it comes neither with this package nor with botocore.
    """

    def __init__(
        self, definition: WaiterDefinition, operation: OperationModel, *, from_user: bool = True
    ) -> None:
        if FAILS_BY_WORDS in definition.tags:
            acceptors = (*definition.acceptors, *failure_by_words(definition))
            definition = replace(definition, acceptors=acceptors)
        self.definition = definition
        self.operation = operation
        self._from_user = from_user

    is_shared = True
    """Whether a response that answers one wait may answer others, too."""

    reads_pages = False
    """Whether an attempt reads all pages of the answer."""

    is_shipped = False
    """Whether the acceptors are known to come with this package, under whatever name."""

    certain: Collection[int] = ()
    """The indexes of the acceptors that tell of a change, whatever the state was before it."""

    def items_of(self, _: Mapping[str, Any]) -> Sequence[Any] | None:
        """Return the items of a call that are judged one by one; None: a response is whole."""
        return None

    def unmet(self, _: Any, __: Mapping[str, Any]) -> str | None:
        """Return how a response differs from what a call asked for, in words."""
        return None

    def settling(self, _: int | None) -> Mapping[str, Any]:
        """Return the members of `Facts` that `settle_for` goes by."""
        return {}

    @computed_once
    def description(self) -> WaitDescription:
        """The waiter, as messages and observers name it."""
        return WaitDescription.of(
            self.definition, self.operation.service_model.service_name, self.new_failures
        )

    @property
    def new_failures(self) -> frozenset[str]:
        """The states that say failure, and that only a newer botocore knows."""
        find = new_failures if self.is_shipped else failures_to_warn_of
        comparisons = comparisons_of(self.definition)
        return find(self.definition.name, comparisons, self.operation)

    @computed_once
    def stock_description(self) -> WaitDescription:
        """The description for waiter objects, in botocore's words where it has any."""
        # Only the waiter objects of `get_waiter` have brought it.
        from botocore.waiter import AcceptorConfig  # noqa: PLC0415

        acceptors = []
        for index, acceptor in enumerate(self.definition.acceptors):
            config = acceptor_to_waiters2(acceptor)
            matched = acceptor.matcher.describe()
            text = matched if config is None else AcceptorConfig(config).explanation
            acceptors.append(MatchedAcceptor(index, text))
        return replace(self.description, goal="", acceptors=tuple(acceptors))

    @computed_once
    def resource_label(self) -> ResourceLabel:
        """Makes the labels of waits."""
        return ResourceLabel(self.operation)

    @computed_once
    def matching(self) -> Matching:
        """The compiled acceptors."""
        by_model = partial(state_path, self.operation)
        return Matching(self.definition.acceptors, state_by_model=by_model)

    @computed_once
    def data_model(self) -> DataModel:
        """The parts of a response that the acceptors can see."""
        return DataModel(self.operation, self.matching.paths)

    @computed_once
    def reported_paths(self) -> WordsWithPaths:
        """The words that it reports of the state seen, each with its path."""
        definition = self.definition
        # A copy with other delays is the caller's.
        is_own = self._from_user and not is_from_data(definition)
        shipped = () if is_own else shipped_reports(self.operation, definition.name)
        return definition.reports or shipped

    @computed_once
    def reports(self) -> StateReports:
        """Reads what is reported of the state seen."""
        return StateReports(self.operation, self.reported_paths)

    @computed_once
    def screen(self) -> Screen | None:
        """What tells the states of many resources at once; None if nothing does."""
        return screen_by(self.definition, self.operation) if self.is_shared else None

    @computed_once
    def _compared(self) -> tuple[Compared | None, ...]:
        """The state that each acceptor compares; None for one that compares no output."""
        return tuple(
            Compared(
                acceptor.matcher.matcher.path, acceptor.matcher.matcher.expected, acceptor.state
            )
            if isinstance(acceptor.matcher, OutputMatcher) and acceptor.matcher.matcher.expected
            else None
            for acceptor in self.definition.acceptors
        )

    @computed_once
    def of_missing(self) -> frozenset[int]:
        """The indexes of the acceptors that say that the resource was not found."""
        return indexes_of_missing(self._compared)

    @computed_once
    def coalescing(self) -> Coalescing | None:
        """How a response is split by the identifiers of the request; None: it is not."""
        return coalescing_of(self.operation) if self.is_shared else None

    @computed_once
    def of_response(self) -> Mapping[int | None, tuple[Facts, ReasonFinder]]:
        """The facts and the reason finder for the acceptor that matches a response, or for none.

        All waits share them: made for each attempt, they would be a tenth of the memory of a wait.
        """
        return {
            index: (
                Facts(
                    acceptor=index,
                    certain=index in self.certain,
                    missing=index in self.of_missing,
                    **self.settling(index),
                ),
                partial(self.reason, index),
            )
            for index in (None, *range(len(self.definition.acceptors)))
        }

    def reason(self, matched: int | None, response: Any) -> FoundReason:
        """Return the service's reason for the state of a response; see `find_reason`."""
        return find_reason(self.operation, response, self._compared, matched)
