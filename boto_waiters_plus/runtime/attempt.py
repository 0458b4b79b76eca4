"""What a driver calls, and what it gets back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..engine.machine import Facts


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One call and what it gave; responses and exceptions stay on this side of the engine."""

    facts: Facts
    response: Any = None
    exception: Exception | None = None
    observed: Any = None
    """What the acceptor's path gave, or the state seen; None if the model calls it sensitive."""
    error: str | None = None
    """The error in a few words that may be shown: its code, or its class and the endpoint."""
    error_code: str | None = None
    """The wire code of the error, or the name of its class."""
    service_message: str | None = None
    """The service's own words: of an error its message, of a response what `message` gave."""
    find_reason: Callable[[Mapping[str, Any]], str | None] | None = None
    """Finds the service's own words where there are none yet; asked if the wait ends with this."""
    last_response: Mapping[str, Any] = field(default_factory=dict)
    cut_off: Literal["deadline", "cancel"] | None = None
    """The call was ended by us and gave nothing: its time was up, or somebody cancelled."""
    problems: tuple[str, ...] = ()
    """Expressions that could not be evaluated."""
    coalesced: bool = False
    """The call asked for several waits at once."""
    by_id: Mapping[str, Any] | None = None
    """The items of the response by the identifiers that were asked for, where it may have some."""

    @property
    def throttled(self) -> bool:
        """Whether the service said that it was asked too much."""
        return self.facts.throttled


@dataclass(slots=True, kw_only=True)
class Shares:
    """One call for several waits and what it gave."""

    attempts: tuple[Attempt, ...] = ()
    """That of each wait, in their order; none if there is an `instead`."""
    silent: frozenset[int] = frozenset()
    """The places of the waits that the answer says nothing of."""
    instead: Literal["halve", "part"] | None = None
    """`"halve"`: an error that may be about one of them. `"part"`: an answer that cannot be told
    apart."""

    @property
    def throttled(self) -> bool:
        """Whether the service said that it was asked too much."""
        return any(attempt.throttled for attempt in self.attempts)


class Port(Protocol):
    """A call that blocks."""

    def poll(self, time_left: float | None) -> Attempt:
        """Make the call, in at most `time_left` seconds where the port can bound it.

        What is no answer of the operation (bad parameters, a bug in a user's hook) is raised.
        """
        ...


class AsyncPort(Protocol):
    """A call that is awaited."""

    async def poll(self, time_left: float | None) -> Attempt:
        """See `Port.poll`."""
        ...
