"""Acceptors' paths, followed through the shapes of the operation to the enumerations they compare.

Sample data show only types; this shows which enumeration a string comes from. Where an expression
mixes shapes, the origin of its value is not known, and no rule reports anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.model import MapShape, Shape

from ..engine.model import Acceptor, InputOutputMatcher, OutputMatcher, PathComparator
from .expressions import Expression, ExpressionSyntaxError, Node, Position, parse
from .shapes import Operation, element_of, enum_of, members_of


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one origin."""

    origin: Origin


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal of the expression."""

    value: str


Origin = Shape | ListOf | Text | Mapping[str, Shape | None] | None
"""Where a value comes from: None if that is not known, a mapping for `{"input", "output"}`."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A string that a path or its matcher compares with an enumeration."""

    shape: Shape
    value: str
    position: Position

    @property
    def can_match(self) -> bool:
        """Whether the string is a value of the enumeration."""
        return self.value in enum_of(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedPath:
    """The path of an acceptor and what it reads."""

    expression: Expression
    members: frozenset[str]
    """The members it reads, as `Shape$member`."""
    inside: tuple[Comparison, ...]
    """Comparisons with enumerations that the expression itself makes."""
    expected: Comparison | None
    """The comparison that the matcher makes, if the path's value is of an enumeration."""

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All comparisons with enumerations."""
        return self.inside if self.expected is None else (*self.inside, self.expected)


def traced_path(acceptor: Acceptor, operation: Operation) -> TracedPath | None:
    """Follow the path of an acceptor; None if it has none, or none that parses."""
    match acceptor.matcher:
        case OutputMatcher(matcher=matcher):
            document: Origin = operation.output
        case InputOutputMatcher(matcher=matcher):
            document = {"input": operation.input, "output": operation.output}
        case _:
            return None
    tracer = _Tracer()
    try:
        expression = parse(matcher.path)
        found = tracer.visit(expression.root, document)
    except (ExpressionSyntaxError, RecursionError):
        return None
    if matcher.comparator in (PathComparator.ALL_STRING_EQUALS, PathComparator.ANY_STRING_EQUALS):
        found = tracer.element(found)
    expected = None
    compares_text = matcher.comparator is not PathComparator.BOOLEAN_EQUALS
    if compares_text and isinstance(found, Shape) and enum_of(found):
        expected = Comparison(found, matcher.expected, Position(1, 1))
    return TracedPath(
        expression=expression,
        members=frozenset(tracer.members),
        inside=tuple(tracer.comparisons),
        expected=expected,
    )


def members_read(expression: str, output: Shape | None) -> set[str]:
    """Return the members that an expression on the output reads; none if it does not parse."""
    tracer = _Tracer()
    try:
        tracer.visit(parse(expression).root, output)
    except ExpressionSyntaxError:
        return set()
    return tracer.members


class _Tracer:
    """Visits an expression and notes the members it reads and the comparisons it makes."""

    def __init__(self) -> None:
        self.comparisons: list[Comparison] = []
        self.members: set[str] = set()

    def visit(self, node: Node, current: Origin) -> Origin:
        """Return the origin of the node's value, where `current` is the current node."""
        visitor: Callable[[Node, Origin], Origin] = getattr(self, f"_{node.kind}", self._other)
        return visitor(node, current)

    def element(self, origin: Origin) -> Origin:
        """Return the origin of a list's elements."""
        if isinstance(origin, ListOf):
            return origin.origin
        found = element_of(origin) if isinstance(origin, Shape) else None
        return None if found is None else self._read(origin, "member", found)

    def _read(self, shape: Origin, name: str, target: Shape) -> Shape:
        assert isinstance(shape, Shape)
        self.members.add(f"{shape.name}${name}")
        return target

    def _other(self, node: Node, current: Origin) -> Origin:
        for child in node.children:
            self.visit(child, current)
        return None

    def _current(self, _: Node, current: Origin) -> Origin:
        return current

    _slice = _current

    def _literal(self, node: Node, _: Origin) -> Origin:
        return Text(node.value) if isinstance(node.value, str) else None

    def _field(self, node: Node, current: Origin) -> Origin:
        if isinstance(current, Mapping):
            return current.get(node.value)
        if isinstance(current, MapShape):
            return self._read(current, "value", current.value)
        target = members_of(current).get(node.value) if isinstance(current, Shape) else None
        return None if target is None else self._read(current, node.value, target)

    def _sub(self, node: Node, current: Origin) -> Origin:
        left, right = node.children
        return self.visit(right, self.visit(left, current))

    def _index(self, _: Node, current: Origin) -> Origin:
        return self.element(current)

    def _flatten(self, node: Node, current: Origin) -> Origin:
        element = self.element(self.visit(node.children[0], current))
        return ListOf(self.element(element) or element)

    def _projection(self, node: Node, current: Origin) -> Origin:
        left, right = node.children
        return ListOf(self.visit(right, self.element(self.visit(left, current))))

    def _object_projection(self, node: Node, current: Origin) -> Origin:
        left, right = node.children
        value = self.visit(left, current)
        element = self._read(value, "value", value.value) if isinstance(value, MapShape) else None
        return ListOf(self.visit(right, element))

    def _filter(self, node: Node, current: Origin) -> Origin:
        left, right, condition = node.children
        element = self.element(self.visit(left, current))
        self.visit(condition, element)
        return ListOf(self.visit(right, element))

    def _or(self, node: Node, current: Origin) -> Origin:
        left, right = (self.visit(child, current) for child in node.children)
        return left if _identity(left) == _identity(right) else None

    _and = _or

    def _list(self, node: Node, current: Origin) -> Origin:
        values = [self.visit(child, current) for child in node.children]
        return ListOf(values[0] if len(set(map(_identity, values))) == 1 else None)

    def _comparator(self, node: Node, current: Origin) -> Origin:
        left, right = (self.visit(child, current) for child in node.children)
        self._compare(left, right, node)
        self._compare(right, left, node)
        return None

    def _function(self, node: Node, current: Origin) -> Origin:
        values = [self.visit(child, current) for child in node.children]
        if node.value == "contains" and len(values) == 2:
            self._compare(self.element(values[0]), values[1], node.children[1])
        if node.value in ("reverse", "sort", "sort_by") and values:
            return values[0]
        if node.value in ("max", "min", "max_by", "min_by") and values:
            return self.element(values[0])
        return None

    def _compare(self, origin: Origin, other: Origin, node: Node) -> None:
        if isinstance(origin, Shape) and enum_of(origin) and isinstance(other, Text):
            self.comparisons.append(Comparison(origin, other.value, node.position))


def _identity(origin: Origin) -> Any:
    """Return what two values of the same origin share: the name of the shape, and lists around."""
    if isinstance(origin, ListOf):
        return ("list", _identity(origin.origin))
    return origin.name if isinstance(origin, Shape) else id(origin)
