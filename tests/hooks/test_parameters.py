"""A wait keeps the parameters it was started with."""

import boto3
import pytest
from service import ways

import boto_waiters_plus as bwp

RUNNING = {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]}
PENDING = {"Reservations": [{"Instances": [{"State": {"Name": "pending"}}]}]}


def in_batch(client, waiter, max_wait, **parameters):
    waits = [bwp.Wait(client, waiter, parameters, max_wait=max_wait)]
    parameters["Filters"].clear()
    bwp.wait_all(waits)


@pytest.mark.parametrize("way", [ways.by_method, ways.by_waiter, ways.by_task, in_batch])
def test_parameters_changed_during_the_wait_change_no_request(answers, virtual_time, way):
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
    way(client, "instance_running", max_wait=300, **parameters)
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
