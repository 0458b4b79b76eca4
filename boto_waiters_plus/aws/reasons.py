"""The service's own words for a state: `StackStatusReason` beside `StackStatus`.

Asked when a wait has ended without success, never at a look. `data/reasons.json` has the expression
for every state that a shipped failure acceptor compares; for other paths (of a user's definition,
of a newer botocore's waiter) the model of the operation is walked in the same way.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jmespath
from botocore.model import ListShape, OperationModel, ServiceModel, Shape, StructureShape

from ..definitions.shipped import data_root
from ..definitions.smithy import AWS_NAMESPACE
from ..engine.model import AcceptorState
from ..engine.redaction import cut, may_show
from .data_model import DataModel

EXPECTED = "{expected}"
"""Stands in an expression for the value that the acceptor compares with."""

REASONS = "reasons.json"

TRAIT = "boto.waiters#reasons"

_Path = list[tuple[str, str]]
"""Members with the brackets behind them."""

_STEP = re.compile(r"(\w+)((?:\[[*\d]*\])?)\Z")

# What a member is called that says why, after the name of the state, the best word first.
_SUFFIXES = (
    "Reason", "ChangeReason", "TransitionReason", "Message", "Reasons", "ReasonMessage", "Messages",
    "Details", "Detail", "Description", "Information", "Info",
)  # fmt: skip

# The same without the name of the state.
_NAMES = (
    "FailureReason", "FailureReasons", "FailureMessage", "FailureMessages", "FailureDescription",
    "FailureDetails", "FailureCause", "StoppedReason", "LastFailureMessage", "ErrorMessage",
    "ErrorMessages", "ErrorDetails", "ErrorDetail", "ErrorInfo", "ErrorInformation", "Error",
    "Errors", "Reason", "Message", "ExitMessage",
)  # fmt: skip

# Which member of a structure that says why has the words.
_WORDS = ("message", "errormessage", "description", "reason", "details", "detail", "code")

# A state may be wrapped: `State: {Code, Name}` has its reason beside the structure.
_WRAPPED = ("Name", "Code", "Value", "Status", "State")


@dataclass(frozen=True, slots=True)
class Compared:
    """A state that an acceptor compares: its path, the value, and where that leads to."""

    path: str
    expected: Any
    leads_to: AcceptorState


def find_reason(
    operation: OperationModel,
    response: Any,
    acceptors: Sequence[Compared | None],
    matched: int | None,
) -> str | None:
    """What the service says of the state that a response shows.

    Args:
        operation: the model of the operation that was polled.
        response: the last response.
        acceptors: what each of the waiter's acceptors compares; None for one that compares no
            state of the output.
        matched: the acceptor that matched, if one did.

    Returns:
        The text, cut at the limit of what may be shown; None if the response has none, or the
        model calls a member on the way sensitive.
    """
    decided = None if matched is None else acceptors[matched]
    if decided is not None and decided.leads_to is AcceptorState.FAILURE:
        expression = _expression_for(operation, decided.path)
        if expression is not None:
            return _text(expression, decided.expected, response)
    return _reason_of_state(operation, response, [each for each in acceptors if each])


def _reason_of_state(
    operation: OperationModel, response: Any, acceptors: Iterable[Compared]
) -> str | None:
    """The reason of the first state of the response that is no success and has one."""
    successes: dict[str, list[Any]] = {}
    for each in acceptors:
        is_success = each.leads_to is AcceptorState.SUCCESS
        successes.setdefault(each.path, []).extend([each.expected] if is_success else [])
    for path, ends in successes.items():
        expression = _expression_for(operation, path)
        for state in [] if expression is None else _states(path, response):
            text = None if state in ends else _text(str(expression), state, response)
            if text is not None:
                return text
    return None


def namespace_of(service: ServiceModel) -> str:
    """The Smithy namespace of a service of botocore."""
    return AWS_NAMESPACE + re.sub(r"[^a-z0-9]", "", str(service.service_id).lower())


def reason_beside(output: Shape | None, state_path: str) -> str | None:
    """The expression that gives the reason of a state.

    Args:
        output: the shape of the operation's output.
        state_path: members joined by dots, each perhaps with `[]`, `[*]` or an index.

    Returns:
        The expression, None if the model has no such member or the path is of another kind.
    """
    steps = [_STEP.match(step) for step in state_path.split(".")]
    if output is None or not all(steps):
        return None
    path = [(step[1], step[2]) for step in steps if step]
    for outer, state in _readings(path):
        owner = _shape_at(output, outer)
        if isinstance(owner, StructureShape):
            for member in _candidates(state[0], owner):
                words = _words(owner.members[member])
                if words is not None:
                    return _expression(outer, ".".join(state), f"{member}{words}")
    return None


def _readings(path: _Path) -> Iterator[tuple[_Path, list[str]]]:
    """A path as that of the owner and the state: its last member, or its last two if wrapped."""
    for size in (1, 2) if path[-1][0].title() in _WRAPPED else (1,):
        outer, state = path[:-size], path[-size:]
        if state and not any(brackets for _, brackets in state):
            yield outer, [name for name, _ in state]


def _expression_for(operation: OperationModel, path: str) -> str | None:
    """The expression that gives the reason of a state; None if there is none that may be shown."""
    shape_id = f"{namespace_of(operation.service_model)}#{operation.name}"
    expression = _table().get(shape_id, {}).get(path)
    if expression is None:
        expression = reason_beside(operation.output_shape, path)
    # The table is of one botocore; the one that is installed may call a member sensitive.
    if expression is None or DataModel(operation, [("output", expression)]).sensitive:
        return None
    return expression


@functools.cache
def _table() -> Mapping[str, Mapping[str, str]]:
    """The shipped expressions, by shape id and path."""
    shapes = json.loads((data_root() / REASONS).read_text(encoding="utf-8"))["shapes"]
    return {shape_id: shape["traits"][TRAIT] for shape_id, shape in shapes.items()}


def _text(expression: str, expected: Any, response: Any) -> str | None:
    # A JSON literal: whatever the service calls its state, it stays a value.
    literal = json.dumps(expected, default=str).replace("`", "\\u0060")
    text = _search(expression.replace(f"'{EXPECTED}'", f"`{literal}`"), response)
    return cut(text) if isinstance(text, str) and text.strip() else None


def _states(path: str, response: Any) -> list[Any]:
    """The distinct states of the resources of a response, if they are few."""
    found = _search(path, response)
    found = found if isinstance(found, list) else [found]
    distinct = [state for index, state in enumerate(found) if state not in found[:index]]
    return [state for state in distinct if isinstance(state, str)] if may_show(distinct) else []


def _search(expression: str, response: Any) -> Any:
    try:
        return jmespath.search(expression, response)
    # A wait has failed already; its reason must not be lost for want of a better one.
    except Exception:
        return None


def _candidates(state: str, owner: StructureShape) -> Iterator[str]:
    """The members of a structure that may say why, the most particular first."""
    members: Mapping[str, str] = {name.lower(): name for name in owner.members}
    stems = dict.fromkeys([state, *re.findall(r"(?i)(?:status|state)\Z", state)])
    wanted = [stem + suffix for stem in stems for suffix in _SUFFIXES]
    for name in (*wanted, *_NAMES):
        if name.lower() in members and name.lower() != state.lower():
            yield members[name.lower()]


def _words(shape: Shape, *, in_list: bool = False) -> str | None:
    """The rest of the path from a member to its text; None if it has none that may be shown."""
    if _is_text(shape):
        return ""
    if isinstance(shape, ListShape) and not in_list and not shape.metadata.get("sensitive"):
        rest = _words(shape.member, in_list=True)
        return None if rest is None else f"[]{rest}"
    if isinstance(shape, StructureShape) and not shape.metadata.get("sensitive"):
        texts = {name.lower(): name for name, each in shape.members.items() if _is_text(each)}
        return next((f".{texts[word]}" for word in _WORDS if word in texts), None)
    return None


def _is_text(shape: Shape) -> bool:
    return bool(shape.type_name == "string" and not shape.metadata.get("sensitive"))


def _expression(outer: _Path, state: str, reason: str) -> str:
    """The reason of the item whose state is the expected one, or of the one resource there is."""
    projections = [index for index, (_, brackets) in enumerate(outer) if brackets in ("[]", "[*]")]
    steps = [name + brackets for name, brackets in outer]
    if projections:
        name = outer[projections[-1]][0]
        # not_null has any type: a checker that evaluates on samples takes the item as found.
        between = ".".join([*steps[projections[-1] + 1 :], state])
        flatten = "[]" if len(projections) > 1 else ""
        steps[projections[-1]] = f"{name}[?not_null({between}) == '{EXPECTED}']{flatten}"
    text = ".".join([*steps, reason])
    return f"{text} | [0]" if projections or "[]" in reason else text


def _shape_at(shape: Shape, path: _Path) -> Shape | None:
    for name, brackets in path:
        if not isinstance(shape, StructureShape) or name not in shape.members:
            return None
        shape = shape.members[name]
        if brackets:
            if not isinstance(shape, ListShape):
                return None
            shape = shape.member
    return shape
