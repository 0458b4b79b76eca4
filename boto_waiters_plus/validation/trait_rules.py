"""What a `waitable` trait must look like: Smithy's own checks of any trait, for this one.

| rule | severity | id |
|---|---|---|
| on an operation without event streams, and on nothing else | ERROR | `TraitTarget` |
| what it is made of: names, at least one waiter and one acceptor, tags | ERROR | `TraitValue` |
| delays of at least 1 | ERROR | `TraitValue.Target.InvalidRange` |
| no member that nobody knows | WARNING | `TraitValue.UnknownMember.<shape>.<member>` |
| no matcher that nobody knows | ERROR | `TraitValue.UnknownMember.<shape>.<member>` |
| readable at all | ERROR | `Model` |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..definitions.smithy import WAITABLE
from ..engine.model import AcceptorState, PathComparator
from .events import Severity, Target, ValidationEvent

SELECTOR = "operation :not(-[input, output]-> structure > member > union[trait|streaming])"
"""The shapes the trait may be applied to, in Smithy's words."""

_NAMESPACE = "smithy.waiters#"
_NAME = re.compile(r"^[A-Z]+[A-Za-z0-9]*$")
_WAITER = {
    "documentation": "string",
    "acceptors": "array",
    "minDelay": "number",
    "maxDelay": "number",
    "deprecated": "boolean",
    "tags": "array",
}
_ACCEPTOR = {"state": "string", "matcher": "object", "message": "string"}
_PATH_MATCHER = {"path": "string", "expected": "string", "comparator": "string"}
_MATCHERS = {
    "output": "object",
    "inputOutput": "object",
    "success": "boolean",
    "errorType": "string",
}


def wrong_target(target: Target) -> ValidationEvent:
    """The event for a trait on a shape that it may not be on."""
    return target.event(
        Severity.ERROR,
        "TraitTarget",
        f"Trait `{WAITABLE}` cannot be applied to `{target.shape}`. This trait may only be "
        f"applied to shapes that match the following selector: {SELECTOR}",
    )


def check_trait(target: Target, waitable: Any) -> list[ValidationEvent]:
    """Check the value of a trait."""
    try:
        _require_readable(waitable)
    except _UnreadableError as error:
        message = f"Error creating trait `{WAITABLE}`: {error}"
        return [target.event(Severity.ERROR, "Model", message, **error.place)]
    return list(_schema(target, waitable))


class _UnreadableError(Exception):
    def __init__(
        self, problem: str, waiter: str | None = None, acceptor: int | None = None
    ) -> None:
        super().__init__(problem)
        self.place: dict[str, Any] = {"waiter": waiter, "acceptor": acceptor}


def _require_readable(waitable: Any) -> None:
    for name, waiter in _typed(waitable, "object").items():
        _require_members(waiter, _WAITER, ("acceptors",), waiter=name)
        for tag in waiter.get("tags", []):
            _typed(tag, "string", "an element of `tags`", waiter=name)
        for index, acceptor in enumerate(waiter["acceptors"]):
            place = {"waiter": name, "acceptor": index}
            _require_members(acceptor, _ACCEPTOR, ("state", "matcher"), **place)
            _require_one_of(AcceptorState, acceptor["state"], "state", **place)
            matcher = acceptor["matcher"]
            if len(matcher) != 1:
                raise _UnreadableError("Union value must have exactly one value set", name, index)
            [(kind, value)] = matcher.items()
            if kind in _MATCHERS:
                _typed(value, _MATCHERS[kind], f"`{kind}`", **place)
            if kind in ("output", "inputOutput"):
                _require_members(value, _PATH_MATCHER, tuple(_PATH_MATCHER), **place)
                _require_one_of(PathComparator, value["comparator"], "comparator", **place)


def _require_members(
    value: Any, types: Mapping[str, str], required: tuple[str, ...], **place: Any
) -> None:
    for member in required:
        if member not in _typed(value, "object", **place):
            raise _UnreadableError(f"Missing expected member `{member}`", **place)
    for member, kind in types.items():
        if member in _typed(value, "object", **place):
            _typed(value[member], kind, f"`{member}`", **place)


def _require_one_of(
    kind: type[AcceptorState | PathComparator], value: str, member: str, **place: Any
) -> None:
    known = [item.value for item in kind]
    if value not in known:
        raise _UnreadableError(
            f"Expected `{member}` to be one of {', '.join(known)}, but found `{value}`", **place
        )


