"""Conversion of botocore's `waiters-2` JSON to definitions, and back as far as possible.

| botocore | Smithy |
|---|---|
| `delay` D of a user's own file | `minDelay` and `maxDelay` are D |
| `delay` D of botocore's data | `minDelay` is max(1, ceil(D / 4)), `maxDelay` is D |
| `path`, `pathAll`, `pathAny` and text | `stringEquals`, `allStringEquals`, `anyStringEquals` |
| `path` and a boolean | `booleanEquals` |
| any of them and another value | an expression that compares, with `booleanEquals` |
| `error` with a name, true, false | `errorType`, `success: false`, `success: true` |
| `status` | kept until the operation is known: see `service.service_waiters` |

Two mistakes of existing files are treated as botocore treats them, so that the rest of the file
can be used; `boto-wait check` reports both. The state `error` does not exist: botocore polls
again, which is `retry`. A waiter without the member `acceptors` is a template to be completed at
run time: it is skipped, or refused if the file holds nothing else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..engine.acceptors import (
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    Matcher,
    OutputMatcher,
    PathComparator,
    PathMatcher,
    StatusMatcher,
    SuccessMatcher,
)
from ..engine.delays import delay_range
from ..engine.model import WaiterDefinition
from .parsing import (
    Place,
    parse_delay,
    parse_enum,
    require_expression,
    require_mapping,
    require_method_name,
    require_success,
)
from .smithy import UnreadWaiter, read_acceptors

STATE_OF_NO_EFFECT = "error"
"""A state that botocore's loop ignores: see above."""

_COMPARATORS = {
    "path": PathComparator.STRING_EQUALS,
    "pathAll": PathComparator.ALL_STRING_EQUALS,
    "pathAny": PathComparator.ANY_STRING_EQUALS,
}


_MATCHERS = {comparator: matcher for matcher, comparator in _COMPARATORS.items()}


def unread_waiters2(
    model: Mapping[str, Any], *, source: str, service: str | None = None, is_botocores: bool = False
) -> list[UnreadWaiter]:
    """Return the waiters of a `waiters-2` document, each converted when it is asked for.

    Args:
        model: the document.
        source: the file that error messages name.
        service: the botocore name of the service, if it is known.
        is_botocores: whether the document is botocore's own data, whose fixed delays become a
            range; those of a user's document are kept.

    Raises:
        WaiterDefinitionError: the document is not of this form.
    """
    waiters = require_mapping(model.get("waiters"), "waiters", Place(source))
    complete = {name: body for name, body in waiters.items() if not is_template(body)}
    return [
        UnreadWaiter(
            name,
            str(body.get("operation")) if isinstance(body, Mapping) else "",
            service,
            source,
            body,
            _convert_botocores if is_botocores else _convert,
        )
        for name, body in (complete or waiters).items()
    ]


def is_template(body: Any) -> bool:
    """Return whether a waiter is a template: it has no acceptors yet."""
    return isinstance(body, Mapping) and "acceptors" not in body


def to_waiters2(definition: WaiterDefinition) -> dict[str, Any]:
    """Return a waiter in botocore's form, without the acceptors that this form cannot express.

    `delay` is `maxDelay`, at most four times `minDelay`: the delay that the range was made from,
    if it was made from one. `maxAttempts` is 40, botocore's most common number, or as many as ten
    minutes need.
    """
    converted = [acceptor_to_waiters2(acceptor) for acceptor in definition.acceptors]
    delay = min(definition.max_delay, 4 * definition.min_delay)
    return {
        "operation": definition.operation,
        "delay": delay,
        "maxAttempts": max(40, math.ceil(600 / delay)),
        "description": definition.documentation,
        "acceptors": [acceptor for acceptor in converted if acceptor is not None],
    }


