"""Bad input of `wait_until_*` and `wait_until`: refused before the first request."""

import json
from functools import partial

import boto3
import pytest
from botocore.exceptions import ParamValidationError
from case_tables import tabled

import boto_waiters_plus as bwp


@pytest.fixture(params=["method", "function"])
def wait(request, s3, answers):
    """A wait by a method or by `wait_until`, with its requests."""
    call = partial(bwp.wait_until, s3, "BucketExists")
    if request.param == "method":
        call = partial(s3.wait_until_bucket_exists)
    call.requests = answers(s3, {}).requests
    return call


@tabled("max_wait", "kind", "text")
def test_max_wait(wait, max_wait, kind, text):
    with pytest.raises(kind, match=text):
        wait(Bucket="b", max_wait=max_wait)
    assert wait.requests == []


@tabled("options", "kind", "text")
def test_options(wait, options, kind, text):
    with pytest.raises(kind, match=text):
        wait(Bucket="b", max_wait=30, **options)
    assert wait.requests == []


@tabled("parameters", "text")
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
    outcome = bwp.wait_until(client, name, Bucket="b", max_wait=60)
    assert isinstance(outcome, bwp.ResponseOutcome)
    assert outcome.waiter == "BucketExists"
    assert outcome.response["ResponseMetadata"]["HTTPStatusCode"] == 200


@tabled("name", "near")
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


@tabled("keywords", "right", ids=str)
def test_options_of_other_waiters_are_answered_with_ours(s3, keywords, right):
    (wrong,) = keywords
    with pytest.raises(TypeError, match=rf"takes {right}.* instead of {wrong}$"):
        s3.wait_until_bucket_exists(Bucket="b", max_wait=5, **keywords)
