"""Retries of the SDK that would not fit into the time of a call, and waits that meet them."""

import json

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from calls.support import answered, answered_client, ended, make_client, respond
from faults.scenarios import TABLE, WAITS, retry_quota

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions
from boto_waiters_plus.calls.bounded_call import bounded_call
from boto_waiters_plus.calls.budget import CallEnded
from boto_waiters_plus.calls.client_events import only_call
from boto_waiters_plus.calls.private_names import has_brief_delays
from boto_waiters_plus.changes import stops

pytestmark = pytest.mark.usefixtures("clock")

DELETE = b"Kinesis_20131202.DeleteStream"
THROTTLE = "ProvisionedThroughputExceededException"
ACTIVE = 200, json.dumps({"StreamDescription": {"StreamStatus": "ACTIVE"}}).encode()


def error(status, code, headers=None):
    return status, json.dumps({"__type": code, "message": "not today"}).encode(), headers or {}


THROTTLED, UNAVAILABLE = error(400, THROTTLE), error(503, "ServiceUnavailable")
LATER = error(400, THROTTLE, {"x-amz-retry-after": "1000"})
UNREACHABLE = EndpointConnectionError(endpoint_url="x")
needs_short_delays = pytest.mark.skipif(
    not has_brief_delays(), reason="its first delays may be as long as after a throttle"
)


def describe(client, seconds, before=lambda: None):
    def call():
        before()
        return client.describe_stream(StreamName="stream")

    return bounded_call(call, client=client, seconds=seconds)


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_refused_retry_gives_botocores_error_and_takes_no_quota(mode):
    client = make_client("kinesis", mode=mode)
    quota = retry_quota(client)
    sent = respond(client, THROTTLED)
    for _ in range(3):
        with ended("retry refused") as caught:
            describe(client, 0.95)
    assert type(caught.value.__cause__).__name__ == THROTTLE
    assert retry_quota(client) == quota
    assert len(sent) == 3


@pytest.mark.parametrize("mode", ["legacy", "standard"])
@pytest.mark.parametrize(
    ("answer", "seconds"), [(THROTTLED, 1), (UNAVAILABLE, 1), (UNREACHABLE, 1), (LATER, 6)]
)
@pytest.mark.usefixtures("sleeps")
def test_retry_is_made_if_its_bound_fits(mode, answer, seconds):
    client, _ = answered_client(answer, ACTIVE, service="kinesis", mode=mode)
    assert describe(client, seconds * 1.01)["StreamDescription"]["StreamStatus"] == "ACTIVE"
    client, sent = answered_client(answer, ACTIVE, service="kinesis", mode=mode)
    with ended("retry refused"):
        describe(client, seconds * 0.4)
    assert len(sent) == 1


@pytest.mark.parametrize(("mode", "seconds"), [("legacy", 30), ("standard", 19)])
@pytest.mark.usefixtures("sleeps")
def test_retries_go_on_while_their_delays_fit(mode, seconds):
    """They double: in the legacy mode without a bound, in the standard one up to 20 s."""
    client, sent = answered_client(THROTTLED, service="kinesis", mode=mode, attempts=20)
    with ended("retry refused"):
        describe(client, seconds)
    assert len(sent) == 6


@pytest.mark.parametrize(("mode", "attempts", "seconds", "most"), [
    ("legacy", 2, 1.9, 2), ("standard", 2, 1.9, 2), ("adaptive", 2, 1.9, 2),
    ("legacy", None, 8.1, 5), ("standard", None, 8.1, 3),
])  # fmt: skip
@pytest.mark.usefixtures("sleeps")
def test_last_attempt_of_the_sdk_is_a_verdict(mode, attempts, seconds, most):
    client, sent = answered_client(UNAVAILABLE, service="kinesis", mode=mode, attempts=attempts)
    with pytest.raises(ClientError, match="ServiceUnavailable"):
        describe(client, seconds)
    assert len(sent) == most


