"""The service's own reason among many waits, also where their answers are kept as bytes."""

from types import SimpleNamespace

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.runtime import schedule


@pytest.mark.parametrize("many_waits", [1, 1000], ids=["packed", "as it is"])
def test_a_wait_that_times_out_tells_the_last_reason(virtual_time, monkeypatch, many_waits):
    monkeypatch.setattr(schedule, "MANY_WAITS", many_waits)
    client = boto3.client("cloudformation", region_name="us-east-1")
    stack = {"StackStatus": "CREATE_IN_PROGRESS", "StackStatusReason": "User Initiated"}

    def answer(**_):
        metadata = {"HTTPStatusCode": 200}
        return SimpleNamespace(status_code=200), {"Stacks": [stack], "ResponseMetadata": metadata}

    client.meta.events.register("before-call", answer)
    wait = bwp.Wait(client, "stack_create_complete", {"StackName": "stack"}, max_wait=90)
    [error] = bwp.wait_all([wait], on_failure="collect")
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert error.service_message == "User Initiated"
    assert error.last_response["Stacks"] == [stack]
