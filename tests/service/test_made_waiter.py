"""Waiters that are made for a state of an operation, and which members are states."""

import warnings

import boto3
import pytest
from case_tables import tabled
from installed_models import with_the_operations_of_today

import boto_waiters_plus as bwp


def made(name, until, path=None):
    """Return the definition that a wait for states of an operation has."""
    service, _, operation = name.partition(".")
    wait = bwp.Wait(boto3.client(service), operation, {}, until_state=until, state_path=path)
    return wait.bound_waiter.definition


@with_the_operations_of_today
@tabled("states become acceptors", "name", "until", "path", "expected")
def test_states_become_acceptors(name, until, path, expected):
    acceptors = [each.to_json() for each in made(name, until, path).acceptors]
    outputs = {state: [] for state in ("success", "failure")}
    for each in acceptors:
        outputs[each["state"]].append(each["matcher"]["output"])
    [(found, comparator)] = {(each["path"], each["comparator"]) for each in outputs["success"]}
    states = [" ".join(each["expected"] for each in kind) for kind in outputs.values()]
    assert [found, comparator, *states] == expected


def test_a_made_waiter_tells_how_states_were_sorted():
    waiter = made("kinesis.DescribeStream", ["ACTIVE", "UPDATING"])
    assert waiter.name == "DescribeStreamUntilActiveOrUpdating"
    for words in ("success: ACTIVE, UPDATING", "passing: CREATING, DELETING"):
        assert words in waiter.documentation


@tabled("what cannot be made is refused", "name", "until", "path", "message")
def test_what_cannot_be_made_is_refused(name, until, path, message):
    with pytest.raises(ValueError) as caught:
        made(name, until, path)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("until", [True, 5, 1.5])
def test_a_boolean_or_number_is_refused(until):
    with pytest.raises(TypeError, match="until_state must be the name of a state"):
        made("dynamodb.DescribeTable", until)


@tabled("a state that no model lists is warned of", "name", "until", "told")
def test_a_state_that_no_model_lists_is_warned_of(name, until, told):
    path = "DBInstances[].DBInstanceStatus" if name.startswith("rds") else None
    with pytest.warns(UserWarning, match=name.partition(".")[2]) as caught:
        made(name, until, path)
    [warning] = caught
    assert all(text in str(warning.message) for text in told)
    assert warning.filename == __file__


@tabled("a state that is known is silent", "name", "until", "path")
def test_a_state_that_is_known_is_silent(name, until, path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(name, until, path)


def test_a_sensitive_output_may_be_polled_by_its_caller():
    """Its state is shown, and nothing else."""
    waiter = made("lambda.GetFunctionConfiguration", "Active", "State")
    assert waiter.operation == "GetFunctionConfiguration"


def test_state_is_that_of_the_list_that_a_path_counts(answers, waitable, virtual_time):
    seen, path = [], "length(AutoScalingGroups[].Instances[]) == `2`"
    matcher = {"output": {"path": path, "comparator": "booleanEquals", "expected": "true"}}
    document = waitable(
        "Full", "DescribeAutoScalingGroups", {"state": "success", "matcher": matcher}
    )
    client = bwp.enable(boto3.client("autoscaling"), definitions=document)
    group = {"Status": "x", "Instances": [{"LifecycleState": "Pending", "HealthStatus": "y"}]}
    answers(client, {"AutoScalingGroups": [group]}, {"AutoScalingGroups": [group, group]})
    client.wait_until_full(max_wait=60, on_attempt=lambda event: seen.append(event.state))
    assert "Pending" in seen[0]
