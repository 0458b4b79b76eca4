"""The wait for what a call made."""

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency


@pytest.fixture
def up():
    return {"Reservations": [{"Instances": [{"InstanceId": "i-1", "State": {"Name": "running"}}]}]}


@pytest.mark.parametrize("waiter", ["InstanceRunning", "instance_running"])
def test_wait_takes_its_parameters_from_the_response(
    call_once, ec2, answers, image, running, up, waiter
):
    service = answers(ec2, running, up)
    call = call_once(ec2.run_instances, max_wait=60, then_wait=waiter, **image)
    assert service.operations == ["RunInstances", "DescribeInstances"]
    assert service.requests[1]["body"]["InstanceId.1"] == "i-1"
    assert call.outcome.waiter == "InstanceRunning"
    assert call.response["Instances"][0]["InstanceId"] == "i-1"


def test_wait_takes_its_parameters_from_a_function(call_once, ec2, answers, image, running, up):
    service = answers(ec2, running, up)
    choice = ("InstanceExists", lambda response: {"InstanceIds": ["i-7"]})
    call_once(ec2.run_instances, max_wait=60, then_wait=choice, **image)
    assert service.requests[1]["body"]["InstanceId.1"] == "i-7"


def test_wait_runs_under_a_definition(ec2, answers, waitable, image, running, up):
    answers(ec2, running, up)
    acceptor = {"state": "success", "matcher": {"success": True}}
    document = waitable("Ready", "DescribeInstances", acceptor, namespace="com.amazonaws.ec2")
    (ready,) = bwp.load_definitions(document)
    call = idempotency.call_once(
        ec2.run_instances, max_wait=60, then_wait=(ready, lambda _: {}), **image
    )
    assert call.outcome.waiter == "Ready"


def test_call_and_wait_share_one_deadline(
    call_once, ec2, answers, lost, image, running, virtual_time
):
    pending = {"Reservations": [{"Instances": [{"State": {"Name": "pending"}}]}]}
    answers(ec2, lost, lost, lost, running, pending)
    start = virtual_time.now
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        call_once(ec2.run_instances, max_wait=100, then_wait="InstanceRunning", **image)
    assert 95 <= virtual_time.now - start <= 100
    assert caught.value.call.attempts == 4
    assert caught.value.max_wait < 98


def test_response_without_the_identifier_ends_the_wait(ec2, answers, image):
    answers(ec2, {"Instances": []})
    with pytest.raises(
        bwp.WaiterFailedError, match="RunInstances does not tell InstanceIds"
    ) as caught:
        idempotency.call_once(ec2.run_instances, max_wait=60, then_wait="InstanceRunning", **image)
    assert caught.value.call.response["Instances"] == []
