"""The line to write instead of a hand-made polling loop."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from botocore import xform_name
from botocore.model import OperationModel

from ..definitions.shipped import from_groups, pollable_list, shipped_services, unread_shipped
from ..definitions.state_words import ENDINGS, is_underway, sort_states, state_words
from ..engine.acceptors import (
    AcceptorState,
    DocumentMatcher,
    ErrorTypeMatcher,
    PathComparator,
    SuccessMatcher,
)
from ..engine.model import WaiterDefinition
from ..service.catalog import client_name, definitions_of, model_of, service_names, squashed
from ..service.on_the_spot import reason_not_to_poll
from ..service.shapes import state_members
from .loops import ANSWERED, Effect, PollingLoop, ReadCall
from .names import spend

_SUCCESS = AcceptorState.SUCCESS
_MISSING = re.compile(r"notfound|nosuch|notexist")
_MOST_SERVICES = 20
_STEPS_OF_MODEL = 30_000
"""What it takes to load the model and the waiters of a service."""


class Replacement(NamedTuple):
    """What takes the place of a loop, as far as the file tells."""

    service: str | None = None
    operation: str | None = None
    waiter: str | None = None
    line: str | None = None
    """The line to write; None if no waiter is known for certain."""


def replacements(loops: Sequence[PollingLoop]) -> list[Replacement | None]:
    """Return what takes the place of each loop of a file; None if it polls nothing of AWS."""
    services = frozenset().union(*(_services(call) for loop in loops for call in loop.calls))
    spend(_STEPS_OF_MODEL * len(services))
    return [_replacement(loop) for loop in loops]


def _replacement(loop: PollingLoop) -> Replacement | None:
    found = [each for each in (_of_call(loop, call) for call in loop.calls) if each is not None]
    polled = [each for each in found if each.line is not None]
    lines = {each.operation: each.line for each in polled}
    is_more = any(each.is_of_items for each in loop.calls)
    if polled and (is_more or any(each.line != lines[each.operation] for each in polled)):
        # The loop reads a log, too, or waits for several resources.
        return polled[0]._replace(line=None)
    return next(iter(polled or found), None)


def _of_call(loop: PollingLoop, call: ReadCall) -> Replacement | None:
    known = _services(call)
    if loop.waiter is not None:
        name = xform_name(loop.waiter)
        line = None if call.is_of_items else _line(loop, call, f"{call.client}.wait_until_{name}(")
        return Replacement(next(iter(known), None), None, name, line)
    if not known and squashed(call.method) in _services_by_method():
        return Replacement()
    found = [each for service in known if (each := _operation(service, call)) is not None]
    if len(found) != 1:
        return Replacement() if found else None
    [operation] = found
    waiter, start = (None, None) if call.is_of_items else _start(operation, loop, call)
    line = None if start is None else _line(loop, call, start)
    return Replacement(operation.service_model.service_name, operation.name, waiter, line)


def _services(call: ReadCall) -> frozenset[str]:
    """Return the services that a call may be of; none if they are too many to tell it from them."""
    if call.services:
        return call.services & _service_names()
    known = _services_by_method().get(squashed(call.method), frozenset())
    return known if len(known) <= _MOST_SERVICES else frozenset()


def _line(loop: PollingLoop, call: ReadCall, start: str) -> str:
    options = [*call.parameters, f"max_wait={loop.max_wait or '...'}"]
    if loop.delay is not None:
        options.append(f"min_delay={loop.delay}, delay_pace='fixed'")
    return f"{'await ' * loop.is_async}{start}{', '.join(options)})"


def _start(
    operation: OperationModel, loop: PollingLoop, call: ReadCall
) -> tuple[str | None, str | None]:
    """Return the waiter for what ends the loop well, and how a call of it begins."""
    spend(500 + sum(200 + 2 * len(str(text)) for text in loop.effects))
    known_waiters = _waiters(operation.service_model.service_name)
    waiters = [each for each in known_waiters if each.operation == operation.name]
    states = _states(operation)
    known = {_key(value) for values in states.values() for value in values}
    known = known.union([_key(ANSWERED)], *map(_meanings, waiters))
    goals = _goals([text for text, effect in loop.effects.items() if effect == "leave"])
    words = frozenset().union(*(state_words(str(text)) for text in loop.effects))
    is_told = bool(goals or _keys(loop, "stay") & known) or is_underway(words)
    if not is_told or not goals <= known:
        return None, None
    distances = {each: _distance(each, goals, loop) for each in waiters}
    fit = {each: distance for each, distance in distances.items() if distance is not None}
    nearest = [each for each, distance in fit.items() if distance == min(fit.values())]
    function = "bwp.wait_until_async" if loop.is_async else "bwp.wait_until"
    if len(nearest) == 1:
        name = xform_name(nearest[0].name)
        if loop.is_async and not call.is_awaited:
            return name, f"{function}({call.client}, {name!r}, "
        return name, f"{call.client}.wait_until_{name}("
    found = [
        (path, [value for value in values if _key(value) in goals])
        for path, values in states.items()
        # Of a list, the waiter would wait for all items; the loop chooses some.
        if goals and goals <= {*map(_key, values)} and not operation.name.startswith("List")
    ]
    if len(found) != 1:
        return None, None
    [(path, until)] = found
    chosen = f", state_path={path!r}" if len(states) > 1 else ""
    state = repr(until if until[1:] else until[0])
    return None, f"{function}({call.client}, {operation.name!r}, until_state={state}{chosen}, "


def _goals(left: list[str | bool]) -> set[str]:
    """Return the states at which a loop is left and that are no failures; else its errors."""
    texts = [each for each in left if isinstance(each, str)]
    # Where something is done, its end is a failure too.
    failures = sort_states(texts, success=["DONE"]).failure
    good = [each for each in texts if each not in failures]
    gone = [each for each in sort_states(texts).success if _is_end(each)]
    return {*map(_key, good or gone or (left if len(texts) < 2 else []))}


def _distance(waiter: WaiterDefinition, goals: set[str], loop: PollingLoop) -> float | None:
    """Return how many states more than the loop a waiter waits for; None if it is another wait."""
    meanings = _meanings(waiter)
    success = {key for key, state in meanings.items() if state is _SUCCESS}
    is_answer, answered = _key(ANSWERED) in success, _key(ANSWERED)
    stay = _keys(loop, "stay")
    if not success or success & (stay | _keys(loop, "raise")):
        return None
    if answered in _keys(loop, "leave") and not is_answer:
        return None
    if goals - {answered}:
        if not (goals & success and goals <= meanings.keys()):
            return None
        matchers = [each.matcher for each in waiter.acceptors if each.state is _SUCCESS]
        paths = [each.matcher for each in matchers if isinstance(each, DocumentMatcher)]
        # A condition may ask for more than the state: another waiter is nearer.
        conditions = [each for each in paths if each.comparator is PathComparator.BOOLEAN_EQUALS]
        return len(success - goals) + 0.5 * bool(conditions)
    if goals:
        return 0 if is_answer and any(map(_MISSING.search, stay)) else None
    # A loop that also goes on while something is made does not wait for its end.
    is_gone = all(_is_end(str(text)) for text in loop.effects)
    return 0 if is_gone == _is_end(waiter.name) and not is_answer else None


def _keys(loop: PollingLoop, effect: Effect) -> set[str]:
    return {_key(text) for text, each in loop.effects.items() if each == effect}


def _is_end(text: str) -> bool:
    return any(word.startswith(tuple(ENDINGS)) for word in state_words(text))


@functools.cache
def _meanings(waiter: WaiterDefinition) -> dict[str, AcceptorState]:
    """Return what a waiter makes of the states and errors that it names."""
    found: dict[str, AcceptorState] = {}
    for acceptor in waiter.acceptors:
        texts: list[str | bool] = []
        match acceptor.matcher:
            case ErrorTypeMatcher(error_type=name):
                texts = [name]
            case SuccessMatcher(success=True):
                texts = [ANSWERED]
            case DocumentMatcher(matcher=path):
                quoted = re.findall(r"'([^']+)'", path.path)
                texts = [*quoted] if path.expected in ("true", "false") else [path.expected]
        for text in texts:
            found.setdefault(_key(text), acceptor.state)
    return found


def _key(text: str | bool) -> str:  # noqa: FBT001 - a text, or `ANSWERED`
    """Return what all spellings of a state, or of an error, have in common."""
    letters = re.sub(r"[^a-z0-9]", "", str(text).lower()).removesuffix("exception")
    return "notfound" if letters == "404" else letters


_waiters = functools.cache(definitions_of)
_service_names = functools.cache(service_names)


@functools.cache
def _operations(service: str) -> Mapping[str, OperationModel]:
    """Return the operations of a service by the letters of their methods."""
    model = model_of(service)
    if model is None:
        return {}
    return {name.lower(): model.operation_model(name) for name in model.operation_names}


def _operation(service: str, call: ReadCall) -> OperationModel | None:
    """Return the operation of a service that a call may make, with the parameters that it has."""
    operation = _operations(service).get(squashed(call.method))
    shape = None if operation is None else operation.input_shape
    members, required = (shape.members, shape.required_members) if shape else ({}, [])
    names = {each.partition("=")[0] for each in call.parameters}
    is_known = {*required} <= names <= members.keys()
    return operation if is_known or any(each.startswith("**") for each in names) else None


def _states(operation: OperationModel) -> dict[str, list[str]]:
    """Return the states that the model lists, by the path of their member."""
    if reason_not_to_poll(operation, is_shown=False):
        return {}
    return {path: list(s.metadata.get("enum", ())) for path, s in state_members(operation)}


@functools.cache
def _services_by_method() -> Mapping[str, frozenset[str]]:
    """Return the services that have an operation that reads, by the letters of its method."""
    known = pollable_list()
    names = [(each, from_groups(text)) for each, text in known.allowed.items()]
    for group in (known.refused, known.private):
        names += [(each, frozenset(reasons)) for each, reasons in group.items()]
    shipped = ((each, unread_shipped(each).values()) for each in shipped_services())
    names += [(each, frozenset(w.operation for w in waiters)) for each, waiters in shipped]
    found: dict[str, frozenset[str]] = defaultdict(frozenset)
    for service_id, operations in names:
        for name in operations:
            found[name.lower()] |= {client_name(service_id)}
    return found
