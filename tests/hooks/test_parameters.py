"""A wait keeps the parameters it was started with."""

import asyncio

import boto3
import pytest

import boto_waiters_plus as bwp

RUNNING = {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]}
PENDING = {"Reservations": [{"Instances": [{"State": {"Name": "pending"}}]}]}


def by_wait_all(client, parameters):
    waits = [bwp.Wait(client, "InstanceRunning", parameters, max_wait=300)]
    parameters["Filters"].clear()
    bwp.wait_all(waits)


def by_task(client, parameters):
    asyncio.run(bwp.wait_until_async(client, "InstanceRunning", **parameters, max_wait=300))


WAYS = {
    "method": lambda client, given: client.wait_until_instance_running(**given, max_wait=300),
    "get_waiter": lambda client, given: client.get_waiter("instance_running").wait(**given),
    "task": by_task,
    "wait_all": by_wait_all,
}


@pytest.mark.parametrize("wait", WAYS.values(), ids=WAYS)
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
