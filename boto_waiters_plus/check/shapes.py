"""Operations as the rules see them; their shapes are `botocore.model.Shape`s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from botocore.model import ListShape, Shape, StructureShape

UNKNOWN = Shape("", {"type": "unknown"})
"""A shape that no model defines."""


def members_of(shape: Shape | None) -> Mapping[str, Shape]:
    """Return the members of a structure or union; none of any other shape."""
    return shape.members if isinstance(shape, StructureShape) else {}


def element_of(shape: Shape | None) -> Shape | None:
    """Return the shape of a list's elements; None if the shape is not a list."""
    return shape.member if isinstance(shape, ListShape) else None


def is_string(shape: Shape | None) -> bool:
    """Whether a shape is a string."""
    return shape is not None and shape.type_name == "string"


def enum_of(shape: Shape) -> tuple[str, ...]:
    """Return the values of an enumeration; none of any other shape."""
    return tuple(shape.metadata.get("enum", ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelledError:
    """An error that a model defines."""

    shape: str
    """The absolute shape id."""
    code: str | None = None
    """The error code on the wire, where the model states one."""
    status: int | None = None
    """The HTTP status, where the model states one."""

    @property
    def name(self) -> str:
        """The name part of the shape id."""
        return self.shape.rpartition("#")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationShapes:
    """An operation of a Smithy model or of botocore."""

    shape: str
    """The absolute shape id."""
    input: Shape | None
    """None for an operation without input."""
    output: Shape | None
    errors: tuple[ModelledError, ...]
    matches_codes: bool = False
    """Whether an `errorType` may name the code on the wire."""
    other_errors: tuple[str, ...] = ()
    """Names of errors that only other operations of the service have, for suggestions."""
    sibling_errors: tuple[ModelledError, ...] = ()
    """The errors of the other operations on the same resource."""
    http_method: str | None = None
    read_only: bool = False
    """Whether the model has the trait `smithy.api#readonly`."""
    event_stream: bool = False
    known: bool = True
    """Whether the shapes are those of a model; if not, return types are not checked."""
    pages: tuple[str, ...] = ()
    """Expressions on the output for what is spread over pages."""

    @property
    def name(self) -> str:
        """The name part of the shape id."""
        return self.shape.rpartition("#")[2]
