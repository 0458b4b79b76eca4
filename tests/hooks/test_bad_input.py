"""Bad input of `wait_until_*` and `wait_until`: refused before the first request."""

import json
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


@pytest.mark.parametrize("max_wait", [None, float("nan"), float("inf"), "300", True])
def test_max_wait(wait, max_wait):
    with pytest.raises((TypeError, ValueError), match="max_wait"):
        wait(Bucket="b", max_wait=max_wait)
    assert wait.requests == []


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"min_delay": 9, "max_delay": 3}, ValueError, "min_delay .9. .*max_delay .3."),
        ({"cancel_event": 1}, TypeError, "cancel_event"),
        ({"max_atempts": 3}, TypeError, "'max_attempts'"),
        ({"maxwait_": 3}, TypeError, "'max_wait'"),
        ({"some_thing_else": 3}, TypeError, "'some_thing_else'$"),
        ({"WaiterConfig": None}, TypeError, "max_wait"),
        ({"maxwait": 3}, TypeError, r"takes max_wait \(seconds\) instead of maxwait"),
        ({"on_timeout": "last"}, TypeError, "takes max_wait, and raises WaiterTimeoutError"),
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


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"timeout": 9}, "max_wait"),
        ({"max_wiat": 9}, "'max_wait'"),
        ({"delay": 9, "Nope": 1}, "min_delay and max_delay .*delay$"),
    ],
)
def test_get_waiter_adds_the_right_name_to_botocores_words(given, words):
    bwp.install()
    waiter = boto3.client("s3").get_waiter("bucket_exists")
    with pytest.raises(ParamValidationError, match=words) as caught:
        waiter.wait(Bucket="b", **given)
    assert str(caught.value).startswith(str(ParamValidationError(**caught.value.kwargs)))


# --- wait_until ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["BucketExists", "bucket_exists"])
@pytest.mark.parametrize("attached", [True, False])
def test_either_form_of_the_name_waits_on_any_client(name, attached, answers):
    if attached:
        bwp.install()
    client = boto3.client("s3")
    answers(client, {})
    outcome = bwp.wait_until(client, name, Bucket="b", max_wait=60)
    assert isinstance(outcome, bwp.ResponseOutcome)
    assert outcome.waiter == "BucketExists"


@pytest.mark.parametrize(("name", "near"), [
    ("BucketExist", "'BucketExists'"), ("bucket_exist", "'bucket_exists'"),
    ("bucketexists", "'bucket_exists'"), ("Bucket_Exists", "'BucketExists'"), ("TableExists", None),
    ("", None),
])  # fmt: skip
def test_unknown_waiter_is_refused_with_the_nearest(name, near, answers):
    client = boto3.client("s3")
    asked = answers(client, {})
    with pytest.raises(ValueError, match=near or name or None):
        bwp.wait_until(client, name, Bucket="b", max_wait=60)
    assert asked.requests == []


@pytest.mark.parametrize("client", [None, "s3", object(), boto3])
def test_what_is_no_client_is_refused(client):
    with pytest.raises(TypeError, match="client"):
        bwp.wait_until(client, "BucketExists", Bucket="b", max_wait=60)


# --- parameters ---------------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match="InstanceIds"):
        ec2.wait_until_instance_running(InstanceIds=[], max_wait=10)
    assert asked.requests == []


# --- a definition in place of the name ------------------------------------------------------------


def test_a_definition_stands_in_for_a_name(definition, answers, active):
    (ready,) = bwp.load_definitions(definition("StreamReady"))
    client = boto3.client("kinesis")
    answers(client, active)
    outcome = bwp.wait_until(client, ready, StreamName="s", max_wait=60)
    assert (outcome.waiter, outcome.attempts) == ("StreamReady", 1)
    wait = bwp.Wait(client, ready, {"StreamName": "s"}, max_wait=60)
    assert bwp.wait_all([wait])[0].waiter == "StreamReady"
    with pytest.raises(bwp.WaiterDefinitionError, match="s3"):
        bwp.wait_until(boto3.client("s3"), ready, max_wait=60)
    (ready,) = bwp.load_definitions(definition("StreamReady", operation="DescribeStreams"))
    with pytest.raises(bwp.WaiterDefinitionError, match=r"StreamReady.*DescribeStreams"):
        bwp.wait_until(client, ready, max_wait=60)


@pytest.mark.parametrize("waiter", [None, 7, {"acceptors": []}])
def test_neither_name_nor_definition_is_refused(waiter):
    with pytest.raises(TypeError, match="waiter"):
        bwp.wait_until(boto3.client("kinesis"), waiter, max_wait=5)


WAYS = {
    "wait_until": lambda client, name: bwp.wait_until(client, name, max_wait=9),
    "Wait": lambda client, name: bwp.Wait(client, name, {}, max_wait=9),
    "attribute": lambda client, name: getattr(client, f"wait_until_{name}"),
    "get_waiter": lambda client, name: client.get_waiter(name),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_suggests_the_nearest_names(way):
    bwp.install()
    with pytest.raises((ValueError, AttributeError)) as raised:
        WAYS[way](boto3.client("glue"), "crawler_complete")
    prefix = "wait_until_" if way == "attribute" else ""
    for state in ("succeeded", "ready"):
        assert f"'{prefix}crawler_{state}'" in str(raised.value)
    assert "glue" in str(raised.value).lower()