def _typed(value: Any, kind: str, what: str = "", **place: Any) -> Any:
    found = _json_type(value)
    if found != kind:
        where = f" of {what}" if what else ""
        raise _UnreadableError(f"Expected {kind}{where}, but found {found}", **place)
    return value


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    types = ((Mapping, "object"), (list, "array"), (str, "string"), ((int, float), "number"))
    return next((name for kind, name in types if isinstance(value, kind)), "null")


class _Value:
    """A place in the trait's value: events begin with its path."""

    def __init__(self, target: Target, path: tuple[str, ...] = (), **place: Any) -> None:
        self._target = target
        self._path = path
        self._place = place

    def at(self, *steps: str, **place: Any) -> _Value:
        return _Value(self._target, (*self._path, *steps), **{**self._place, **place})

    def error(self, message: str, event_id: str = "TraitValue") -> ValidationEvent:
        return self.event(Severity.ERROR, event_id, message)

    def unknown(self, severity: Severity, member: str, kind: str, shape: str) -> ValidationEvent:
        shape = _NAMESPACE + shape
        message = f"Invalid {kind} member `{member}` found for `{shape}`"
        return self.event(severity, f"TraitValue.UnknownMember.{shape}.{member}", message)

    def event(self, severity: Severity, event_id: str, message: str) -> ValidationEvent:
        path = ".".join((f"`{WAITABLE}`", *self._path))
        text = f"Error validating trait {path}: {message}"
        return self._target.event(severity, event_id, text, **self._place)


def _schema(target: Target, waitable: Mapping[str, Any]) -> Iterator[ValidationEvent]:
    here = _Value(target)
    if not waitable:
        yield here.error(_too_few(WAITABLE, "entries"))
    for name, waiter in waitable.items():
        if not _NAME.search(name):
            yield here.at(f"{name} (map-key)", waiter=name).error(
                f"String value provided for `{_NAMESPACE}WaiterName` must match regular "
                f"expression: {_NAME.pattern}"
            )
        yield from _waiter(here.at(name, waiter=name), waiter)


def _waiter(here: _Value, waiter: Mapping[str, Any]) -> Iterator[ValidationEvent]:
    for member, value in waiter.items():
        if member not in _WAITER:
            yield here.unknown(Severity.WARNING, member, "structure", "Waiter")
        elif member in ("minDelay", "maxDelay"):
            yield from _delay(here.at(member), value)
        elif member == "tags":
            for index, tag in enumerate(value):
                if not tag:
                    yield here.at("tags", str(index)).error(
                        f"String value provided for `{_NAMESPACE}NonEmptyString` must be >= 1 "
                        "characters, but the provided value is only 0 characters."
                    )
        elif member == "acceptors":
            if not value:
                yield here.at("acceptors").error(_too_few(f"{_NAMESPACE}Acceptors", "elements"))
            for index, acceptor in enumerate(value):
                place = here.at("acceptors", str(index), acceptor=index)
                yield from _acceptor(place, acceptor)


def _delay(here: _Value, value: float) -> Iterator[ValidationEvent]:
    shape = f"{_NAMESPACE}WaiterDelay"
    if isinstance(value, float):
        yield here.error(
            "integer shapes must not have floating point values, but found "
            f"`{value}` provided for `{shape}`"
        )
    elif value < 1:
        message = (
            f"Value provided for `{shape}` must be greater than or equal to 1, but found {value}"
        )
        yield here.error(message, "TraitValue.Target.InvalidRange")


def _acceptor(here: _Value, acceptor: Mapping[str, Any]) -> Iterator[ValidationEvent]:
    for member in acceptor:
        if member not in _ACCEPTOR:
            yield here.unknown(Severity.WARNING, member, "structure", "Acceptor")
    [(kind, value)] = acceptor["matcher"].items()
    if kind not in _MATCHERS:
        yield here.at("matcher").unknown(Severity.ERROR, kind, "union", "Matcher")
    elif _MATCHERS[kind] == "object":
        for member in value:
            if member not in _PATH_MATCHER:
                place = here.at("matcher", kind)
                yield place.unknown(Severity.WARNING, member, "structure", "PathMatcher")


def _too_few(shape: str, unit: str) -> str:
    return (
        f"Value provided for `{shape}` must have at least 1 {unit}, but the provided value only "
        f"has 0 {unit}"
    )
