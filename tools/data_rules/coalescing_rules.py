"""The rules of the trait `boto.waiters#coalescing`: whether an operation has what the trait names.

| rule | severity | id |
|---|---|---|
| the trait has the form that `data/traits.json` defines | ERROR | `Coalescing.Form` |
| it is on an operation | ERROR | `Coalescing.Target` |
| each of `ids` is a member of the input, a list of strings | ERROR | `Coalescing.Ids` |
| each `path` leads from list to list of the output | ERROR | `Coalescing.Items` |
| no two paths begin with the same member | ERROR | `Coalescing.Items` |
| each `id` is a string member of the items; without one the items are strings | ERROR | \
`Coalescing.Id` |
| `token` is a string member of the output | ERROR | `Coalescing.Token` |
| a paginated operation has a token | WARNING | `Coalescing.Token` |
| `limit` is at most the length that the list may have | WARNING | `Coalescing.Limit` |
| the member of `page` takes a number, at most the one it allows | ERROR | `Coalescing.Page` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from boto_waiters_plus.check.events import Finding, Severity, ValidationEvent
from boto_waiters_plus.check.shapes import OperationShapes, element_of, is_string, members_of
from boto_waiters_plus.check.units import AppliedTrait
from boto_waiters_plus.definitions.coalescing_trait import Coalescing, Page

from .trait_events import are_names, trait_events


def check_coalescing(applied: AppliedTrait) -> Iterator[ValidationEvent]:
    """Check the value of a trait and the operation it is on."""

    def judge(operation: OperationShapes) -> Iterator[Finding]:
        coalescing = Coalescing.of(applied.value)
        yield from _ids(operation, coalescing)
        yield from _items(operation, coalescing)
        yield from _token(operation, coalescing.token)
        yield from _page(operation, coalescing.page)

    return trait_events(applied, "Coalescing", _problem(applied.value), judge)


def _problem(trait: Any) -> str | None:
    """Return what is wrong with the form of a trait."""
    if not isinstance(trait, Mapping):
        return "it must be an object"
    limit, items, token = trait.get("limit"), trait.get("items"), trait.get("token", "")
    for member in trait:
        if member not in ("ids", "items", "limit", "page", "token"):
            return f"it has no member `{member}`"
    page = trait.get("page", {"size": 1})
    if not isinstance(page, Mapping) or not isinstance(page.get("size"), int):
        return "`page` must be an object with `size`, a whole number"
    if not are_names(trait.get("ids")):
        return "`ids` must be a list of member names"
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 2:
        return "`limit` must be a whole number, at least 2"
    if not isinstance(token, str):
        return "`token` must be the name of a member"
    if not isinstance(items, list) or not items or not all(map(_is_place, items)):
        return "`items` must be a list of objects with `path` and `id`, lists of member names"
    return None


def _is_place(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and value.keys() <= {"path", "id"}
        and are_names(value.get("path"))
        and ("id" not in value or are_names(value["id"]))
    )


def _ids(operation: OperationShapes, coalescing: Coalescing) -> Iterator[Finding]:
    for name in coalescing.ids:
        shape = members_of(operation.input).get(name)
        if shape is None or not is_string(element_of(shape)):
            text = f"the input has no list of strings `{name}`"
            yield Finding(Severity.ERROR, "Ids", text)
        elif coalescing.limit > (maximum := shape.metadata.get("max", coalescing.limit)):
            text = f"`{name}` may have {maximum} elements, fewer than {coalescing.limit}"
            yield Finding(Severity.WARNING, "Limit", text)


def _items(operation: OperationShapes, coalescing: Coalescing) -> Iterator[Finding]:
    first = [items.path[0] for items in coalescing.items]
    for items in coalescing.items:
        path, item = ".".join(items.path), operation.output
        for name in items.path:
            item = element_of(members_of(item).get(name))
        rule, texts = "Items", []
        if first.count(items.path[0]) > 1:
            texts = [f"several paths begin with `{items.path[0]}`"]
        elif item is None:
            texts = [f"the output has no lists `{path}`"]
        else:
            rule, members = "Id", members_of(item)
            if not items.id and not is_string(item):
                texts = [f"the items of `{path}` are no strings and have no `id`"]
            missing = [name for name in items.id if not is_string(members.get(name))]
            texts += [f"the items of `{path}` have no string `{name}`" for name in missing]
        yield from (Finding(Severity.ERROR, rule, text) for text in texts)


def _token(operation: OperationShapes, token: str | None) -> Iterator[Finding]:
    if token is not None and not is_string(members_of(operation.output).get(token)):
        yield Finding(Severity.ERROR, "Token", f"the output has no string `{token}`")
    if token is None and operation.pages:
        text = "the operation is paginated, and the trait has no `token`"
        yield Finding(Severity.WARNING, "Token", text)


def _page(operation: OperationShapes, page: Page | None) -> Iterator[Finding]:
    if page is None or page.member is None:
        return
    shape = members_of(operation.input).get(page.member)
    if shape is None or shape.type_name not in ("integer", "long"):
        yield Finding(Severity.ERROR, "Page", f"the input has no number `{page.member}`")
    elif page.size > (most := shape.metadata.get("max", page.size)):
        yield Finding(Severity.ERROR, "Page", f"`{page.member}` is at most {most}")
