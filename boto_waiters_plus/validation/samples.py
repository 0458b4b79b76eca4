"""Sample data for a shape, as Smithy makes it up for its linter.

Everything a model can have is there: all members of a structure (of a union too), two elements in
each list unless its length forbids. Where a shape contains itself, nobody can know: `ANY`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .shapes import Kind, Member, Shape
from .type_checker import ANY

_EXAMPLES: dict[Kind, Any] = {
    Kind.BLOB: "blob",
    Kind.BOOLEAN: True,
    Kind.TIMESTAMP: 0,
    Kind.DOCUMENT: ANY,
    Kind.UNKNOWN: ANY,
}


def sample(shape: Shape | None) -> Any:
    """A sample of an operation's input or output; an absent one is an empty structure."""
    return {} if shape is None else _sample(shape, frozenset())


def _sample(shape: Shape, seen: frozenset[str]) -> Any:
    match shape.kind:
        case Kind.STRUCTURE:
            return _Structure(shape, seen)
        case Kind.LIST:
            return [_member(shape.element, seen)] * int(_clamped(2, shape))
        case Kind.MAP:
            return _map(shape, seen)
        case Kind.STRING:
            return "a" * int(_clamped(2, shape))
        case Kind.NUMBER:
            return _clamped(8, shape)
        case kind:
            return _EXAMPLES[kind]


def _member(member: Member, seen: frozenset[str]) -> Any:
    if member.identity in seen:
        return ANY
    return _sample(member.target, seen | {member.identity})


def _map(shape: Shape, seen: frozenset[str]) -> dict[str, Any]:
    key = _member(shape.key, seen)
    value = _member(shape.element, seen | {shape.key.identity})
    names = [f"{key}{number}" for number in range(int(_clamped(2, shape)))]
    return dict.fromkeys(_as_hash_map_orders(names), value)


def _clamped(wanted: float, shape: Shape) -> float:
    value = wanted if shape.minimum is None else max(wanted, shape.minimum)
    return value if shape.maximum is None else min(value, shape.maximum)


class _Structure(Mapping[str, Any]):
    """The sample of a structure, made up member by member as it is asked for.

    A response's shape taken apart to its leaves can be a million times larger than what any
    expression looks at.
    """

    def __init__(self, shape: Shape, seen: frozenset[str]) -> None:
        self._members = shape.members
        self._seen = seen
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _member(self._members[name], self._seen | self._before(name))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def _before(self, name: str) -> frozenset[str]:
        """The members before this one: Smithy has visited them, and does not do so twice."""
        visited: list[str] = []
        for other, member in self._members.items():
            if other == name:
                break
            visited.append(member.identity)
        return frozenset(visited)


def _as_hash_map_orders(names: list[str]) -> list[str]:
    """Keys in the order of a Java hash map, which messages about a missing field list them in."""
    buckets = 16
    while len(names) > buckets * 0.75:
        buckets *= 2

    def bucket(name: str) -> int:
        code = 0
        for character in name:
            code = (31 * code + ord(character)) & 0xFFFFFFFF
        return (code ^ (code >> 16)) & (buckets - 1)

    return sorted(names, key=bucket)
