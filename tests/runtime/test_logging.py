"""What a wait writes to the log."""

import logging

import botocore.exceptions
import pytest

from boto_waiters_plus import WaiterFailedError, WaiterTimeoutError
from boto_waiters_plus.conditions import poll

SECRET = "hunter2-very-secret"


def waiter(path="state", expected="up", comparator="stringEquals"):
    matcher = {"path": path, "expected": expected, "comparator": comparator}
    return {
        "acceptors": [{"state": "success", "matcher": {"output": matcher}}],
        "minDelay": 5,
        "maxDelay": 5,
    }


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.DEBUG, logger="boto_waiters_plus")
    return caplog


def test_problem_of_an_expression_is_logged_once_at_debug(log, virtual_time):
    with pytest.raises(WaiterTimeoutError):
        poll(dict, waiter("length(items) > `0`", "true", "booleanEquals"), max_wait=60)
    records = [record for record in log.records if "cannot be evaluated" in record.getMessage()]
    [record] = records
    assert record.levelno == logging.DEBUG
    assert "length(items) > `0` (JMESPathTypeError)" in record.getMessage()


def test_each_attempt_is_one_line_at_debug(log, virtual_time):
    states = iter(["starting", "up"])
    poll(lambda: {"state": next(states)}, waiter(), max_wait=60)
    lines = [record.getMessage() for record in log.records]
    assert lines == [
        "Poll: attempt 1 after 0.000 s: starting, next attempt in 5.000 s",
        "Poll: attempt 2 after 5.000 s: up",
    ]
    assert {record.levelno for record in log.records} == {logging.DEBUG}


@pytest.mark.parametrize(
    "response",
    [
        {"state": {"Password": SECRET}},
        {"state": [{"Password": SECRET}]},
        {"state": [SECRET] * 6},
        {"SecretString": SECRET},
        {"state": "starting", "SecretString": SECRET},
        SECRET.encode(),
    ],
    ids=["object", "list of objects", "long list", "elsewhere", "beside", "bytes"],
)
@pytest.mark.parametrize("path", ["state", "length(SecretString)", "keys(SecretString)"])
def test_nothing_of_a_response_but_the_state_is_written(response, path, log, virtual_time):
    with pytest.raises(WaiterTimeoutError) as caught:
        poll(lambda: response, waiter(path), max_wait=11)
    assert SECRET not in log.text
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value)


def test_no_parameter_is_written(log, virtual_time):
    def call(**_parameters):
        raise botocore.exceptions.ClientError({"Error": {"Code": "Oops"}}, "GetThing")

    with pytest.raises(WaiterFailedError) as caught:
        poll(call, waiter(), input={"SSECustomerKey": SECRET}, max_wait=60)
    assert SECRET not in log.text
    assert SECRET not in str(caught.value)


def test_of_an_error_of_no_service_only_the_class_is_written(log, virtual_time):
    def call():
        raise ValueError(SECRET)

    with pytest.raises(WaiterFailedError, match=r"An error occurred \(ValueError\)") as caught:
        poll(call, waiter(), max_wait=60)
    assert SECRET not in log.text
    assert SECRET not in str(caught.value)


def test_nothing_is_written_above_debug(caplog, virtual_time):
    caplog.set_level(logging.INFO)
    with pytest.raises(WaiterTimeoutError):
        poll(dict, waiter("length(items)"), max_wait=60)
    assert caplog.records == []
