"""The members of a response that have states of the resource, by the model of the operation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from ..definitions.words import resource_of
from .sensitive_members import is_sensitive

_STATE = re.compile(r"(?!desired|target)\w*(status|state)", re.IGNORECASE)
_NAMES = ("Name", "Code")
_STEP = re.compile(r"([A-Za-z_]\w*)((?:\[(?:\*|-?\d+)?\])?)\Z")
_DEEPEST = 4


def state_path(operation: OperationModel, members: Sequence[str] = ()) -> str | None:
    """Return the path of the best of `state_members`; None if there is none."""
    return next((path for path, _ in state_members(operation, members)), None)


def state_members(
    operation: OperationModel, members: Sequence[str] = ()
) -> list[tuple[str, Shape]]:
    """Return the states nearest to the root of a response, each with its path, the best first.

    The best is the one that is named `Status`, `State` or after the resource, then one whose values
    the model lists. Members that the model calls sensitive are not among them.

    Args:
        operation: the operation.
        members: those that lead from the root to what the state is of.
    """
    output = operation.output_shape
    level: list[tuple[str, Shape]] = [] if output is None else [("", output)]
    for name in members:
        level = [each for at in level for each in _members(*at) if _last(each[0]) == name]
    for _ in range(_DEEPEST):
        level = [member for path, shape in level for member in _members(path, shape)]
        states = [state for path, shape in level for state in _states(path, shape)]
        if states:
            return sorted(states, key=lambda found: _rank(found[0], found[1], operation.name))
    return []


def is_plain(path: str) -> bool:
    """Whether an expression has members joined by dots only, with `[]`, `[*]` or an index."""
    return all(map(_STEP.match, path.split(".")))


def shape_at(operation: OperationModel, path: str) -> Shape | None:
    """Return the shape that a plain expression leads to; None if the response has none there."""
    shape: Shape | None = operation.output_shape
    for step in filter(None, map(_STEP.match, path.split("."))):
        match shape:
            case StructureShape():
                shape = shape.members.get(step[1])
            case MapShape():
                shape = shape.value
            case _:
                return None
        if step[2]:
            shape = shape.member if isinstance(shape, ListShape) else None
    return shape


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _members(path: str, shape: Shape) -> Iterator[tuple[str, Shape]]:
    if isinstance(shape, ListShape):
        path, shape = f"{path}[]", shape.member
    if isinstance(shape, StructureShape) and not is_sensitive(shape):
        for name, member in shape.members.items():
            if not is_sensitive(member, shape, name):
                yield f"{path}.{name}" if path else name, member


def _states(path: str, shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield the state that a member is, or that a structure such as `State` has as its name."""
    if not _STATE.fullmatch(_last(path)):
        return
    if is_text(shape):
        yield path, shape
    elif isinstance(shape, StructureShape):
        named = [each for each in _members(path, shape) if _last(each[0]) in _NAMES]
        yield from [each for each in named if is_text(each[1]) and each[1].metadata.get("enum")]


def is_text(shape: Shape) -> bool:
    """Return whether a member is a text that may be shown."""
    return shape.type_name == "string" and not is_sensitive(shape)


def _rank(path: str, shape: Shape, operation: str) -> int:
    parts = path.lower().split(".")
    name = parts[-1] if _STATE.fullmatch(parts[-1]) else parts[-2]
    if name in ("status", "state"):
        return 0
    if _STATE.sub("", name) == "" and name.startswith(resource_of(operation).lower()):
        return 1
    return 2 if shape.metadata.get("enum") else 3
