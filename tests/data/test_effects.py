"""`data/effects.json`: what follows a mutation, checked against the models of botocore."""

import bisect
import functools
import itertools
import math
import random

import effect_of
import effect_reasons
import effect_rules
import hypothesis
import jmespath
import pytest
import rules_failures
import rules_fresh
import rules_moves
from botocore.validate import ParamValidator
from data.shared import (
    CATALOG,
    CHANGED_OR_ALL,
    effect_rows,
    effect_waiter,
    full_sample,
    json_of,
    put,
    sample_call,
    service_model,
)
from data_digests import service_of
from engine.delays import run
from hypothesis import strategies as st
from laws import by_service
from rules_again import SAYS

from boto_waiters_plus.changes.answers import refused_and_accepted
from boto_waiters_plus.changes.effects import EffectWaiter
from boto_waiters_plus.changes.known_effects import trait_beside
from boto_waiters_plus.check.model import service_by_namespace
from boto_waiters_plus.definitions.changes import EFFECT, REFUSED_ITEMS, shipped_refused_items
from boto_waiters_plus.definitions.smithy import aws_namespace
from boto_waiters_plus.engine import machine as m
from boto_waiters_plus.engine.acceptors import AcceptorState, ErrorTypeMatcher, SuccessMatcher
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.options import WaitOptions, policy_for
from boto_waiters_plus.service.data_model import member_names
from boto_waiters_plus.service.service_waiters import ServiceWaiters
from boto_waiters_plus.service.shapes import walk

RULES = json_of("tests/cases/effect-rules.json")
SUPPRESSED = {(each.namespace, each.id) for each in effect_rules.suppressions()}
CALLED = 1_700_000_000.0
AFTER_OWN = 15
"""Seconds that the state at rest must hold after a state of the change itself."""
MAX_WAIT = 100_000

OF_CALL = {"call", "input", "output", "accepted", "refused", "time", "item"}
OF_CALL |= {"adds", "left", "ready", "tags"}
"""What paths see besides the members of the two operations, and names that they give to parts."""

TEXT = "1" * 64
"""Long enough for an ARN, and a number."""

pytestmark = pytest.mark.models


def of_effects(is_meant=lambda shape, body: True):
    """Run a test for each effect that is meant, by the shape of its mutation and its content."""
    rows = [(shape, name) for shape, name, body in effect_rows() if is_meant(shape, body)]
    return pytest.mark.parametrize(("shape", "name"), by_service(rows))


@pytest.fixture
def effect(shape, name):
    return effect_of.effect_named(shape, name)


def members_of(*shapes):
    """Return the names of the members of structures, however deep."""
    return {each.name for shape in shapes for each in walk(shape)}


def test_no_wait_is_for_the_first_of_several_given_resources():
    """A waiter of one resource cannot follow a call on a list of them."""
    for shape, name, body in effect_rows():
        paths = [path for path in body["parameters"].values() if "input." in path and "[0]" in path]
        assert not paths or "refusals" in body, (shape, name)


@CATALOG
def test_reasons_are_those_of_the_rules_and_of_mutations_without_effects():
    _, found, rest = effect_reasons.judged()
    ruled = {
        (rule, service, name)
        for rule, services in found.items()
        for service, names in services.items()
        for name in names
    }
    reasons = list(effect_reasons.written())
    assert ruled == {each for each in reasons if each[0] in effect_reasons.RULES}
    assert len({each[1:] for each in reasons}) == len(reasons)
    models, shapes = effect_reasons.models(), {shape for shape, _, _ in effect_rows()}
    for reason, service, name in reasons:
        shape = f"{aws_namespace(str(models[service].service_id))}#{name}"
        assert name in models[service].operation_names
        assert shape not in shapes, (reason, shape)
    assert rest == []  # mutations that have neither


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("workspaces#ModifyAccount", True),  # by the read of its modifications
        ("mq#CreateUser", True),  # by a member with what is pending
        ("glue#CreateTableOptimizer", True),  # by values of a member that is not named so
        ("rekognition#UpdateDatasetEntries", True),  # by what it is a part of, and names
        ("rekognition#PutProjectPolicy", False),  # a project is made and deleted, not updated
        ("sagemaker#CreateEndpointConfig", False),  # it names no endpoint
        ("datasync#CreateLocationS3", False),  # INTELLIGENT_TIERING is no state
    ],
)
def test_reads_nearby_tell_what_is_in_progress(shape, expected):
    namespace, _, name = f"com.amazonaws.{shape}".partition("#")
    model = service_by_namespace(namespace).model
    assert effect_reasons.Reads.of_service(model).tell_more(model.operation_model(name)) is expected


