"""A failed wait quotes the service's own reason."""

import json
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import WaiterError

import boto_waiters_plus as bwp
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.redaction import MAX_TEXT
from boto_waiters_plus.service.reasons import Compared, find_reason
from boto_waiters_plus.wait.attempt import FoundReason

CASES = Path(__file__).parents[1] / "cases"
FAILURES = json.loads((CASES / "failures.json").read_text(encoding="utf-8"))
WAYS = ("wait_until", "get_waiter")
FAILED = "Resource handler returned message: quota of buckets is used up"


def stack(status, reason=None):
    return {"StackStatus": status} if reason is None else stack(status) | reason_of(reason)


def reason_of(reason):
    return {"StackStatusReason": reason}


def stacks(*found):
    return {"Stacks": list(found)}


def required_input(shape):
    """A value of each member that is required, the shortest that is valid."""
    match shape.type_name:
        case "structure":
            return {name: required_input(shape.members[name]) for name in shape.required_members}
        case "list":
            return [required_input(shape.member)]
        case "string":
            return "x" * shape.metadata.get("min", 1)
    return 1


def failed(way, client, name, max_wait=5, /, **parameters):
    """The error of a wait, by our method or by botocore's waiter object."""
    waits = {
        "wait_until": lambda: bwp.wait_until(client, name, max_wait=max_wait, **parameters),
        "get_waiter": lambda: client.get_waiter(name).wait(
            **parameters, WaiterConfig={"MaxWait": max_wait}
        ),
    }
    with pytest.raises(WaiterError) as caught:
        waits[way]()
    return caught.value


@pytest.fixture
def client():
    bwp.install()
    return lambda service: boto3.client(service, region_name="us-east-1")


def test_reason_is_found_where_the_acceptor_says(client, answers, waitable):
    path = {"path": "StreamDescription.StreamStatus", "comparator": "stringEquals"}
    document = waitable(
        "StreamUp",
        "DescribeStream",
        {"state": "success", "matcher": {"output": {**path, "expected": "ACTIVE"}}},
        {
            "state": "failure",
            "matcher": {"output": {**path, "expected": "DELETING"}},
            "message": "StreamDescription.StreamARN",
        },
        namespace="com.amazonaws.kinesis",
    )
    kinesis = client("kinesis")
    answers(kinesis, {"StreamDescription": {"StreamStatus": "DELETING", "StreamARN": "the reason"}})
    error = failed("wait_until", kinesis, bwp.load_definitions(document)[0], StreamName="s")
    assert error.service_message == "the reason"


@pytest.mark.models
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", FAILURES, ids="{service} {waiter}".format_map)
def test_a_failure_names_every_part_of_its_reason(way, client, answers, case):
    target = client(case["service"])
    answers(target, case["response"])
    definition = getattr(target, f"wait_until_{case['waiter']}").definition
    operation = target.meta.service_model.operation_model(definition.operation)
    error = failed(way, target, case["waiter"], **required_input(operation.input_shape))
    assert isinstance(error, bwp.WaiterFailedError)
    assert ("terminal failure state" in str(error)) == (way == "get_waiter")
    assert f": {case['says']}" in str(error)
    assert not [text for text in case.get("hides", []) if text in str(error)]
    assert (error.service_message is None) == ("hides" in case)


@pytest.mark.parametrize("way", WAYS)
def test_a_timeout_quotes_the_last_states_reason(way, client, answers, virtual_time):
    cloudformation = client("cloudformation")
    answers(cloudformation, stacks(stack("CREATE_IN_PROGRESS", "User Initiated")))
    error = failed(way, cloudformation, "stack_create_complete", 90)
    assert not isinstance(error, bwp.WaiterFailedError)
    assert error.service_message == "User Initiated"
    assert "last state seen: ['CREATE_IN_PROGRESS'] (User Initiated)" in str(error)


def test_the_reason_of_a_success_is_not_quoted(client, answers, virtual_time):
    cloudformation = client("cloudformation")
    answers(
        cloudformation, stacks(stack("CREATE_COMPLETE", "done"), stack("CREATE_IN_PROGRESS", "why"))
    )
    assert failed("wait_until", cloudformation, "stack_create_complete").service_message == "why"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("reason", [None, "", "  ", 7, [7], {"Message": "x"}])
def test_without_a_reason_nothing_is_added(way, client, answers, reason):
    cloudformation = client("cloudformation")
    answers(cloudformation, stacks(stack("CREATE_FAILED", reason)))
    error = failed(way, cloudformation, "stack_create_complete")
    assert error.service_message is None
    assert "None" not in str(error)


def test_long_reasons_are_cut(client, answers):
    cloudformation = client("cloudformation")
    answers(cloudformation, stacks(stack("CREATE_FAILED", "x" * 1000)))
    error = failed("wait_until", cloudformation, "stack_create_complete")
    assert error.service_message == "x" * (MAX_TEXT - 3) + "..."
    assert "x" * MAX_TEXT not in str(error)


@pytest.mark.parametrize("way", WAYS)
def test_a_sensitive_reason_is_not_quoted(way, client, answers):
    cloudformation = client("cloudformation")
    shapes = cloudformation.meta.service_model._shape_resolver._shape_map
    before = shapes["StackStatusReason"]
    shapes["StackStatusReason"] = {**before, "sensitive": True}
    try:
        answers(cloudformation, stacks(stack("CREATE_FAILED", FAILED)))
        error = failed(way, cloudformation, "stack_create_complete")
    finally:
        shapes["StackStatusReason"] = before
    assert error.service_message is None
    assert FAILED not in str(error)


@pytest.mark.parametrize(
    "state", ["a'b", "a\\", "a\\' || Secret || '", "a`b", 'a"b', "ü", "{expected}"]
)
def test_a_state_of_any_spelling_stays_a_value(client, state):
    operation = client("cloudformation").meta.service_model.operation_model("DescribeStacks")
    acceptors = [Compared("Stacks[].StackStatus", "OK", AcceptorState.SUCCESS)]
    response = stacks(stack("OTHER", "wrong"), stack(state, "right"))
    response["Stacks"].reverse()
    assert find_reason(operation, response, acceptors, None).text == "right"


def test_a_response_of_another_type_has_no_reason(client):
    operation = client("cloudformation").meta.service_model.operation_model("DescribeStacks")
    acceptors = [Compared("Stacks[].StackStatus", "BAD", AcceptorState.FAILURE)]
    for response in (None, [], "x", {"Stacks": 7}):
        assert find_reason(operation, response, acceptors, 0) == FoundReason()
        assert find_reason(operation, response, acceptors, None) == FoundReason()


def test_users_definitions_need_no_message(client, answers, waitable):
    path = {"path": "Stacks[0].StackStatus", "comparator": "stringEquals"}
    acceptors = [
        {"state": state, "matcher": {"output": {**path, "expected": expected}}}
        for state, expected in (("success", "CREATE_COMPLETE"), ("failure", "DELETE_FAILED"))
    ]
    document = waitable("StackOfMine", "DescribeStacks", *acceptors)
    cloudformation = bwp.enable(client("cloudformation"), definitions=document)
    answers(cloudformation, stacks(stack("DELETE_FAILED", FAILED)))
    assert failed("wait_until", cloudformation, "stack_of_mine").service_message == FAILED
