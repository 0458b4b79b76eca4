"""`data/effects.json`: what follows a mutation, checked against the models of botocore."""

import effect_of
import effect_reasons
import jmespath
import pytest
from botocore.validate import ParamValidator
from data.shared import CATALOG, effect_rows, effect_waiter, sample_call
from laws import by_service

from boto_waiters_plus.changes.answers import refused_and_accepted
from boto_waiters_plus.definitions.changes import shipped_refused_items
from boto_waiters_plus.definitions.smithy import aws_namespace
from boto_waiters_plus.engine.acceptors import ErrorTypeMatcher, SuccessMatcher
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.service.data_model import member_names
from boto_waiters_plus.service.shapes import walk

LAWS = by_service([row[:2] for row in effect_rows()])
OF_CALL = {"call", "input", "output", "accepted", "refused", "time", "item"}
OF_CALL |= {"adds", "left", "ready", "tags"}
"""What paths see besides the members of the two operations, and names that they give to parts."""

TEXT = "1" * 64
"""Long enough for an ARN, and a number."""

pytestmark = pytest.mark.models


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


@pytest.mark.parametrize(("shape", "name"), LAWS)
def test_an_effect_fits_the_models(shape, name):
    effect = effect_of.effect_named(shape, name)
    mutation, polled, trait = effect.mutation, effect.polled, effect.trait
    of_call = members_of(mutation.input_shape, mutation.output_shape) | OF_CALL
    paths = [each.path for each in trait.refusals]
    call, items = sample_call(mutation, TEXT), shipped_refused_items(shape)
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


@pytest.mark.parametrize(("shape", "name"), LAWS)
def test_no_effect_is_seen_in_an_empty_answer(shape, name):
    effect = effect_of.effect_named(shape, name)
    waiter, empty = effect_waiter(effect), {"input": {}, "output": {}}
    match = waiter.matching.match_response({}, {}, call=empty)
    acceptor = None if match.index is None else waiter.definition.acceptors[match.index]
    is_existence = acceptor is not None and isinstance(acceptor.matcher, SuccessMatcher)
    assert acceptor is None or is_existence or acceptor.state.value != "success"
    assert match.problems == () or isinstance(effect.trait.waiter, str)
    for refusal in effect.trait.refusals:
        jmespath.search(refusal.path, {"call": empty})