@of_effects()
def test_an_effect_fits_the_models(effect):
    mutation, polled, trait = effect.mutation, effect.polled, effect.trait
    of_call = members_of(mutation.input_shape, mutation.output_shape) | OF_CALL
    paths = [each.path for each in trait.refusals]
    call, items = sample_call(mutation, TEXT), shipped_refused_items(effect.shape)
    if items is not None:
        call |= refused_and_accepted(items, call)
        assert call["refused"] or "[?" in items.path or "&&" in items.path
        # In the sample what was accepted has the id of what was refused.
        call["accepted"] = items.accepted and jmespath.search(items.accepted, {"call": call})
        paths += filter(None, [items.path, items.accepted])
    given = effect.body["parameters"]
    found = {each: jmespath.search(path, {"call": call}) for each, path in given.items()}
    parameters = {each: value for each, value in found.items() if value is not None}
    report = ParamValidator().validate(parameters, polled.input_shape)
    assert not report.has_errors(), report.generate_report()
    assert given.keys() <= polled.input_shape.members.keys()
    paths += [*given.values(), *filter(None, [trait.each])]
    if trait.stop is not None:
        stop = mutation.service_model.operation_model(trait.stop.operation).input_shape
        # botocore fills in a token.
        members = stop.members.items()
        tokens = {each for each, shape in members if shape.metadata.get("idempotencyToken")}
        assert stop.members.keys() >= trait.stop.parameters.keys()
        assert {*stop.required_members} - tokens <= trait.stop.parameters.keys()
        paths += trait.stop.parameters.values()
    for path in paths:
        assert member_names(path) <= of_call, path
    of_poll = of_call | members_of(polled.output_shape)
    of_waiter = trait.waiter.acceptors if isinstance(trait.waiter, WaiterDefinition) else ()
    for acceptor in (*trait.own, *of_waiter):
        if not isinstance(acceptor.matcher, ErrorTypeMatcher):
            assert member_names(acceptor.matcher.matcher.path) <= of_poll, acceptor
        if acceptor.message is not None:
            assert member_names(acceptor.message) <= of_poll, acceptor
    assert trait.basis != "transition" or trait.settle_for


@of_effects()
def test_no_effect_is_seen_in_an_empty_answer(effect):
    waiter, empty = effect_waiter(effect), {"input": {}, "output": {}}
    match = waiter.matching.match_response({}, {}, call=empty)
    acceptor = None if match.index is None else waiter.definition.acceptors[match.index]
    is_existence = acceptor is not None and isinstance(acceptor.matcher, SuccessMatcher)
    assert acceptor is None or is_existence or acceptor.state.value != "success"
    assert match.problems == () or isinstance(effect.trait.waiter, str)
    for refusal in effect.trait.refusals:
        jmespath.search(refusal.path, {"call": empty})


def is_new_update(shape, body):
    is_update = rules_fresh.is_update(shape.partition("#")[2])
    return is_update and body["basis"] in ("identity", "version")


@of_effects(is_new_update)
def test_the_identity_of_an_update_is_new(effect):
    """What was there before a call is no certain success of it."""
    if (effect.shape.partition("#")[0], f"EffectNotNew.{effect.name}") not in SUPPRESSED:
        assert next(rules_fresh.seen_from_before(effect), None) is None


@functools.cache
def waiters_of(service):
    return ServiceWaiters(service_model(service), None)


@of_effects()
def test_no_acceptor_beside_an_effect_is_certain(effect):
    """What the call has made is polled, or a state counts only after another one."""
    mutation = effect.mutation
    waiters = waiters_of(mutation.service_model.service_name)
    paths = effect.trait.parameters.values()
    is_new = rules_fresh.MAKING.match(mutation.name) or any(
        rules_fresh.is_made(effect, path) for path in paths
    )
    for found in waiters.values():
        trait = trait_beside(waiters, effect.trait, found)
        if trait is not None:
            assert not EffectWaiter(found, trait).certain
            assert trait.settle_for or is_new
            assert trait.basis == ("transition" if trait.settle_for else "identity")


