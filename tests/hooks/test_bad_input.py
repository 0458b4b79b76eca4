"""Bad input of `wait_until_*` and `wait_until`: refused before the first request."""

import copy
import json
import math
from functools import partial

import boto3
import pytest
from botocore.exceptions import ParamValidationError

import boto_waiters_plus as bwp


@pytest.fixture(params=["method", "function"])
def wait(request, s3, answers):
    """A wait by a method or by `wait_until`, with its requests."""
    call = partial(bwp.wait_until, s3, "BucketExists")
    if request.param == "method":
        call = partial(s3.wait_until_bucket_exists)
    call.requests = answers(s3, {}).requests
    return call


@pytest.mark.parametrize(
    ("max_wait", "kind", "text"),
    [
        (None, TypeError, "needs max_wait"),
        (math.nan, ValueError, "max_wait must be finite"),
        (math.inf, ValueError, "max_wait must be finite"),
        ("300", TypeError, "max_wait must be seconds"),
        (True, TypeError, "max_wait must be seconds"),
    ],
)
def test_max_wait(wait, max_wait, kind, text):
    with pytest.raises(kind, match=text):
        wait(Bucket="b", max_wait=max_wait)
    assert wait.requests == []


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"min_delay": 9, "max_delay": 3}, ValueError, "min_delay .9. is more than max_delay .3."),
        ({"max_attempts": 0}, ValueError, "max_attempts must be at least 1"),
        ({"cancel_event": 1}, TypeError, "cancel_event"),
        ({"max_atempts": 3}, TypeError, "unknown option 'max_atempts'; did you mean 'max_attem"),
        ({"maxwait_": 3}, TypeError, "did you mean 'max_wait'"),
        ({"some_thing_else": 3}, TypeError, "unknown option 'some_thing_else'$"),
        ({"WaiterConfig": {"Delay": 3}}, TypeError, "takes max_wait .seconds. instead of WaiterC"),
        ({"WaiterConfig": None}, TypeError, "max_wait"),
        ({"maxwait": 3}, TypeError, r"takes max_wait \(seconds\) instead of maxwait"),
        ({"maxdelay": 3}, TypeError, "takes max_delay instead of maxdelay"),
        ({"RetryTransient": True}, TypeError, "takes retry_transient instead of RetryTransient"),
        ({"on_timeout": 3}, TypeError, "unknown option 'on_timeout'"),
    ],
)
def test_options(wait, options, kind, text):
    with pytest.raises(kind, match=text):
        wait(Bucket="b", max_wait=30, **options)
    assert wait.requests == []


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({}, 'Missing required parameter in input: "Bucket"'),
        ({"Bucket": "b", "Buckt": "b"}, 'Unknown parameter in input: "Buckt"'),
        ({"Bucket": "b", "Timeout": 3}, 'Unknown parameter in input: "Timeout"'),
        ({"Bucket": "b", "ExpectedBucketOwner": 3}, "Invalid type for parameter"),
    ],
)
def test_operation_parameters_are_botocores_to_refuse(wait, parameters, text):
    with pytest.raises(ParamValidationError, match=text) as caught:
        wait(max_wait=30, **parameters)
    assert caught.value.__cause__ is None
    assert wait.requests == []


# --- wait_until ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["BucketExists", "bucket_exists"])
@pytest.mark.parametrize("attached", [True, False])
def test_either_form_of_the_name_waits_on_any_client(name, attached, answers):
    if attached:
        bwp.install()
    client = boto3.client("s3")
    answers(client, {})
    outcome = bwp.wait_until(client, name, Bucket="b", max_wait=3)
    assert isinstance(outcome, bwp.ResponseOutcome)
    assert outcome.waiter == "BucketExists"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("BucketExist", "'BucketExists'"),
        ("bucket_exist", "'bucket_exists'"),
        ("bucketexists", "'bucket_exists'"),
        ("Bucket_Exists", "'BucketExists'"),
        ("TableExists", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("attached", [True, False])
def test_unknown_waiter_is_refused_with_the_nearest(name, near, attached, answers):
    if attached:
        bwp.install()
    client = boto3.client("s3")
    asked = answers(client, {})
    with pytest.raises(ValueError, match="Waiter does not exist") as caught:
        bwp.wait_until(client, name, Bucket="b", max_wait=3)
    assert near is None or f"did you mean {near}?" in str(caught.value)
    assert asked.requests == []


@pytest.mark.parametrize("client", [None, "s3", object(), boto3])
def test_what_is_no_client_is_refused(client):
    with pytest.raises(TypeError, match="client must be a botocore client"):
        bwp.wait_until(client, "BucketExists", Bucket="b", max_wait=3)


# --- parameters ---------------------------------------------------------------------------------


def test_nested_parameters_are_never_changed(answers):
    bwp.install()
    client = boto3.client("ecs")
    answers(client, {"services": [{"status": "INACTIVE"}]})
    services, include = ["a", "b"], ["TAGS"]
    before = copy.deepcopy((services, include))
    client.wait_until_services_inactive(services=services, include=include, max_wait=3)
    assert (services, include) == before


def test_idempotency_token_is_filled_once_a_wait(answers, waitable, virtual_time):
    """botocore would fill a fresh one into every poll and so make each a request of its own."""
    bwp.install()
    client = boto3.client("dynamodb")
    path = {"path": "length(ConsumedCapacity) > `0`", "comparator": "booleanEquals"}
    acceptor = {"state": "success", "matcher": {"output": {**path, "expected": "true"}}}
    document = waitable("Written", "TransactWriteItems", acceptor)
    bwp.enable(client, definitions=document)
    asked = answers(client, {})
    items = [{"Put": {"TableName": "orders", "Item": {"id": {"S": "1"}}}}]

    def tokens(**keywords):
        asked.requests.clear()
        with pytest.raises(bwp.WaiterAttemptsError):
            client.wait_until_written(TransactItems=items, max_wait=600, max_attempts=3, **keywords)
        return [json.loads(request["body"])["ClientRequestToken"] for request in asked.requests]

    first, second = tokens(), tokens()
    assert len(first) == len(second) == 3
    assert len(set(first)) == len(set(second)) == 1
    assert first[0] != second[0]
    assert tokens(ClientRequestToken="mine") == ["mine"] * 3


def test_a_list_of_ids_without_one_is_refused(answers):
    bwp.install()
    ec2 = boto3.client("ec2")
    asked = answers(ec2, {})
    with pytest.raises(ValueError, match="InstanceIds is empty"):
        ec2.wait_until_instance_running(InstanceIds=[], max_wait=10)
    assert asked.requests == []


@pytest.mark.parametrize(
    ("keywords", "right"),
    [
        ({"timeout": 5}, "max_wait"),
        ({"MaxWait": 5}, "max_wait"),
        ({"Delay": 5}, "min_delay and max_delay"),
        ({"MaxAttempts": 5}, "max_attempts"),
        ({"WaiterConfig": {"Delay": 5}}, "max_wait"),
    ],
    ids=str,
)
def test_options_of_other_waiters_are_answered_with_ours(s3, keywords, right):
    (wrong,) = keywords
    with pytest.raises(TypeError, match=rf"takes {right}.* instead of {wrong}$"):
        s3.wait_until_bucket_exists(Bucket="b", max_wait=5, **keywords)
