"""What a judge makes of a reply: an attempt, with the facts that the machine needs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from ..calls.budget import Reply
from ..engine.machine import Facts
from ..engine.redaction import may_show

if TYPE_CHECKING:
    from ..engine.path_interpreter import FailedExpression


class Judge(Protocol):
    """Tells what a reply means for the wait; pure, outside the bounded part of the call."""

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this response or error."""
        ...


class CauseSearch(Protocol):
    """Further reads about a failure, made one by one by the call of the wait."""

    cause: str | None
    """What they have told so far."""
    is_over_budget: bool
    """Whether a read was left out because other waits have made as many as there may be."""

    def has_more_after(self, reply: Reply | None) -> bool:
        """Take the reply to a read (None: there was none yet); return whether one follows."""
        ...


class Explainer(Protocol):
    """Knows the reads that may tell why a wait failed."""

    def search(self, response: Mapping[str, Any], elapsed: float) -> CauseSearch | None:
        """Begin a search: calls of the wait are its reads from now on.

        Args:
            response: the one in the failure state.
            elapsed: seconds since the start of the wait.

        Returns:
            The search; None: there is nothing to read.
        """
        ...


IsMeant = Callable[[int | None], bool]
"""Is given the index of the acceptor that matches the items of one identifier; None: none does."""


class ItemsById(Mapping[str, Any]):
    """The items of a response by the identifiers of the request."""

    @abstractmethod
    def ids_where(self, is_meant: IsMeant) -> UnfinishedIds:
        """Return the identifiers whose own items are meant, and those without any."""


class UnfinishedIds(NamedTuple):
    """The identifiers that failed, or had not reached the state."""

    ids: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Those among them that the response does not mention."""
    asked: tuple[str, ...] = ()
    """All identifiers that the wait asked for."""
    pending: tuple[str, ...] = ()
    """Those that had neither failed nor reached the state when others failed."""


class FoundReason(NamedTuple):
    """The service's reason for a state, as a response has it."""

    text: str | None = None
    hidden: str | None = None
    """Where a reason is that may not be shown, in words: in the error."""
    hidden_elsewhere: str | None = None
    """The same, without the error at hand."""


ReasonFinder = Callable[[Mapping[str, Any]], FoundReason]
"""Finds the service's reason in a response."""


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One call and its verdict; responses and exceptions stay on this side of the engine."""

    facts: Facts
    response: Any = None
    exception: Exception | None = None
    observed: Any = None
    """The value of the acceptor's path, or the state seen; None if the model calls it sensitive."""
    state: str | None = None
    """The state seen, in words that are safe to show, where `observed` does not tell it."""
    error: str | None = None
    """The error in a few words that are safe to show: its code, or its class and what is behind
    it; of another call with its name."""
    error_code: str | None = None
    """The wire code of the error, or the name of its class; of another call with its name."""
    other_call: str | None = None
    """The operation whose call ended in the error, if it is not the one of the wait."""
    service_message: str | None = None
    """The service's message: of an error its own, of a response what `message` gave."""
    find_reason: ReasonFinder | None = None
    """Finds the service's reason where there is no message; called if the wait ends here."""
    find_unmet: Callable[[], str | None] | None = None
    """Returns what was asked for and is not there, in words; called if the wait times out here."""
    hidden_reason: str | None = None
    hidden_elsewhere: str | None = None
    """Where the reason is in the response, in words, if the model marks it as sensitive."""
    last_response: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[FailedExpression, ...] = ()
    """Expressions that could not be evaluated."""
    coalesced: bool = False
    """The call was shared with other waits."""
    by_id: ItemsById | None = None
    """The items of the response by the identifiers of the request, where it has some."""


@dataclass(slots=True, kw_only=True)
class SharedAttempts:
    """The attempts of several waits that shared one call."""

    attempts: tuple[Attempt | None, ...] = ()
    """One for each wait, in order; empty if there is an `instead`. None: the wait needs a call of
    its own."""
    omitted: frozenset[int] = frozenset()
    """The places of the waits whose identifiers the response does not mention."""
    instead: Literal["halve", "disband", "continue"] | None = None
    """`"halve"`: the error may be about one of the identifiers. `"disband"`: the response cannot
    be split. `"continue"`: another call tells the rest."""
    was_throttled: bool = False
    """Whether the service throttled a call that there are no attempts of."""

    @property
    def throttled(self) -> bool:
        """Whether the service throttled the call."""
        made = filter(None, self.attempts)
        return self.was_throttled or any(attempt.facts.throttled for attempt in made)


def message_of(value: Any) -> str | None:
    """Return the text that a `message` expression gave; of a list its first item.

    None: there is none, or it may not be shown.
    """
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, str) and may_show(value) else None