# --- deletions, after which another thing was made under the same name ---------------------------


def says(effect, change=lambda output: None, *, time=None, answered="same"):
    """Return the sentence of the success that matches a full answer of the poll, or None."""
    call = {**sample_call(effect.mutation, answered), "time": time}
    output = full_sample(effect.polled.output_shape, "same")
    change(output)
    index = Matching(effect.acceptors).match_response(output, {}, call=call).index
    if index is None or index >= len(effect.trait.says):
        return None
    is_success = effect.acceptors[index].state is AcceptorState.SUCCESS
    return effect.trait.says[index] if is_success else None


@of_effects(lambda _, body: "madeAgain" in body)
def test_what_was_created_later_is_another(effect):
    path = effect.body["madeAgain"].removeprefix("output.")
    for seconds, expected in ((-100, False), (1, False), (2.5, True)):

        def created(output, seconds=seconds):
            assert put(output, path, CALLED + seconds)

        assert (says(effect, created, time=CALLED) == SAYS) is expected, seconds
        assert says(effect, created) != SAYS  # the answer of the call has no date


@of_effects(lambda _, body: any(e.get("says") == SAYS for e in body.get("acceptors", ())))
def test_what_has_another_id_is_another(effect):
    assert says(effect) != SAYS
    assert says(effect, answered="other") == SAYS
    assert says(effect, dict.clear, answered="other") != SAYS


# --- the state from before a call is no success, whatever other states are seen ------------------


def is_uncertain(_, body):
    """Of a waiter that tells more than a transition, each success is certain."""
    return "settleFor" in body and ("operation" in body or body["basis"] == "transition")


@pytest.fixture
def uncertain_effect(effect):
    if not rules_moves.uncertain_successes(effect):
        pytest.skip("each success is certain")
    return effect


def own_indexes(effect):
    """Return the indexes of the acceptors that name the states of the change."""
    return [
        index
        for index, each in enumerate(effect.acceptors)
        if each.state is AcceptorState.RETRY and index in effect.trait.certain
    ]


@of_effects(is_uncertain)
def test_a_state_of_the_change_moves_the_wait(uncertain_effect):
    effect = uncertain_effect
    uncertain = [effect.acceptors[index] for index in rules_moves.uncertain_successes(effect)]
    matching, call = effect_waiter(effect).matching, sample_call(effect.mutation, TEXT)
    # The item that has the state, among those of the call that it may be.
    items = jmespath.search(effect.trait.each, {"call": call}) if effect.trait.each else []
    for path, states in rules_moves.own_states(effect, uncertain).items():
        for state in states:
            answer = full_sample(effect.polled.output_shape, TEXT)
            assert put(answer, path, state)
            matches = {
                matching.match_response(answer, call["input"], call=call, item=item).index
                for item in [*(items or ()), "1=1", f"{TEXT}=1", None]
            }
            assert matches & {*own_indexes(effect)}, (path, state)


def waited(effect, courses, seed=0):
    """The end of a wait whose polls match each acceptor for so long, and the times of its polls."""
    waiter, seen = effect_waiter(effect), []
    options = WaitOptions(settle_for=effect.trait.settle_for or None)
    policy = policy_for(waiter.definition, options, MAX_WAIT)
    ends = [*itertools.accumulate(seconds for _, seconds in courses)]

    def facts_at(now):
        seen.append((now, courses[bisect.bisect(ends, now)][0]))
        return waiter.of_response[seen[-1][1]][0]

    machine = m.Machine(waiter.definition.states, policy)
    end, polls, _ = run(machine, facts_at, random.Random(seed))
    return end, polls, seen, policy.delays.max_delay


def drawn_from_courses(examples):
    """Run a test on courses of answers that hypothesis draws."""
    fixture = [hypothesis.HealthCheck.function_scoped_fixture]
    settings = hypothesis.settings(max_examples=examples, suppress_health_check=fixture)
    return lambda test: settings(hypothesis.given(data=st.data())(test))


