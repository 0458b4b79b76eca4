"""What is repeated, under which token, with which parameters, and for how long."""

import itertools
import threading
import uuid

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency


def tokens(requests):
    return [request["body"]["ClientToken"] for request in requests]


@pytest.mark.parametrize("token", [None, "mine"])
def test_all_attempts_carry_one_token(call_once, ec2, answers, each_lost, image, running, token):
    service = answers(ec2, each_lost, each_lost, running)
    given = {} if token is None else {"ClientToken": token}
    call = call_once(ec2.run_instances, max_wait=600, **given, **image)
    assert tokens(service.requests) == [call.token] * 3
    assert call.token == token or uuid.UUID(call.token).version == 4
    assert (call.attempts, call.outcome, call.adopted) == (3, None, False)
    assert call.response["Instances"][0]["InstanceId"] == "i-1"


def test_nested_token_is_filled_in(call_once, stock_botocore, virtual_time, answers, lost):
    client = boto3.client("cloudfront")
    service = answers(client, lost, {"Invalidation": {"Id": "1"}})
    batch = {"Paths": {"Quantity": 1, "Items": ["/"]}}
    call = call_once(
        client.create_invalidation, max_wait=60, DistributionId="d", InvalidationBatch=batch
    )
    assert [call.token.encode() in request["body"] for request in service.requests] == [True] * 2
    assert "CallerReference" not in batch


def test_parameters_are_frozen_at_the_first_attempt(call_once, ec2, answers, lost, image, running):
    groups = ["sg-1"]

    service = answers(ec2, lambda: groups.append("sg-2") or lost, running)
    call_once(ec2.run_instances, max_wait=60, SecurityGroupIds=groups, **image)
    first, second = (request["body"] for request in service.requests)
    assert first == second
    assert "SecurityGroupId.2" not in second


def test_handlers_change_only_what_one_attempt_sends(ec2, answers, lost, image, running):
    service = answers(ec2, lost, running)

    def encode_again(params, **_):
        params["Placement"]["GroupName"] += "!"

    ec2.meta.events.register("provide-client-params.ec2.RunInstances", encode_again)
    placement = {"GroupName": "g"}
    idempotency.call_once(ec2.run_instances, max_wait=60, Placement=placement, **image)
    assert [r["body"]["Placement.GroupName"] for r in service.requests] == ["g!", "g!"]


@pytest.mark.parametrize(("max_wait", "of_block"), [(100, 999), (600, 100)])
def test_deadline_ends_the_repetitions(
    call_once, ec2, answers, lost, image, virtual_time, max_wait, of_block
):
    service = answers(ec2, lost)
    start = virtual_time.now
    with bwp.deadline(of_block), pytest.raises(idempotency.CallTimeoutError) as caught:
        call_once(ec2.run_instances, max_wait=max_wait, **image)
    error = caught.value
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert 99 <= virtual_time.now - start <= 100
    assert error.attempts == len(service.requests) >= 4
    assert error.outcome_unknown
    assert error.token == tokens(service.requests)[0]


def test_response_at_the_deadline_is_kept(call_once, ec2, answers, image, running, virtual_time):
    answers(ec2, lambda: virtual_time.advance(61) or running)
    call = call_once(ec2.run_instances, max_wait=60, **image)
    assert call.response["Instances"][0]["InstanceId"] == "i-1"


def test_delays_are_those_of_the_algorithm(ec2, answers, lost, image, running, virtual_time):
    times = []
    answers(ec2, *[lambda: times.append(virtual_time.now) or lost] * 5, running)
    idempotency.call_once(ec2.run_instances, max_wait=600, **image)
    delays = [later - earlier for earlier, later in itertools.pairwise(times)]
    for attempt, delay in enumerate(delays):
        assert 2 <= delay <= min(30, 2 * 2**attempt) + 0.1


def test_observers_see_every_attempt(ec2, answers, lost, image, running):
    events = []
    bwp.enable(ec2, on_event=events.append)
    answers(ec2, lost, running)
    idempotency.call_once(ec2.run_instances, max_wait=60, **image)
    assert [event.kind for event in events] == ["start", "attempt", "attempt", "success"]
    assert {event.waiter for event in events} == {"RunInstances"}


def test_exceptions_of_handlers_pass_unchanged(call_once, ec2, answers, image):
    answers(ec2, KeyError("a bug"))
    with pytest.raises(KeyError, match="a bug"):
        call_once(ec2.run_instances, max_wait=60, **image)


def test_repr_shows_no_response(ec2, answers, image):
    answers(ec2, {"Instances": [{"InstanceId": "i-secret"}]})
    call = idempotency.call_once(ec2.run_instances, max_wait=60, **image)
    assert "i-secret" not in repr(call)
    assert call.token not in repr(call)


def test_a_sensitive_token_is_not_shown(stock_botocore, answers, lost, virtual_time):
    client = boto3.client("chime-sdk-media-pipelines")
    answers(client, lost)
    ends = {"SourceType": "ChimeSdkMeeting", "SourceArn": "a", "SinkType": "S3Bucket"}
    with pytest.raises(idempotency.CallTimeoutError) as caught:
        idempotency.call_once(client.create_media_capture_pipeline, max_wait=9, SinkArn="b", **ends)
    assert caught.value.token not in str(caught.value)


# --- cancelling ---------------------------------------------------------------------------------


IS_SET = threading.Event()
IS_SET.set()


def cancelled(call_once, ec2, event, image):
    with pytest.raises(idempotency.CallCancelledError) as caught:
        call_once(ec2.run_instances, max_wait=600, cancel_event=event, **image)
    assert isinstance(caught.value, bwp.WaiterCancelledError)
    return caught.value


def test_no_request_once_it_is_cancelled(call_once, ec2, answers, image, running):
    service = answers(ec2, running)
    error = cancelled(call_once, ec2, IS_SET, image)
    assert (service.requests, error.outcome_unknown, error.attempts) == ([], False, 0)


def test_cancelling_ends_the_delay(call_once, ec2, answers, lost, image, running, virtual_time):
    event = threading.Event()
    service = answers(ec2, lambda: event.set() or lost, running)
    error = cancelled(call_once, ec2, event, image)
    assert (len(service.requests), error.outcome_unknown) == (1, True)
    assert error.token in str(error)
    assert virtual_time.now < 1


def test_an_event_of_the_defaults_cancels(ec2, answers, image, running):
    service = answers(ec2, running)
    bwp.enable(ec2, defaults={"cancel_event": IS_SET})
    cancelled(idempotency.call_once, ec2, None, image)
    assert service.requests == []
