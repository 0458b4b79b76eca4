"""Acceptors' paths, followed through the shapes of the operation to the enumerations they compare.

Sample data show only types; this shows which enumeration a string comes from. Where an expression
mixes shapes, the origin of its value is not known, and no rule reports anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from botocore.model import MapShape, Shape

from ..engine.acceptors import Acceptor, DocumentMatcher, InputOutputMatcher, PathComparator
from ..engine.model import WaiterDefinition
from ..service.shapes import element_of, members_of
from .expressions import Evaluator, Expression, ExpressionSyntaxError, Node, parse
from .model import OperationShapes, enum_of


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
class EnumComparison:
    """A string that a path or its matcher compares with an enumeration."""

    shape: Shape
    value: str

    @property
    def can_match(self) -> bool:
        """Whether the string is a value of the enumeration."""
        return self.value in enum_of(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedPath:
    """The path of an acceptor and what it reads."""

    acceptor: Acceptor
    expression: Expression
    members: frozenset[str]
    """The members it reads, as `Shape$member`."""
    comparisons: tuple[EnumComparison, ...]
    """Comparisons with enumerations: those that the expression itself makes, then `expected`."""
    comparator: PathComparator
    expected: EnumComparison | None
    """The comparison that the matcher makes, if the path's value is of an enumeration."""


def traced_path(acceptor: Acceptor, operation: OperationShapes) -> TracedPath | None:
    """Follow the path of an acceptor; None if it has none, or none that parses."""
    if not isinstance(acceptor.matcher, DocumentMatcher):
        return None
    matcher = acceptor.matcher.matcher
    document: Origin = operation.output
    if isinstance(acceptor.matcher, InputOutputMatcher):
        document = {"input": operation.input, "output": operation.output}
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
        expected = EnumComparison(found, matcher.expected)
        tracer.comparisons.append(expected)
    return TracedPath(
        acceptor=acceptor,
        expression=expression,
        members=frozenset(tracer.members),
        comparisons=tuple(tracer.comparisons),
        comparator=matcher.comparator,
        expected=expected,
    )


@dataclass(frozen=True)
class TracedWaiter:
    """A waiter on the operation that it polls."""

    definition: WaiterDefinition
    operation: OperationShapes

    @cached_property
    def paths(self) -> Mapping[int, TracedPath]:
        """The paths of its acceptors, by index: of those that have one that parses."""
        traced = [traced_path(each, self.operation) for each in self.definition.acceptors]
        return {index: path for index, path in enumerate(traced) if path is not None}

    @cached_property
    def members(self) -> frozenset[str]:
        """The members that its paths read, as `Shape$member`."""
        return frozenset[str]().union(*(path.members for path in self.paths.values()))


def members_named(shape: Shape | None, names: Iterable[str]) -> frozenset[str]:
    """Return members of a structure in the form of `TracedPath.members`."""
    return frozenset(f"{shape.name}${name}" for name in names) if shape else frozenset()


def members_read(expression: str, output: Shape | None) -> set[str]:
    """Return the members that an expression on the output reads; none if it does not parse."""
    tracer = _Tracer()
    try:
        tracer.visit(parse(expression).root, output)
    except ExpressionSyntaxError:
        return set()
    return tracer.members


class _Tracer(Evaluator):
    """Finds the origin of a value; notes the members read and the comparisons made on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.comparisons: list[EnumComparison] = []
        self.members: set[str] = set()

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

    def _unknown(self, node: Node, value: Origin) -> Origin:
        self.visit_all(node, value)
        return None

    visit_multi_select_dict = visit_not_expression = visit_expref = _unknown

    def visit_slice(self, _: Node, value: Origin) -> Origin:
        return value

    def visit_literal(self, node: Node, _: Origin) -> Origin:
        return Text(node["value"]) if isinstance(node["value"], str) else None

    def visit_field(self, node: Node, value: Origin) -> Origin:
        name = node["value"]
        if isinstance(value, Mapping):
            return value.get(name)
        if isinstance(value, MapShape):
            return self._read(value, "value", value.value)
        target = members_of(value).get(name) if isinstance(value, Shape) else None
        return None if target is None else self._read(value, name, target)

    def visit_index(self, _: Node, value: Origin) -> Origin:
        return self.element(value)

    def visit_flatten(self, node: Node, value: Origin) -> Origin:
        element = self.element(*self.visit_all(node, value))
        return ListOf(self.element(element) or element)

    def visit_projection(self, node: Node, value: Origin) -> Origin:
        left, right, *condition = node["children"]
        element = self.element(self.visit(left, value))
        for child in condition:
            self.visit(child, element)
        return ListOf(self.visit(right, element))

    visit_filter_projection = visit_projection

    def visit_value_projection(self, node: Node, value: Origin) -> Origin:
        left, right = node["children"]
        found = self.visit(left, value)
        element = self._read(found, "value", found.value) if isinstance(found, MapShape) else None
        return ListOf(self.visit(right, element))

    def visit_or_expression(self, node: Node, value: Origin) -> Origin:
        left, right = self.visit_all(node, value)
        return left if _identity(left) == _identity(right) else None

    visit_and_expression = visit_or_expression

    def visit_multi_select_list(self, node: Node, value: Origin) -> Origin:
        first, *others = self.visit_all(node, value)
        is_one = all(_identity(other) == _identity(first) for other in others)
        return ListOf(first if is_one else None)

    def visit_comparator(self, node: Node, value: Origin) -> Origin:
        left, right = self.visit_all(node, value)
        self._compare(left, right)
        self._compare(right, left)
        return None

    def visit_function_expression(self, node: Node, value: Origin) -> Origin:
        name = node["value"]
        values: list[Origin] = self.visit_all(node, value)
        if name == "contains" and len(values) == 2:
            self._compare(self.element(values[0]), values[1])
        if name in ("reverse", "sort", "sort_by") and values:
            return values[0]
        if name in ("max", "min", "max_by", "min_by") and values:
            return self.element(values[0])
        return None

    def _compare(self, origin: Origin, other: Origin) -> None:
        if isinstance(origin, Shape) and enum_of(origin) and isinstance(other, Text):
            self.comparisons.append(EnumComparison(origin, other.value))


def _identity(origin: Origin) -> Any:
    """Return what two values of the same origin share: the name of the shape, and lists around."""
    if isinstance(origin, ListOf):
        return ("list", _identity(origin.origin))
    return origin.name if isinstance(origin, Shape) else id(origin)
