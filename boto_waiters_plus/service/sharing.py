"""Splits a response to a call for several identifiers into the share of each wait.

The trait `coalescing` knows the operations whose responses can be split, item by item. A
response that has an item that no wait asked for, or more items on a next page, cannot be split.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from botocore.model import OperationModel

from ..definitions.shipped import shipped_traits
from ..wait.facts import IsMeant, ItemsById, UnfinishedIds
from .shapes import shape_id_of

# --- operations that accept a list of identifiers, and how to split their responses by identifier
# They are listed in `data/coalescing.json`, by the trait `boto.waiters#coalescing`, which
# `data/traits.json` defines. The project's tools check the list against the service models.

COALESCING = "boto.waiters#coalescing"


class Items(NamedTuple):
    """A list of items in a response, and how an item names its identifier."""

    path: tuple[str, ...]
    """The members that lead to the items, each a list in the items of the one before."""
    id: tuple[str, ...]
    """The members of an item that may hold its identifier. Empty if the item is the identifier."""


class Page(NamedTuple):
    """The first page of an answer, the only one that a wait reads."""

    member: str | None
    """The input member that takes its size; None if the service has fixed that."""
    size: int
    """The largest size there is."""


class Coalescing(NamedTuple):
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
    traits = shipped_traits(COALESCING)
    return {shape_id: Coalescing.of(trait) for shape_id, trait in traits.items()}


# --- the split -----------------------------------------------------------------------------------

AcceptorOf = Callable[[Any, Mapping[str, Any]], int | None]

_Source = tuple[Coalescing, Mapping[str, Any], Any, Callable[[], AcceptorOf]]

_Position = tuple[int, ...]
"""Where an item is: its index in each list of the path."""


def coalescing_of(operation: OperationModel) -> Coalescing | None:
    """Return how calls of an operation can be shared; None if they cannot."""
    return shipped_coalescing().get(shape_id_of(operation))


def asked_ids(
    coalescing: Coalescing, parameters: Mapping[str, Any]
) -> tuple[str, list[str]] | None:
    """Return the parameter that takes identifiers, and the identifiers in it.

    None unless that is exactly one parameter, with each identifier once.
    """
    given = [member for member in coalescing.ids if parameters.get(member) is not None]
    if len(given) != 1:
        return None
    ids = parameters[given[0]]
    if not isinstance(ids, (list, tuple)) or not all(isinstance(each, str) for each in ids):
        return None
    if not ids or not all(ids) or len(set(ids)) < len(ids):
        return None
    return given[0], list(ids)


def on_one_page(
    coalescing: Coalescing | None, operation: OperationModel, parameters: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return parameters under which one page has all items that they name.

    Raises:
        ValueError: no page has so many.
    """
    page = None if coalescing is None else coalescing.page
    if coalescing is None or page is None:
        return parameters
    size = page.size if page.member is None else parameters.get(page.member, page.size)
    for member in coalescing.ids:
        count = len(parameters.get(member) or ())
        if isinstance(size, int) and count > size:
            raise ValueError(
                f"{member} names {count} resources, and a page of {operation.name} has at most "
                f"{size}; a wait reads one page. Wait for fewer at a time."
            )
    if page.member is None or page.member in parameters:
        return parameters
    return {**parameters, page.member: size}


def shares_of(
    response: Any, asked: Sequence[Sequence[str]], coalescing: Coalescing
) -> list[dict[str, Any]] | None:
    """Return the share of each wait in a response; members other than items are in each share.

    No object is in two shares, so that a caller who changes one changes no other.

    Args:
        response: the response to the call for all identifiers.
        asked: the identifiers that each wait asked for.
        coalescing: where the items are.

    Returns:
        The shares; None if the response cannot be split.
    """
    if not isinstance(response, Mapping) or (coalescing.token and response.get(coalescing.token)):
        return None
    ids = AskedIds(each for ids in asked for each in ids)
    found: list[dict[str, list[_Position]]] = []
    for items in coalescing.items:
        positions = _positions_by_id(response, items, ids)
        if positions is None:
            return None
        found.append(positions)
    taken: set[int] = set()
    return [_share(response, ids, coalescing, found, taken) for ids in asked]


def has_no_items(share: Mapping[str, Any], coalescing: Coalescing) -> bool:
    """Return whether the response omits all identifiers of a share."""
    return not any(share.get(items.path[0]) for items in coalescing.items)


def _share(
    response: Mapping[str, Any],
    ids: Sequence[str],
    coalescing: Coalescing,
    found: Sequence[Mapping[str, list[_Position]]],
    taken: set[int],
) -> dict[str, Any]:
    own = {
        items.path[0]: (
            items.path,
            sorted({position for each in ids for position in positions.get(each, ())}),
        )
        for items, positions in zip(coalescing.items, found, strict=True)
    }
    share: dict[str, Any] = {}
    for name, value in response.items():
        if name in own and isinstance(value, list):
            path, positions = own[name]
            share[name] = _selected(value, path[1:], positions, taken)
        else:
            share[name] = copy.deepcopy(value)
    return share


