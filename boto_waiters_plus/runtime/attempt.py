"""The two halves of an attempt: a call gives a reply, a judge makes an attempt of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from ..engine.machine import Facts

Ended = Literal["deadline", "cancelled", "retry refused"]
"""Why a call was ended before the operation answered."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one call gave: a response, an error, or neither because it was ended."""

    response: Any = None
    error: Exception | None = None
    ended: Ended | None = None
    """With `"retry refused"` the `error` is the one that the SDK would have retried."""
    made: bool = True
    """False: the time was used up before the call could be made."""


class Call(Protocol):
    """A call that blocks."""

    def make(self, time_left: float | None) -> Reply:
        """Make the call, in at most `time_left` seconds (None: no limit).

        An error is a reply if the operation answered with it. Others (bad parameters, a bug in a
        user's hook) are raised. With 0 seconds or less no call is made. A reply that time
        or a cancel event ended is given to no judge.
        """
        ...


class AsyncCall(Protocol):
    """A call that is awaited."""

    async def make(self, time_left: float | None) -> Reply:
        """Make the call; see `Call.make`."""
        ...


class Judge(Protocol):
    """Tells what a reply means for the wait; pure, outside the bounded part of the call."""

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this response or error."""
        ...


class ItemsById(Mapping[str, Any]):
    """The items of a response by the identifiers of the request."""

    @abstractmethod
    def ids_where(self, is_meant: Callable[[int | None], bool]) -> UnfinishedIds:
        """Return the identifiers whose own items are meant, and those without any.

        Args:
            is_meant: is given the index of the acceptor that matches the items of one
                identifier; None: no acceptor matches.
        """


class UnfinishedIds(NamedTuple):
    """The identifiers that failed, or had not reached the state."""

    ids: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Those among them that the response does not mention."""
    asked: int = 0
    """The number of identifiers that the wait asked for."""


ReasonFinder = Callable[[Mapping[str, Any]], str | None]
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
    """The error in a few words that are safe to show: its code, or its class and the endpoint."""
    error_code: str | None = None
    """The wire code of the error, or the name of its class."""
    service_message: str | None = None
    """The service's message: of an error its own, of a response what `message` gave."""
    find_reason: ReasonFinder | None = None
    """Finds the service's reason where there is no message; called if the wait ends here."""
    last_response: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
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
    """Return the text that a `message` expression gave; of a list its first item."""
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, str) else None