@of_effects(is_uncertain)
@drawn_from_courses(20)
def test_no_success_before_the_state_at_rest_has_held(uncertain_effect, data):
    """Whether a replica flips, or another process begins before, during or after the change."""
    effect = uncertain_effect
    at_rest, own = rules_moves.uncertain_successes(effect), own_indexes(effect)
    # None: no acceptor matches, as during a maintenance or on the change of somebody else.
    kinds = st.sampled_from([*at_rest, *own, None])
    courses = data.draw(st.lists(st.tuples(kinds, st.integers(1, 400)), min_size=1, max_size=8))
    settle_for, seed = effect.trait.settle_for, data.draw(st.integers(0, 9))
    end, polls, seen, max_delay = waited(effect, [*courses, (at_rest[0], math.inf)], seed)
    assert isinstance(end, m.Succeeded)
    others = [time for time, kind in seen if kind not in at_rest]
    needed = AFTER_OWN if any(kind in own for _, kind in seen) else settle_for
    last = max(others, default=0)
    assert polls[-1] - last >= needed - 1e-6
    # Nor does it come much later than it may.
    at_last = sum(seconds for _, seconds in courses)
    assert polls[-1] <= max(at_last, last) + settle_for + 3 * max_delay


# --- what fails ends a wait; what had failed before the call does not at once --------------------


@pytest.fixture
def uncertain_failures(effect):
    """The acceptors of states that may be from before the call."""
    certain, failure = effect_waiter(effect).certain, AcceptorState.FAILURE
    states = [i for i, each in enumerate(effect.acceptors) if effect_of.path_of(each)]
    found = [i for i in states if i not in certain and effect.acceptors[i].state is failure]
    return found or pytest.skip("no state is such a failure")


@of_effects()
def test_a_failure_of_its_own_ends_an_effect(effect):
    certain, settle_for = effect_waiter(effect).certain, effect.trait.settle_for
    for path, value in rules_failures.own_failures(effect):
        for index in {*itertools.islice(rules_failures.acceptors_on(effect, path, value), 1)}:
            end, polls, _, max_delay = waited(effect, [(index, math.inf)])
            assert end == m.Failed(index)
            is_at_once = index in certain or not settle_for
            assert polls[-1] <= (0 if is_at_once else settle_for + 3 * max_delay)


@of_effects(lambda _, body: "settleFor" in body)
@drawn_from_courses(10)
def test_no_failure_from_before_ends_it_at_once(effect, uncertain_failures, data):
    before = st.tuples(
        st.sampled_from(uncertain_failures), st.integers(1, effect.trait.settle_for - 1)
    )
    change = st.tuples(st.sampled_from([*own_indexes(effect), None]), st.integers(1, 400))
    courses = [data.draw(before), *data.draw(st.lists(change, max_size=3))]
    [success, *_] = [i for i, s in enumerate(effect.acceptors) if s.state is AcceptorState.SUCCESS]
    end, *_ = waited(effect, [*courses, (success, math.inf)])
    assert end == m.Succeeded(success)


# --- the rules of `tools/effect_rules.py` --------------------------------------------------------


@pytest.mark.parametrize("row", RULES, ids=[f"{row['rule']}: {row['name']}" for row in RULES])
def test_a_rule_finds_what_it_is_for(row):
    traits = {EFFECT: {row.get("named", "Name"): row["effect"]}}
    traits |= {REFUSED_ITEMS: row["refused"]} if "refused" in row else {}
    found = [each for _, each in effect_rules.found({row["shape"]: {"traits": traits}})]
    assert [each.rule for each in found].count(row["rule"]) == row["finds"]


@pytest.mark.parametrize("is_meant", CHANGED_OR_ALL)
def test_no_shipped_effect_is_found_that_is_not_suppressed_by_its_name(is_meant):
    document = effect_of.shipped_document()["shapes"].items()
    shapes = {shape: applied for shape, applied in document if is_meant(service_of(shape))}
    found = effect_rules.unsuppressed(shapes)
    assert [f"{each.rule}.{effect.name} {effect.shape}" for effect, each in found] == []


@CATALOG
def test_every_suppression_of_an_effect_is_needed_and_has_a_reason():
    found = {
        (effect.shape.partition("#")[0], f"{each.rule}.{effect.name}")
        for effect, each in effect_rules.found()
    }
    known = [each for each in effect_rules.suppressions() if each.id.startswith("Effect")]
    assert [each for each in known if (each.namespace, each.id) not in found] == []
    assert all(each.reason for each in known)
