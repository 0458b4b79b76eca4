"""Calls of a client whose time is used up before they are made."""

import boto3
import pytest
from moto import mock_aws

import boto_waiters_plus as bwp
from boto_waiters_plus.calls.client_call import AwaitedCall, BlockingCall, call_for
from boto_waiters_plus.calls.reply import Reply

NOT_MADE = Reply(ended="deadline", made=False)


def refuse():
    raise AssertionError("a call was made")


def test_blocking_call_without_time_is_not_made():
    assert BlockingCall(refuse, None).make(0) == NOT_MADE


@mock_aws
def test_call_that_is_not_made_is_no_attempt(virtual_time):
    client = boto3.client("s3", region_name="us-east-1")
    calls = []
    client.meta.events.register("before-call.s3", lambda **_: calls.append(virtual_time.now))
    wait = bwp.Wait(
        client,
        "bucket_exists",
        {"Bucket": "missing"},
        max_wait=10,
        delay_pace=lambda _: 10,
        last_attempt="deadline",
    )
    (error,) = bwp.wait_all([wait], on_failure="collect")
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert (calls, error.attempts) == ([0], 1)


class Awaited:
    """A client whose calls are awaited."""

    __module__ = "aiobotocore.client"


@pytest.mark.parametrize(
    ("client", "awaited", "kind"),
    [
        (Awaited(), None, AwaitedCall),
        (object(), None, BlockingCall),
        (object(), True, AwaitedCall),
        (Awaited(), False, BlockingCall),
    ],
)
def test_call_is_awaited_if_the_client_is_one_of_aiobotocore(client, awaited, kind):
    assert type(call_for(client, refuse, awaited=awaited)) is kind
