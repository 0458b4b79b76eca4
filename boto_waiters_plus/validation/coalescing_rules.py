"""Whether an operation can do what its `boto.waiters#coalescing` trait says.

| rule | severity | id |
|---|---|---|
| the trait has the form that `data/traits.json` defines | ERROR | `Coalescing.Form` |
| it is on an operation | ERROR | `Coalescing.Target` |
| each of `ids` is a member of the input, a list of strings | ERROR | `Coalescing.Ids` |
| each `path` leads from list to list of the output | ERROR | `Coalescing.Items` |
| no two of them begin with the same member | ERROR | `Coalescing.Items` |
| each `id` is a member of the items, a string; without one the items are strings | ERROR | \
`Coalescing.Id` |
| `token` is a member of the output, a string | ERROR | `Coalescing.Token` |
| what comes in pages has a token | WARNING | `Coalescing.Token` |
| `limit` is no more than the list may have | WARNING | `Coalescing.Limit` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..definitions.coalescing import COALESCING, Coalescing, Items
from .events import Severity, Target, ValidationEvent
from .shapes import Kind, Operation, Shape

FORM = "Coalescing.Form"
TARGET = "Coalescing.Target"

_MEMBERS = ("ids", "items", "limit", "token")


def check_coalescing(
    target: Target, operation: Operation | None, trait: Any
) -> Iterator[ValidationEvent]:
    """Check a trait and the operation it is on.

    Args:
        target: what events are about.
        operation: the operation; None if the shape is none.
        trait: the value of the trait.
    """
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


# --- the form -----------------------------------------------------------------------------------


def _problem(trait: Any) -> str | None:
    """What is wrong with the form of a trait."""
    if not isinstance(trait, Mapping):
        return "it must be an object"
    for member in trait:
        if member not in _MEMBERS:
            return f"it has no member `{member}`"
    if not _are_names(trait.get("ids")):
        return "`ids` must be a list of member names"
    limit, items = trait.get("limit"), trait.get("items")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 2:
        return "`limit` must be a whole number from 2 on"
    if "token" in trait and not isinstance(trait["token"], str):
        return "`token` must be a member's name"
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


# --- the operation ------------------------------------------------------------------------------


def _check_ids(
    target: Target, operation: Operation, coalescing: Coalescing
) -> Iterator[ValidationEvent]:
    for name in coalescing.ids:
        shape = _member(operation.input, name)
        if shape is None or shape.kind is not Kind.LIST or not _is_string(shape.element.target):
            yield _event(target, "Ids", f"the input has no list of strings `{name}`")
        elif shape.maximum is not None and coalescing.limit > shape.maximum:
            text = f"`{name}` may have {shape.maximum} elements, fewer than {coalescing.limit}"
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
            if not _is_string(_member(item, name)):
                yield _event(target, "Id", f"the items of `{path}` have no string `{name}`")


def _check_token(
    target: Target, operation: Operation, coalescing: Coalescing
) -> Iterator[ValidationEvent]:
    token = coalescing.token
    if token is not None and not _is_string(_member(operation.output, token)):
        yield _event(target, "Token", f"the output has no string `{token}`")
    if token is None and operation.pages:
        text = "the answer comes in pages, and nothing says where the next page is told of"
        yield _event(target, "Token", text, Severity.WARNING)


def _item(output: Shape | None, items: Items) -> Shape | None:
    """The shape of the items; None if the path does not lead from list to list."""
    shape = output
    for name in items.path:
        inner = _member(shape, name)
        if inner is None or inner.kind is not Kind.LIST:
            return None
        shape = inner.element.target
    return shape


def _member(shape: Shape | None, name: str) -> Shape | None:
    member = None if shape is None else shape.members.get(name)
    return None if member is None else member.target


def _is_string(shape: Shape | None) -> bool:
    return shape is not None and shape.kind is Kind.STRING
