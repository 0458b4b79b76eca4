"""Which shapes of a model an expression's value comes from, and what it compares with them.

Samples tell types; this tells the enumeration behind a string. It says nothing rather than guess:
where an expression mixes shapes, the result is not traced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .expressions import Node, Position
from .shapes import Kind, Member, Shape


@dataclass(frozen=True, slots=True)
class Several:
    """A list of values of one origin."""

    of: Traced


@dataclass(frozen=True, slots=True)
class Text:
    """A string that the expression itself spells."""

    value: str


@dataclass(frozen=True, slots=True)
class Both:
    """What an `inputOutput` expression stands on."""

    input: Shape | None
    output: Shape | None


Traced = Shape | Several | Text | Both | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A string that an expression compares with an enumeration."""

    shape: Shape
    value: str
    position: Position


@dataclass(slots=True)
class Trace:
    """What was met on the way."""

    comparisons: list[Comparison] = field(default_factory=list)
    members: set[str] = field(default_factory=set)
    """The identities of all members that were read."""


def trace(node: Node, current: Traced) -> tuple[Traced, Trace]:
    """Follow an expression through shapes.

    Returns:
        The origin of its value (None: not known), and what was met on the way.
    """
    tracer = _Tracer()
    return tracer.visit(node, current), tracer.met


def enumeration(traced: Traced) -> Shape | None:
    """The enumeration of strings a value comes from, if it does."""
    return traced if isinstance(traced, Shape) and traced.enum else None


class _Tracer:
    def __init__(self) -> None:
        self.met = Trace()

    def visit(self, node: Node, current: Traced) -> Traced:
        visitor: Callable[[Node, Traced], Traced] = getattr(self, f"_{node.kind}", self._opaque)
        return visitor(node, current)

    def _opaque(self, node: Node, current: Traced) -> Traced:
        """Anything that makes a value of its own out of others."""
        for child in node.children:
            self.visit(child, current)
        return None

    def _current(self, _: Node, current: Traced) -> Traced:
        return current

    def _literal(self, node: Node, _: Traced) -> Traced:
        return Text(node.value) if isinstance(node.value, str) else None

    def _field(self, node: Node, current: Traced) -> Traced:
        if isinstance(current, Both):
            return {"input": current.input, "output": current.output}.get(node.value)
        if not isinstance(current, Shape):
            return None
        if current.kind is Kind.MAP:
            return self._into(current.element)
        member = current.members.get(node.value)
        return None if member is None else self._into(member)

    def _into(self, member: Member) -> Shape:
        self.met.members.add(member.identity)
        return member.target

    def _sub(self, node: Node, current: Traced) -> Traced:
        left, right = node.children
        return self.visit(right, self.visit(left, current))

    def _index(self, _: Node, current: Traced) -> Traced:
        return self._element(current)

    _slice = _current

    def _element(self, traced: Traced) -> Traced:
        if isinstance(traced, Several):
            return traced.of
        if isinstance(traced, Shape) and traced.kind is Kind.LIST:
            return self._into(traced.element)
        return None

    def _flatten(self, node: Node, current: Traced) -> Traced:
        element = self._element(self.visit(node.children[0], current))
        return Several(self._element(element) or element)

    def _projection(self, node: Node, current: Traced) -> Traced:
        left, right = node.children
        return Several(self.visit(right, self._element(self.visit(left, current))))

    def _object_projection(self, node: Node, current: Traced) -> Traced:
        left, right = node.children
        of = self.visit(left, current)
        is_map = isinstance(of, Shape) and of.kind is Kind.MAP
        return Several(self.visit(right, self._into(of.element) if is_map else None))  # type: ignore[union-attr]  # `is_map` says so

    def _filter(self, node: Node, current: Traced) -> Traced:
        left, right, condition = node.children
        element = self._element(self.visit(left, current))
        self.visit(condition, element)
        return Several(self.visit(right, element))

    def _or(self, node: Node, current: Traced) -> Traced:
        left, right = (self.visit(child, current) for child in node.children)
        return left if _origin(left) == _origin(right) else None

    _and = _or

    def _list(self, node: Node, current: Traced) -> Traced:
        values = [self.visit(child, current) for child in node.children]
        return Several(values[0] if len({_origin(value) for value in values}) == 1 else None)

    def _comparator(self, node: Node, current: Traced) -> Traced:
        left, right = (self.visit(child, current) for child in node.children)
        self._compared(left, right, node)
        self._compared(right, left, node)
        return None

    def _function(self, node: Node, current: Traced) -> Traced:
        values = [self.visit(child, current) for child in node.children]
        if node.value == "contains" and len(values) == 2:
            self._compared(self._element(values[0]), values[1], node.children[1])
        if node.value in ("reverse", "sort", "sort_by") and values:
            return values[0]
        if node.value in ("max", "min", "max_by", "min_by") and values:
            return self._element(values[0])
        return None

    def _compared(self, traced: Traced, other: Traced, node: Node) -> None:
        shape = enumeration(traced)
        if shape is not None and isinstance(other, Text):
            self.met.comparisons.append(Comparison(shape, other.value, node.position))


def _origin(traced: Traced) -> Any:
    """What makes two origins one: the name of the shape, through any number of lists."""
    if isinstance(traced, Several):
        return ("several", _origin(traced.of))
    return traced.name if isinstance(traced, Shape) else id(traced)
