"""`data/effects.json`: what follows a mutation, checked against the models of botocore."""

import json
from pathlib import Path

import boto3
import effect_reasons
import jmespath
import pytest
from botocore.loaders import create_loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from laws import by_service

from boto_waiters_plus.changes.answers import refused_and_accepted
from boto_waiters_plus.changes.effects import EffectOfCall
from boto_waiters_plus.definitions import changes
from boto_waiters_plus.definitions.changes import EFFECT, EffectTrait
from boto_waiters_plus.definitions.smithy import aws_namespace
from boto_waiters_plus.engine.acceptors import ErrorTypeMatcher, SuccessMatcher
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.service.data_model import member_names

FILE = Path(__file__).resolve().parents[2] / "data/effects.json"
TEXT = FILE.read_text(encoding="utf-8")
SHAPES = {shape: each["traits"][EFFECT] for shape, each in json.loads(TEXT)["shapes"].items()}
ROWS = [(shape, name) for shape, effects in SHAPES.items() for name in effects]
LAWS = by_service(ROWS)

OF_CALL = {"call", "input", "output", "accepted", "refused", "time", "item"}
OF_CALL |= {"adds", "left", "ready", "tags"}
"""What paths see besides the members of the two operations, and names that they give to parts."""

TEXT = "1" * 64
"""Long enough for an ARN, and a number."""

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def clients():
    loader, session = create_loader(), boto3.session.Session(region_name="us-east-1")
    names = {}
    for service in session.get_available_services():
        model = ServiceModel(loader.load_service_model(service, "service-2"), service)
        names.setdefault(aws_namespace(str(model.service_id)), service)
    made = {}

    def client_of(namespace):
        if namespace not in made:
            made[namespace] = session.client(names[namespace])
        return made[namespace]

    return client_of


def members_of(*shapes):
    """Return the names of the members of structures, however deep."""
    found, seen, rest = set(), set(), [shape for shape in shapes if shape is not None]
    while rest:
        shape = rest.pop()
        if shape.name in seen:
            continue
        seen.add(shape.name)
        found |= set(getattr(shape, "members", ()))
        rest += getattr(shape, "members", {}).values()
        rest += [
            part for part in (getattr(shape, each, None) for each in ("member", "value")) if part
        ]
    return found


def test_no_wait_is_for_the_first_of_several_given_resources():
    """A waiter of one resource cannot follow a call on a list of them."""
    bodies = [SHAPES[shape][name] for shape, name in ROWS]
    assert [
        body["parameters"]
        for body in bodies
        if any("input." in path and "[0]" in path for path in body["parameters"].values())
        and "refusals" not in body
    ] == []


@pytest.mark.nightly(subject="catalog")
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
    models = effect_reasons.models()
    for reason, service, name in reasons:
        shape = f"{aws_namespace(str(models[service].service_id))}#{name}"
        assert name in models[service].operation_names
        assert shape not in SHAPES, (reason, shape)
    assert rest == []  # mutations that have neither


@pytest.mark.parametrize(("shape", "name"), LAWS)
def test_an_effect_fits_the_models(clients, full_sample, shape, name):
    namespace, _, operation = shape.partition("#")
    client, trait = clients(namespace), EffectTrait.of(name, SHAPES[shape][name], operation)
    model = client.meta.service_model
    mutation = model.operation_model(operation)
    effect = EffectOfCall(client, mutation, trait)
    polled = effect.bound_waiter.operation
    of_call = members_of(mutation.input_shape, mutation.output_shape) | OF_CALL
    paths = [each.path for each in trait.refusals]
    given = SHAPES[shape][name]["parameters"]
    sides = {"input": mutation.input_shape, "output": mutation.output_shape}
    call = {side: full_sample(each, TEXT) if each else {} for side, each in sides.items()}
    items = changes.shipped_refused_items(shape)
    if items is not None:
        call |= refused_and_accepted(items, call)
        assert call["refused"] or "[?" in items.path or "&&" in items.path
        # In the sample what was accepted has the id of what was refused.
        call["accepted"] = items.accepted and jmespath.search(items.accepted, {"call": call})
        paths += filter(None, [items.path, items.accepted])
    found = {each: jmespath.search(path, {"call": call}) for each, path in given.items()}
    parameters = {each: value for each, value in found.items() if value is not None}
    report = ParamValidator().validate(parameters, polled.input_shape)
    assert not report.has_errors(), report.generate_report()
    assert given.keys() <= polled.input_shape.members.keys()
    paths += [*given.values(), *filter(None, [trait.each])]
    if trait.stop is not None:
        stop = model.operation_model(trait.stop.operation)
        assert trait.stop.parameters.keys() <= stop.input_shape.members.keys()
        needed = set(stop.input_shape.required_members) - {
            # botocore fills it in.
            name
            for name, member in stop.input_shape.members.items()
            if member.metadata.get("idempotencyToken")
        }
        assert needed <= trait.stop.parameters.keys()
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


@pytest.mark.parametrize(("shape", "name"), LAWS)
def test_no_effect_is_seen_in_an_empty_answer(clients, shape, name):
    namespace, _, operation = shape.partition("#")
    client, trait = clients(namespace), EffectTrait.of(name, SHAPES[shape][name], operation)
    mutation = client.meta.service_model.operation_model(operation)
    waiter = EffectOfCall(client, mutation, trait).bound_waiter
    match = waiter.polling.matching.match_response({}, {}, call={"input": {}, "output": {}})
    acceptor = None if match.index is None else waiter.definition.acceptors[match.index]
    is_existence = acceptor is not None and isinstance(acceptor.matcher, SuccessMatcher)
    assert acceptor is None or is_existence or acceptor.state.value != "success"
    assert match.problems == () or isinstance(trait.waiter, str)
    for refusal in trait.refusals:
        jmespath.search(refusal.path, {"call": {"input": {}, "output": {}}})