# --- calls that nothing repeats --------------------------------------------------------------


@needs_short_delays
@pytest.mark.parametrize(("mode", "answer", "seconds"), [
    ("standard", UNAVAILABLE, 0.03), ("standard", UNREACHABLE, 0.03),
    ("standard", THROTTLED, 1.01), ("legacy", UNAVAILABLE, 1.01),
])  # fmt: skip
@pytest.mark.usefixtures("sleeps")
def test_only_call_keeps_a_retry_that_fits(mode, answer, seconds):
    client, _ = answered_client(answer, ACTIVE, service="kinesis", mode=mode)
    assert describe(client, seconds, only_call)["StreamDescription"]
    respond(client := make_client("kinesis", mode=mode), answer, ACTIVE)
    with ended("retry refused"):
        describe(client, seconds * 0.4, only_call)


@needs_short_delays
# The delay before the tenth attempt may be 12.8 s, that before the second 0.05 s.
@pytest.mark.parametrize(("answers", "seconds"), [
    ([error(503, "ServiceUnavailable", {"x-amz-retry-after": "5000"})], 1), ([UNAVAILABLE] * 9, 5),
])  # fmt: skip
@pytest.mark.usefixtures("sleeps")
def test_only_call_makes_no_retry_that_does_not_fit(answers, seconds):
    client, sent = answered_client(*answers, ACTIVE, service="kinesis", attempts=10)
    with ended("retry refused"):
        describe(client, seconds, only_call)
    assert len(sent) == len(answers)


@needs_short_delays
@pytest.mark.usefixtures("virtual_time", "sleeps")
def test_call_of_begin_without_token_keeps_its_retry():
    client, sent = answered_client(UNAVAILABLE, (200, b"{}"), service="kinesis")
    operation = bwp.begin(client.delete_stream, StreamName="s", max_wait=0.9)
    assert operation.call.attempts == 1
    assert [request.headers["X-Amz-Target"] for request in sent[:2]] == [DELETE, DELETE]
    operation.cancel()


@needs_short_delays
@pytest.mark.usefixtures("virtual_time", "sleeps")
def test_stop_keeps_its_retry(clock):
    client = make_client("glue")
    stopped = []

    def answer(request, **_):
        operation = request.headers["X-Amz-Target"].decode().partition(".")[2]
        status, body = 200, {"JobRunId": "jr", "JobRun": {"JobRunState": "RUNNING"}}
        if operation == "BatchStopJobRun":
            clock.advance(0 if stopped else stops.STOP_TIME - 0.1)
            status, body = 200 if stopped else 503, {}
            stopped.append(operation)
        return answered(request, status, json.dumps(body).encode())

    client.meta.events.register("before-send", answer)
    limits = {"max_wait": 60, "max_attempts": 1, "stop_on_timeout": True}
    operation = bwp.begin(client.start_job_run, JobName="j", **limits)
    assert operation.exception(60).stop.state == "made"
    assert len(stopped) == 2


# --- waits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.usefixtures("virtual_time")
def test_refused_retry_is_no_verdict_of_a_wait(wait):
    """The wait makes its next attempt after its own delay."""
    options = {"max_wait": 0.95, "min_delay": 0.2, "max_delay": 0.2}
    client, sent = answered_client(THROTTLED, THROTTLED, (200, TABLE))
    assert wait(client, **options).attempts == len(sent) == 3
    respond(client := make_client(), THROTTLED)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        wait(client, **options)
    assert caught.value.last_response["Error"]["Code"] == THROTTLE


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.usefixtures("virtual_time")
def test_refused_retry_without_a_connection_ends_the_wait(wait):
    client, sent = answered_client(UNREACHABLE)
    with pytest.raises((bwp.WaiterFailedError, EndpointConnectionError)):
        wait(client, max_wait=0.95, min_delay=0.2, max_delay=0.2)
    assert len(sent) == 1


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
