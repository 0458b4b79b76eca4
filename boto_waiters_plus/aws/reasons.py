"""The service's own reason for a state: `StackStatusReason` beside `StackStatus`.

It is looked for when a wait has ended without success, never after each attempt. botocore's waiters
say which state is a failure, but not where its reason is. The service models have it beside the
state.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jmespath
from botocore.model import ListShape, OperationModel, Shape, StructureShape

from ..engine.model import AcceptorState
from ..engine.redaction import cut, may_show
from .data_model import DataModel
from .errors import says_not_found
from .state_member import is_text

EXPECTED = "{expected}"
"""A placeholder in an expression for the value that the acceptor compares with."""

_Path = list[tuple[str, str]]
"""The members of a path, each with the brackets after it."""

_STEP = re.compile(r"(\w+)((?:\[[*\d]*\])?)\Z")

# What follows the name of the state in the names of members with its reason, the best first.
_SUFFIXES = (
    "Reason", "ChangeReason", "TransitionReason", "Message", "Reasons", "ReasonMessage", "Messages",
    "Details", "Detail", "Description", "Information", "Info",
)  # fmt: skip

# The names of such members without the name of the state.
_NAMES = (
    "FailureReason", "FailureReasons", "FailureMessage", "FailureMessages", "FailureDescription",
    "FailureDetails", "FailureCause", "StoppedReason", "LastFailureMessage", "ErrorMessage",
    "ErrorMessages", "ErrorDetails", "ErrorDetail", "ErrorInfo", "ErrorInformation", "Error",
    "Errors", "Reason", "Message", "ExitMessage",
)  # fmt: skip

# The members of a structure that have the text of the reason.
_WORDS = ("message", "errormessage", "description", "reason", "details", "detail", "code")

# The reason of a wrapped state, as in `State: {Code, Name}`, is beside the structure.
_WRAPPED = ("Name", "Code", "Value", "Status", "State")


class Compared(NamedTuple):
    """A state that an acceptor compares: its path, the expected value and where it leads."""

    path: str
    expected: Any
    leads_to: AcceptorState


def indexes_of_missing(acceptors: Sequence[Compared | None]) -> frozenset[int]:
    """Return the failure acceptors that say that the resource was not found: ECS's `MISSING`."""
    return frozenset(
        index
        for index, each in enumerate(acceptors)
        if each is not None
        and each.leads_to is AcceptorState.FAILURE
        and isinstance(each.expected, str)
        and (each.expected in ("MISSING", "NOT_FOUND") or says_not_found(each.expected))
    )


def find_reason(
    operation: OperationModel,
    response: Any,
    acceptors: Sequence[Compared | None],
    matched: int | None,
) -> str | None:
    """Return the service's reason for the state of the resource in a response.

    Args:
        operation: the model of the operation that was polled.
        response: the last response.
        acceptors: the states that the waiter's acceptors compare; None for an acceptor that
            compares no state of the output.
        matched: the index of the acceptor that matched, if one did.

    Returns:
        The text, cut at the limit of what may be shown. None if the response has no reason, or a
        member of its path is sensitive in the model.
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
    """Return the reason of the first state that has one and is not a success."""
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


def reason_beside(output: Shape | None, state_path: str) -> str | None:
    """Return an expression for the reason of a state.

    Args:
        output: the shape of the operation's output.
        state_path: members joined by dots; `[]`, `[*]` or an index may follow a member.

    Returns:
        The expression. None if the model has no member for the reason, or the path has another
        form.
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
    """Split a path before its state: the last member, or the last two if it may be wrapped."""
    for size in (1, 2) if path[-1][0].title() in _WRAPPED else (1,):
        outer, state = path[:-size], path[-size:]
        if state and not any(brackets for _, brackets in state):
            yield outer, [name for name, _ in state]


def _expression_for(operation: OperationModel, path: str) -> str | None:
    """Return an expression for the reason of a state; None if there is none to show."""
    expression = reason_beside(operation.output_shape, path)
    if expression is None or DataModel(operation, [("output", expression)]).sensitive:
        return None
    return expression


def _text(expression: str, expected: Any, response: Any) -> str | None:
    # As a JSON literal, a state with quotes in it remains a value.
    literal = json.dumps(expected, default=str).replace("`", "\\u0060")
    text = _search(expression.replace(f"'{EXPECTED}'", f"`{literal}`"), response)
    return cut(text) if isinstance(text, str) and text.strip() else None


def _states(path: str, response: Any) -> list[Any]:
    """Return the distinct states of the resources in a response, if there are only a few."""
    found = _search(path, response)
    found = found if isinstance(found, list) else [found]
    distinct = [state for index, state in enumerate(found) if state not in found[:index]]
    return [state for state in distinct if isinstance(state, str)] if may_show(distinct) else []


def _search(expression: str, response: Any) -> Any:
    try:
        return jmespath.search(expression, response)
    # The wait has failed already, and its error must not be replaced by this one.
    except Exception:
        return None


def _candidates(state: str, owner: StructureShape) -> Iterator[str]:
    """Yield the members of a structure that may have the reason, the most specific first."""
    members: Mapping[str, str] = {name.lower(): name for name in owner.members}
    stems = dict.fromkeys([state, *re.findall(r"(?i)(?:status|state)\Z", state)])
    particular = [stem + suffix for stem in stems for suffix in _SUFFIXES]
    for name in (*particular, *_NAMES):
        if name.lower() in members and name.lower() != state.lower():
            yield members[name.lower()]


def _words(shape: Shape, *, in_list: bool = False) -> str | None:
    """Return the path from a member to its text; None if there is no text to show."""
    if is_text(shape):
        return ""
    if isinstance(shape, ListShape) and not in_list and not shape.metadata.get("sensitive"):
        rest = _words(shape.member, in_list=True)
        return None if rest is None else f"[]{rest}"
    if isinstance(shape, StructureShape) and not shape.metadata.get("sensitive"):
        texts = {name.lower(): name for name, each in shape.members.items() if is_text(each)}
        return next((f".{texts[word]}" for word in _WORDS if word in texts), None)
    return None


def _expression(outer: _Path, state: str, reason: str) -> str:
    """Return the path to the reason of the item in the expected state, or of the only resource."""
    projections = [index for index, (_, brackets) in enumerate(outer) if brackets in ("[]", "[*]")]
    steps = [name + brackets for name, brackets in outer]
    if projections:
        name = outer[projections[-1]][0]
        # The result of not_null has any type, so that a checker that evaluates samples finds it.
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
