"""The rules of the trait `boto.waiters#screen`: whether the sibling takes and tells what it says.

| rule | severity | id |
|---|---|---|
| the trait has the form that `data/traits.json` defines | ERROR | `Screen.Form` |
| it is on an operation | ERROR | `Screen.Target` |
| the service has the sibling, which only reads | ERROR | `Screen.Operation` |
| `id` and the members of `scope` are strings of the input | ERROR | `Screen.Input` |
| `path` leads to a string of the output | ERROR | `Screen.Path` |
| the sibling takes the request for a page | ERROR | `Screen.Request` |
| `items` leads to a list of its output, `ids` and `state` to strings of an item | ERROR | \
`Screen.Answer` |
| an operation with a token has one in the trait, a string | ERROR | `Screen.Token` |
| each state of `filter` is one that the model knows | WARNING | `Screen.State` |
| the size of a page or a batch is one that the model allows | WARNING | `Screen.Size` |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from botocore.model import Shape
from botocore.validate import ParamValidator

from boto_waiters_plus.check.botocore_services import BotocoreService
from boto_waiters_plus.check.events import Finding, Severity, ValidationEvent
from boto_waiters_plus.check.shapes import (
    OperationShapes,
    element_of,
    enum_of,
    is_string,
    members_of,
)
from boto_waiters_plus.check.units import AppliedTrait
from boto_waiters_plus.definitions.screen_trait import Screen
from boto_waiters_plus.service.pollable import only_reads

from .trait_events import are_names, trait_events

_TEXTS: Final = ("operation", "id", "items", "state", "path")
_PARTS: Final[Mapping[str, Mapping[str, type]]] = {
    "batch": {"member": str, "size": int},
    "token": {"input": str, "output": str},
    "page": {"member": str, "size": int},
    "filter": {"member": str, "values": list},
}
_SAMPLE: Final = "x" * 40
"""A text long enough for an identifier."""


def check_screen(applied: AppliedTrait) -> Iterator[ValidationEvent]:
    """Check the value of a trait, the operation it is on, and the sibling."""

    def judge(operation: OperationShapes) -> Iterator[Finding]:
        screen = Screen.of(applied.value)
        yield from _polled(operation, screen)
        # A model of one's own has no client that could call the sibling.
        if applied.model is None:
            return
        service = BotocoreService(applied.model)
        if screen.operation not in service.operation_names:
            text = f"the service has no operation `{screen.operation}`"
            yield Finding(Severity.ERROR, "Operation", text)
            return
        sibling = service.operation(screen.operation)
        yield from _sibling(sibling, screen)
        yield from _sizes(sibling, screen)
        if not only_reads(applied.model.operation_model(screen.operation)):
            text = f"`{sibling.name}` may modify resources"
            yield Finding(Severity.ERROR, "Operation", text)

    return trait_events(applied, "Screen", _problem(applied.value), judge)


def _problem(trait: Any) -> str | None:
    """Return what is wrong with the form of a trait."""
    if not isinstance(trait, Mapping):
        return "it must be an object"
    unknown = trait.keys() - {*_TEXTS, *_PARTS, "ids", "parameters", "pattern", "scope"}
    if unknown:
        return f"it has no member `{min(unknown)}`"
    for member in _TEXTS:
        if not isinstance(trait.get(member), str) or not trait[member]:
            return f"`{member}` must be a text"
    for member, parts in _PARTS.items():
        value = trait.get(member)
        if value is not None and not _is_part(value, parts):
            return f"`{member}` must be an object with {' and '.join(f'`{x}`' for x in parts)}"
    if not _is_pattern(trait.get("pattern", "")):
        return "`pattern` must be a regular expression"
    if not are_names(trait.get("ids")):
        return "`ids` must be a list of member names"
    scope, parameters = trait.get("scope", {}), trait.get("parameters", {})
    if not isinstance(scope, Mapping) or not all(map(_is_scope, scope.values())):
        return "each of `scope` must be a member name, or an object with `from`, `pattern`, `to`"
    return None if isinstance(parameters, Mapping) else "`parameters` must be an object"


def _is_part(value: Any, parts: Mapping[str, type]) -> bool:
    return (
        isinstance(value, Mapping)
        and value.keys() == parts.keys()
        and all(type(value[name]) is kind and value[name] for name, kind in parts.items())
        and are_names(value.get("values", [_SAMPLE]))
        and value.get("size", 1) > 0
    )


def _is_pattern(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(re.compile(value))
    except re.error:
        return False


def _is_scope(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value)
    if not isinstance(value, Mapping) or value.keys() != {"from", "pattern", "to"}:
        return False
    try:
        groups = re.compile(value["pattern"]).groups
        used = map(int, re.findall(r"\\(\d)", value["to"]))
    except (re.error, TypeError):
        return False
    return all(each <= groups for each in used)


def _polled(operation: OperationShapes, screen: Screen) -> Iterator[Finding]:
    for name in dict.fromkeys((screen.id, *(scope.member for scope in screen.scope.values()))):
        if not is_string(members_of(operation.input).get(name)):
            yield Finding(Severity.ERROR, "Input", f"the input has no string `{name}`")
    if not is_string(_at(operation.output, screen.path)):
        yield Finding(Severity.ERROR, "Path", f"the output has no string `{screen.path}`")


def _sibling(sibling: OperationShapes, screen: Screen) -> Iterator[Finding]:
    scope = dict.fromkeys(screen.scope, _SAMPLE)
    for request in screen.requests(scope, [_SAMPLE]):
        if screen.token_input is not None:
            request[screen.token_input] = _SAMPLE
        report = ParamValidator().validate(request, sibling.input or Shape("", {}))
        if report.has_errors():
            text = f"`{sibling.name}` refuses the request: {report.generate_report()}"
            yield Finding(Severity.ERROR, "Request", text)
            break
    item = element_of(_at(sibling.output, screen.items))
    if item is None:
        yield Finding(Severity.ERROR, "Answer", f"its output has no list `{screen.items}`")
    else:
        for path in (*screen.ids, screen.state):
            if not is_string(_at(item, path)):
                text = f"the items of `{screen.items}` have no string `{path}`"
                yield Finding(Severity.ERROR, "Answer", text)
    yield from _token(sibling, screen)


def _token(sibling: OperationShapes, screen: Screen) -> Iterator[Finding]:
    if screen.token_output is not None:
        if not is_string(_at(sibling.output, screen.token_output)):
            text = f"its output has no string `{screen.token_output}`"
            yield Finding(Severity.ERROR, "Token", text)
        return
    for name in members_of(sibling.output):
        if re.fullmatch("(?i)(next)?(token|marker)", name):
            text = f"`{sibling.name}` has pages (`{name}`), and the trait has no `token`"
            yield Finding(Severity.ERROR, "Token", text)


def _sizes(sibling: OperationShapes, screen: Screen) -> Iterator[Finding]:
    member = screen.batch or screen.page_member
    shape = None if member is None else members_of(sibling.input).get(member)
    size = screen.page_size or 0
    if shape is not None and size > (most := shape.metadata.get("max", size)):
        text = f"`{member}` may be {most} at most, less than {size}"
        yield Finding(Severity.WARNING, "Size", text)
    if screen.filter_member is not None:
        selected = _at(sibling.input, screen.filter_member)
        known = () if selected is None else enum_of(selected)
        for state in screen.filter_values:
            if known and state not in known:
                text = f"`{screen.filter_member}` has no value `{state}`"
                yield Finding(Severity.WARNING, "State", text)


def _at(shape: Shape | None, path: str) -> Shape | None:
    """Return the shape that a path leads to; `[]` stands for the items of a list."""
    for name in path.split("."):
        shape = members_of(shape).get(name.removesuffix("[]"))
        if name.endswith("[]"):
            shape = element_of(shape)
    return shape
