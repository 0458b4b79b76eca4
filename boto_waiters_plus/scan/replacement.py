"""The line to write instead of a hand-made polling loop.

A line is written if, of all ways in which the service may answer, it ends where the loop does.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, Final, NamedTuple

import boto3
from botocore import xform_name
from botocore.model import OperationModel

from ..definitions.state_words import (
    ENDED_WORDS,
    ENDINGS,
    gone_states,
    is_problem,
    is_underway,
    means_absence,
    sort_states,
    state_words,
)
from ..definitions.words import resource_of
from ..engine.acceptors import AcceptorState, DocumentMatcher, PathComparator
from ..engine.matching import Matching
from ..engine.model import WaiterDefinition
from ..service.catalog import definitions_of, model_of, service_names, squashed
from ..service.on_the_spot import GONE, made_waiter, reason_not_to_poll
from ..service.shapes import element_of, is_sensitive, is_text, members_of, state_members
from .calls import ReadCall, services_by_method
from .loop_source import method_verb
from .loops import PollingLoop, RepeatedWaiter
from .names import spend
from .passes import ABSENT, ERROR, Document, End, Outcome, Part, World, error_key
from .worlds import (
    OTHER,
    Answer,
    Leaf,
    answers,
    documents,
    error_names,
    is_one_item,
    leaves,
    mixed,
    spelled_texts,
    texts_of,
    verdict,
)

_SUCCESS, _FAILURE = AcceptorState.SUCCESS, AcceptorState.FAILURE
_MISSING: Final = re.compile(r"(?i)not_?found|no_?such|not_?exist|404")
_GOES_ON: Final = re.compile(
    rf"(?i){_MISSING.pattern[4:]}|throttl|too_?many|limit|unavailable|internal|timeout|slow_?down"
)
"""Errors after which a wait may go on, too."""
_ENDING_VERBS: Final = ("Abort", "Cancel", "Delete", "Kill", "Stop", "Terminate")
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
    calls = [call for loop in loops for call in _deciding(loop)]
    services = frozenset().union(*map(_services, calls))
    spend(_STEPS_OF_MODEL * len(services))
    return [_replacement(loop) for loop in loops]


def _replacement(loop: PollingLoop) -> Replacement | None:
    if loop.waiter is not None:
        return _of_waiter(loop, loop.waiter)
    found = [each for each in (_of_call(loop, call) for call in _deciding(loop)) if each]
    lines = [each for each in found if each.line is not None]
    return next(iter(lines or found), None) if len(lines) < 2 else lines[0]._replace(line=None)


def _deciding(loop: PollingLoop) -> list[ReadCall]:
    """Return the calls whose answers decide whether a loop goes on; if none does, the first."""
    observed = loop.passes.observed
    found = [call for call, paths in observed.items() if any(paths.values())]
    return found or [*observed][:1]


def _of_waiter(loop: PollingLoop, waiter: RepeatedWaiter) -> Replacement:
    """Return the line for a loop around a waiter of botocore's."""
    name, call = xform_name(waiter.name), waiter.call
    service = next(iter(_services(call)), None)
    known = [each for each in _waiters(service or "") if xform_name(each.name) == name]
    options: dict[str, str] = {}
    if not any(_MISSING.search(error) for each in known for error in error_names(each)):
        options["missing_ok_for"] = _time_bound(loop) or "..."
    start = f"{call.client}.wait_until_{name}("
    line = None if call.is_of_items else _line(loop, call, start, _time_bound(loop), options)
    return Replacement(service, None, name, line)


def _time_bound(loop: PollingLoop) -> str | None:
    """Return the bound of a loop around a waiter, whose passes take any time."""
    is_counted = isinstance(loop.source.node, ast.For) or loop.passes.counts
    return None if is_counted else loop.max_wait


def _of_call(loop: PollingLoop, call: ReadCall) -> Replacement | None:
    known = _services(call)
    if not known and squashed(call.method) in services_by_method():
        return Replacement()
    found = [each for service in known if (each := _operation(service, call)) is not None]
    if len(found) != 1:
        return Replacement() if found else None
    [read] = found
    spend(500)
    chosen = None if call.is_of_items else _Choice(loop, call, read).best()
    return Replacement(
        read.operation.service_model.service_name, read.operation.name, *(chosen or ())
    )


