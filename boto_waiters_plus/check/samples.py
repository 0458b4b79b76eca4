"""Sample data for a shape, made the way Smithy makes it for its linter.

A sample has everything that the model allows: all members of a structure or union, two elements in
each list unless its length forbids. Where a shape contains itself, the value is `ANY`.

One thing is not as Smithy has it: a map has all keys of its enumeration, or any key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape

from .shapes import enum_of, members_of
from .type_checker import ANY

_EXAMPLES = {"blob": "blob", "boolean": True, "timestamp": 0}
_NUMBERS = ("integer", "long", "float", "double")


def sample(shape: Shape | None) -> Any:
    """Return a sample of an operation's input or output; without one, an empty structure."""
    return {} if shape is None else _sample(shape, frozenset())


def _sample(shape: Shape, seen: frozenset[str]) -> Any:
    if isinstance(shape, StructureShape):
        return ANY if shape.is_document_type else _Structure(shape, seen)
    if isinstance(shape, ListShape):
        return [_member(shape, "member", shape.member, seen)] * int(_clamped(2, shape))
    if isinstance(shape, MapShape):
        return _map(shape, seen)
    if shape.type_name in ("string", "char", "character"):
        return "a" * int(_clamped(2, shape))
    return (
        _clamped(8, shape) if shape.type_name in _NUMBERS else _EXAMPLES.get(shape.type_name, ANY)
    )


def _map(shape: MapShape, seen: frozenset[str]) -> Mapping[str, Any]:
    key = _member(shape, "key", shape.key, seen)
    value = _member(shape, "value", shape.value, seen | {f"{shape.name}$key"})
    number = int(_clamped(2, shape))
    if number and (keys := enum_of(shape.key)):
        return dict.fromkeys(keys, value)
    return _Map({f"{key}{index}": value for index in range(number)})


def _member(shape: Shape, name: str, target: Shape, seen: frozenset[str]) -> Any:
    identity = f"{shape.name}${name}"
    return ANY if identity in seen else _sample(target, seen | {identity})


def _clamped(value: float, shape: Shape) -> float:
    value = max(value, shape.metadata.get("min", value))
    return float(min(value, shape.metadata.get("max", value)))


class _Map(dict[str, Any]):
    """The sample of a map, which may have any key; Smithy's has two keys and no other.

    Smithy's linter therefore reports each path to a key that it did not make up.
    """

    def __contains__(self, name: object) -> bool:
        return bool(self)

    def __missing__(self, name: str) -> Any:
        return next(iter(self.values()))


class _Structure(Mapping[str, Any]):
    """The sample of a structure, whose members are made when they are read.

    All members of a response, down to the leaves, can be a million times more than an expression
    reads.
    """

    def __init__(self, shape: StructureShape, seen: frozenset[str]) -> None:
        self._shape = shape
        self._members = members_of(shape)
        self._seen = seen
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        target = self._members[name]
        if name not in self._made:
            # Smithy visits members in order, and none of them a second time.
            names = list(self._members)
            visited = {f"{self._shape.name}${other}" for other in names[: names.index(name)]}
            self._made[name] = _member(self._shape, name, target, self._seen | visited)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
