"""A wait keeps the parameters it was started with."""

import asyncio

import boto3
import pytest

import boto_waiters_plus as bwp

RUNNING = {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]}
PENDING = {"Reservations": [{"Instances": [{"State": {"Name": "pending"}}]}]}


def by_method(client, parameters):
    client.wait_until_instance_running(**parameters, max_wait=300)


def by_get_waiter(client, parameters):
    client.get_waiter("instance_running").wait(**parameters)


def by_wait_all(client, parameters):
    waits = [bwp.Wait(client, "InstanceRunning", parameters, max_wait=300)]
    parameters["Filters"].clear()
    bwp.wait_all(waits)


def by_task(client, parameters):
    asyncio.run(bwp.wait_until_async(client, "InstanceRunning", **parameters, max_wait=300))


@pytest.mark.parametrize("wait", [by_method, by_get_waiter, by_task, by_wait_all])
def test_parameters_changed_during_the_wait_change_no_request(answers, virtual_time, wait):
    bwp.install()
    client = boto3.client("ec2")
    names, sent = ["a", "b"], []
    parameters = {"Filters": [{"Name": "tag:Name", "Values": names}]}
    client.meta.events.register(
        "provide-client-params.ec2.DescribeInstances",
        lambda params, **_: sent.append(list(params["Filters"][0]["Values"])),
    )

    def pending():
        names.clear()
        parameters["Filters"].clear()
        return PENDING

    answers(client, pending, RUNNING)
    wait(client, parameters)
    assert sent == [["a", "b"]] * 2


@pytest.mark.parametrize("coalesce", [True, False])
def test_a_list_emptied_in_a_wait_is_refused(answers, coalesce):
    client = boto3.client("ec2")
    asked = answers(client, RUNNING)
    wait = bwp.Wait(client, "InstanceRunning", {"InstanceIds": ["i-1"]}, max_wait=300)
    wait.parameters["InstanceIds"].clear()
    with pytest.raises(ValueError, match="InstanceIds"):
        bwp.wait_all([wait], coalesce=coalesce)
    assert asked.requests == []