def _services(call: ReadCall) -> frozenset[str]:
    """Return the services that a call may be of; none if they are too many to tell it from them."""
    if call.services:
        return call.services & _service_names()
    known = services_by_method().get(squashed(call.method), frozenset())
    return known if len(known) <= _MOST_SERVICES else frozenset()


def _line(
    loop: PollingLoop,
    call: ReadCall,
    start: str,
    max_wait: str | None,
    options: Mapping[str, str] = {},
    notes: Iterable[str] = (),
) -> str:
    """Return the line to write, with what is left to put into it as a comment."""
    words = [*call.parameters, f"max_wait={max_wait or '...'}"]
    if loop.delay is not None and loop.waiter is None:
        words.append(f"min_delay={loop.delay}, delay_pace='fixed'")
    words += [f"{name}={value}" for name, value in options.items()]
    comments = [] if max_wait else ["max_wait: the seconds to wait at most"]
    if options.get("missing_ok_for") == "...":
        comments.append("missing_ok_for: the seconds in which it may not be there yet")
    end = f"  # {'; '.join([*comments, *notes])}" if comments or [*notes] else ""
    return f"{'await ' * loop.is_async}{start}{', '.join(words)}){end}"


class _Read(NamedTuple):
    """The operation that a call makes."""

    operation: OperationModel
    call: ReadCall
    """With the parameters of the operation."""
    base: tuple[str, ...] = ()
    """What leads to a resource object in the answer."""


