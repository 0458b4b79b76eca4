"""A wait keeps the parameters it was started with."""

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


@pytest.mark.parametrize("wait", [by_method, by_get_waiter, by_wait_all])
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