def _selected(
    value: list[Any], path: Sequence[str], positions: list[_Position], taken: set[int]
) -> list[Any]:
    """Return the items at these positions, each inside what contained it."""
    if not path:
        return [_item_or_copy(value[index], taken) for (index,) in positions]
    selected = []
    for index, group in groupby(positions, key=lambda position: position[0]):
        outer = value[index]
        inner = {name: copy.deepcopy(each) for name, each in outer.items() if name != path[0]}
        rest = [position[1:] for position in group]
        inner[path[0]] = _selected(outer[path[0]], path[1:], rest, taken)
        selected.append({name: inner[name] for name in outer})
    return selected


def _item_or_copy(item: Any, taken: set[int]) -> Any:
    """Return the item itself to the first wait that asked for it, a copy to others."""
    if id(item) in taken:
        return copy.deepcopy(item)
    taken.add(id(item))
    return item


def _positions_by_id(
    response: Mapping[str, Any], items: Items, asked: AskedIds
) -> dict[str, list[_Position]] | None:
    """Return the positions of each identifier's items; None if an item was not asked for."""
    positions: dict[str, list[_Position]] = {}
    for position, item in _items(response, items.path):
        matching = asked.matching(_ids_of(item, items))
        if not matching:
            return None
        for each in matching:
            positions.setdefault(each, []).append(position)
    return positions


def _items(value: Any, path: Sequence[str]) -> Iterator[tuple[_Position, Any]]:
    """Yield each item at the end of a path, with its position."""
    inner = value.get(path[0]) if isinstance(value, Mapping) else None
    for index, item in enumerate(inner if isinstance(inner, list) else ()):
        if len(path) == 1:
            yield (index,), item
        else:
            yield from (((index, *position), each) for position, each in _items(item, path[1:]))


def _ids_of(item: Any, items: Items) -> list[str]:
    """Return the identifiers that an item may have been asked for by."""
    if not items.id:
        return [item] if isinstance(item, str) else []
    if not isinstance(item, Mapping):
        return []
    return [item[member] for member in items.id if isinstance(item.get(member), str)]


class AskedIds:
    """Identifiers that were asked for, found by those of items.

    A request by name may be answered by ARN, and the other way round: the name ends the ARN.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = set(ids)
        self._by_end: dict[str, set[str]] = {}
        for each in self._ids:
            for end in _ends(each):
                self._by_end.setdefault(end, set()).add(each)

    def matching(self, found: Iterable[str]) -> set[str]:
        """Return the identifiers that an item with these ones was asked for by."""
        matching: set[str] = set()
        for each in found:
            matching |= {each} & self._ids
            matching |= {end for end in _ends(each) if end in self._ids}
            matching |= self._by_end.get(each, set())
        return matching


def _ends(text: str) -> Iterator[str]:
    """Yield what follows each separator of an ARN; nothing for any other text."""
    if text.startswith("arn:"):
        yield from (text[match.end() :] for match in re.finditer(r"[/:]", text))


class ById(ItemsById):
    """The items of a response by the identifiers that were asked for.

    They are found at the first access: hardly any caller needs them.

    Args:
        coalescing: where the items of the operation that was called are.
        parameters: the parameters of the call.
        response: the response to it.
        judge_of_shares: returns what judges the shares of the response, one after the other.
    """

    def __init__(
        self,
        coalescing: Coalescing,
        parameters: Mapping[str, Any],
        response: Any,
        judge_of_shares: Callable[[], AcceptorOf],
    ) -> None:
        self._source: _Source | None = (coalescing, parameters, response, judge_of_shares)
        self._items: dict[str, Any] = {}

    def _found(self) -> dict[str, Any]:
        source = self._source
        if source is not None:
            self._items = _items_by_id(*source[:3])
            self._source = None
        return self._items

    def ids_where(self, is_meant: IsMeant) -> UnfinishedIds:
        """Return the identifiers whose own share of the response is meant."""
        if self._source is None:
            return UnfinishedIds()
        coalescing, parameters, response, judge_of_shares = self._source
        asked = asked_ids(coalescing, parameters)
        if asked is None:
            return UnfinishedIds()
        member, ids = asked
        shares = shares_of(response, [[each] for each in ids], coalescing)
        if shares is None:
            return UnfinishedIds()
        acceptor_of = judge_of_shares()
        found = {
            each: share
            for each, share in zip(ids, shares, strict=True)
            if is_meant(acceptor_of(share, {**parameters, member: [each]}))
        }
        missing = [each for each, share in found.items() if has_no_items(share, coalescing)]
        return UnfinishedIds(tuple(found), tuple(missing), tuple(ids))

    def __getitem__(self, key: str) -> Any:
        return self._found()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())

    def __repr__(self) -> str:
        # Without parameters and responses: a repr may end up in a log.
        return f"<items of {len(self)} identifiers>"

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._found(),)


def _items_by_id(
    coalescing: Coalescing, parameters: Mapping[str, Any], response: Any
) -> dict[str, Any]:
    asked = asked_ids(coalescing, parameters)
    if asked is None:
        return {}
    ids, resources = AskedIds(asked[1]), coalescing.items[0]
    found: dict[str, Any] = {}
    for _, item in _items(response, resources.path):
        for each in ids.matching(_ids_of(item, resources)):
            found.setdefault(each, item)
    return {each: found[each] for each in asked[1] if each in found}
