"""Waiters that are made on the spot: a read operation of the model, and a state to wait for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, Final

from botocore.model import ListShape, OperationModel, Shape

from ..calls.private_names import is_marked_readonly
from ..common.arguments import nearest, text, texts
from ..common.errors import warn
from ..common.wrong_arguments import Keyword, PythonOnly, WrongTypeError, WrongValueError
from ..definitions.shipped import pollable_list
from ..definitions.state_words import documented_states, gone_states, sort_states
from ..definitions.words import CHANGES, CHANGING_METHODS, READS, verb_of, words_of
from ..engine.acceptors import Acceptor, ErrorTypeMatcher, OutputMatcher
from ..engine.model import FAILS_BY_WORDS, WaiterDefinition
from ..engine.redaction import cut
from ..engine.state_acceptors import state_acceptors
from .absence import ends_of_resource, is_of_resource
from .bound_waiter import UNTIL_GONE
from .new_states import comparisons_of, shipped_waiters_of
from .shapes import element_of, is_plain, is_sensitive, shape_at, state_members, walk

# --- which operations may be polled for a waiter that does not come with the package -------------


def reason_not_to_poll(operation: OperationModel, *, is_shown: bool = True) -> str | None:
    """Return why an operation may not be polled, in words.

    It may if it only reads and its output is no stream.

    Args:
        operation: the operation.
        is_shown: whether somebody else than its caller brings the definition and may see the
            output: `data/pollable.json` has to allow the operation then, which it does not if the
            output is rows or the content of a file, and no member of it may be sensitive.

    Returns:
        The reason; None: it may be polled.
    """
    name = operation.name
    known = known_against(operation)
    if known is not None:
        return known
    if not only_reads(operation):
        return f"{name} may modify resources; every attempt would call it"
    if operation.has_streaming_output or operation.has_event_stream_output:
        return f"the output of {name} is a stream"
    if not is_shown:
        return None
    private = pollable_list().private.get(_service_id(operation), {}).get(name)
    if private is not None:
        return f"{name} is polled for its caller only: it answers {private}"
    for each in walk(operation.output_shape):
        if is_sensitive(each.shape, each.owner, each.name):
            return f"the output of {name} has a sensitive member, {each.path}"
    if not pollable_list().allows(_service_id(operation), name):
        return f"{name} is not among the operations that may be polled from outside"
    return None


def only_reads(operation: OperationModel) -> bool:
    """Return whether an operation modifies nothing, by the model's mark or by its name.

    The name is that of an operation that reads, its HTTP method is none that modifies, and
    `data/pollable.json` knows nothing against it.
    """
    verb = verb_of(operation.name)
    if is_marked_readonly(operation):
        # Some operations that start or stop something are marked too.
        reads = verb not in CHANGES
    else:
        reads = verb in READS and operation.http.get("method") not in CHANGING_METHODS
    return reads and known_against(operation) is None


def known_against(operation: OperationModel) -> str | None:
    """Return why an operation that looks like a read is not polled; None if nothing is known."""
    reason = pollable_list().reason(_service_id(operation), operation.name)
    return None if reason is None else f"{operation.name} is not polled: {reason}"


def _service_id(operation: OperationModel) -> str:
    return str(operation.service_model.service_id.hyphenize())


# --- the waiters ---------------------------------------------------------------------------------

GONE: Final = "gone"
"""In place of a state: the resource does not exist any more."""
NO_STATE: Final = "`null`"
"""The path of a response without a state."""
MOST_KNOWN = 300
"""Characters of the states that a warning names."""

_VALUES = ("boolean", "integer", "long", "float", "double")


def made_waiter(
    operation: OperationModel,
    until_state: str | Iterable[str],
    state_path: str | None = None,
    failure: Iterable[str] = (),
    **others: Any,
) -> WaiterDefinition:
    """Return a waiter for states of what an operation describes.

    Where the model lists no states, one that neither the documentation of the member nor a shipped
    waiter knows is warned of.

    Args:
        operation: the operation to poll.
        until_state: the state, or several of which each is a success. `"gone"`, unless the states
            have that name, is the end of the resource, whatever says so.
        state_path: the expression for the state in the response; by default the one member of the
            response that is a state.
        failure: the states that are failure; by default those that the model lists and whose names
            say so, and any other that says so when it is answered.
        others: further arguments of `WaiterDefinition.from_states`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the operation may modify resources, its response has several states or none, or
            the state is none of those that the model lists and shipped waiters know, or nothing in
            the model says that a resource is gone.
    """
    wanted = _wanted(until_state)
    goal = "Or".join("".join(map(str.capitalize, words_of(state))) for state in wanted)
    problem = reason_not_to_poll(operation, is_shown=False)
    if problem is not None:
        raise ValueError(problem)
    path = _state_path(operation, wanted) if state_path is None else text("state_path", state_path)
    shape = _shape_of_state(operation, path)
    values = () if shape is None else (element_of(shape) or shape).metadata.get("enum", ())
    documentation = "" if shape is None else shape.documentation
    compared = _compared(operation, path)
    known = dict.fromkeys((*documented_states(documentation), *compared))
    is_to_end = GONE in wanted and GONE not in {*values, *compared}
    if is_to_end:
        wanted = tuple(state for state in wanted if state != GONE)
    for state in wanted:
        # Some models list other states than the service answers with, in other letters.
        if values and state not in values and state not in compared:
            near = _nearest_state(state, values)
            hint = f"did you mean {near!r}?" if near else f"known: {', '.join(values)}"
            problem = f"unknown state {state!r} of {path} in {operation.name}; {hint}"
            raise WrongValueError(problem, argument="until_state", value=state)
        if shape is not None and not values:
            of_model = f"the model of {operation.name} lists no states of {path}"
            _warn_of_unlisted(state, of_model, known, documentation)
    ends: tuple[Acceptor, ...] = ()
    if is_to_end:
        ends = tuple(ends_of_resource(operation, path))
        wanted += gone_states(values or known, operation.name)
        if not (wanted or ends or others.get("success_on_error")):
            problem = f"the model of {operation.name} does not say when a resource is gone: give "
            advice = Keyword("success_on_error"), ", the errors that say it"
            of_code = PythonOnly(", to WaiterDefinition.from_states")
            raise WrongValueError(problem, *advice, of_code, argument="until_state", value=GONE)
    states = sort_states(values, wanted or ("DELETED",), failure)
    states = states._replace(success=tuple(each for each in states.success if each in wanted))
    given = {"path": path, "success": states.success or (GONE,), "failure": states.failure}
    name = f"{operation.name}Until{goal}"
    waiter = WaiterDefinition.from_states(name, operation.name, **{**given, **others})
    is_list = None if shape is None else isinstance(shape, ListShape)
    every = others.get("many") != "any"
    acceptors = state_acceptors(path, states.success, states.failure, every=every, is_list=is_list)
    errors = [each for each in waiter.acceptors if isinstance(each.matcher, ErrorTypeMatcher)]
    documentation = f"Made for one wait. {states.in_words()}."
    return replace(
        waiter,
        acceptors=(*acceptors, *errors, *ends),
        documentation=documentation,
        tags=() if failure else (FAILS_BY_WORDS,),
        source=UNTIL_GONE if is_to_end else waiter.source,
    )


def _wanted(until_state: Any) -> tuple[str, ...]:
    if isinstance(until_state, (bool, int, float)):
        kind = type(until_state).__name__
        raise WrongTypeError(
            Keyword("until_state"),
            f" must be the name of a state, not {kind}: give it as text, such as 'true', and "
            "state_path: 'to_string(MEMBER)'",
            value=until_state,
        )
    wanted = texts("until_state", [until_state] if isinstance(until_state, str) else until_state)
    if not wanted:
        problem = " is empty: give the state to wait for"
        raise WrongValueError.of("until_state", until_state, problem)
    return wanted


def _state_path(operation: OperationModel, wanted: Collection[str]) -> str:
    """Return the path of the state that a response has.

    Raises:
        ValueError: it has none, or several.
    """
    states = [(path, shape.metadata.get("enum", ())) for path, shape in state_members(operation)]
    paths = [path for path, _ in states]
    if wanted == (GONE,) and not any(GONE in values for _, values in states):
        # Not the state of a part: of the rules of a list that is there, one may be deleted.
        own = {path: values for path, values in states if is_of_resource(path, operation)}
        paths = [path for path in own if gone_states(own[path], operation.name)] or [*own]
        return paths[0] if len(paths) == 1 else NO_STATE
    if not paths:
        problem = f"{operation.name} has no member with a state: give "
        raise WrongValueError(problem, Keyword("state_path"), ", the JMESPath for one")
    if len(paths) > 1:
        known = ", ".join(map(repr, paths))
        problem = f"{operation.name} has several states: give "
        raise WrongValueError(problem, Keyword("state_path"), f": one of {known}")
    return paths[0]


def _shape_of_state(operation: OperationModel, path: str) -> Shape | None:
    """Return what a path leads to, a state or a list of states; None if the model does not tell.

    Raises:
        ValueError: there is no member, or one of another type than a string.
    """
    if not is_plain(path):
        return None
    found = shape_at(operation.output_shape, path)
    shape = element_of(found) or found
    if shape is None:
        near = nearest(path, [known for known, _ in state_members(operation)])
        hint = f"; did you mean {near!r}?" if near else ""
        problem = f"the response of {operation.name} has no member {path}{hint}"
        raise WrongValueError(problem, argument="state_path", value=path)
    if shape.type_name != "string":
        parts = [f"{path} in {operation.name} is a {shape.type_name}, not the name of a state"]
        if shape.type_name in _VALUES:
            outer, _, member = path.rpartition(".")
            as_text = f"{outer}.to_string({member})".lstrip(".")
            parts += [": give ", Keyword("state_path"), f": {as_text!r}, and "]
            parts += [Keyword("until_state"), ": the value as text, such as 'true' or '5'"]
        raise WrongValueError(*parts, argument="state_path", value=path)
    return found


def _nearest_state(state: str, values: Collection[str]) -> str | None:
    same = [value for value in values if words_of(value.upper()) == words_of(state.upper())]
    return next(iter(same), None) or nearest(state, values) or nearest(state.upper(), values)


def _warn_of_unlisted(
    state: str, of_model: str, known: Collection[str], documentation: str
) -> None:
    """Warn of a state that is not known, where the model lists none: it may never be seen."""
    # A word in small letters may be any word of a sentence.
    before = r"<code>|<li>(?:\s|<p>)*|[\"'`]" if state.islower() else r"(?<![\w-])"
    is_mentioned = re.search(rf"(?:{before}){re.escape(state)}(?![\w-])", documentation)
    if state in known or is_mentioned:
        return
    if not known:
        warn(f"{of_model}, so that {state!r} cannot be checked", UserWarning)
        return
    near = _nearest_state(state, known)
    hint = f"; did you mean {near!r}?" if near else ""
    text = cut(", ".join(known), MOST_KNOWN)
    warn(f"{of_model}, and {state!r} is not among those known: {text}{hint}", UserWarning)


def _compared(operation: OperationModel, path: str) -> list[str]:
    """Return the states at a path that the shipped waiters of an operation know."""
    waiters = shipped_waiters_of(operation)
    found = [each for waiter in waiters for each in comparisons_of(waiter, OutputMatcher)]
    compared = [each.expected for each in found if _members(each.path) == _members(path)]
    # `length(VpcEndpoints[?State != 'available'])`
    inside = re.compile(rf"\b{re.escape(path.rpartition('.')[2])} *[!=]= *'([^']*)'")
    return [*compared, *(value for each in found for value in inside.findall(each.path))]


def _members(path: str) -> str:
    return re.sub(r"\[[^]]*\]", "", path)
