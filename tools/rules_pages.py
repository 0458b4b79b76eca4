"""Rules of effects whose poll lists what a parent has, on pages.

| rule | what it finds |
|---|---|
| EffectOnePage | items of a list are read, which may not be on the first page |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import jmespath
from botocore.model import ListShape
from effect_of import EffectOf, Found, path_of

from boto_waiters_plus.service.shapes import filters_of, item_names, members_of, page_tokens

Node = Mapping[str, Any]

_FILTERED = re.compile(r"(\A|\|\| )\[")
_MANY = ("filter_projection", "flatten", "projection")


def one_page(effect: EffectOf) -> Iterator[Found]:
    """Find polls that list all that a parent has, and read the first page of it.

    What is not there is not found, and taken for gone. Ids or a filter from the call leave one
    item, or those that the call is about; `pages` reads to the end.
    """
    answer = effect.polled.output_shape
    if effect.body.get("pages") or not page_tokens(answer) or _is_narrowed(effect):
        return
    lists = {name for name, each in members_of(answer).items() if isinstance(each, ListShape)}
    read = {each for acceptor in effect.acceptors for each in _read(path_of(acceptor)) & lists}
    if read:
        text = f"{effect.polled.name} answers {', '.join(sorted(read))} on pages"
        yield Found("EffectOnePage", f"{text}, and no parameter names the items")


def _is_narrowed(effect: EffectOf) -> bool:
    """Whether a parameter of the poll names the items that the effect is about."""
    request = effect.polled.input_shape
    names, filters = item_names(request, effect.polled.output_shape), filters_of(request)
    return any(
        # A filter that is left out of some polls is none.
        name in names or (name in filters and "call." in path and _FILTERED.search(path))
        for name, path in effect.trait.parameters.items()
    )


def _read(path: str) -> set[str]:
    """Return the members whose items a path reads, or searches, other than by an index."""
    found: set[str] = set()

    def visit(node: Node) -> set[str]:
        inner = [visit(each) for each in node["children"] if isinstance(each, dict)]
        is_search = node["type"] == "function_expression" and node["value"] == "contains"
        if is_search or node["type"] in _MANY:
            found.update(inner[0])
        own = {node["value"]} if node["type"] == "field" else set()
        return own.union(*inner)

    visit(jmespath.compile(path or "@").parsed)
    return found


RULES = (one_page,)
