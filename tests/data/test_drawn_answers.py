"""Every shipped waiter on answers drawn from the models, and on botocore's examples.

An answer has members of the model with any values that it lists. No expression may fail on one,
and a wait may succeed only on an answer that has a state that the acceptor compares. The state seen
is no boolean, and a failure is told in words or by that state, never by an expression.
"""

import contextlib
import functools
import re
from random import Random

import effect_of
import pytest
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, StructureShape
from data.shared import CHANGED_OR_ALL, effect_waiter, service_model
from data_digests import service_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from boto_waiters_plus.calls.budget import Reply
from boto_waiters_plus.check.practice_rules import check_reports
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.definitions.state_words import means_absence
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.service.bound_waiter import BoundWaiter
from boto_waiters_plus.service.catalog import client_name
from boto_waiters_plus.service.judge import DefinitionJudge

DEEPEST = 8
TEXT = "a text of no state"

SUCCEED_WITHOUT_A_STATE = {
    ("auto-scaling", "GroupInService"),  # a group whose least size is 0
    ("auto-scaling", "GroupsInService"),  # the same
    ("dynamodb", "GlobalSecondaryIndexesActive"),  # a table without an index
    ("dynamodb", "ReplicasActive"),  # a table without a replica
    ("ec2", "AddressPtrRecordUpdated"),  # an address without an update
}
NO_STATE = re.compile(r"True\Z|False\Z|[\[{]")
EXPRESSION = re.compile(r"[`?(|&]")
LITERAL = re.compile(r"'([^']*)'|`\"([^\"]*)\"`")


@pytest.fixture(params=CHANGED_OR_ALL)
def waiters(request):
    """Shipped waiters on their operations: of the services that have changed, or of all."""
    return [each for each in bound_waiters() if request.param(each[0])]


@functools.cache
def bound_waiters():
    """Each shipped waiter on its operation of the installed botocore."""
    models = {name: service_model(client_name(name)) for name in shipped_services()}
    return [
        (service_id, BoundWaiter(each, model.operation_model(each.operation)))
        for service_id, model in models.items()
        for each in shipped_definitions(service_id)
    ]


@functools.cache
def examples(service):
    with contextlib.suppress(UnknownServiceError):
        return Loader().load_service_model(service, "examples-1")["examples"]
    return {}


def examples_of(operation):
    return examples(operation.service_model.service_name).get(operation.name, ())


def drawn(shape, random, fewest=0, depth=0):
    """A value of a shape: any members, up to two items, one of the enumeration's values."""
    if isinstance(shape, StructureShape):
        names = [n for n in shape.members if depth < DEEPEST and random.random() < 0.8]
        return {name: drawn(shape.members[name], random, fewest, depth + 1) for name in names}
    if isinstance(shape, ListShape):
        count = random.randint(fewest, 2)
        return [drawn(shape.member, random, fewest, depth + 1) for _ in range(count)]
    if isinstance(shape, MapShape):
        return {"key": drawn(shape.value, random, fewest, depth + 1)}
    values = {"string": random.choice([*getattr(shape, "enum", ()), TEXT]), "blob": b""}
    values |= {"boolean": random.random() < 0.5}
    return values.get(shape.type_name, random.randrange(3))


def texts_in(value):
    """All texts of an answer."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, str):
        return {value}
    return set().union(*map(texts_in, value)) if isinstance(value, list) else set()


def mistake_on(waiter, parameters, answer):
    """What is wrong with the verdict on an answer; None if nothing is."""
    attempt = DefinitionJudge(waiter.polling, parameters, None).judge(Reply(response=answer))
    if faults := [each for each in attempt.problems if each.is_fault]:
        return faults
    index, untold = attempt.facts.acceptor, untold_by(waiter.polling, attempt)
    if untold is not None:
        return untold
    if index is None or waiter.definition.states[index] is not AcceptorState.SUCCESS:
        return None
    acceptor = waiter.definition.acceptors[index].to_json()
    matcher = next(iter(acceptor["matcher"].values()))
    if not isinstance(matcher, dict) or means_absence(waiter.definition.name):
        return None
    compared = {a or b for a, b in LITERAL.findall(matcher["path"])}
    compared |= {matcher["expected"]} - {"true", "false"}
    return acceptor if compared and not compared & texts_in(answer) else None


def untold_by(polling, attempt):
    """What the words of a failure, or the state seen, leave untold; None if nothing."""
    index = attempt.facts.acceptor
    if attempt.seen is not None and NO_STATE.match(attempt.seen):
        return attempt.seen
    if index is None or polling.definition.states[index] is not AcceptorState.FAILURE:
        return None
    said, tells_state = polling.description.words[index]
    is_told = said or tells_state or attempt.seen or polling.data_model.sensitive
    if EXPRESSION.search(said) or not is_told:
        return f"a failure in the words {said!r} and the state {attempt.seen!r}"
    return None


def mistakes(answers):
    """What is wrong with the verdicts on waiters, parameters and answers."""
    found = {
        (service_id, waiter.definition.name): mistake_on(waiter, parameters or {}, answer or {})
        for service_id, waiter, parameters, answer in answers
    }
    return {
        name: each for name, each in found.items() if each and name not in SUCCEED_WITHOUT_A_STATE
    }


@given(seed=st.integers())
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_drawn_answer_succeeds_only_by_a_state(waiters, seed):
    random, answers = Random(seed), []
    for service_id, waiter in waiters:
        request, response = waiter.operation.input_shape, waiter.operation.output_shape
        parameters = request and drawn(request, random, fewest=1)
        answers.append((service_id, waiter, parameters, response and drawn(response, random)))
    assert mistakes(answers) == {}


def test_an_example_of_botocore_succeeds_only_by_a_state(waiters):
    answers = [
        (service_id, waiter, example.get("input"), example.get("output"))
        for service_id, waiter in waiters
        for example in examples_of(waiter.operation)
    ]
    assert mistakes(answers) == {}


def test_what_a_waiter_compares_is_reported(waiters):
    """Of effects, `tools/effect_rules.py` finds what is not."""
    lacking = {
        (service_id, waiter.definition.name): [each.message for each in found]
        for service_id, waiter in waiters
        if (found := [*check_reports(waiter.definition, waiter.polling.reported_paths)])
    }
    assert lacking == {}


@functools.cache
def effects_as_waiters():
    """Each shipped effect with its service, as a wait takes it."""
    return [(service_of(e.shape), e, effect_waiter(e)) for e in effect_of.effects()]


@pytest.mark.parametrize("is_meant", CHANGED_OR_ALL)
@given(seed=st.integers())
@settings(max_examples=5, deadline=None)
def test_a_failure_of_an_effect_is_told_by_its_state(is_meant, seed):
    random, untold = Random(seed), {}
    for service, effect, waiter in effects_as_waiters():
        if not is_meant(service):
            continue
        shapes = {"input": effect.mutation.input_shape, "output": effect.mutation.output_shape}
        call = {name: (shape and drawn(shape, random)) or {} for name, shape in shapes.items()}
        answer = drawn(effect.polled.output_shape, random, fewest=1)
        judge = DefinitionJudge(waiter, {}, None, {**call, "time": None})
        found = untold_by(waiter, judge.judge(Reply(response=answer)))
        untold |= {(effect.shape, effect.name): found} if found else {}
    assert untold == {}
