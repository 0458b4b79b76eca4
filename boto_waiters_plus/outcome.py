"""The outcomes that successful waits return, and what they have in common with errors."""

from __future__ import annotations

import html
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from .engine.acceptors import MatchedAcceptor
from .engine.redaction import cut, shown, state_text
from .engine.reports import Reported, reported_text

LONGEST: Final = 100
"""The most attempts of a timeline; it has the last ones."""


class TimelineEntry(NamedTuple):
    """One attempt of a wait that ended in a response or an error.

    Attributes:
        attempt: its number, from 1.
        elapsed: seconds from the start of the wait to the answer.
        state: the state seen, or the code of the error, as text; None: it may not be shown.
    """

    attempt: int
    elapsed: float
    state: str | None


Record = tuple[Iterable[TimelineEntry] | None, int, float, str | None]
"""What a timeline is made from when it is asked for, because few are: the earlier attempts, then of
the last one its number, its time, and the state seen or the code of its error."""


Rows = Sequence[tuple[str, str]]


class FactTable:
    """The base class of outcomes and errors."""

    # A timeline of 100 attempts takes 12 kB, and few are asked for.
    timeline_record: Record | None = None
    reported: Reported = MappingProxyType({})
    """What the definition reports of the last state seen, by word (`boto.waiters#reports`): texts,
    numbers, or lists of at most five of them. Empty where the state is one value."""

    @property
    def timeline(self) -> tuple[TimelineEntry, ...]:
        """The last attempts of the wait, at most 100, with their times and the states seen.

        Each is a named tuple of `attempt` (its number), `elapsed` (seconds from the start of the
        wait to the answer) and `state` (the state seen or the code of the error, as text; None if
        it may not be shown). A call that was ended without an answer is not among them.
        """
        if self.timeline_record is None:
            return ()
        earlier, attempt, elapsed, state = self.timeline_record
        return (*(earlier or ()), TimelineEntry(attempt, round(elapsed, 3), state))

    def _rows(self) -> Rows:
        """Return the names and the texts of the facts, which are safe to show."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
            for name, text in self._rows()
        )
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"

    def __rich__(self) -> Any:
        # rich calls this, so that it is there.
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = Table(title=type(self).__name__, show_header=False, title_justify="left")
        for name, text in self._rows():
            # Text, because a plain string from a service would be read as rich's markup.
            table.add_row(Text(name), Text(text))
        return table


def wait_rows(wait: Any) -> Rows:
    """Return what the tables of outcomes and errors have in common; empty facts are left out."""
    rows = [
        ("waiter", wait.waiter),
        ("label", wait.label),
        ("state", reported_text(wait.reported) or state_text(wait.observed, None) or ""),
        ("attempts", str(wait.attempts)),
        ("elapsed", f"{wait.elapsed:.1f} s"),
    ]
    return [(name, text) for name, text in rows if text]


def reported_json(wait: Any) -> dict[str, Any]:
    """Return what a wait reports of the state seen, as JSON; nothing where that is one value."""
    return {"reported": dict(wait.reported)} if wait.reported else {}


ResponseT_co = TypeVar("ResponseT_co", covariant=True)


@dataclass(frozen=True, kw_only=True, repr=False)
class WaiterOutcome(FactTable, Generic[ResponseT_co]):
    """The end of a wait that succeeded: a `ResponseOutcome` or an `ExceptionOutcome`."""

    waiter: str
    """The waiter's name."""
    label: str = ""
    """The resource: `s3 Bucket=my-bucket`."""
    attempts: int
    """The number of calls that were made."""
    elapsed: float
    """Seconds from the start to the end."""
    acceptor: MatchedAcceptor
    """Index and text of the acceptor that matched."""
    observed: Any = None
    """The value of the acceptor's path; None if it has no path, or the model calls it sensitive."""
    basis: str | None = None
    """After a call of `begin`, how it is known that the state belongs to it; see `Effect.basis`."""
    coalesced: bool = False
    """Whether the call that ended the wait was shared with other waits."""
    by_id: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The items of the response by the identifiers of the request, such as the instance of each of
    `InstanceIds`. Identifiers that the response does not mention are left out. Empty if there is no
    response, the operation takes no list of identifiers, or it is not known which of its members
    is one.
    """
    timeline_record: Record | None = field(default=None, compare=False)
    reported: Reported = field(default_factory=dict, compare=False)
    # Not `ResponseT_co | None`: an outcome that was not narrowed would type-check nowhere.
    response: Any = field(default=None, init=False)
    """The response of a `ResponseOutcome`; None for an `ExceptionOutcome`."""
    exception: Exception | None = field(default=None, init=False, compare=False)
    """The expected error of an `ExceptionOutcome`; None for a `ResponseOutcome`."""

    def _rows(self) -> Rows:
        return [
            *wait_rows(self),
            ("acceptor", self.acceptor.text),
            *([] if self.basis is None else [("basis", self.basis)]),
        ]

    def _facts(self) -> str:
        label = f"label={self.label!r}, " if self.label else ""
        facts = (
            f"waiter={self.waiter!r}, {label}attempts={self.attempts}, "
            f"elapsed={self.elapsed:.3f}, "
            f"acceptor={self.acceptor.text!r}"
        )
        if self.basis is not None:
            facts += f", basis={self.basis!r}"
        is_shown = shown(self.observed) is not None
        return f"{facts}, observed={cut(repr(self.observed))}" if is_shown else facts


@dataclass(frozen=True, kw_only=True, repr=False)
class ResponseOutcome(WaiterOutcome[ResponseT_co]):
    """The wait succeeded with a response of the operation."""

    # `field()` takes the default of the base class away.
    response: ResponseT_co = field()
    """The response of the operation; of a shared call, the wait's own share."""

    def __repr__(self) -> str:
        # Without the response: reprs end up in logs.
        return f"ResponseOutcome({self._facts()})"


