"""What a mutation has for an effect, and the wait for it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, Final

import jmespath
from botocore import xform_name
from botocore.exceptions import ClientError
from botocore.model import OperationModel

from ..calls.clients import client_called_by
from ..calls.flow import Flow
from ..common.errors import Caller, caller, warn
from ..common.time_bounds import TimeBound
from ..common.wrong_arguments import (
    Keyword,
    PythonOnly,
    WrongTypeError,
    WrongValueError,
    wrong_type,
)
from ..definitions.changes import (
    EFFECTS_FILE,
    OF_ANSWER,
    EffectTrait,
    says_no_change,
    shipped_refused_items,
)
from ..definitions.near_waiters import did_you_mean
from ..engine.acceptors import AcceptorState
from ..engine.computed_once import computed_once
from ..engine.model import WaitDescription, WaiterDefinition
from ..exceptions import WaiterFailedError, WaiterTimeoutError
from ..options import NO_OPTIONS, WaitOptions
from ..outcome import ExceptionOutcome, WaiterOutcome
from ..service.bound_waiter import BoundWaiter
from ..service.clients import waiters_of
from ..service.data_model import converted
from ..service.pages import MOST_PAGES
from ..service.parameters import without_sensitive
from ..service.polling_waiter import PollingWaiter
from ..service.service_waiters import ServiceWaiters
from ..service.shapes import page_tokens, required_of, shape_id_of
from ..service.waits import find_waiter, prepared_wait
from ..settings import Settings
from ..wait.wording import RefusedPart
from .answers import NOT_KEPT, refused_and_accepted, unmet_goal
from .known_effects import (
    Effect,
    effect_from,
    effects_after,
    effects_beside,
    trait_beside,
    traits_of,
    why_nothing_follows,
)
from .target import called_operation

REST_AFTER_OWN_STATE: Final = 15.0
"""Seconds that a state at rest has to hold after one that only the change itself shows."""


class EffectWaiter(PollingWaiter):
    """The waiter of an effect, whose acceptors may see the call.

    Args:
        found: what is polled, and the acceptors.
        trait: the effect as the data has it.
    """

    is_shared = False

    def __init__(self, found: BoundWaiter, trait: EffectTrait) -> None:
        definition = found.definition
        acceptors = (*trait.own, *definition.acceptors)
        reports = trait.reports or definition.reports
        super().__init__(
            replace(definition, acceptors=acceptors, reports=reports),
            found.operation,
            from_user=definition.source != EFFECTS_FILE and found.from_user,
        )
        self._trait = trait
        self.reads_pages = trait.pages
        self.is_shipped = isinstance(trait.waiter, WaiterDefinition) and trait.basis is not None
        self.certain = self._certain()

    def bound(self) -> BoundWaiter:
        """Return the waiter as a wait takes it."""
        return BoundWaiter(self.definition, self.operation, polling=self)

    @computed_once
    def description(self) -> WaitDescription:
        """The effect; its own acceptors, whose expressions are long, by what is waited for."""
        trait, definition = self._trait, self.definition
        service = self.operation.service_model.service_name
        description = WaitDescription.of(definition, service, self.new_failures)
        if trait.basis is None:
            return description
        acceptors, words = [*description.acceptors], [*description.words]
        goal = trait.documentation.partition(";")[0].removeprefix("Wait until ")
        texts = {AcceptorState.SUCCESS: goal.rstrip("."), AcceptorState.FAILURE: "it has failed"}
        for index, said in enumerate(trait.says):
            # What an own acceptor compares is an expression, which the state seen stands for.
            words[index] = said, False
            state = definition.states[index]
            if text := said or texts.get(state):
                acceptors[index] = replace(acceptors[index], text=f"{state.value} when {text}")
        bases = (
            trait.basis if not trait.settle_for or index in self.certain else None
            for index in range(len(acceptors))
        )
        return replace(
            description, acceptors=tuple(acceptors), words=tuple(words), bases=tuple(bases)
        )

    def items_of(self, call: Mapping[str, Any]) -> Sequence[Any] | None:
        each = self._trait.each
        # A call may name none of them: its other parameters are judged once.
        return None if each is None else jmespath.search(each, {"call": call}) or None

    def settling(self, index: int | None) -> Mapping[str, Any]:
        states, certain = self.definition.states, self.certain
        own = [i for i in certain if states[i] is AcceptorState.RETRY]
        is_success = index is not None and states[index] is AcceptorState.SUCCESS
        rest = REST_AFTER_OWN_STATE if own else self._trait.settle_for
        return {"moves": not own or index in own, "rest_for": rest if is_success else 0}

    def unmet(self, output: Any, call: Mapping[str, Any]) -> str | None:
        if self.reads_pages and any(map(output.get, page_tokens(self.operation.output_shape))):
            return f"there are more pages than the {MOST_PAGES} that an attempt reads"
        return unmet_goal(self.definition.acceptors, {"output": output, "call": call})

    def _certain(self) -> Collection[int]:
        trait = self._trait
        is_weak = trait.is_beside or trait.basis in ("transition", "held", None)
        if not isinstance(trait.waiter, str) or is_weak:
            return trait.certain
        states = self.definition.states
        successes = [i for i, each in enumerate(states) if each is AcceptorState.SUCCESS]
        return {*trait.certain, *successes}


@dataclass(eq=False, repr=False)
class EffectOfCall:
    """An effect of an operation on a client; with a document, that of one call that was answered.

    Args:
        client: that makes the call.
        mutation: the operation of the call.
        trait: the effect as the data has it.
        function: returns the parameters, given the response; None: the trait has their paths.
    """

    client: Any
    mutation: OperationModel
    trait: EffectTrait
    function: Callable[[Any], Mapping[str, Any]] | None = None
    document: Mapping[str, Any] = field(default_factory=dict, init=False)
    """The `input` and `output` of the call, as paths see them; empty before its answer."""
    response: Any = field(default=None, init=False)
    caller: Caller | None = field(default=None, init=False)
    """The line to warn of a short wait; None: there is none, or it was warned."""

    def __post_init__(self) -> None:
        found, _ = find_waiter(self.client, self.trait.waiter)
        self.bound_waiter = EffectWaiter(found, self.trait).bound()
        self.effect = effect_from(self.mutation, self.trait, found)

    @property
    def settings(self) -> Settings:
        """What holds for the wait besides its own options: the client's settings, the effect's."""
        own = WaitOptions(
            settle_for=self.trait.settle_for or None,
            missing_ok_for=self.trait.missing_ok_for or None,
            # The service has answered: the call.
            retry_transient=True,
        )
        return waiters_of(self.client).settings.merged_over(Settings(defaults=own))

    def check(self, call: Mapping[str, Any]) -> None:
        """Refuse a call after which there is nothing to wait for, by its document before it.

        Raises:
            ValueError: with the reason.
        """
        reason = self.refusal(call, of_answer=False)
        if reason is not None:
            raise ValueError(_nothing_follows(self.mutation, reason))
        if self.function is None:
            paths = self.trait.parameters
            given = {name: path for name, path in paths.items() if not OF_ANSWER.search(path)}
            found = evaluated_paths(given, call=call)
            for name in _missing(self.bound_waiter.operation, found):
                needed = " or ".join(re.findall(r"input\.(\w+)", paths[name]))
                raise ValueError(f"{self.effect.name} needs the parameter {needed} of the call")

    def warn_if_short(self, options: WaitOptions, time_left: float) -> None:
        """Warn, once, of a wait that ends before a state counts that may be from before the call.

        Args:
            options: merged.
            time_left: seconds of the wait.
        """
        at, self.caller = self.caller, None
        waiter: Any = self.bound_waiter.polling
        needed: Any = options.settle_for or 0
        states = enumerate(waiter.definition.acceptors)
        goals = [(i, each.matcher) for i, each in states if each.state is AcceptorState.SUCCESS]
        # An error is no state, and counts at once.
        counts = any(i in waiter.certain or not hasattr(each, "matcher") for i, each in goals)
        if at is None or counts or not 0 < time_left <= needed:
            return
        rest = min(needed, waiter.settling(goals[0][0])["rest_for"])
        sooner = f", or for {rest:g} s after another state" if rest < needed else ""
        text = f"{xform_name(self.mutation.name)}: what {self.effect.name} waits for may be from "
        text += f"before the call, and counts once it has held for {needed:g} s{sooner}; max_wait "
        warn(f"{text}leaves less than {needed:g} s", UserWarning, at=at)

    def refusal(self, call: Mapping[str, Any], *, of_answer: bool) -> str | None:
        """Return why there is nothing to wait for after a call, by its answer or before it."""
        for refusal in self.trait.refusals:
            is_of_answer = OF_ANSWER.search(refusal.path) is not None
            if is_of_answer is of_answer and jmespath.search(refusal.path, {"call": call}) is True:
                return refusal.reason
        return None

    def call_document(self, parameters: Mapping[str, Any], response: Any) -> dict[str, Any]:
        """Return the call as the paths of an effect see it."""
        output = {name: value for name, value in response.items() if name != "ResponseMetadata"}
        call = {
            "input": converted(self.mutation.input_shape, parameters),
            "output": converted(self.mutation.output_shape, output),
            "time": _time_of(response),
        }
        items = shipped_refused_items(shape_id_of(self.mutation))
        if items is None:
            return call
        # What was refused is told, so nothing sensitive is part of it.
        safe = without_sensitive(self.mutation.output_shape, call["output"])
        return {**call, **refused_and_accepted(items, {**call, "output": safe})}

    def answered(self, parameters: Mapping[str, Any], response: Any) -> EffectOfCall:
        """Return the effect of a call with these parameters that was answered so."""
        return self.with_answer(self.call_document(parameters, response), response)

    def with_answer(self, document: Mapping[str, Any], response: Any) -> EffectOfCall:
        """Return the effect of a call that was answered."""
        answered = copy(self)
        answered.document, answered.response = document, response
        return answered

    @property
    def seen(self) -> dict[str, Any]:
        """The document as acceptors see it, whose values may be shown: nothing sensitive."""
        mutation, document = self.mutation, self.document
        given = without_sensitive(mutation.input_shape, document["input"], is_answer=False)
        return {
            **document,
            # Acceptors that read back what was asked for have to know that there was more.
            "input": {**dict.fromkeys(document["input"], NOT_KEPT), **given},
            "output": without_sensitive(mutation.output_shape, document["output"]),
        }

    def _check(self, options: WaitOptions) -> None:
        """Raise the error of a call after which there is nothing to wait for."""
        name, reason = self.mutation.name, self.refusal(self.document, of_answer=True)
        refused = RefusedPart.of(self.document)
        if reason is not None:
            raise self._error(_nothing_follows(self.mutation, reason))
        if refused is not None and self.document["accepted"] == []:
            shows = options.show_parameters
            error = self._error(f"{name} has answered, and accepted nothing.")
            raise refused.added_to(error, WaiterFailedError, with_ids=shows is not False)

    def _error(self, reason: str) -> WaiterFailedError:
        return WaiterFailedError(self.trait.name, reason, self.response)

    def parameters(self, time_left: TimeBound, options: WaitOptions = NO_OPTIONS) -> dict[str, Any]:
        """Return the parameters of the polled operation.

        Args:
            time_left: how long the wait may last.
            options: of the wait.

        Raises:
            WaiterFailedError: the call does not tell one of them, or there is nothing to wait for.
            WaiterTimeoutError: no time is left.
        """
        self._check(options)
        parameters = self.polled()
        if time_left.seconds <= 0:
            end = "" if time_left.end is None else f" at the end of {time_left.end}"
            reason = f"timed out{end}: the call took all of max_wait"
            waiter = self.bound_waiter.definition.name
            raise WaiterTimeoutError(waiter, reason, max_wait=time_left.asked)
        self.warn_if_short(options, time_left.seconds)
        return parameters

    def polled(self) -> dict[str, Any]:
        """Return the parameters of the polled operation, whatever became of the call.

        Raises:
            WaiterFailedError: the call does not tell one of them.
        """
        if self.function is not None:
            return dict(self.function(self.response))
        trait = self.trait
        return self._evaluated(trait.parameters, self.bound_waiter.operation, trait.needed)

    def wait(
        self, time_left: TimeBound, given: WaitOptions = NO_OPTIONS, *, is_observed: bool = True
    ) -> Flow[WaiterOutcome[Any]]:
        """Wait for the effect, under given options; raises as `parameters`."""
        settings = Settings(defaults=given).merged_over(self.settings)
        if not is_observed:
            settings = settings._replace(observers=())
        rest: dict[str, Any] = {"max_wait": time_left, "call": self.seen}
        rest["keywords"] = self.parameters(time_left, settings.defaults or NO_OPTIONS)
        prepared = prepared_wait(self.client, self.bound_waiter, settings, **rest)
        return (yield from prepared.flow())

    def stop_calls(self) -> tuple[str, list[dict[str, Any]]]:
        """Return the method that stops what was begun, and the parameters of each call of it.

        Raises:
            NotImplementedError: the service has no such operation for it.
        """
        stop, mutation = self.trait.stop, self.mutation
        if stop is None:
            method = xform_name(mutation.name)
            raise NotImplementedError(f"nothing is known that stops what {method} has begun")
        operation = mutation.service_model.operation_model(stop.operation)
        items = [None]
        if stop.each is not None:
            items = jmespath.search(stop.each, {"call": self.document}) or []
        evaluated = partial(self._evaluated, stop.parameters, operation)
        return xform_name(stop.operation), [evaluated(item=each) for each in items]

    def _evaluated(
        self,
        paths: Mapping[str, str],
        operation: OperationModel,
        needed: Collection[str] = (),
        item: Any = None,
    ) -> dict[str, Any]:
        found = evaluated_paths(paths, call=self.document, item=item)
        values = {name: value for name, value in found.items() if value is not None}
        missing = _missing(operation, found, needed)
        if missing or (found and not values):
            names = ", ".join(missing or found)
            answer = f"the answer of {self.mutation.name}"
            raise self._error(f"{answer} does not tell {names}")
        return values


def evaluated_paths(paths: Mapping[str, str], **document: Any) -> dict[str, Any]:
    """Return the values of paths on a document."""
    return {name: jmespath.search(path, document) for name, path in paths.items()}


def is_empty(value: Any) -> bool:
    """Whether a value, or a part of it, was not there."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return not value or any(map(is_empty, value))
    return value in (None, "")


