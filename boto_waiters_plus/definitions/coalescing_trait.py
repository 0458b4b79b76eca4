"""Operations that accept a list of identifiers, and how to split their responses by identifier.

They are listed in `data/coalescing.json`, by the trait `boto.waiters#coalescing`, which
`data/traits.json` defines. The project's tools check the list against the service models.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .shipped import shipped_traits

COALESCING = "boto.waiters#coalescing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list of items in a response, and how an item names its identifier."""

    path: tuple[str, ...]
    """The members that lead to the items, each a list in the items of the one before."""
    id: tuple[str, ...]
    """The members of an item that may hold its identifier. Empty if the item is the identifier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The first page of an answer, the only one that a wait reads."""

    member: str | None
    """The input member that takes its size; None if the service has fixed that."""
    size: int
    """The largest size there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coalescing:
    """How one call of an operation can serve several waits."""

    ids: tuple[str, ...]
    """The input members that accept a list of identifiers."""
    items: tuple[Items, ...]
    """The resources first; then lists of the failures that the response reports for some."""
    limit: int
    """The most identifiers that one call accepts."""
    token: str | None
    """The output member that is set if there are more pages."""
    page: Page | None = None
    """None if an answer has all that a request may name."""

    @classmethod
    def of(cls, trait: Mapping[str, Any]) -> Coalescing:
        """Read a valid trait."""
        page = trait.get("page")
        return cls(
            ids=tuple(trait["ids"]),
            items=tuple(
                Items(path=tuple(each["path"]), id=tuple(each.get("id", ())))
                for each in trait["items"]
            ),
            limit=trait["limit"],
            token=trait.get("token"),
            page=page and Page(member=page.get("member"), size=page["size"]),
        )


@functools.cache
def shipped_coalescing() -> Mapping[str, Coalescing]:
    """Return what `data/coalescing.json` lists, by the shape id of the operation."""
    traits = shipped_traits("coalescing.json", COALESCING)
    return {shape_id: Coalescing.of(trait) for shape_id, trait in traits.items()}