class _Choice:
    """Chooses the waiter that ends where a loop does, of all ways in which the service answers.

    Args:
        loop: the loop.
        observed: its call, as the loop makes it.
        read: the operation.
    """

    def __init__(self, loop: PollingLoop, observed: ReadCall, read: _Read) -> None:
        self._loop, self._observed = loop, observed
        self._operation, self._call = read.operation, read.call
        self._is_one = is_one_item(read.operation, read.call)
        paths = loop.passes.observed[observed]
        self._leaves = leaves(read.operation, paths, read.base)
        service = read.operation.service_model.service_name
        self._waiters = [e for e in _waiters(service) if e.operation == read.operation.name]
        self._errors = {
            error_key(each): each for each in paths.get(ERROR, ()) if isinstance(each, str)
        }
        """The errors that the loop names."""
        self._outcomes: dict[str, Outcome] = {}
        self._tried: list[tuple[Answer, Outcome]] = []

    def best(self) -> tuple[str | None, str] | None:
        """Return the waiter, if it has a name, and the line; None if there is none."""
        if self._leaves is None:
            return None
        self._try()
        self._leave_out()
        self._by_answer = self._with_end("leave")
        """The answers at which the loop is left."""
        self._failures = {*sort_states(self._told("leave"), success=["DONE"]).failure}
        self._is_of_end = self._ends_something()
        self._goals = self._good_ends()
        outcomes = [outcome for _, outcome in self._tried]
        stays = [each for each in outcomes if "stay" in each.ends]
        if any("leave" in each.ends and len(each.ends) > 1 for each in outcomes):
            return None
        if not stays or any(each.acts - {"log"} for each in outcomes):
            return None
        chosen = (self._shipped() or self._made()) if self._is_wait() else None
        if chosen is None:
            return None
        name, start, waiter = chosen
        options, notes = {}, []
        missing = [e for e in self._missing() if self._verdict(waiter, e) is _FAILURE]
        if missing:
            options["missing_ok_for"] = self._loop.max_wait or "..."
        for flag, event in self._loop.passes.stop_flags.items():
            options["cancel_event"] = event or "..."
            notes += [] if event else [f"cancel_event: a threading.Event in place of {flag}"]
        if used := self._loop.source.used_later - self._loop.passes.counts.keys():
            notes.append(f"{', '.join(sorted(used))}: in the outcome's response")
        if any(each.acts for each in stays):
            notes.append("on_attempt=: what the loop prints")
        return name, _line(self._loop, self._call, start, self._loop.max_wait, options, notes)

    def _try(self) -> None:
        """Try the loop with all answers that matter."""
        is_one, found = self._is_one, self._leaves or []
        for answer in answers(found, self._waiters, is_one=is_one):
            self._add(answer)
        left, stayed = self._with_end("leave"), self._with_end("stay")
        for pair in [] if is_one else zip(left[:6], stayed[:6], strict=False):
            for answer in mixed(found, *pair):
                self._add(answer)
        names = dict(self._errors)
        for waiter in self._waiters:
            names |= {error_key(each): each for each in error_names(waiter)}
        for key, name in (names | {OTHER.lower(): OTHER}).items():
            told = frozenset([name] if key in self._errors else [])
            alike = "", name if told else OTHER
            self._add(Answer(Document(), None, name, told, alike=alike))

    def _leave_out(self) -> None:
        """Leave out what decides nothing, such as what is printed at the end, and try again."""
        needed = []
        for index, leaf in enumerate(self._leaves or []):
            by_others: dict[tuple[str, ...], set[Outcome]] = defaultdict(set)
            for answer, outcome in self._tried:
                if answer.error is not None:
                    continue
                values = [*map(repr, answer.values)]
                others = (*values[:index], "", *values[index + 1 :])
                by_others[others].add(outcome)
            if any(len(each) > 1 for each in by_others.values()):
                needed.append(leaf)
        if needed != self._leaves:
            self._leaves, self._tried, self._outcomes = needed, [], {}
            self._try()

    def _add(self, answer: Answer) -> None:
        key = repr(answer.alike)
        if key not in self._outcomes:
            read = documents(answer.read, Part(self._observed, ()))
            world = World(self._observed, read, answer.error)
            self._outcomes[key] = self._loop.passes.outcome(world)
        self._tried.append((answer, self._outcomes[key]))

    def _with_end(self, end: str, *, is_error: bool = False) -> list[Answer]:
        """Return the answers, or the errors, at which the loop ends so, whatever else decides."""
        return [
            answer
            for answer, outcome in self._tried
            if outcome.ends == {end} and (answer.error is not None) is is_error
        ]

    def _told(self, end: str) -> set[str]:
        """Return the texts that the loop names and at which it ends so."""
        return {text for answer in self._with_end(end) for text in answer.told}

    def _missing(self) -> list[Answer]:
        """Return the errors that the loop names, that say not found, and after which it goes on."""
        stays = self._with_end("stay", is_error=True)
        return [each for each in stays if each.told and _MISSING.search(str(each.error))]

    def _good_ends(self) -> set[str]:
        """Return the states that end a process well, as far as the loop leaves it open."""
        known = [each for leaf in self._leaves or [] for each in spelled_texts(leaf)[:-1]]
        if self._is_of_end:
            ended = [each for each in known if state_words(each) & ENDED_WORDS]
            return {*gone_states(known, self._operation.name), *ended}
        good = {e for e in sort_states(known).success if not state_words(e) & {"OUT", "ENDED"}}
        # Of `CREATE_IN_PROGRESS`, the end is `CREATE_COMPLETE`.
        words = frozenset().union(*map(state_words, self._told("stay"))) - {"IN", "PROGRESS"}
        return {each for each in good if state_words(each) & words} or good

    def _is_wait(self) -> bool:
        """Return whether the loop waits for what a waiter may wait for."""
        if not any(a.error is None and "stay" in o.ends for a, o in self._tried):
            # It goes on after errors alone: a retry, unless until something is there.
            return bool(self._missing() and self._by_answer)
        told = self._told("leave")
        if told and told <= self._failures and (len(told) > 1 or any(map(is_problem, told))):
            return self._is_of_end and not all(map(is_problem, told))
        texts = {text for waiter in self._waiters for text in texts_of(waiter)}
        found = self._leaves or []
        known = {error_key(each) for leaf in found for each in spelled_texts(leaf, texts)}
        named = {error_key(each) for leaf in found for each in leaf.names}
        words = frozenset().union(*map(state_words, self._told("stay")))
        is_known = not named or bool(named & known) or is_underway(words)
        return is_known and bool(self._by_answer or self._with_end("leave", is_error=True))

    def _ends_something(self) -> bool:
        """Return whether the loop waits until something has been stopped or deleted."""
        going = [state_words(each) for each in self._told("stay")]
        ends = (*ENDINGS, "STOP", "CANCEL", "ABORT")
        if going and all(any(word.startswith(ends) for word in words) for words in going):
            return True
        noun = resource_of(self._operation.name)
        for call in self._loop.source.calls_before():
            if method_verb(call) in _ENDING_VERBS and squashed(noun) in squashed(call):
                return True
        return False

    def _verdict(self, waiter: WaiterDefinition, answer: Answer) -> AcceptorState:
        lists = [e for e in (answer.document or {}).values() if isinstance(e, list)]
        items = ["?"] * max(map(len, lists), default=1)
        given = {}
        members = members_of(self._operation.input_shape)
        for each in self._call.parameters:
            name = each.partition("=")[0]
            given[name] = items if element_of(members.get(name)) is not None else "?"
        return verdict(waiter, _matching(waiter), answer, given)

    def _distance(self, waiter: WaiterDefinition) -> float:
        """Return how many answers a waiter takes otherwise; infinite if it is another wait."""
        verdicts = [(a, o.ends, self._verdict(waiter, a)) for a, o in self._tried]
        if not any(state is _SUCCESS and ends == {"leave"} for _, ends, state in verdicts):
            return inf
        # A condition may ask for more than the state: another waiter is nearer.
        matchers = [each.matcher for each in waiter.acceptors if each.state is _SUCCESS]
        paths = [each.matcher for each in matchers if isinstance(each, DocumentMatcher)]
        has_more = any(each.comparator is PathComparator.BOOLEAN_EQUALS for each in paths)
        return sum(self._cost(*each) for each in verdicts) + 0.1 * has_more

    def _cost(self, answer: Answer, ends: frozenset[End], state: AcceptorState) -> float:
        told, is_left = answer.told, ends == {"leave"}
        pairs = [*zip(self._leaves or [], answer.values, strict=False)]
        asked = [value for leaf, value in pairs if leaf.is_asked_for]
        if (
            ends == {"raise"}
            and len(asked) < len(pairs)
            and any(e not in (ABSENT, []) for e in asked)
        ):
            return 0  # It fails by a member that no waiter reads.
        texts = [each for each in answer.values if isinstance(each, str)]
        is_gone = [] in answer.values or bool(gone_states(texts, self._operation.name))
        if ends == {"raise"} and not self._by_answer and is_gone:
            return 0
        if state is _SUCCESS:
            is_other = answer.error and not told and self._by_answer
            return 0 if is_left or is_other else inf
        # What is caught around the loop is no end that it waits for.
        is_around = answer.error and self._loop.source.around and self._by_answer
        if is_left and told and not is_around:
            is_failure = told <= self._failures < self._told("leave") and not self._is_of_end
            return (state is not _FAILURE) if is_failure else inf
        if ends == {"stay"} and told and state is _FAILURE:
            # To fail at once while it is deleted is no other wait for it to be there.
            words = frozenset().union(*map(state_words, told))
            goes_on = _GOES_ON.search(answer.error) if answer.error else is_underway(words)
            return 0 if goes_on else inf
        if is_left and not sort_states(texts, success=["DONE"]).failure:
            return inf if self._goals & {*texts} else 1
        return (1 if is_left else 0.5 * bool(told)) * (state is not _FAILURE)

    def _shipped(self) -> tuple[str | None, str, WaiterDefinition] | None:
        """Return the nearest waiter that has a name, and how a call of it begins."""
        left = [*self._by_answer, *self._with_end("leave", is_error=True)]
        is_named = any(answer.told for answer in left)
        fit = {
            waiter: self._distance(waiter)
            for waiter in self._waiters
            if is_named or means_absence(waiter.name) is self._is_of_end
        }
        least = min(fit.values(), default=inf)
        nearest = [waiter for waiter, distance in fit.items() if distance == least < inf]
        if len(nearest) != 1:
            return None
        name = xform_name(nearest[0].name)
        if self._loop.is_async and not self._loop.is_awaited:
            return name, f"{self._function()}({self._call.client}, {name!r}, ", nearest[0]
        return name, f"{self._call.client}.wait_until_{name}(", nearest[0]

    def _function(self) -> str:
        return "bwp.wait_until_async" if self._loop.is_async else "bwp.wait_until"

    def _made(self) -> tuple[str | None, str, WaiterDefinition] | None:
        """Return a waiter that is made on the spot, and how a call of it begins."""
        if len(self._leaves or []) != 1 or reason_not_to_poll(self._operation, is_shown=False):
            return None
        [leaf] = self._leaves or []
        for states, path in self._states(leaf):
            default = [each for each, _ in state_members(self._operation)]
            chosen = path if states != [GONE] and default != [path] else None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    waiter = made_waiter(self._operation, states, chosen)
                except (TypeError, ValueError):
                    continue
            if self._distance(waiter) < inf:
                state = repr(states if states[1:] else states[0])
                options = f"until_state={state}, " + (f"state_path={chosen!r}, " if chosen else "")
                start = f"{self._function()}({self._call.client}, {self._operation.name!r}, "
                return None, start + options, waiter
        return None

    def _states(self, leaf: Leaf) -> Iterator[tuple[list[str], str]]:
        """Yield the states that a waiter may wait for, each with the expression for it."""
        path = leaf.expression
        if is_text(leaf.shape) and not leaf.is_asked_for:
            left, known = self._told("leave"), spelled_texts(leaf)
            texts = {text for answer in self._by_answer for text in answer.values} - {OTHER}
            others = texts & self._goals or {each for each in texts if not is_problem(each)}
            until = [e for e in known if e in left and (self._is_of_end or e not in self._failures)]
            if not left:
                until = [each for each in known if each in others]
            yield until or [each for each in known if each in left], path
            return
        if is_sensitive(leaf.shape):
            return  # Who reads a secret again and again waits for nothing.
        path = path.replace("[]", "[0]") if self._is_one else path
        if leaf.shape.type_name == "boolean":
            yield from ((["true"], f"to_string({path})"), (["false"], f"to_string({path})"))
        elif numbers := [each for each in leaf.told if isinstance(each, int | float)]:
            for number in numbers:
                for sign in ("==", ">", ">=", "<", "<="):
                    yield ["reached"], f"{path} {sign} `{number}` && 'reached'"
        else:
            yield [GONE], path
            yield ["there"], f"{path} && 'there'"
            yield ["absent"], f"{path} && 'there' || 'absent'"