def _missing(
    operation: OperationModel, found: Mapping[str, Any], needed: Collection[str] = ()
) -> list[str]:
    # What else the call was not given is left to its default, such as the cluster of ECS.
    needed = {*needed, *required_of(operation.input_shape)}
    return [
        name
        for name, value in found.items()
        if is_empty(value) and (value is not None or name in needed)
    ]


def _time_of(response: Any) -> float | None:
    """Return when a service answered, by its own clock: the header `Date`, in whole seconds."""
    headers = response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    with contextlib.suppress(TypeError, ValueError):
        return parsedate_to_datetime(headers.get("date")).timestamp()
    return None


def unchanged_by(mutation: OperationModel, end: object) -> ExceptionOutcome | None:
    """Return the outcome of a failure that says that the mutation had nothing to change."""
    if not isinstance(end, WaiterFailedError) or end.acceptor is None:
        return None
    message = end.service_message or ""
    if not says_no_change([shape_id_of(mutation)], message):
        return None
    # As boto3 raises a refusal.
    answer: Any = {"Error": {"Code": str(end.observed), "Message": message}}
    names = "waiter", "label", "attempts", "elapsed", "acceptor", "observed", "timeline_record"
    facts: Any = {name: getattr(end, name) for name in names}
    refusal = ClientError(answer, mutation.name)
    return ExceptionOutcome(exception=refusal, basis="unchanged", **facts)


