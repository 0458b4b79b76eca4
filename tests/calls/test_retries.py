"""Retries of the SDK that would not fit into the time of a call, and waits that meet them."""

import json

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from calls.support import ended, make_client, respond
from faults.scenarios import TABLE, WAITS, retry_quota

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions
from boto_waiters_plus.calls.bounded_call import bounded_call
from boto_waiters_plus.calls.budget import CallEnded
from boto_waiters_plus.calls.private_names import non_throttling_scale

pytestmark = pytest.mark.usefixtures("clock")

THROTTLE = "ProvisionedThroughputExceededException"
ACTIVE = 200, json.dumps({"StreamDescription": {"StreamStatus": "ACTIVE"}}).encode()


def error(status, code, headers=None):
    return status, json.dumps({"__type": code, "message": "not today"}).encode(), headers or {}


THROTTLED, UNAVAILABLE = error(400, THROTTLE), error(503, "ServiceUnavailable")
LATER = error(400, THROTTLE, {"x-amz-retry-after": "1000"})
UNREACHABLE = EndpointConnectionError(endpoint_url="x")


def describe(client, seconds):
    return bounded_call(
        lambda: client.describe_stream(StreamName="stream"), client=client, seconds=seconds
    )


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_refused_retry_gives_botocores_error_and_takes_no_quota(mode):
    client = make_client("kinesis", mode=mode)
    quota = retry_quota(client)
    sent = respond(client, THROTTLED)
    for _ in range(3):
        with ended("retry refused") as caught:
            describe(client, 0.95)
    cause = caught.value.__cause__
    assert type(cause) is client.exceptions.ProvisionedThroughputExceededException
    assert cause.operation_name == "DescribeStream"
    assert cause.response["ResponseMetadata"]["RetryAttempts"] == 0
    assert cause.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert retry_quota(client) == quota
    assert len(sent) == 3


@pytest.mark.parametrize(
    ("mode", "answer", "seconds"),
    [
        ("legacy", THROTTLED, 1),
        ("legacy", UNAVAILABLE, 1),
        ("legacy", UNREACHABLE, 1),
        ("standard", THROTTLED, 1),
        ("standard", UNAVAILABLE, non_throttling_scale("kinesis")),
        ("standard", UNREACHABLE, non_throttling_scale("kinesis")),
        ("standard", LATER, 6),
    ],
)
@pytest.mark.usefixtures("sleeps")
def test_retry_is_made_if_its_longest_delay_fits(mode, answer, seconds):
    """Of botocore's random delay, the longest counts."""
    client = make_client("kinesis", mode=mode)
    respond(client, answer, ACTIVE)
    assert describe(client, seconds * 1.01)["StreamDescription"]["StreamStatus"] == "ACTIVE"
    client = make_client("kinesis", mode=mode)
    sent = respond(client, answer, ACTIVE)
    with ended("retry refused"):
        describe(client, seconds * 0.4)
    assert len(sent) == 1


@pytest.mark.parametrize("mode", ["legacy", "standard"])
@pytest.mark.usefixtures("sleeps")
def test_later_retry_takes_longer(mode):
    client = make_client("kinesis", mode=mode, attempts=3)
    sent = respond(client, THROTTLED, THROTTLED, ACTIVE)
    with ended("retry refused"):
        describe(client, 1.9)
    assert len(sent) == 2
    respond(client := make_client("kinesis", mode=mode, attempts=3), THROTTLED, THROTTLED, ACTIVE)
    assert describe(client, 2.1)["StreamDescription"]["StreamStatus"] == "ACTIVE"


@pytest.mark.parametrize(
    ("service", "operation", "requests"),
    [("kinesis", "list_streams", 6), ("dynamodb", "list_tables", 11)],
)
@pytest.mark.usefixtures("sleeps")
def test_legacy_retries_go_on_while_their_delays_fit(service, operation, requests):
    """Their delays grow from 1 s, on DynamoDB from 0.05 s: 32 s and 51.2 s do not fit."""
    client = make_client(service, mode="legacy", attempts=20)
    sent = respond(client, UNAVAILABLE)
    with ended("retry refused"):
        bounded_call(getattr(client, operation), client=client, seconds=30)
    assert len(sent) == requests


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
@pytest.mark.usefixtures("sleeps")
def test_last_attempt_of_the_sdk_is_a_verdict(mode):
    client = make_client("kinesis", mode=mode, attempts=2)
    sent = respond(client, UNAVAILABLE)
    with pytest.raises(ClientError, match="ServiceUnavailable"):
        describe(client, 1.9)
    assert len(sent) == 2


def test_error_that_the_sdk_would_not_retry_is_raised():
    client = make_client("kinesis")
    respond(client, error(400, "ResourceNotFoundException"))
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        describe(client, 0.01)


# --- waits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.usefixtures("virtual_time")
def test_refused_retry_is_no_verdict_of_a_wait(wait):
    """The wait makes its next attempt after its own delay."""
    options = {"max_wait": 0.95, "min_delay": 0.2, "max_delay": 0.2}
    client = make_client()
    sent = respond(client, THROTTLED, THROTTLED, (200, TABLE))
    assert wait(client, **options).attempts == len(sent) == 3
    respond(client := make_client(), THROTTLED)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        wait(client, **options)
    assert caught.value.last_response["Error"]["Code"] == THROTTLE


@pytest.mark.usefixtures("virtual_time")
def test_refused_retry_in_a_form_is_retried(styled):
    refused = CallEnded("retry refused")
    error = {"Code": "ThrottlingException", "Message": "slow down"}
    refused.__cause__ = ClientError({"Error": error}, "CreateFunction")
    answers, forms = [refused, "ready", refused], styled(conditions)

    def call():
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer is refused:
            raise refused
        return answer

    assert forms.wait_for(call, max_wait=3) == "ready"
    with pytest.raises(bwp.WaiterTimeoutError, match="ThrottlingException"):
        forms.wait_for(call, max_wait=300, interval=10)
