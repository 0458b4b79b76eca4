"""The events of a trait of operations, whose rules are here and not in the package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from boto_waiters_plus.check.events import Finding, Severity, ValidationEvent
from boto_waiters_plus.check.shapes import OperationShapes
from boto_waiters_plus.check.units import AppliedTrait
from boto_waiters_plus.check.version_skew import as_note


def trait_events(
    applied: AppliedTrait,
    name: str,
    problem: str | None,
    judge: Callable[[OperationShapes], Iterable[Finding]],
) -> Iterator[ValidationEvent]:
    """Yield what is wrong with a trait of operations.

    Args:
        applied: the trait.
        name: the first part of the ids of the events.
        problem: what is wrong with its form.
        judge: judges one whose form is right.
    """
    trait = applied.target.path[-1]

    def event(severity: Severity, rule: str, text: str) -> ValidationEvent:
        return applied.target.event(severity, f"{name}.{rule}", f"Trait `{trait}`: {text}")

    if problem is not None:
        yield event(Severity.ERROR, "Form", problem)
    elif applied.operation is None:
        yield event(Severity.ERROR, "Target", "it may only be applied to operations")
    else:
        # Unlike the form of a trait, these depend on shapes.
        for severity, rule, text, _ in judge(applied.operation):
            yield as_note(event(severity, rule, text), applied.newer)


def are_names(value: Any) -> bool:
    """Whether the value of a trait's member is a list of names."""
    return isinstance(value, list) and bool(value) and all(isinstance(x, str) and x for x in value)
