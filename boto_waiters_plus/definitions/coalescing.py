"""Which operations take a list of identifiers, and how their answers are told apart.

`data/coalescing.json` says it, by the trait `boto.waiters#coalescing` that `data/traits.json`
defines; the checker checks it against the models.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .shipped import COALESCING_FILE, data_root

COALESCING = "boto.waiters#coalescing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """Where an answer has items that belong to what was asked for."""

    path: tuple[str, ...]
    """Members, each a list in the items of the one before."""
    id: tuple[str, ...]
    """The members of an item that may be what was asked for; none: the item is it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coalescing:
    """How one call of an operation can answer several waits."""

    ids: tuple[str, ...]
    """The members of the input that take a list of identifiers."""
    items: tuple[Items, ...]
    """The first are the resources; others say what is wrong with some."""
    limit: int
    """Identifiers in one call."""
    token: str | None
    """The member of the output that says that there is more."""

    @classmethod
    def of(cls, trait: Mapping[str, Any]) -> Coalescing:
        """What a trait of the right form says."""
        return cls(
            ids=tuple(trait["ids"]),
            items=tuple(
                Items(path=tuple(each["path"]), id=tuple(each.get("id", ())))
                for each in trait["items"]
            ),
            limit=trait["limit"],
            token=trait.get("token"),
        )


@functools.cache
def shipped_coalescing() -> Mapping[str, Coalescing]:
    """What is shipped, by the shape id of the operation."""
    document = json.loads((data_root() / COALESCING_FILE).read_text(encoding="utf-8"))
    return {
        shape_id: Coalescing.of(shape["traits"][COALESCING])
        for shape_id, shape in document["shapes"].items()
    }
