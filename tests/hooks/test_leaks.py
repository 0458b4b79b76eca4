"""Secrets, responses and bodies of a wait, and large responses."""

import copy
import gc
import io
import json
import logging
import pickle
import time
import traceback
import weakref
from types import SimpleNamespace

import boto3
import pytest
from botocore.exceptions import EndpointProviderError, ParamValidationError
from botocore.response import StreamingBody

import boto_waiters_plus as bwp

SECRET = "hunter2-very-secret"
NO_ERROR = {"state": "success", "matcher": {"success": False}}


@pytest.fixture
def thing(waitable):
    """`thing(service, operation, acceptor)`: the definition of ThingDone."""

    def make(service, operation, acceptor):
        members = {"namespace": f"com.amazonaws.{service}", "minDelay": 1, "maxDelay": 1}
        return waitable("ThingDone", operation, acceptor, **members)

    return make


def where(path, expected, comparator="stringEquals", state="success"):
    matcher = {"path": path, "expected": expected, "comparator": comparator}
    return {"state": state, "matcher": {"output": matcher}}


class Answer(dict):
    """A response that can be watched."""


def answer_with(client, make):
    """Each call of the client is answered with what `make` makes, in an `Answer`."""
    made = []

    def before_call(**_):
        response = Answer(make(), ResponseMetadata={"HTTPStatusCode": 200})
        made.append(weakref.ref(response))
        return SimpleNamespace(status_code=200), response

    client.meta.events.register("before-call", before_call)
    return made


# --- secrets ---------------------------------------------------------------------------------


def shown(error):
    """Every way in which an error may end up in front of somebody."""
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    return "".join([str(error), repr(error), *lines])


@pytest.fixture
def log(caplog):
    # botocore's own debug log shows whole requests; ours shows nothing of them at any level.
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, logger="boto_waiters_plus")
    return caplog


@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
def test_parameters_and_credentials_are_shown_nowhere(way, log, virtual_time):
    bwp.install()
    client = boto3.client(
        "s3",
        aws_access_key_id="AKIA" + SECRET,
        aws_secret_access_key=SECRET,
        aws_session_token=SECRET,
    )
    answer_with(client, dict)
    parameters = {"Bucket": "b", "Key": "k", "SSECustomerKey": SECRET.ljust(32, "x")}
    options = {"initial_delay": 1, "max_attempts": 1}
    wait = getattr(client, "wait_until_object_not_exists")  # noqa: B009 - made at run time
    if way == "get_waiter":
        wait = client.get_waiter("object_not_exists").wait
    with pytest.raises(bwp.WaiterError) as caught:
        wait(max_wait=60, **options, **parameters)
    assert SECRET not in shown(caught.value) + log.text
    assert log.records
    for twin in (copy.copy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert SECRET not in shown(twin)


def test_a_response_is_shown_only_on_its_outcome(log, virtual_time, thing):
    client = boto3.client("secretsmanager")
    answer_with(client, lambda: {"SecretString": SECRET, "Name": "name"})
    there = thing("secretsmanager", "GetSecretValue", where("Name", "name"))
    bwp.enable(client, definitions=there)
    outcome = client.wait_until_thing_done(SecretId="id", max_wait=5)
    assert SECRET not in repr(outcome) + str(outcome) + log.text
    assert outcome.response["SecretString"] == SECRET
    never = thing("secretsmanager", "GetSecretValue", where("SecretString", "no"))
    bwp.enable(client, definitions=never)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        client.wait_until_thing_done(SecretId="id", max_wait=5)
    assert SECRET not in shown(caught.value) + log.text
    assert caught.value.observed is None


# --- what is kept ----------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
def test_old_responses_are_not_kept(way, virtual_time):
    bwp.install()
    client = boto3.client("dynamodb")
    made = answer_with(client, lambda: {"Table": {"TableStatus": "CREATING"}})
    alive = []
    options = {
        "on_attempt": lambda _: alive.append(sum(one() is not None for one in made)),
        "max_wait": 200,
        "TableName": "table",
    }
    wait = client.wait_until_table_exists
    if way == "get_waiter":
        wait = client.get_waiter("table_exists").wait
    gc.disable()
    try:
        with pytest.raises(bwp.WaiterTimeoutError) as caught:
            wait(**options)
        assert max(alive) == 1
        # The error has a copy of the last one.
        assert caught.value.last_response["Table"] == {"TableStatus": "CREATING"}
        assert [one() for one in made] == [None] * len(made)
    finally:
        gc.enable()
    assert len(made) >= 5


def test_a_body_that_nobody_reads_is_closed_and_that_of_the_success_is_not(virtual_time, thing):
    client = boto3.client("s3")
    bodies, types = [], iter(["soon", "soon", "now"])

    def make():
        bodies.append(io.BytesIO(b"content"))
        return {"Body": StreamingBody(bodies[-1], 7), "ContentType": next(types)}

    answer_with(client, make)
    bwp.enable(client, definitions=thing("s3", "GetObject", where("ContentType", "now")))
    outcome = client.wait_until_thing_done(Bucket="b", Key="k", max_wait=60)
    assert [body.closed for body in bodies] == [True, True, False]
    assert outcome.response["Body"].read() == b"content"


# --- large answers ---------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
def test_twenty_thousand_instances_are_judged_in_no_time(way):
    bwp.install()
    client = boto3.client("ec2")
    instance = {"State": {"Name": "running"}, "Tags": [{"Key": "k", "Value": "v"}] * 3}
    reservations = [{"Instances": [dict(instance) for _ in range(20)]} for _ in range(1000)]
    answer_with(client, lambda: {"Reservations": reservations})
    wait = client.wait_until_instance_running
    if way == "get_waiter":
        wait = client.get_waiter("instance_running").wait
    began = time.process_time()
    outcome = wait(max_wait=600)
    # It is tens of milliseconds; botocore's parser takes six seconds for such an answer.
    assert time.process_time() - began < 4
    assert outcome.attempts == 1
    assert len(repr(outcome)) < 1000
    assert len(json.dumps(str(outcome.observed))) > 20_000


# --- bad parameters --------------------------------------------------------------------------


def test_a_waiter_for_any_error_does_not_take_bad_parameters_for_one(virtual_time, thing):
    client = boto3.client("dynamodb")
    bwp.enable(client, definitions=thing("dynamodb", "DescribeTable", NO_ERROR))
    # Of a wrong type, the table's name stumbles over the rules that find the endpoint.
    for parameters in ({}, {"TableName": None}, {"TableName": 5}, {"TableName": ["t"]}):
        with pytest.raises((ParamValidationError, EndpointProviderError)):
            client.wait_until_thing_done(max_wait=60, **parameters)
    assert virtual_time.now == 0
