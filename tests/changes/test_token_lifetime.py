"""No attempt is made when the service may have forgotten the token."""

import contextlib
import time

import boto3
import pytest

from boto_waiters_plus import idempotency

WRITE = {"TransactItems": [{"Put": {"TableName": "orders", "Item": {"id": {"S": "1"}}}}]}
LIFETIME = 600
"""Seconds; DynamoDB's documentation says 10 minutes."""


@pytest.fixture
def write(call_once, dynamodb):
    """`write(**options)`: TransactWriteItems, whose tokens are known for ten minutes."""
    return lambda **options: call_once(dynamodb.transact_write_items, **{**WRITE, **options})


def test_no_attempt_begins_at_the_end_of_the_lifetime(write, dynamodb, answers, lost, virtual_time):
    begun = []
    answers(dynamodb, lambda: begun.append(virtual_time.now) or lost)
    with pytest.raises(idempotency.CallTimeoutError) as caught:
        write(max_wait=3600)
    assert 0.8 * LIFETIME < begun[-1] - begun[0] <= 0.95 * LIFETIME
    error = caught.value
    assert (error.outcome_unknown, error.token_lifetime, error.max_wait) == (True, 600, 3600)


def test_wait_that_follows_has_all_of_max_wait(call_once, stock_botocore, answers, virtual_time):
    codebuild = boto3.client("codebuild")
    phases = [{"builds": [{"id": "b:1", "buildStatus": "IN_PROGRESS"}]}] * 100
    done = {"builds": [{"id": "b:1", "buildStatus": "SUCCEEDED"}]}
    answers(codebuild, {"build": {"id": "b:1"}}, *phases, done)
    call = call_once(
        codebuild.start_build, max_wait=36000, then_wait="BuildsSucceeded", projectName="p"
    )
    assert call.outcome.elapsed > 300


def test_unlisted_operation_has_no_bound_but_max_wait(ec2, answers, lost, image):
    answers(ec2, lost)
    with pytest.raises(idempotency.CallTimeoutError) as caught:
        idempotency.call_once(ec2.run_instances, max_wait=700, **image)
    assert caught.value.elapsed > 690
    assert caught.value.token_lifetime is None


@pytest.mark.parametrize(("started", "store_age", "is_made"), [
    (0, None, True), (560, None, True), (571, None, False), (86400, None, False), (-5, None, False),
    (0, 571, False), (86400, 10, True),
])  # fmt: skip
def test_resumed_call_counts_from_the_first_attempt(
    dynamodb, answers, lost, small_store, started, store_age, is_made
):
    store = small_store
    if store_age is not None:
        store.get_call = lambda path: {"done": False, "age": store_age}
    answers(dynamodb, lost)
    with pytest.raises(idempotency.CallTimeoutError):
        idempotency.call_once(dynamodb.transact_write_items, max_wait=10, in_store=store, **WRITE)
    again = boto3.client("dynamodb")
    service = answers(again, {})
    record = {**store.records[0], "started_at": time.time() - started}
    ended = contextlib.nullcontext() if is_made else pytest.raises(idempotency.CallTimeoutError)
    with ended as caught:
        idempotency.resume_call(again, record, in_store=store, path="calls/1")
    assert is_made or caught.value.outcome_unknown
    assert len(service.requests) == is_made
