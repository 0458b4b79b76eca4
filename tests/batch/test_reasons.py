"""The service's own reason in the error of one of many waits."""

from types import SimpleNamespace

import boto3

import boto_waiters_plus as bwp


def test_timed_out_wait_has_the_last_reason(virtual_time):
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