@dataclass(frozen=True, kw_only=True, repr=False)
class ExceptionOutcome(WaiterOutcome[NoReturn]):
    """The wait succeeded with an expected error, such as the 404 of `bucket_not_exists`."""

    response: None = field(default=None, init=False)
    exception: Exception = field(compare=False)
    """The expected error."""

    def __repr__(self) -> str:
        return f"ExceptionOutcome({self._facts()}, exception={type(self.exception).__name__})"


# --- the attempts of a wait that its timeline needs, while the wait runs -------------------------


class EarlierAttempts:
    """The attempts of a wait before its last one, in little memory.

    Each takes the four bytes of its time, which is exact to 1/250 s after a day; a text is kept
    where it differs from the one before.

    Args:
        first: the number of the first attempt that will be added.
    """

    __slots__ = ("_changes", "_first", "_state", "_times")

    def __init__(self, first: int) -> None:
        self._times = array("f")
        self._first = first
        self._state: str | None = None
        """The text of the last attempt."""
        self._changes: tuple[tuple[int, str | None], ...] = ()
        """Earlier texts, each with the number of the attempt that saw another."""

    def add(self, elapsed: float, state: str | None) -> None:
        """Add the next attempt."""
        times = self._times
        if state != self._state:
            if times:
                self._changes = (*self._changes, (self._first + len(times), self._state))
            self._state = state
        times.append(elapsed)
        if len(times) >= 2 * LONGEST or len(self._changes) > LONGEST:
            number = len(times) - LONGEST
            del times[:number]
            self._first += number
            self._changes = tuple(each for each in self._changes if each[0] > self._first)

    def __iter__(self) -> Iterator[TimelineEntry]:
        """Yield the attempts in order, without those that a timeline has no place for."""
        changes = iter((*self._changes, (math.inf, self._state)))
        until, state = next(changes)
        too_many = len(self._times) - LONGEST + 1
        for place, elapsed in enumerate(self._times):
            attempt = self._first + place
            if attempt == until:
                until, state = next(changes)
            if place >= too_many:
                yield TimelineEntry(attempt, round(elapsed, 3), state)
