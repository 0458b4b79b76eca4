"""The members of a response that hold the states of a resource, as JMESPath expressions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jmespath
from botocore.model import ListShape, OperationModel, Shape, StringShape, StructureShape

from boto_waiters_plus.definitions.state_words import is_underway, state_words

MOST_MEMBERS = 4
"""The members of the longest path that is looked for."""

STATE_NAMES = ("status", "state", "statuscode", "lifecycle", "phase", "progress")
"""The ends of the names of members that hold states, in lower case."""


def state_paths(operation: OperationModel) -> list[str]:
    """Return the expressions for members of the response that hold states, the best first.

    A member holds states if its values are enumerated and one of them is on its way to another,
    or if it is named like a state.
    """
    found = []
    for names, shape in strings(operation.output_shape, (), frozenset()):
        if not shape.enum:
            continue
        is_named = names[-1].removesuffix("[]").lower().endswith(STATE_NAMES)
        has_process = any(is_underway(state_words(value)) for value in shape.enum)
        if is_named or has_process:
            found.append((not (is_named and has_process), not has_process, len(names), names))
    # The sort is stable: the model's order decides.
    return [".".join(names) for *_, names in sorted(found, key=lambda each: each[:3])]


def states_at(operation: OperationModel, path: str) -> tuple[str, ...]:
    """Return the states that the model has at a path; none if it has no enumeration there."""
    members = list(_fields(jmespath.compile(path).parsed))
    for names, shape in strings(operation.output_shape, (), frozenset()):
        if [name.removesuffix("[]") for name in names] == members:
            return tuple(shape.enum)
    return ()


def strings(
    shape: Shape | None, names: tuple[str, ...], seen: frozenset[str]
) -> Iterator[tuple[tuple[str, ...], StringShape]]:
    """Yield the strings of a shape with their paths."""
    if isinstance(shape, StringShape):
        if names:
            yield names, shape
    elif isinstance(shape, ListShape):
        if names:
            yield from strings(shape.member, (*names[:-1], f"{names[-1]}[]"), seen)
    elif isinstance(shape, StructureShape) and shape.name not in seen:
        for name, member in shape.members.items() if len(names) < MOST_MEMBERS else ():
            yield from strings(member, (*names, name), seen | {shape.name})


def _fields(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if node["type"] == "field":
            yield node["value"]
        for child in node["children"]:
            yield from _fields(child)
