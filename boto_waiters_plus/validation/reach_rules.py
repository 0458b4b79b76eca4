"""Acceptors that can never decide anything, and waiters that can never succeed.

| rule | severity | id |
|---|---|---|
| no earlier acceptor matches whatever this one does | WARNING | `WaiterUnreachableAcceptor.W.i` |
| a compared string is one of the enumeration's values | WARNING | `WaiterUnknownEnumValue.W.i` |
| some success acceptor can be reached and can match | DANGER | `WaiterNeverSucceeds.W` |
| jmespath.py reads a path as the grammar does | WARNING | `WaiterPathReadDifferently.W.i` |
| a matcher is one that Smithy has (botocore's `status` is not) | NOTE | `WaiterStatusMatcher.W.i` |
"""

from __future__ import annotations

from collections.abc import Iterator

from ..engine.model import (
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    InputOutputMatcher,
    Matcher,
    OutputMatcher,
    PathComparator,
    StatusMatcher,
    SuccessMatcher,
    WaiterDefinition,
)
from .events import Severity, Target, ValidationEvent
from .paths import TracedPath
from .waiter_rules import nearest

_SHOWN = 12  # values of an enumeration in a message


def check_reach(
    target: Target, waiter: WaiterDefinition, paths: list[TracedPath | None]
) -> Iterator[ValidationEvent]:
    """Check which acceptors of a waiter can decide.

    Args:
        target: what events are about.
        waiter: the waiter.
        paths: its acceptors' paths; None for an acceptor that has none, or none that parses.
    """
    dead: set[int] = set()
    for index, (acceptor, path) in enumerate(zip(waiter.acceptors, paths, strict=True)):

        def say(severity: Severity, rule: str, message: str, index: int = index) -> ValidationEvent:
            event_id = f"{rule}.{waiter.name}.{index}"
            return target.of_acceptor(
                severity, event_id, message, waiter=waiter.name, acceptor=index
            )

        first = _covering(acceptor.matcher, waiter.acceptors[:index])
        if first is not None:
            dead.add(index)
            yield say(
                Severity.WARNING,
                "WaiterUnreachableAcceptor",
                f"never decides: acceptor {first} ({waiter.acceptors[first].describe()}) always "
                "matches first",
            )
        if isinstance(acceptor.matcher, StatusMatcher):
            message = "HTTP statuses are botocore's; no other Smithy tool knows this matcher"
            yield say(Severity.NOTE, "WaiterStatusMatcher", message)
        if path is None:
            continue
        if path.expected_unknown:
            dead.add(index)
        for message in _unknown_values(path):
            yield say(Severity.WARNING, "WaiterUnknownEnumValue", message)
        if path.expression.read_differently:
            yield say(
                Severity.WARNING,
                "WaiterPathReadDifferently",
                f"jmespath.py applies the end of {path.text} to the list that `.*` gives, which "
                "is null; write `.* | [*]` for that `.*`",
            )
    yield from _never_succeeds(target, waiter, dead)


def _never_succeeds(
    target: Target, waiter: WaiterDefinition, dead: set[int]
) -> Iterator[ValidationEvent]:
    successes = {
        index
        for index, acceptor in enumerate(waiter.acceptors)
        if acceptor.state is AcceptorState.SUCCESS
    }
    if successes and successes <= dead:
        message = f"Waiter `{waiter.name}`: no success acceptor can ever decide"
        event_id = f"WaiterNeverSucceeds.{waiter.name}"
        yield target.event(Severity.DANGER, event_id, message, waiter=waiter.name)


def _unknown_values(path: TracedPath) -> Iterator[str]:
    for comparison in path.comparisons:
        values = comparison.shape.enum
        if comparison.value in values:
            continue
        line, column = comparison.position
        where = f"in {path.text} ({line}:{column})" if comparison in path.inside else "expected"
        shown = ", ".join(values[:_SHOWN]) + (", …" if len(values) > _SHOWN else "")
        near = nearest(comparison.value, values, likeness=0.6)
        hint = f"; the nearest is '{near}'" if near else ""
        name = comparison.shape.name.rpartition("#")[2]
        yield f"'{comparison.value}' ({where}) is none of the values of {name} [{shown}]{hint}"


def _covering(matcher: Matcher, earlier: tuple[Acceptor, ...]) -> int | None:
    """The first earlier acceptor that matches whenever this matcher does."""
    return next((i for i, other in enumerate(earlier) if _covers(other.matcher, matcher)), None)


def _covers(general: Matcher, special: Matcher) -> bool:
    match general, special:
        case SuccessMatcher(success=True), (
            OutputMatcher() | InputOutputMatcher() | SuccessMatcher(success=True)
        ):
            return True
        case SuccessMatcher(success=False), (ErrorTypeMatcher() | SuccessMatcher(success=False)):
            return True
        case ErrorTypeMatcher(name=one), ErrorTypeMatcher(name=other):
            return one == other
        case (OutputMatcher(matcher=one), OutputMatcher(matcher=other)) | (
            InputOutputMatcher(matcher=one),
            InputOutputMatcher(matcher=other),
        ):
            if (one.path, one.expected) != (other.path, other.expected):
                return False
            some, every = PathComparator.ANY_STRING_EQUALS, PathComparator.ALL_STRING_EQUALS
            pair = (one.comparator, other.comparator)
            return one.comparator is other.comparator or pair == (some, every)
        case _:
            return general == special