def acceptor_to_waiters2(acceptor: Acceptor) -> dict[str, Any] | None:
    """Return one acceptor in botocore's form; None if it matches on the input."""
    match acceptor.matcher:
        case OutputMatcher(matcher=path_matcher):
            expected = path_matcher.expected
            is_boolean = path_matcher.comparator is PathComparator.BOOLEAN_EQUALS
            matcher: dict[str, Any] = {
                "matcher": _MATCHERS.get(path_matcher.comparator, "path"),
                "argument": path_matcher.path,
                "expected": expected == "true" if is_boolean else expected,
            }
        case SuccessMatcher(success=success):
            matcher = {"matcher": "error", "expected": not success}
        case ErrorTypeMatcher(name=name):
            matcher = {"matcher": "error", "expected": name}
        case StatusMatcher(status=status):
            matcher = {"matcher": "status", "expected": status}
        case _:
            return None
    return {"state": acceptor.state.value, **matcher}


def _convert_botocores(name: Any, body: Any, **about: Any) -> WaiterDefinition:
    definition = _convert(name, body, **about)
    delay = definition.max_delay
    min_delay, max_delay = delay_range(delay)
    return replace(definition, min_delay=min_delay, max_delay=max_delay, botocore_delay=delay)


def _convert(
    name: Any, body: Any, *, operation: str, source: str, service: str | None
) -> WaiterDefinition:
    place = Place(source, name)
    require_method_name(name, place)
    waiter = require_mapping(body, "a waiter", place)
    if not operation or not isinstance(waiter.get("operation"), str):
        raise place.error("operation must be the name of an operation")
    delay = parse_delay(waiter, "delay", None, place)
    converted = read_acceptors(waiter, place, _acceptor)
    require_success(converted, place)
    description = waiter.get("description", "")
    return WaiterDefinition(
        name=name,
        operation=operation,
        acceptors=converted,
        min_delay=delay,
        max_delay=delay,
        documentation=description if isinstance(description, str) else "",
        service=service,
        source=place.source,
    )


def _acceptor(body: Any, place: Place) -> Acceptor:
    acceptor = require_mapping(body, "an acceptor", place)
    if acceptor.get("state") == STATE_OF_NO_EFFECT:
        acceptor = {**acceptor, "state": AcceptorState.RETRY.value}
    state = parse_enum(acceptor, "state", AcceptorState, place)
    if "expected" not in acceptor:
        raise place.error("expected is missing")
    return Acceptor(state=state, matcher=_matcher(acceptor, place))


def _matcher(body: Mapping[str, Any], place: Place) -> Matcher:
    kind, expected = body.get("matcher"), body["expected"]
    if isinstance(kind, str) and kind in _COMPARATORS:
        path = require_expression(body.get("argument"), place, "argument")
        return OutputMatcher(_path_matcher(kind, path, expected))
    if kind == "error":
        if isinstance(expected, bool):
            return SuccessMatcher(not expected)
        if isinstance(expected, str) and expected:
            return ErrorTypeMatcher(expected)
        raise place.error("expected must be the code of an error, true or false")
    if kind == "status":
        if isinstance(expected, bool) or not isinstance(expected, int):
            raise place.error("expected must be an HTTP status")
        return StatusMatcher(expected)
    raise place.error("matcher must be one of path, pathAll, pathAny, error, status")


def _path_matcher(kind: str, path: str, expected: Any) -> PathMatcher:
    if isinstance(expected, str):
        return PathMatcher(path=path, expected=expected, comparator=_COMPARATORS[kind])
    if kind == "path" and isinstance(expected, bool):
        text = "true" if expected else "false"
        return PathMatcher(path=path, expected=text, comparator=PathComparator.BOOLEAN_EQUALS)
    literal = "`" + json.dumps(expected).replace("`", "\\`") + "`"
    if kind == "path":
        comparison = f"({path}) == {literal}"
    elif kind == "pathAny":
        comparison = f"length(({path})[?@ == {literal}]) > `0`"
    else:
        comparison = f"length({path}) > `0` && length(({path})[?@ != {literal}]) == `0`"
    return PathMatcher(path=comparison, expected="true", comparator=PathComparator.BOOLEAN_EQUALS)
