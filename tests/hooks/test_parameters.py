"""A wait keeps the parameters it was started with."""

import asyncio

import boto3
import pytest

import boto_waiters_plus as bwp

RUNNING = {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]}
PENDING = {"Reservations": [{"Instances": [{"State": {"Name": "pending"}}]}]}


def by_method(client, ids):
    client.wait_until_instance_running(InstanceIds=ids, max_wait=300)


def by_get_waiter(client, ids):
    client.get_waiter("instance_running").wait(InstanceIds=ids)


def by_wait_all(client, ids):
    waits = [bwp.Wait(client, "InstanceRunning", {"InstanceIds": ids}, max_wait=300)]
    ids.clear()
    bwp.wait_all(waits)


def by_task(client, ids):
    asyncio.run(bwp.wait_until_async(client, "InstanceRunning", InstanceIds=ids, max_wait=300))


@pytest.mark.parametrize("wait", [by_method, by_get_waiter, by_task, by_wait_all])
def test_a_list_changed_during_the_wait_changes_no_request(answers, virtual_time, wait):
    bwp.install()
    client = boto3.client("ec2")
    ids, sent = ["i-1", "i-2"], []
    client.meta.events.register(
        "provide-client-params.ec2.DescribeInstances",
        lambda params, **_: sent.append(list(params["InstanceIds"])),
    )

    def pending():
        ids.clear()
        return PENDING

    answers(client, pending, RUNNING)
    wait(client, ids)
    assert sent == [["i-1", "i-2"]] * 2


@pytest.mark.parametrize("coalesce", [True, False])
def test_a_list_emptied_in_a_wait_is_refused(answers, coalesce):
    client = boto3.client("ec2")
    asked = answers(client, RUNNING)
    wait = bwp.Wait(client, "InstanceRunning", {"InstanceIds": ["i-1"]}, max_wait=300)
    wait.parameters["InstanceIds"].clear()
    with pytest.raises(ValueError, match="InstanceIds is empty; DescribeInstances would match"):
        bwp.wait_all([wait], coalesce=coalesce)
    assert asked.requests == []


def test_nested_parameters_are_copied(answers, virtual_time):
    bwp.install()
    client = boto3.client("ec2")
    filters = [{"Name": "tag:Name", "Values": ["a"]}]
    sent = []
    client.meta.events.register(
        "provide-client-params.ec2.DescribeInstances",
        lambda params, **_: sent.append(params["Filters"][0]["Values"]),
    )

    def pending():
        filters[0]["Values"][:] = ["someone else's"]
        return PENDING

    answers(client, pending, RUNNING)
    client.wait_until_instance_running(Filters=filters, max_wait=300)
    assert sent == [["a"], ["a"]]
