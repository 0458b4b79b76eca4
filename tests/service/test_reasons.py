"""A failed wait quotes the service's own reason."""

import json
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import WaiterError
from service.ways import by_method, by_waiter

import boto_waiters_plus as bwp

CASES = Path(__file__).parents[1] / "cases"
FAILURES = json.loads((CASES / "failures.json").read_text(encoding="utf-8"))
WAYS = pytest.mark.parametrize("way", [by_method, by_waiter])
RUNS = [
    pytest.param(way, case, id=f"{case['service']} {case['waiter']} {way.__name__}")
    for way in (by_method, by_waiter)
    for case in (FAILURES if way is by_method else FAILURES[:30])
]
FAILED = "Resource handler returned message: quota of buckets is used up"


def stacks(**reasons):
    """Return a response with a stack in each of these states, with a reason unless it is None."""
    return {
        "Stacks": [
            {"StackStatus": status, **({} if reason is None else {"StackStatusReason": reason})}
            for status, reason in reasons.items()
        ]
    }


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


def failed(way, client, name, max_wait=60, /, **parameters):
    with pytest.raises(WaiterError) as caught:
        way(client, name, max_wait=max_wait, **parameters)
    return caught.value


@pytest.mark.models
@pytest.mark.parametrize(("way", "case"), RUNS)
@pytest.mark.usefixtures("installed")
def test_a_failure_names_every_part_of_its_reason(way, answers, case):
    target = boto3.client(case["service"])
    answers(target, case["response"])
    definition = getattr(target, f"wait_until_{case['waiter']}").definition
    operation = target.meta.service_model.operation_model(definition.operation)
    error = failed(way, target, case["waiter"], **required_input(operation.input_shape))
    assert isinstance(error, bwp.WaiterFailedError)
    assert ("terminal failure state" in str(error)) == (way is by_waiter)
    assert f": {case['says']}" in str(error)
    assert not [text for text in case.get("hides", []) if text in str(error)]
    assert (error.service_message is None) == ("hides" in case)


def user_definition(waitable, expected, **members):
    """Return the document of a waiter of stacks that fails in a state."""
    path = {"path": "Stacks[].StackStatus", "comparator": "anyStringEquals"}
    acceptors = [
        {"state": state, "matcher": {"output": {**path, "expected": each}}, **more}
        for state, each, more in (("success", "OK", {}), ("failure", expected, members))
    ]
    return waitable("StackOfMine", "DescribeStacks", *acceptors)


@pytest.mark.parametrize(
    ("members", "reason"), [({}, FAILED), ({"message": "Stacks[0].StackName"}, "web")]
)
def test_reason_of_a_users_definition(cloudformation, answers, waitable, members, reason):
    """It is where the acceptor says, or where the service has it."""
    bwp.enable(cloudformation, definitions=user_definition(waitable, "BAD", **members))
    answer = stacks(BAD=FAILED)
    answer["Stacks"][0]["StackName"] = "web"
    answers(cloudformation, answer)
    assert failed(by_method, cloudformation, "stack_of_mine").service_message == reason


@pytest.mark.parametrize(
    "state", ["a'b", "a\\", "a\\' || Secret || '", "a`b", 'a"b', "ü", "{expected}"]
)
def test_a_state_of_any_spelling_stays_a_value(cloudformation, answers, waitable, state):
    bwp.enable(cloudformation, definitions=user_definition(waitable, state))
    answers(cloudformation, stacks(**{"OTHER": "wrong", state: "right"}))
    assert failed(by_method, cloudformation, "stack_of_mine").service_message == "right"


@WAYS
def test_a_timeout_quotes_the_last_states_reason(way, cloudformation, answers, virtual_time):
    answers(cloudformation, stacks(CREATE_IN_PROGRESS="User Initiated"))
    error = failed(way, cloudformation, "stack_create_complete", 90)
    assert not isinstance(error, bwp.WaiterFailedError)
    assert error.service_message == "User Initiated"
    assert "(User Initiated)" in str(error)


def test_the_reason_of_a_success_is_not_quoted(cloudformation, answers, virtual_time):
    answers(cloudformation, stacks(CREATE_COMPLETE="done", CREATE_IN_PROGRESS="why"))
    error = failed(by_method, cloudformation, "stack_create_complete")
    assert error.service_message == "why"


@WAYS
@pytest.mark.parametrize("reason", [None, "", "  ", 7, [7], {"Message": "x"}])
def test_without_a_reason_nothing_is_added(way, cloudformation, answers, reason):
    answers(cloudformation, stacks(CREATE_FAILED=reason))
    error = failed(way, cloudformation, "stack_create_complete")
    assert error.service_message is None
    assert "None" not in str(error)


def test_a_response_of_another_type_has_no_reason(cloudformation, answers, virtual_time):
    answers(cloudformation, {"Stacks": 7})
    assert failed(by_method, cloudformation, "stack_create_complete").service_message is None
