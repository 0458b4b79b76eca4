"""Suppressions: events that a model declares intended.

Both forms are Smithy's: the trait `smithy.api#suppress` on the operation (a list of event ids), and
`metadata.suppressions` of the model (objects with `id`, `namespace` and optionally `reason`). An id
covers an event and all below it: `WaitableTraitInvalidErrorType` covers
`WaitableTraitInvalidErrorType.BucketExists.1`. An ERROR cannot be suppressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..definitions.parsing import as_mapping
from .events import Severity, ValidationEvent

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
