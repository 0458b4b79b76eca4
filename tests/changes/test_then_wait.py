"""The wait for what a call made."""

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency


def test_secrets_of_the_call_are_not_seen(call_once, answers, waitable, virtual_time):
    client = boto3.client("iam")
    answers(client, {"AccessKey": {"AccessKeyId": "key", "SecretAccessKey": "hidden"}}, {})
    path = "[call.output.AccessKey.SecretAccessKey, call.output.AccessKey.AccessKeyId]"
    matcher = {"path": path, "expected": "x", "comparator": "allStringEquals"}
    acceptor = {"state": "success", "matcher": {"inputOutput": matcher}}
    (mine,) = bwp.load_definitions(waitable("Mine", "ListAccessKeys", acceptor))
    given = {"then_wait": (mine, lambda _: {}), "allow_repeat": True, "UserName": "me"}
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        call_once(client.create_access_key, max_wait=3, **given)
    assert caught.value.observed == ["key"]
    assert "hidden" not in str(caught.value)


def test_call_that_takes_all_the_time_leaves_none_for_the_wait(
    ec2, answers, image, running, virtual_time
):
    answers(ec2, lambda: virtual_time.advance(9) or running)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        idempotency.call_once(ec2.run_instances, max_wait=9, then_wait="InstanceRunning", **image)
    assert caught.value.call.response["Instances"] == running["Instances"]
