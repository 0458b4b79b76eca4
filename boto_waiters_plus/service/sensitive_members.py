"""Members that no text and no store has: those that the model or `data/sensitive.json` names.

Models do not mark every password, token, key and presigned URL that a service answers with.
"""

from __future__ import annotations

import functools
import json
from typing import Any, NamedTuple

from botocore.model import MapShape, Shape

from ..definitions.shipped import read_shipped

_TYPES = ("string", "blob", "map")
"""The types of members that are named by how they end: a structure has members of its own."""


class _Named(NamedTuple):
    """What `data/sensitive.json` names."""

    endings: tuple[str, ...]
    """How the names of such members end, in lower case."""
    members: frozenset[str]
    """Others, each behind the name of its structure: `AuthorizationData.proxyToken`."""


@functools.cache
def _named() -> _Named:
    text = read_shipped("sensitive.json")
    body: dict[str, Any] = {} if text is None else json.loads(text)
    members = [name for names in body.get("members", {}).values() for name in names]
    return _Named(tuple(body.get("endings", ())), frozenset(members))


def has_sensitive_names(shape: Shape | None) -> bool:
    """Return whether the names in a map are sensitive."""
    return isinstance(shape, MapShape) and is_sensitive(shape.key)


def is_sensitive(shape: Shape | None, owner: Shape | None = None, name: str = "") -> bool:
    """Return whether a value is sensitive: in the model, or as the member of a response.

    Args:
        shape: the shape of the value; None: it is not known.
        owner: the structure of an output that has it.
        name: its name there.
    """
    if shape is None:
        return False
    if shape.metadata.get("sensitive"):
        return True
    if owner is None or owner.type_name != "structure":
        return False
    named = _named()
    by_ending = shape.type_name in _TYPES and name.lower().endswith(named.endings)
    return by_ending or f"{owner.name}.{name}" in named.members
