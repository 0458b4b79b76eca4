"""The paths of acceptors, followed through the shapes of their operation."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.model import (
    Acceptor,
    InputOutputMatcher,
    OutputMatcher,
    PathComparator,
)
from .expressions import Expression, ExpressionSyntaxError, Position, parse
from .shapes import Operation, Shape
from .tracing import Both, Comparison, Several, enumeration, trace

_START = Position(1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedPath:
    """The path of an acceptor and what it looks at."""

    text: str
    expression: Expression
    members: frozenset[str]
    """The identities of the members it reads."""
    inside: tuple[Comparison, ...]
    """Comparisons with enumerations that the expression itself makes."""
    expected: Comparison | None
    """The matcher's own, if the value comes from an enumeration."""

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All comparisons with enumerations."""
        return self.inside if self.expected is None else (*self.inside, self.expected)

    @property
    def expected_unknown(self) -> bool:
        """Whether what the matcher expects is no value of the enumeration: it never matches."""
        return self.expected is not None and self.expected.value not in self.expected.shape.enum


def traced_path(acceptor: Acceptor, operation: Operation) -> TracedPath | None:
    """The path of an acceptor; None if it has none, or none that parses."""
    match acceptor.matcher:
        case OutputMatcher(matcher=matcher):
            document: Shape | Both | None = operation.output
        case InputOutputMatcher(matcher=matcher):
            document = Both(operation.input, operation.output)
        case _:
            return None
    try:
        expression = parse(matcher.path)
        found, met = trace(expression.root, document)
    except (ExpressionSyntaxError, RecursionError):
        return None
    if matcher.comparator in (PathComparator.ALL_STRING_EQUALS, PathComparator.ANY_STRING_EQUALS):
        found = found.of if isinstance(found, Several) else _element(found)
    shape = None if matcher.comparator is PathComparator.BOOLEAN_EQUALS else enumeration(found)
    return TracedPath(
        text=matcher.path,
        expression=expression,
        members=frozenset(met.members),
        inside=tuple(met.comparisons),
        expected=None if shape is None else Comparison(shape, matcher.expected, _START),
    )


def _element(traced: object) -> Shape | None:
    is_list = isinstance(traced, Shape) and traced.kind.value == "list"
    return traced.element.target if is_list else None  # type: ignore[attr-defined]  # `is_list` says so
