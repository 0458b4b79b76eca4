"""Secrets, responses and bodies: what is shown of them, and what is kept."""

import copy
import gc
import io
import logging
import pickle
import traceback
import weakref

import boto3
import botocore.session
import pytest
from botocore.exceptions import EndpointProviderError, ParamValidationError
from botocore.response import StreamingBody

import boto_waiters_plus as bwp

SECRET = "hunter2-very-secret"


def thing(operation, path, expected):
    """The definition of ThingDone."""
    return bwp.WaiterDefinition.from_states(
        "ThingDone", operation, path=path, success=[expected], min_delay=1, max_delay=1
    )


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
def test_parameters_and_credentials_are_shown_nowhere(way, log, virtual_time, answers):
    bwp.install()
    client = boto3.Session("AKIA" + SECRET, SECRET, SECRET).client("s3")
    answers(client, {})
    parameters = {"Bucket": "b", "Key": "k", "SSECustomerKey": SECRET.ljust(32, "x")}
    wait = client.wait_until_object_not_exists
    if way == "get_waiter":
        wait = client.get_waiter("object_not_exists").wait
    with pytest.raises(bwp.WaiterError) as caught:
        wait(max_wait=60, initial_delay=1, max_attempts=1, **parameters)
    assert SECRET not in shown(caught.value) + log.text
    assert log.records
    for twin in (copy.copy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert SECRET not in shown(twin)


def test_a_response_is_shown_only_on_its_outcome(log, virtual_time, answers):
    client = boto3.client("secretsmanager")
    answers(client, {"SecretString": SECRET, "Name": "name"})
    bwp.enable(client, definitions=thing("GetSecretValue", "Name", "name"))
    outcome = client.wait_until_thing_done(SecretId="id", max_wait=5)
    assert SECRET not in repr(outcome) + str(outcome) + log.text
    assert outcome.response["SecretString"] == SECRET
    bwp.enable(client, definitions=thing("GetSecretValue", "SecretString", "no"))
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        client.wait_until_thing_done(SecretId="id", max_wait=5)
    assert SECRET not in shown(caught.value) + log.text
    assert caught.value.observed is None


def test_a_body_that_nobody_reads_is_closed(virtual_time, answers):
    client = boto3.client("s3")
    bodies = [io.BytesIO(b"content") for _ in range(3)]
    types = ("soon", "soon", "now")
    found = [
        {"Body": StreamingBody(body, 7), "ContentType": kind}
        for body, kind in zip(bodies, types, strict=True)
    ]
    answers(client, *found)
    bwp.enable(client, definitions=thing("GetObject", "ContentType", "now"))
    outcome = client.wait_until_thing_done(Bucket="b", Key="k", max_wait=60)
    assert [body.closed for body in bodies] == [True, True, False]
    assert outcome.response["Body"].read() == b"content"


def test_a_waiter_for_any_error_does_not_take_bad_parameters_for_one(virtual_time, waitable):
    client = boto3.client("dynamodb")
    any_error = {"state": "success", "matcher": {"success": False}}
    bwp.enable(client, definitions=waitable("ThingDone", "DescribeTable", any_error))
    # Of a wrong type, the table's name stumbles over the rules that find the endpoint.
    for parameters in ({}, {"TableName": None}, {"TableName": 5}, {"TableName": ["t"]}):
        with pytest.raises((ParamValidationError, EndpointProviderError)):
            client.wait_until_thing_done(max_wait=60, **parameters)
    assert virtual_time.now == 0


@pytest.mark.nightly(subject="wire")
def test_sessions_and_clients_are_not_kept_alive():
    bwp.install()
    session = botocore.session.get_session()
    client = session.create_client("kinesis")
    client.wait_until_stream_exists  # noqa: B018 - builds it
    gone = [weakref.ref(session), weakref.ref(client), weakref.ref(type(client))]
    del session, client
    gc.collect()
    assert [ref() for ref in gone] == [None, None, None]
