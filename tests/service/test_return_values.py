"""What a wait returns, wherever botocore leaves a place for it."""

from concurrent.futures import ThreadPoolExecutor

import boto3
import botocore.waiter as botocores
import pytest
from botocore.exceptions import WaiterError

import boto_waiters_plus as bwp

THERE = {"ResponseMetadata": {"HTTPStatusCode": 200}}
ACCEPTOR = {"state": "success", "matcher": "status", "expected": 200}
BUCKET_EXISTS = {"operation": "HeadBucket", "delay": 5, "maxAttempts": 20, "acceptors": [ACCEPTOR]}
MODEL = botocores.WaiterModel({"version": 2, "waiters": {"BucketExists": BUCKET_EXISTS}})


def by_hand(client):
    config = botocores.SingleWaiterConfig(BUCKET_EXISTS)
    return botocores.Waiter(
        "BucketExists", config, botocores.NormalizedOperationMethod(client.head_bucket)
    )


@pytest.fixture
def s3_resource(installed):
    return boto3.resource("s3")


def test_get_waiter_returns_the_outcome(s3, answers, missing, sleeps):
    answers(s3, missing, missing, THERE, missing)
    waiter = s3.get_waiter("bucket_exists")
    outcome = waiter.wait(Bucket="b")
    assert isinstance(outcome, bwp.ResponseOutcome)
    assert outcome is waiter.outcome
    assert (outcome.waiter, outcome.attempts, outcome.acceptor.index) == ("BucketExists", 3, 0)
    assert outcome.response["ResponseMetadata"]["RequestId"] == "request-1"
    assert outcome.elapsed == pytest.approx(sum(sleeps), abs=1)
    with pytest.raises(WaiterError):
        waiter.wait(Bucket="b")
    assert waiter.outcome is None


@pytest.mark.parametrize("is_by_hand", [True, False])
def test_waiters_built_otherwise_have_the_outcome(s3, answers, is_by_hand):
    """botocore's function makes a class of its own, whose `wait` returns None as ever."""
    answers(s3, THERE)
    waiter = (
        by_hand(s3)
        if is_by_hand
        else botocores.create_waiter_with_client("BucketExists", MODEL, s3)
    )
    assert waiter.outcome is None
    returned = waiter.wait(Bucket="b")
    assert isinstance(waiter.outcome, bwp.ResponseOutcome)
    assert returned is (waiter.outcome if is_by_hand else None)


def test_without_install_everything_returns_none(answers):
    older = boto3.resource("s3").Bucket("b")
    bwp.install()
    s3, resource = boto3.client("s3"), boto3.resource("s3")
    for each in (s3, resource.meta.client, older.meta.client):
        answers(each, THERE)
    assert older.wait_until_exists() is None
    before, bucket = s3.get_waiter("bucket_exists"), resource.Bucket("b")
    bwp.uninstall()
    assert before.wait(Bucket="b") is None
    assert s3.get_waiter("bucket_exists").wait(Bucket="b") is None
    assert not hasattr(s3.get_waiter("bucket_exists"), "outcome")
    assert bucket.wait_until_exists() is None
    assert by_hand(s3).wait(Bucket="b") is None


# --- resources ----------------------------------------------------------------------------------


def test_resource_methods_return_the_outcome(s3_resource, answers, missing, sleeps):
    answers(s3_resource.meta.client, missing, THERE, {"ContentLength": 3}, missing)
    bucket = s3_resource.Bucket("b")
    assert bucket.wait_until_exists().attempts == 2
    assert bucket.Object("key").wait_until_exists().response["ContentLength"] == 3
    assert isinstance(bucket.wait_until_not_exists(), bwp.ExceptionOutcome)


def test_resource_methods_take_our_keywords(s3_resource, answers, missing, virtual_time):
    asked, told = answers(s3_resource.meta.client, missing), []
    with pytest.raises(bwp.WaiterTimeoutError):
        s3_resource.Bucket("b").wait_until_exists(max_wait=3, on_attempt=told.append)
    assert len(told) == len(asked.requests)
    with pytest.raises(bwp.WaiterAttemptsError):
        s3_resource.Bucket("b").wait_until_exists(WaiterConfig={"Delay": 1, "MaxAttempts": 2})
    assert len(asked.requests) == len(told) + 2


def test_resource_methods_return_the_outcome_to_their_own_thread(s3_resource, answers):
    numbers = iter(range(100))
    answers(s3_resource.meta.client, lambda: {"ContentLength": next(numbers)})
    with ThreadPoolExecutor(8) as pool:
        found = [s3_resource.Object("b", f"key-{number}") for number in range(40)]
        outcomes = list(pool.map(lambda each: each.wait_until_exists(), found))
    assert sorted(o.response["ContentLength"] for o in outcomes) == list(range(40))


def test_a_handlers_own_wait_until_method_keeps_its_return_value():
    bwp.install()
    session, own = boto3.Session(), {"wait_until_custom": lambda self: "custom"}
    session.events.register(
        "creating-resource-class.s3.Bucket",
        lambda class_attributes, **_: class_attributes.update(own),
    )
    assert session.resource("s3").Bucket("b").wait_until_custom() == "custom"
