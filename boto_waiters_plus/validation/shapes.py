"""Shapes and operations as the rules see them, whatever model they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property


class Kind(Enum):
    """What a shape's values are."""

    BLOB = "blob"
    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    TIMESTAMP = "timestamp"
    DOCUMENT = "document"
    LIST = "list"
    MAP = "map"
    STRUCTURE = "structure"
    """Structures and unions."""
    UNKNOWN = "unknown"


class Shape:
    """A shape of a model; what it consists of is looked up when asked for.

    Args:
        name: what the model calls it.
        kind: what its values are.
        parts: gives its members, or what a list (`member`) or a map (`key`, `value`) is made of.
        minimum: the least length or number that the model allows, if it says.
        maximum: the greatest.
        enum: the values, if it is an enumeration of strings.
    """

    def __init__(
        self,
        name: str,
        kind: Kind,
        parts: Callable[[], Mapping[str, Member]],
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        enum: Iterable[str] = (),
    ) -> None:
        self.name = name
        self.kind = kind
        self.minimum = minimum
        self.maximum = maximum
        self.enum = tuple(enum)
        self._look_up = parts

    @cached_property
    def _parts(self) -> Mapping[str, Member]:
        return self._look_up()

    @property
    def members(self) -> Mapping[str, Member]:
        """The members of a structure, in order; empty for all else."""
        return self._parts if self.kind is Kind.STRUCTURE else {}

    @property
    def element(self) -> Member:
        """What a list or a map holds."""
        return self._parts["value" if self.kind is Kind.MAP else "member"]

    @property
    def key(self) -> Member:
        """The keys of a map."""
        return self._parts["key"]


@dataclass(frozen=True, slots=True)
class Member:
    """A part of a shape."""

    identity: str
    """Tells this member of this shape from any other."""
    target: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelledError:
    """An error that a model knows."""

    shape: str
    """The absolute shape id."""
    code: str | None = None
    """What is on the wire, where the model says that it is not the shape's name."""
    status: int | None = None
    """The HTTP status, if the model tells it."""

    @property
    def name(self) -> str:
        """The name part of the shape id."""
        return self.shape.rpartition("#")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What the rules ask of an operation."""

    shape: str
    input: Shape | None
    """None for an operation without input."""
    output: Shape | None
    errors: tuple[ModelledError, ...]
    codes_count: bool = False
    """Whether an `errorType` may name the code on the wire: where it is matched by it as well."""
    other_errors: tuple[str, ...] = ()
    """Names of errors that only other operations of the service have, for suggestions."""
    http_method: str | None = None
    read_only: bool = False
    """Whether the model says so (`smithy.api#readonly`)."""
    event_stream: bool = False
    known: bool = True
    """Whether the shapes are those of a model; else nothing is said of what expressions give."""
    pages: tuple[str, ...] = ()
    """Expressions on the output that give what is spread over pages."""

    @property
    def name(self) -> str:
        """The name part of the shape id."""
        return self.shape.rpartition("#")[2]
