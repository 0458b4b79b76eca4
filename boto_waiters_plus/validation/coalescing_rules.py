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
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.model import Shape

from ..definitions.coalescing_trait import COALESCING, Coalescing, Items
from .documents import Target
from .events import Severity, ValidationEvent
from .shapes import Operation, element_of, members_of

FORM = "Coalescing.Form"
TARGET = "Coalescing.Target"

_MEMBERS = ("ids", "items", "limit", "token")


def check_coalescing(
    target: Target, operation: Operation | None, trait: Any
) -> Iterator[ValidationEvent]:
    """Check the value of a trait and the operation it is on; None stands for another shape."""
    problem = _problem(trait)
    if problem is not None:
        yield _event(target, "Form", problem)
    elif operation is None:
        yield _event(target, "Target", "it may only be applied to operations")
    else:
        coalescing = Coalescing.of(trait)
        yield from _check_ids(target, operation, coalescing)
        yield from _check_items(target, operation, coalescing)
        yield from _check_token(target, operation, coalescing)


def _event(
    target: Target, rule: str, message: str, severity: Severity = Severity.ERROR
) -> ValidationEvent:
    return target.event(severity, f"Coalescing.{rule}", f"Trait `{COALESCING}`: {message}")


def _problem(trait: Any) -> str | None:
    """Return what is wrong with the form of a trait."""
    if not isinstance(trait, Mapping):
        return "it must be an object"
    for member in trait:
        if member not in _MEMBERS:
            return f"it has no member `{member}`"
    if not _are_names(trait.get("ids")):
        return "`ids` must be a list of member names"
    limit, items = trait.get("limit"), trait.get("items")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 2:
        return "`limit` must be a whole number, at least 2"
    if "token" in trait and not isinstance(trait["token"], str):
        return "`token` must be the name of a member"
    if not isinstance(items, list) or not items or not all(map(_is_place, items)):
        return "`items` must be a list of objects with `path` and `id`, lists of member names"
    return None


def _is_place(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and value.keys() <= {"path", "id"}
        and _are_names(value.get("path"))
        and ("id" not in value or _are_names(value["id"]))
    )


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, str) and x for x in value)


def _check_ids(
    target: Target, operation: Operation, coalescing: Coalescing
) -> Iterator[ValidationEvent]:
    for name in coalescing.ids:
        shape = members_of(operation.input).get(name)
        if shape is None or not _is_string(element_of(shape)):
            yield _event(target, "Ids", f"the input has no list of strings `{name}`")
        elif coalescing.limit > (maximum := shape.metadata.get("max", coalescing.limit)):
            text = f"`{name}` may have {maximum} elements, fewer than {coalescing.limit}"
            yield _event(target, "Limit", text, Severity.WARNING)


def _check_items(
    target: Target, operation: Operation, coalescing: Coalescing
) -> Iterator[ValidationEvent]:
    first = [items.path[0] for items in coalescing.items]
    for items in coalescing.items:
        path = ".".join(items.path)
        if first.count(items.path[0]) > 1:
            yield _event(target, "Items", f"several paths begin with `{items.path[0]}`")
            continue
        item = _item(operation.output, items)
        if item is None:
            yield _event(target, "Items", f"the output has no lists `{path}`")
        elif not items.id and not _is_string(item):
            yield _event(target, "Id", f"the items of `{path}` are no strings and have no `id`")
        for name in items.id if item is not None else ():
            if not _is_string(members_of(item).get(name)):
                yield _event(target, "Id", f"the items of `{path}` have no string `{name}`")


def _check_token(
    target: Target, operation: Operation, coalescing: Coalescing
) -> Iterator[ValidationEvent]:
    token = coalescing.token
    if token is not None and not _is_string(members_of(operation.output).get(token)):
        yield _event(target, "Token", f"the output has no string `{token}`")
    if token is None and operation.pages:
        text = "the operation is paginated, and the trait has no `token`"
        yield _event(target, "Token", text, Severity.WARNING)


def _item(output: Shape | None, items: Items) -> Shape | None:
    """Return the shape of the items; None if the path does not lead from list to list."""
    shape = output
    for name in items.path:
        shape = element_of(members_of(shape).get(name))
    return shape


def _is_string(shape: Shape | None) -> bool:
    return shape is not None and shape.type_name == "string"
