"""Validation events, with Smithy's severities, and the files they lie in."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..definitions.parsing import as_mapping


@enum.unique
class Severity(str, enum.Enum):
    """How bad an event is, in Smithy's words; ordered, `SUPPRESSED` first."""

    SUPPRESSED = "SUPPRESSED"
    """A note, warning or danger that the model suppresses."""
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


class Finding(NamedTuple):
    """What a rule finds in a waiter."""

    severity: Severity
    rule: str
    """The id of the event, without the names of waiter and acceptor."""
    message: str
    acceptor: int | None = None


class Location(NamedTuple):
    """A place in a file; line and column count from 1 and are None where they are not known."""

    source: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in self if part is not None)


@dataclass(frozen=True, slots=True)
class ValidationEvent:
    """A problem that the checker found.

    `str(event)` has Smithy's form: `[SEVERITY] shape: message | id`.
    """

    severity: Severity
    id: str
    """Dot-separated, from the rule to the waiter and the acceptor: what a suppression names."""
    shape: str | None
    """The absolute shape id of the operation; None for a problem outside of any shape."""
    message: str
    location: Location | None = None
    """Where the waiter or the acceptor is written, if it was read from a file."""
    suppression_reason: str | None = None
    """The reason that the suppression gives, if it gives one."""

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


# --- suppressions: events that a model declares intended -----------------------------------------
# Both forms are Smithy's: the trait `smithy.api#suppress` on the operation (a list of event ids),
# and `metadata.suppressions` of the model (objects with `id`, `namespace` and optionally
# `reason`). An id covers an event and all below it: `WaitableTraitInvalidErrorType` covers
# `WaitableTraitInvalidErrorType.BucketExists.1`. An ERROR cannot be suppressed.

SUPPRESS = "smithy.api#suppress"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Which events are suppressed, and where."""

    id: str
    shape: str | None = None
    """The shape; None for every shape of the namespace."""
    namespace: str = "*"
    """`*` for all namespaces."""
    reason: str | None = None

    def covers(self, event: ValidationEvent) -> bool:
        """Tell whether an event is suppressed."""
        is_covered = f"{event.id}.".startswith(f"{self.id}.")
        if event.severity is Severity.ERROR or not is_covered:
            return False
        if self.shape is not None:
            return event.shape == self.shape
        return self.namespace in ("*", (event.shape or "").partition("#")[0])


def of_trait(shape: str, traits: Mapping[str, Any]) -> Iterator[Suppression]:
    """Yield the suppressions in the traits of a shape."""
    ids = traits.get(SUPPRESS)
    for event_id in ids if isinstance(ids, list) else ():
        if isinstance(event_id, str):
            yield Suppression(id=event_id, shape=shape)


def of_metadata(metadata: Any) -> Iterator[Suppression]:
    """Yield the suppressions in the metadata of a model."""
    entries = as_mapping(metadata).get("suppressions")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), str):
            reason = entry.get("reason")
            yield Suppression(
                id=entry["id"],
                namespace=str(entry.get("namespace", "*")),
                reason=reason if isinstance(reason, str) else None,
            )


def apply_suppressions(
    events: Iterable[ValidationEvent], suppressions: Sequence[Suppression]
) -> Iterator[ValidationEvent]:
    """Yield the events; suppressed events have the severity SUPPRESSED."""
    for event in events:
        covering = next((each for each in suppressions if each.covers(event)), None)
        if covering is None:
            yield event
        else:
            yield replace(event, severity=Severity.SUPPRESSED, suppression_reason=covering.reason)
