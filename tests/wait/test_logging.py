"""What a wait writes to the log."""

import asyncio
import contextlib
import logging

import botocore.exceptions
import pytest

from boto_waiters_plus import WaiterFailedError, WaiterTimeoutError
from boto_waiters_plus.conditions import poll, wait_for_async

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
    told = "length(items) > `0` (length() takes string or array or object, not null)"
    assert told in record.getMessage()


def lines_of(caplog, level, states, waiter, **options):
    """Return the lines of a wait that sees these states."""
    caplog.set_level(level, logger="boto_waiters_plus")
    values = iter(states)
    with contextlib.suppress(WaiterTimeoutError):
        poll(lambda: {"state": next(values)}, waiter, label="the thing", **options)
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def test_info_has_start_changes_and_end(caplog, virtual_time):
    states = ["starting", "starting", "booting", "up"]
    assert lines_of(caplog, logging.INFO, states, waiter(), max_wait=60) == [
        ("INFO", "Waiter Poll for the thing is waiting: starting (attempt 1, 0.0 s)"),
        ("INFO", "Waiter Poll for the thing has changed: booting (attempt 3, 10.0 s)"),
        ("INFO", "Waiter Poll for the thing succeeded: up (attempt 4, 15.0 s)"),
    ]


def test_info_has_one_line_a_minute_without_a_change(caplog, virtual_time):
    [first, *still, end] = lines_of(
        caplog, logging.INFO, ["starting"] * 99, waiter(), max_wait=150, delay_pace="fixed"
    )
    assert first[1].endswith("is waiting: starting (attempt 1, 0.0 s)")
    assert [line for _, line in still] == [
        "Waiter Poll for the thing is still waiting: starting (attempt 13, 60.0 s)",
        "Waiter Poll for the thing is still waiting: starting (attempt 25, 120.0 s)",
    ]
    assert end[1].startswith("Waiter Poll timed out after 150 s for the thing: waited for state")


def test_info_has_the_first_of_transient_errors_in_a_row(caplog, virtual_time):
    caplog.set_level(logging.DEBUG, logger="boto_waiters_plus")
    throttle = botocore.exceptions.ClientError({"Error": {"Code": "Throttling"}}, "GetThing")
    lost = botocore.exceptions.ReadTimeoutError(endpoint_url="https://x")
    answers = iter(["starting", throttle, throttle, lost, "starting", throttle, "up"])

    def call():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return {"state": answer}

    poll(call, waiter(), label="it", max_wait=60)
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert lines == [
        "Waiter Poll for it is waiting: starting (attempt 1, 0.0 s)",
        (
            "Waiter Poll for it had a transient error: Throttling (attempt 2, 5.0 s), "
            "next attempt in 5.0 s"
        ),
        (
            "Waiter Poll for it had a transient error: ReadTimeoutError (attempt 4, 15.0 s), "
            "next attempt in 5.0 s"
        ),
        (
            "Waiter Poll for it had a transient error: Throttling (attempt 6, 25.0 s), "
            "next attempt in 5.0 s"
        ),
        "Waiter Poll for it succeeded: up (attempt 7, 30.0 s)",
    ]
    assert sum("transient error" in record.getMessage() for record in caplog.records) == 4


def test_debug_has_each_attempt(caplog, virtual_time):
    lines = lines_of(caplog, logging.DEBUG, ["starting", "up"], waiter(), max_wait=60)
    assert [line for level, line in lines if level == "DEBUG"] == [
        ("Waiter Poll for the thing saw: starting (attempt 1, 0.0 s), next attempt in 5.0 s"),
        "Waiter Poll for the thing saw: up (attempt 2, 5.0 s)",
    ]


def test_a_wait_of_one_attempt_is_one_line(caplog, virtual_time):
    [line] = lines_of(caplog, logging.INFO, ["up"], waiter(), max_wait=60)
    assert line == ("INFO", "Waiter Poll for the thing succeeded: up (attempt 1, 0.0 s)")


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

    with pytest.raises(WaiterFailedError, match="call failed with ValueError") as caught:
        poll(call, waiter(), max_wait=60)
    assert SECRET not in log.text
    assert SECRET not in str(caught.value)


def test_nothing_is_written_above_info(caplog, virtual_time):
    assert lines_of(caplog, logging.WARNING, ["starting"] * 99, waiter(), max_wait=60) == []


@pytest.mark.parametrize(
    ("error", "words"),
    [(KeyError, "was ended by KeyError"), (asyncio.CancelledError, "was cancelled")],
)
def test_an_end_without_a_message_is_logged(caplog, error, words):
    def call():
        raise error

    caplog.set_level(logging.INFO, logger="boto_waiters_plus")
    with pytest.raises(error):
        asyncio.run(wait_for_async(call, max_wait=5, label="the thing"))
    assert caplog.messages == [f"Waiter wait_for for the thing {words} (attempt 1, 0.0 s)"]