def effect_of(client_method: Any, /) -> Effect | None:
    """Return what `begin` would wait for after a call of this method; None if nothing is known.

    Args:
        client_method: a method of a botocore client, such as `ecs.update_service`, or a wrapper.

    Raises:
        TypeError: not a method of a client.
    """
    operation = called_operation("effect_of", client_method)
    waiters = waiters_of(client_called_by(client_method))
    return next(effects_after(waiters.service, operation), None)


def definitions_after(client: Any, operation: OperationModel) -> list[WaiterDefinition]:
    """Return what the effects of an operation wait by."""
    traits = traits_of(waiters_of(client).service, operation)
    effects = (EffectOfCall(client, operation, trait) for trait in traits)
    return [each.bound_waiter.definition for each in effects]


def chosen_effect(
    client: Any, operation: OperationModel, then_wait: Any, parameters: Mapping[str, Any]
) -> EffectOfCall:
    """Return the effect that a call of `begin` waits for.

    Args:
        client: that makes the call.
        operation: of the call.
        then_wait: the name of an effect, or of a waiter that polls as the first one does; a waiter
            and a function of the response; None: the first effect that suits the call.
        parameters: of the call.

    Raises:
        TypeError: not such a choice.
        ValueError: no such effect, none is known, or there is nothing to wait for.
    """
    effect = effect_named(client, operation, then_wait)
    call = effect.call_document(parameters, {})
    if then_wait is None and effect.refusal(call, of_answer=False) is not None:
        traits = traits_of(waiters_of(client).service, operation)
        others = (EffectOfCall(client, operation, each) for each in traits)
        suits = (each for each in others if each.refusal(call, of_answer=False) is None)
        effect = next(suits, effect)
    effect.caller = caller()
    effect.check(call)
    return effect


