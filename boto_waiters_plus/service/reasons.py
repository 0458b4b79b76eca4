"""The service's own reason for a state: `StackStatusReason` beside `StackStatus`.

It is looked for when a wait has ended without success, never after each attempt. botocore's waiters
say which state is a failure, but not where its reason is. The service models have it beside the
state; where it has several parts, or lies elsewhere, `data/reasons.json` names them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jmespath
from botocore.model import ListShape, OperationModel, Shape, StructureShape

from ..definitions.shipped import shipped_traits
from ..definitions.smithy import aws_namespace
from ..engine.acceptors import AcceptorState, OutputMatcher
from ..engine.model import WaiterDefinition
from ..engine.redaction import is_signed_url, may_show
from ..wait.facts import FoundReason
from .data_model import DataModel
from .errors import says_not_found
from .shapes import is_sensitive, shape_at

EXPECTED = "{expected}"
"""A placeholder in an expression for the value that the acceptor compares with."""

_Path = list[tuple[str, str]]
"""The members of a path, each with the brackets after it."""

_STEP = r"(\w+)((?:\[[*\d]*\])?)\Z"

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
_WRAPPED = r"(?i)name|value|status|state|(?:status)?code"

# A listed part that is a member.
_ONE_MEMBER = r"(?<![^.])\[(\w[\w.\[\]]*)\](?= \| \[0\]\Z|\Z)"

# Chooses the item in a state.
_OF_STATE = r"\[\?not_null\([^()]*\) == '[^']*'\](\[\])?"

# Members joined by dots; the first may be a list.
_PLAIN = r"\w+(\.\w+)*(\[\].*)?"


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
) -> FoundReason:
    """Return the service's reason for the state of the resource in a response.

    Args:
        operation: the model of the operation that was polled.
        response: the last response.
        acceptors: the states that the waiter's acceptors compare; None for an acceptor that
            compares no state of the output.
        matched: the index of the acceptor that matched, if one did.

    Returns:
        The text, of any length. If every member that has it is sensitive,
        where they are. Nothing if the response has no reason.
    """
    decided = None if matched is None else acceptors[matched]
    if decided is not None and decided.leads_to is AcceptorState.FAILURE:
        expressions = expressions_of(operation, decided.path)
        if expressions:
            return _found(operation, expressions, decided.expected, response)
    return _reason_of_state(operation, response, [each for each in acceptors if each])


def _reason_of_state(
    operation: OperationModel, response: Any, acceptors: Iterable[Compared]
) -> FoundReason:
    """Return the reason of the first state that has one and is not a success."""
    successes: dict[str, list[Any]] = {}
    for each in acceptors:
        is_success = each.leads_to is AcceptorState.SUCCESS
        successes.setdefault(each.path, []).extend([each.expected] if is_success else [])
    for path, ends in successes.items():
        expressions = expressions_of(operation, path)
        for state in _states(path, response) if expressions else []:
            found = _found(operation, () if state in ends else expressions, state, response)
            if found.text is not None:
                return found
    return FoundReason()


def expressions_of(operation: OperationModel, state_path: str) -> tuple[str, ...]:
    """Return the expressions for the parts of the reason of a state, those to show first.

    Args:
        operation: the operation that was polled.
        state_path: as in `reason_beside`.

    Returns:
        Expressions for texts or lists of texts; none if the model has no member for the reason.
    """
    output = operation.output_shape
    namespace = aws_namespace(str(operation.service_model.service_id))
    for outer, state, owner in _owners(output, state_path):
        parts = shipped_traits("boto.waiters#reason").get(f"{namespace}#{owner.name}")
        if parts is not None:
            return tuple(_expression(outer, state, f"[{part}]") for part in parts)
    found = reason_beside(output, state_path) or reason_beside(output, state_path, hidden=True)
    return () if found is None else (found,)


def quoted_reasons(
    definition: WaiterDefinition, operation: OperationModel | None
) -> Mapping[str, bool]:
    """Return the expressions from which the reasons for failures are read, as people write them.

    Args:
        definition: the waiter.
        operation: the operation that it polls; None: the installed botocore lacks it.

    Returns:
        By expression, whether it passes a sensitive member: an error says where that is.
    """
    quoted: dict[str, bool] = {}
    for acceptor in definition.acceptors if AcceptorState.FAILURE in definition.states else ():
        found: Iterable[str] = () if acceptor.message is None else [acceptor.message]
        if operation and not found and isinstance(acceptor.matcher, OutputMatcher):
            found = expressions_of(operation, acceptor.matcher.matcher.path)
        for each in found:
            text = re.sub(_ONE_MEMBER, r"\1", re.sub(_OF_STATE, "[]", each)).removesuffix(" | [0]")
            quoted[text] = operation is not None and is_hidden(operation, each)
    return quoted


def reason_beside(output: Shape | None, state_path: str, *, hidden: bool = False) -> str | None:
    """Return an expression for the reason of a state.

    Args:
        output: the shape of the operation's output.
        state_path: members joined by dots; `[]`, `[*]` or an index may follow a member.
        hidden: whether the reason may be sensitive.

    Returns:
        The expression. None if the model has no member for the reason, or the path has another
        form.
    """
    for outer, state, owner in _owners(output, state_path):
        for member in _candidates(state.partition(".")[0], owner):
            words = _words(owner.members[member], hidden=hidden)
            if words is not None:
                only = " | [0]" if words.startswith("[]") else ""
                return _expression(outer, state, f"{member}{words}", only)
    return None


def _owners(output: Shape | None, state_path: str) -> Iterator[tuple[_Path, str, StructureShape]]:
    """Yield the path of each structure that may have the state, the state in it, and its shape."""
    steps = [re.match(_STEP, step) for step in state_path.split(".")]
    path = [(step[1], step[2]) for step in steps if step] if all(steps) else []
    # The last member is the state, or the last two are.
    for size in (1, 2) if path and re.fullmatch(_WRAPPED, path[-1][0]) else (1,):
        outer, state = path[:-size], path[-size:]
        owner = shape_at(output, ".".join(map("".join, outer))) if outer else output
        is_plain = state and not any(brackets for _, brackets in state)
        if is_plain and isinstance(owner, StructureShape):
            yield outer, ".".join(name for name, _ in state), owner


def is_hidden(operation: OperationModel, expression: str) -> bool:
    """Return whether an expression for a reason passes a sensitive member."""
    return DataModel(operation, [("output", expression)]).sensitive


def _found(
    operation: OperationModel, expressions: Iterable[str], expected: Any, response: Any
) -> FoundReason:
    """Return the parts of the reason that may be shown, or where the others are."""
    texts, places = list[str](), list[str]()
    # As a JSON literal, a state with quotes in it remains a value.
    literal = "`" + json.dumps(expected, default=str).replace("`", "\\u0060") + "`"
    for each in expressions:
        expression = each.replace(f"'{EXPECTED}'", literal)
        parts = list(filter(None, map(str.strip, _texts(_search(expression, response)))))
        if parts and is_hidden(operation, expression):
            places.append(expression)
        else:
            texts.extend(part for part in parts if not is_signed_url(part))
    if texts or not places:
        return FoundReason("; ".join(dict.fromkeys(texts)) or None)
    return FoundReason(
        None, _hidden("error.last_response", places), _hidden("the response", places)
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _hidden(response: str, expressions: Iterable[str]) -> str:
    """Return where a reason is that may not be shown, in words."""
    where = " and ".join(_place(response, each) for each in expressions)
    return f"the reason is in {where}, not shown because the model marks it as sensitive"


def _place(response: str, expression: str) -> str:
    """Return code that gives what may not be shown."""
    path = re.sub(_ONE_MEMBER, r"\1", expression)
    if not re.fullmatch(_PLAIN, path):
        return f"jmespath.search({json.dumps(path)}, {response})"
    keys = path.partition("[")[0].split(".")
    return response + "".join(f'["{key}"]' for key in keys)


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
    stem = re.sub(r"(?i)(?<=status)code\Z", "", state)
    stems = dict.fromkeys([state, stem, *re.findall(r"(?i)(?:status|state)\Z", stem)])
    particular = [stem + suffix for stem in stems for suffix in _SUFFIXES]
    for name in (*particular, *_NAMES):
        if name.lower() in members and name.lower() != state.lower():
            yield members[name.lower()]


def _words(shape: Shape, *, hidden: bool, in_list: bool = False) -> str | None:
    """Return the path from a member to its text; None if there is no text to show."""

    def may_be(each: Shape, kind: str = "string") -> bool:
        return each.type_name == kind and (hidden or not is_sensitive(each))

    if may_be(shape):
        return ""
    if isinstance(shape, ListShape) and not in_list and may_be(shape, "list"):
        rest = _words(shape.member, hidden=hidden, in_list=True)
        return None if rest is None else f"[]{rest}"
    if isinstance(shape, StructureShape) and may_be(shape, "structure"):
        texts = {name.lower(): name for name, each in shape.members.items() if may_be(each)}
        return next((f".{texts[word]}" for word in _WORDS if word in texts), None)
    return None


def _expression(outer: _Path, state: str, reason: str, only: str = "") -> str:
    """Return the path to the reason of the item in the expected state, or of the only resource."""
    projections = [index for index, (_, brackets) in enumerate(outer) if brackets in ("[]", "[*]")]
    steps = [name + brackets for name, brackets in outer]
    if projections:
        name = outer[projections[-1]][0]
        # The result of not_null has any type, so that a checker that evaluates samples finds it.
        between = ".".join([*steps[projections[-1] + 1 :], state])
        flatten = "[]" if len(projections) > 1 else ""
        steps[projections[-1]] = f"{name}[?not_null({between}) == '{EXPECTED}']{flatten}"
    return ".".join([*steps, reason]) + (" | [0]" if projections else only)
