"""Acceptors that never match, and operations that do not suit a wait.

The docstring of the package lists these rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..definitions.words import READS, SAFE_METHODS, is_changing, verb_of
from ..engine.acceptors import (
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    InputOutputMatcher,
    Matcher,
    OutputMatcher,
    PathComparator,
    StatusMatcher,
    SuccessMatcher,
)
from ..engine.model import WaiterDefinition
from .events import Finding, Severity
from .paths import TracedPath
from .shapes import OperationShapes, enum_of
from .waiter_rules import nearest

_LISTED = 12  # values of an enumeration in a message


def check_acceptors(waiter: WaiterDefinition, paths: list[TracedPath | None]) -> Iterator[Finding]:
    """Check which acceptors of a waiter can match.

    Args:
        waiter: the waiter.
        paths: its acceptors' paths; None for an acceptor without one, or with one that does not
            parse.
    """
    matching: set[AcceptorState] = set()
    for index, (acceptor, path) in enumerate(zip(waiter.acceptors, paths, strict=True)):
        first = _covering(acceptor.matcher, waiter.acceptors[:index])
        if first is None and not (path and path.expected and not path.expected.can_match):
            matching.add(acceptor.state)
        for finding in _findings(acceptor, path, first):
            yield finding._replace(acceptor=index)
    if AcceptorState.SUCCESS in {*waiter.states} - matching:
        yield Finding(Severity.DANGER, "WaiterNeverSucceeds", "no success acceptor can match")


def _findings(
    acceptor: Acceptor, path: TracedPath | None, covering: tuple[int, Acceptor] | None
) -> Iterator[Finding]:
    if covering is not None:
        index, other = covering
        message = f"never matches: acceptor {index} ({other.describe()}) always matches first"
        yield Finding(Severity.WARNING, "WaiterUnreachableAcceptor", message)
    if isinstance(acceptor.matcher, StatusMatcher):
        message = "only botocore matches HTTP statuses; no other Smithy tool has this matcher"
        yield Finding(Severity.NOTE, "WaiterStatusMatcher", message)
    if path is None:
        return
    for message in _unknown_values(path):
        yield Finding(Severity.WARNING, "WaiterUnknownEnumValue", message)
    if path.expression.parsed_differently:
        message = (
            f"jmespath.py applies the end of {path.expression.text} to a projection's whole list, "
            "the JMESPath grammar to each element; write `| [*]` after the projection"
        )
        yield Finding(Severity.WARNING, "WaiterPathReadDifferently", message)


def _unknown_values(path: TracedPath) -> Iterator[str]:
    for comparison in path.comparisons:
        if comparison.can_match:
            continue
        values = enum_of(comparison.shape)
        where = "expected" if comparison is path.expected else f"in {path.expression.text}"
        listed = ", ".join(values[:_LISTED]) + (", …" if len(values) > _LISTED else "")
        near = nearest(comparison.value, values, similarity=0.6)
        hint = f". Did you mean '{near}'?" if near else ""
        name = comparison.shape.name.rpartition("#")[2]
        yield f"'{comparison.value}' ({where}) is not a value of {name} [{listed}]{hint}"


def _covering(matcher: Matcher, earlier: tuple[Acceptor, ...]) -> tuple[int, Acceptor] | None:
    """Return the first earlier acceptor that matches whenever this matcher does."""
    covering = (each for each in enumerate(earlier) if _covers(each[1].matcher, matcher))
    return next(covering, None)


def _covers(general: Matcher, special: Matcher) -> bool:
    match general, special:
        case SuccessMatcher(success=True), OutputMatcher() | InputOutputMatcher():
            return True
        case SuccessMatcher(success=False), ErrorTypeMatcher():
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


def check_operation(operation: OperationShapes) -> Iterator[Finding]:
    """Check the operation of a waiter."""
    name, method = operation.name, operation.http_method
    rule, text = "WaiterOperationNotReadOnly", f"every attempt calls {name}, which"
    if operation.read_only:
        pass
    elif is_changing(name, method):
        yield Finding(Severity.DANGER, rule, f"{text} may modify resources")
    elif verb_of(name) not in READS and method not in (*SAFE_METHODS, None):
        yield Finding(Severity.NOTE, rule, f"{text} is not known to be read-only ({method})")