_EXAMPLE: Final = "then_wait=(waiter, lambda response: {...})"


def effect_named(client: Any, operation: OperationModel, then_wait: Any) -> EffectOfCall:
    """Return the effect of an operation that `then_wait` names; see `chosen_effect`."""
    match then_wait:
        case None | str():
            pass
        case tuple((str() | WaiterDefinition() as waiter, function)) if callable(function):
            name = waiter if isinstance(waiter, str) else waiter.name
            trait = EffectTrait(name=name, waiter=waiter, parameters={}, basis=None)
            # Not `function`, which pyright takes to return `object`, as any callable.
            return EffectOfCall(client, operation, trait, then_wait[1])
        case tuple():
            kinds = ", ".join(type(each).__name__ for each in then_wait)
            problem = f" takes a waiter and a function of the response, not ({kinds})"
            raise WrongTypeError.of("then_wait", then_wait, problem)
        case _:
            raise wrong_type("then_wait", then_wait, "the name of an effect, or a pair")
    service = waiters_of(client).service
    traits = {trait.name: trait for trait in traits_of(service, operation)}
    for name, trait in traits.items():
        if then_wait in (None, name, xform_name(name)):
            return EffectOfCall(client, operation, trait)
    method = xform_name(operation.name)
    if then_wait is not None:
        found, first = service.find(then_wait), next(iter(traits.values()), None)
        beside = None if found is None or first is None else trait_beside(service, first, found)
        if beside is not None:
            return EffectOfCall(client, operation, beside)
        others = [each.name for each in effects_beside(service, operation)]
        hint = did_you_mean(then_wait, [*traits, *others])
        problem = f": {service.service_name} {method} has no effect {then_wait!r}{hint}"
        other = PythonOnly(f" (another waiter needs a function: {_EXAMPLE})")
        raise WrongValueError.of("then_wait", then_wait, problem, other)
    reason = why_nothing_follows(operation)
    if reason is not None:
        raise ValueError(_nothing_follows(operation, reason))
    near = _waiters_near(service, operation)
    known = f" (of the same resource: {', '.join(near)})" if near else ""
    problem = f"it is not known what tells that {method} has ended. Pass "
    waiter, function = Keyword("a waiter", "then_wait", "WAITER"), f" and a function: {_EXAMPLE}"
    raise WrongValueError(problem, waiter, known, PythonOnly(function))


def _nothing_follows(operation: OperationModel, reason: str) -> str:
    return f"{xform_name(operation.name)} has nothing to wait for: {reason}"


def _waiters_near(service: ServiceWaiters, operation: OperationModel) -> list[str]:
    """Return the waiters whose operation is about what this operation changes."""
    name = xform_name(operation.name).partition("_")[2]
    methods = {each.definition.name: xform_name(each.operation.name) for each in service.values()}
    return sorted(waiter for waiter, method in methods.items() if name and name in method)[:3]
