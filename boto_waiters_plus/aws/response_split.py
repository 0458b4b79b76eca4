"""Split a response to a call for several identifiers into each wait's share.

`definitions.coalescing` lists the operations whose responses can be split item by item. A response
cannot be split if it has an item that no wait requested, or more pages.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from botocore.model import OperationModel

from ..definitions.coalescing import Coalescing, Items, shipped_coalescing
from ..definitions.services import aws_namespace

_Place = tuple[int, ...]
"""The place of an item: its index in each list of the path."""


def coalescing_of(operation: OperationModel) -> Coalescing | None:
    """Return how calls of an operation can be shared; None if they cannot."""
    namespace = aws_namespace(str(operation.service_model.service_id))
    return shipped_coalescing().get(f"{namespace}#{operation.name}")


def asked_ids(
    coalescing: Coalescing, parameters: Mapping[str, Any]
) -> tuple[str, list[str]] | None:
    """Return the parameter that has the identifiers, and the identifiers.

    None unless exactly one such parameter is given, with each identifier once.
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


def parts_of(
    response: Any, asked: Sequence[Sequence[str]], coalescing: Coalescing
) -> list[dict[str, Any]] | None:
    """Split a response into the shares of several waits.

    Everything that is not an item is in each share. The shares have no objects in common, so that
    a caller can modify one without changing another.

    Args:
        response: the response to the common call.
        asked: the identifiers of each wait.
        coalescing: where the items are.

    Returns:
        The shares. None if the response cannot be split: it has more pages, or an item that no
        wait requested.
    """
    if not isinstance(response, Mapping) or (coalescing.token and response.get(coalescing.token)):
        return None
    known = RequestedIds(each for ids in asked for each in ids)
    found: list[dict[str, list[_Place]]] = []
    for items in coalescing.items:
        places = _places_by_id(response, items, known)
        if places is None:
            return None
        found.append(places)
    taken: set[int] = set()
    return [_share(response, ids, coalescing, found, taken) for ids in asked]


def is_silent(share: Mapping[str, Any], coalescing: Coalescing) -> bool:
    """Return whether a share has no item at all."""
    return not any(share.get(items.path[0]) for items in coalescing.items)


def _share(
    response: Mapping[str, Any],
    ids: Sequence[str],
    coalescing: Coalescing,
    found: Sequence[Mapping[str, list[_Place]]],
    taken: set[int],
) -> dict[str, Any]:
    places_of = {
        items.path[0]: (
            items.path,
            sorted({place for each in ids for place in places.get(each, ())}),
        )
        for items, places in zip(coalescing.items, found, strict=True)
    }
    share: dict[str, Any] = {}
    for name, value in response.items():
        if name in places_of and isinstance(value, list):
            path, places = places_of[name]
            share[name] = _cut(value, path[1:], places, taken)
        else:
            share[name] = copy.deepcopy(value)
    return share


def _cut(value: list[Any], path: Sequence[str], places: list[_Place], taken: set[int]) -> list[Any]:
    """Return the items at these places, in copies of what they were in."""
    if not path:
        return [_own(value[index], taken) for (index,) in places]
    kept = []
    for index, group in groupby(places, key=lambda place: place[0]):
        outer = value[index]
        inner = {name: copy.deepcopy(each) for name, each in outer.items() if name != path[0]}
        inner[path[0]] = _cut(outer[path[0]], path[1:], [place[1:] for place in group], taken)
        kept.append({name: inner[name] for name in outer})
    return kept


def _own(item: Any, taken: set[int]) -> Any:
    """Return the item itself for the first share that has it, a copy for others."""
    if id(item) in taken:
        return copy.deepcopy(item)
    taken.add(id(item))
    return item


def _places_by_id(
    response: Mapping[str, Any], items: Items, known: RequestedIds
) -> dict[str, list[_Place]] | None:
    """Return the places of each identifier's items; None if no wait requested one of them."""
    places: dict[str, list[_Place]] = {}
    for place, item in _walk(response, items.path):
        owners = known.owners(_ids_of(item, items))
        if not owners:
            return None
        for each in owners:
            places.setdefault(each, []).append(place)
    return places


def _walk(value: Any, path: Sequence[str]) -> Iterator[tuple[_Place, Any]]:
    inner = value.get(path[0]) if isinstance(value, Mapping) else None
    for index, item in enumerate(inner if isinstance(inner, list) else ()):
        if len(path) == 1:
            yield (index,), item
        else:
            yield from (((index, *place), each) for place, each in _walk(item, path[1:]))


def _ids_of(item: Any, items: Items) -> list[str]:
    """Return the identifiers by which an item may have been requested."""
    if not items.id:
        return [item] if isinstance(item, str) else []
    if not isinstance(item, Mapping):
        return []
    return [item[member] for member in items.id if isinstance(item.get(member), str)]


class RequestedIds:
    """Requested identifiers, found by the identifiers of items.

    A resource that was requested by name may be returned by ARN, or the other way round. The name
    is then the end of the ARN.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = set(ids)
        self._by_end: dict[str, set[str]] = {}
        for each in self._ids:
            for end in _ends(each):
                self._by_end.setdefault(end, set()).add(each)

    def owners(self, found: Iterable[str]) -> set[str]:
        """Return the identifiers by which an item was requested."""
        owners: set[str] = set()
        for each in found:
            owners |= {each} & self._ids
            owners |= {end for end in _ends(each) if end in self._ids}
            owners |= self._by_end.get(each, set())
        return owners


def _ends(text: str) -> Iterator[str]:
    """Yield the ends of an ARN, after each separator; nothing for other text."""
    if text.startswith("arn:"):
        yield from (text[match.end() :] for match in re.finditer(r"[/:]", text))


class ById(Mapping[str, Any]):
    """The items of a response by the requested identifiers, found at first use.

    Args:
        operation: the operation that was called.
        parameters: its parameters.
        response: its response.
    """

    def __init__(
        self, operation: OperationModel, parameters: Mapping[str, Any], response: Any
    ) -> None:
        self._source: tuple[OperationModel, Mapping[str, Any], Any] | None = (
            operation,
            parameters,
            response,
        )
        self._items: dict[str, Any] = {}

    def _found(self) -> dict[str, Any]:
        source = self._source
        if source is not None:
            self._items = _items_by_id(*source)
            self._source = None
        return self._items

    def __getitem__(self, key: str) -> Any:
        return self._found()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())

    def __repr__(self) -> str:
        # Reprs end up in logs, where parameters and responses must not.
        return f"<items of {len(self)} identifiers>"

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._found(),)


def _items_by_id(
    operation: OperationModel, parameters: Mapping[str, Any], response: Any
) -> dict[str, Any]:
    coalescing = coalescing_of(operation)
    asked = None if coalescing is None else asked_ids(coalescing, parameters)
    if coalescing is None or asked is None:
        return {}
    known, resources = RequestedIds(asked[1]), coalescing.items[0]
    found: dict[str, Any] = {}
    for _, item in _walk(response, resources.path):
        for each in known.owners(_ids_of(item, resources)):
            found.setdefault(each, item)
    return {each: found[each] for each in asked[1] if each in found}
