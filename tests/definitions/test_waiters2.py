"""Conversion from and to botocore's waiters-2 form."""

import itertools
import operator
from dataclasses import replace

import pytest
from botocore.model import ServiceModel
from case_tables import cases

from boto_waiters_plus import WaiterDefinitionError
from boto_waiters_plus.definitions import waiters2 as form
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.engine import acceptors as a
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.service.service_waiters import without_status

CASES = cases("conversion")
ANY_RESPONSE = {"state": "success", "matcher": "status", "expected": 200}


named = operator.itemgetter("name")


def waiter(*acceptors, **members):
    body = {"operation": "GetThing", "delay": 5, "maxAttempts": 40}
    return {**body, "acceptors": list(acceptors) or [ANY_RESPONSE], **members}


def all_of(document, source="waiters-2.json", **options):
    return [each.read() for each in form.unread_waiters2(document, source=source, **options)]


def converted(body, name="ThingReady", **options):
    document = {"version": 2, "waiters": {name: body}}
    [definition] = all_of(document, service="acme", **options)
    return definition


def test_waiter_keeps_what_it_says():
    definition = converted(waiter(description="Until it is ready.", delay=15))
    assert (definition.name, definition.operation) == ("ThingReady", "GetThing")
    assert (definition.service, definition.source) == ("acme", "waiters-2.json")
    assert (definition.min_delay, definition.max_delay) == (15, 15)
    assert definition.documentation == "Until it is ready."
    assert converted(waiter(description=5)).documentation == ""


@pytest.mark.parametrize("case", CASES["delays"], ids=str)
def test_delay_of_botocores_data_becomes_a_range(case):
    definition = converted(waiter(delay=case["delay"]), is_botocores=True)
    body = definition.to_json()
    assert (body.get("minDelay", 2), body.get("maxDelay", 120)) == (case["min"], case["max"])
    assert form.to_waiters2(definition)["delay"] == case["delay"]


@pytest.mark.parametrize("case", CASES["acceptors"], ids=named)
@pytest.mark.parametrize("state", list(a.AcceptorState))
def test_acceptor(case, state):
    acceptor = {"state": state.value, **case["botocore"]}
    found = converted(waiter(ANY_RESPONSE, acceptor)).acceptors[1].to_json()
    assert found == {"state": state.value, "matcher": case["smithy"]}


@pytest.mark.parametrize("case", CASES["values"], ids=named)
def test_expected_value_that_smithy_has_no_comparator_for(case):
    matching = Matching(converted(waiter({"state": "success", **case["botocore"]})).acceptors)
    assert [d for d in case["matches"] if matching.match_response(d).index != 0] == []
    assert [d for d in case["others"] if matching.match_response(d).index == 0] == []


@pytest.mark.parametrize("case", CASES["statuses"], ids=named)
@pytest.mark.parametrize("keep_others", [True, False])
def test_status_becomes_what_smithy_can_say(case, keep_others):
    acceptor = {"state": "success", "matcher": "status", "expected": case["status"]}
    retry = {"state": "retry", "matcher": "error", "expected": "Busy"}
    errors = {name: int(status) for status, each in case["errors"].items() for name in each}
    body = {"http": {"method": "HEAD" if case["head"] else "GET"}}
    body["errors"] = [{"shape": name} for name in errors]
    shapes = {
        name: {"type": "structure", "members": {}, "error": {"httpStatusCode": status}}
        for name, status in errors.items()
    }
    service = ServiceModel({"metadata": {}, "operations": {"GetThing": body}, "shapes": shapes})
    operation = service.operation_model("GetThing")
    unresolved = converted(waiter(acceptor, retry))
    definition = without_status(unresolved, operation, keep_others=keep_others)
    matchers = [found.to_json()["matcher"] for found in definition.acceptors]
    unknown = [{"status": case["status"]}] if keep_others else []
    known = unknown if case["smithy"] is None else [case["smithy"]]
    assert matchers == [*known, {"errorType": "Busy"}]


@pytest.mark.parametrize("case", CASES["malformed"], ids=named)
def test_malformed_waiter_is_refused_by_file_waiter_and_acceptor(case):
    index = None
    if "document" in case:
        document, name = case["document"], None
    else:
        name, body = "ThingReady", case.get("waiter", waiter(**case.get("change", {})))
        if "acceptor" in case:
            body, index = waiter(ANY_RESPONSE, case["acceptor"]), 1
        document = {"waiters": {name: body}}
    with pytest.raises(WaiterDefinitionError) as caught:
        all_of(document)
    error = caught.value
    assert case["says"] in error.problem
    assert (error.source, error.waiter, error.acceptor) == ("waiters-2.json", name, index)


@pytest.mark.parametrize("name", ["", "_ready", "__class__", "9lives", "a-b", "a b", "a.b", "é"])
def test_name_that_no_method_can_have_is_refused(name):
    with pytest.raises(WaiterDefinitionError):
        converted(waiter(), name)


def test_state_error_is_a_retry_as_in_botocore():
    acceptor = {"state": "error", "matcher": "error", "expected": "Busy"}
    assert converted(waiter(ANY_RESPONSE, acceptor)).states[1] is a.AcceptorState.RETRY


def test_a_template_without_acceptors_leaves_the_others_usable():
    template = waiter()
    del template["acceptors"]
    both = {"waiters": {"Template": template, "ThingReady": waiter()}}
    assert [d.name for d in all_of(both)] == ["ThingReady"]
    with pytest.raises(WaiterDefinitionError, match="acceptor"):
        converted(template)


def test_shipped_definitions_survive_botocores_form():
    for definition in itertools.chain(*map(shipped_definitions, shipped_services())):
        if any(isinstance(each.matcher, a.InputOutputMatcher) for each in definition.acceptors):
            continue  # botocore has no words for it
        document = {"waiters": {definition.name: form.to_waiters2(definition)}}
        [back] = all_of(document, source="back", is_botocores=True)
        assert back.operation == definition.operation
        assert (back.min_delay, back.max_delay) == (definition.min_delay, definition.max_delay)
        # An absolute shape id comes back as the name that counts.
        told = [(a.state, a.matcher.describe()) for a in definition.acceptors]
        assert [(a.state, a.matcher.describe()) for a in back.acceptors] == told, definition


@pytest.mark.parametrize(
    ("low", "high", "delay", "attempts"),
    [(2, 120, 8, 75), (5, 5, 5, 120), (20, 60, 60, 40), (0.5, 0.5, 0.5, 1200)],
)
def test_delay_is_four_times_min_delay_and_attempts_make_ten_minutes(low, high, delay, attempts):
    body = form.to_waiters2(replace(shipped_definitions("s3")[0], min_delay=low, max_delay=high))
    assert (body["delay"], body["maxAttempts"]) == (delay, attempts)


def test_acceptor_on_the_input_is_left_out():
    matcher = a.PathMatcher(path="a", expected="true", comparator=a.PathComparator.BOOLEAN_EQUALS)
    acceptor = a.Acceptor(state=a.AcceptorState.SUCCESS, matcher=a.InputOutputMatcher(matcher))
    assert form.acceptor_to_waiters2(acceptor) is None
    definition = shipped_definitions("s3")[0]
    both = replace(definition, acceptors=(acceptor, *definition.acceptors))
    assert form.to_waiters2(both) == form.to_waiters2(definition)
