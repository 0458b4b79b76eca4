"""Warnings name the caller's line, whichever way the wait was started."""

import inspect
import warnings

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import poll

EMPTY = {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]}


@pytest.fixture
def kinesis(definition, answers, active):
    client = boto3.client("kinesis")
    answers(client, active)
    return bwp.enable(client, definitions=definition("OldStream", deprecated=True))


def wait_until_method(client):
    return client.wait_until_old_stream(StreamName="s", max_wait=5)


def wait_until_function(client):
    return bwp.wait_until(client, "old_stream", StreamName="s", max_wait=5)


def wait_object(client):
    return bwp.Wait(client, "old_stream", {"StreamName": "s"}, max_wait=5)


def wait_waiter(client):
    return client.get_waiter("old_stream").wait(StreamName="s")


def wait_poll(client):
    return poll(client.describe_stream, client.wait_until_old_stream.definition, max_wait=5)


@pytest.mark.parametrize(
    "wait", [wait_until_method, wait_until_function, wait_object, wait_waiter, wait_poll]
)
def test_a_deprecated_waiter_names_the_line_of_the_call(kinesis, wait):
    with pytest.warns(DeprecationWarning, match="OldStream is deprecated") as caught:
        wait(kinesis)
    assert (caught[0].filename, caught[0].lineno) == (__file__, inspect.getsourcelines(wait)[1] + 1)


@pytest.mark.parametrize(
    "wait", [wait_until_method, wait_until_function, wait_object, wait_waiter, wait_poll]
)
def test_a_warning_that_is_an_error_is_logged_and_the_wait_goes_on(kinesis, wait, caplog):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = wait(kinesis)
    if isinstance(result, bwp.Wait):
        [result] = bwp.wait_all([result])
    assert result.attempts == 1
    assert "waiter OldStream is deprecated" in caplog.messages


def test_get_waiter_warns_of_an_empty_id_list_and_keeps_stock_behaviour(answers):
    bwp.install()
    client = boto3.client("ec2")
    asked = answers(client, EMPTY)
    with pytest.warns(UserWarning, match="InstanceIds is empty; DescribeInstances") as caught:
        outcome = client.get_waiter("instance_running").wait(InstanceIds=[])
    assert caught[0].filename == __file__
    assert (outcome.attempts, len(asked.requests)) == (1, 1)


def test_get_waiter_with_ids_does_not_warn(answers):
    bwp.install()
    client = boto3.client("ec2")
    answers(client, EMPTY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert client.get_waiter("instance_running").wait(InstanceIds=["i-1"]).attempts == 1
