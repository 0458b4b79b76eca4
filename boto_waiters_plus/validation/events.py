"""What the checker says: events, with Smithy's severities."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


@enum.unique
class Severity(str, enum.Enum):
    """How bad an event is, in Smithy's words; ordered, `SUPPRESSED` first."""

    SUPPRESSED = "SUPPRESSED"
    """Was a note, a warning or a danger, and somebody said that it is meant so."""
    NOTE = "NOTE"
    WARNING = "WARNING"
    DANGER = "DANGER"
    """Almost certainly wrong."""
    ERROR = "ERROR"
    """Breaks the specification; cannot be suppressed."""

    def __str__(self) -> str:
        return self.value

    @property
    def rank(self) -> int:
        """Its place in the order, from 0."""
        return list(Severity).index(self)

    def __lt__(self, other: str) -> bool:
        return self.rank < Severity(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= Severity(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > Severity(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= Severity(other).rank


class Location(NamedTuple):
    """A place in a file; line and column count from 1 and are None where they are not known."""

    source: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in self if part is not None)


@dataclass(frozen=True, slots=True)
class ValidationEvent:
    """One thing the checker has to say.

    `str(event)` has the form of Smithy's own: `[SEVERITY] shape: message | id`.
    """

    severity: Severity
    id: str
    """Dot-separated, from the rule to the waiter and the acceptor: what a suppression names."""
    shape: str | None
    """The absolute shape id of the operation; None where the problem lies outside of any."""
    message: str
    location: Location | None = None
    """Where the waiter or the acceptor is written, if it was read from a file."""
    suppression_reason: str | None = None
    """Why it was suppressed, if the suppression says so."""

    @property
    def source(self) -> str | None:
        """The file, if there is one."""
        return None if self.location is None else self.location.source

    @property
    def line(self) -> int | None:
        """The line in the file, from 1, where known."""
        return None if self.location is None else self.location.line

    @property
    def column(self) -> int | None:
        """The column in the line, from 1, where known."""
        return None if self.location is None else self.location.column

    def __str__(self) -> str:
        return f"[{self.severity}] {self.shape or '-'}: {self.message} | {self.id}"


Step = str | int
Locate = Callable[[tuple[Step, ...]], Location | None]


def nowhere(_: tuple[Step, ...]) -> Location | None:
    """Locates nothing: for definitions that were not read from a file."""
    return None


@dataclass(frozen=True, slots=True)
class Target:
    """A shape with a `waitable` trait: what events are about."""

    shape: str
    locate: Locate = nowhere
    """Where a part of the trait's value is written, by its path below the trait."""

    def event(
        self,
        severity: Severity,
        event_id: str,
        message: str,
        *,
        waiter: str | None = None,
        acceptor: int | None = None,
    ) -> ValidationEvent:
        """An event about the shape, a waiter of it, or an acceptor of that."""
        path: tuple[Step, ...] = () if waiter is None else (waiter,)
        if acceptor is not None:
            path += ("acceptors", acceptor)
        return ValidationEvent(severity, event_id, self.shape, message, self.locate(path))

    def of_acceptor(
        self, severity: Severity, event_id: str, message: str, *, waiter: str, acceptor: int
    ) -> ValidationEvent:
        """An event whose text names waiter and acceptor the way Smithy's own does."""
        text = f"Waiter `{waiter}`, acceptor {acceptor}: {message}"
        return self.event(severity, event_id, text, waiter=waiter, acceptor=acceptor)