@functools.cache
def _matching(waiter: WaiterDefinition) -> Matching:
    return Matching(waiter.acceptors)


_waiters = functools.cache(definitions_of)
_service_names = functools.cache(service_names)


@functools.cache
def _operations(service: str) -> Mapping[str, OperationModel]:
    """Return the operations of a service by the letters of their methods."""
    model = model_of(service)
    if model is None:
        return {}
    return {name.lower(): model.operation_model(name) for name in model.operation_names}


def _operation(service: str, call: ReadCall) -> _Read | None:
    """Return the operation of a service that a call may make, with the parameters that it has."""
    if call.resource is not None:
        return _of_resource(service, call)
    operation = _operations(service).get(squashed(call.method))
    shape = None if operation is None else operation.input_shape
    members, required = (shape.members, shape.required_members) if shape else ({}, [])
    names = {each.partition("=")[0] for each in call.parameters}
    is_known = {*required} <= names <= members.keys()
    is_meant = is_known or any(each.startswith("**") for each in names)
    return _Read(operation, call) if operation is not None and is_meant else None


def _of_resource(service: str, call: ReadCall) -> _Read | None:
    """Return the operation that loads a resource object of boto3."""
    resource = _resources(service).get(str(call.resource), {})
    request = resource.get("load", {}).get("request", {})
    operation = _operations(service).get(request.get("operation", "").lower())
    names = [each["name"] for each in resource.get("identifiers", [])]
    made_of = dict(zip(names, call.parameters, strict=False))
    parameters = []
    for each in request.get("params", []):
        target, is_list = re.subn(r"\[0\]\Z", "", each["target"])
        value = made_of.get(each.get("name"))
        if value is None or not target.isalnum():
            return None
        parameters.append(f"{target}=[{value}]" if is_list else f"{target}={value}")
    if operation is None:
        return None
    base = resource["load"]["path"].replace("[0]", ".*").replace("@", "").split(".")
    made = call._replace(client=f"{call.client}.meta.client", parameters=tuple(parameters))
    return _Read(operation, made, tuple(filter(None, base)))


@functools.cache
def _resources(service: str) -> Mapping[str, Any]:
    """Return what boto3 knows of a service's resource objects."""
    folder = Path(boto3.__file__).parent / "data" / service
    files = sorted(folder.glob("*/resources-1.json"))
    known = json.loads(files[-1].read_text(encoding="utf-8")) if files else {}
    return known.get("resources", {})  # type: ignore[no-any-return] # JSON
