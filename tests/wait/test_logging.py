"""What a wait writes to the log."""

import asyncio
import logging
import re

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from wait.forms import scripted

from boto_waiters_plus import WaiterFailedError, WaiterTimeoutError
from boto_waiters_plus.conditions import poll, wait_for_async

SECRET = "hunter2-very-secret"
THROTTLE = ClientError({"Error": {"Code": "Throttling"}}, "GetThing")
LOST = ReadTimeoutError(endpoint_url="https://thing")
STATE_AND_ATTEMPT = re.compile(r": (\w+) \(attempt (\d+), ")


def waiter(path="state", expected="up", comparator="stringEquals"):
    matcher = {"path": path, "expected": expected, "comparator": comparator}
    success = {"state": "success", "matcher": {"output": matcher}}
    return {"acceptors": [success], "minDelay": 5, "maxDelay": 5}


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.DEBUG, logger="boto_waiters_plus")
    return caplog


STARTING, THROTTLES = ["starting"], [THROTTLE, THROTTLE]
LINES = {
    "one attempt": (["up"], ["1 up"]),
    "changes": ([*STARTING * 2, "booting", "up"], ["1 starting", "3 booting", "4 up"]),
    "a line a minute": (
        [*STARTING * 30, "up"],
        ["1 starting", "13 starting", "25 starting", "31 up"],
    ),
    "the first of transient errors in a row": (
        [*STARTING, LOST, *THROTTLES, THROTTLE, *STARTING, THROTTLE, "up"],
        ["1 starting", "2 ReadTimeoutError", "3 Throttling", "7 Throttling", "8 up"],
    ),
}


@pytest.mark.parametrize(("answers", "expected"), LINES.values(), ids=LINES)
def test_info_has_what_changes_and_debug_each_attempt(log, virtual_time, answers, expected):
    poll(scripted(*answers), waiter(), label="the thing", max_wait=600, delay_pace="fixed")
    assert all(" for the thing " in message for message in log.messages)
    found = {"INFO": [], "DEBUG": []}
    for record in log.records:
        state, attempt = STATE_AND_ATTEMPT.search(record.getMessage()).groups()
        found[record.levelname].append((int(attempt), state))
    assert [f"{attempt} {state}" for attempt, state in found["INFO"]] == expected
    # Each attempt is told, at one level or both.
    told = {attempt for attempt, _ in found["DEBUG"] + found["INFO"]}
    assert told == {*range(1, len(answers) + 1)}


def test_a_wait_that_fails_ends_with_its_message(log, virtual_time):
    with pytest.raises(WaiterTimeoutError) as caught:
        poll(scripted("starting"), waiter(), max_wait=20)
    assert (log.records[-1].levelname, log.messages[-1]) == ("INFO", str(caught.value))


def test_problem_of_an_expression_is_logged_once_at_debug(log, virtual_time):
    with pytest.raises(WaiterTimeoutError):
        poll(dict, waiter("length(items) > `0`", "true", "booleanEquals"), max_wait=60)
    [record] = [each for each in log.records if "cannot be evaluated" in each.getMessage()]
    assert record.levelno == logging.DEBUG
    assert "length(items) > `0`" in record.getMessage()


RESPONSES = {
    "object": {"state": {"Password": SECRET}},
    "list of objects": {"state": [{"Password": SECRET}]},
    "long list": {"state": [SECRET] * 6},
    "elsewhere": {"SecretString": SECRET},
    "beside": {"state": "starting", "SecretString": SECRET},
    "bytes": SECRET.encode(),
}


@pytest.mark.filterwarnings("ignore:waiter Poll. the expression")
@pytest.mark.parametrize("response", RESPONSES.values(), ids=RESPONSES)
@pytest.mark.parametrize("path", ["state", "length(SecretString)", "keys(SecretString)"])
def test_nothing_of_a_response_but_the_state_is_written(response, path, log, virtual_time):
    with pytest.raises(WaiterTimeoutError) as caught:
        poll(lambda: response, waiter(path), max_wait=11)
    assert SECRET not in f"{log.text}{caught.value}{caught.value!r}"


@pytest.mark.parametrize(
    ("error", "words"),
    [(ValueError(SECRET), "ValueError"), (ClientError({"Error": {"Code": "X"}}, "Y"), "X")],
)
def test_neither_parameters_nor_errors_of_no_service_are_written(log, virtual_time, error, words):
    with pytest.raises(WaiterFailedError, match=words) as caught:
        poll(scripted(error), waiter(), input={"SSECustomerKey": SECRET}, max_wait=60)
    assert SECRET not in f"{log.text}{caught.value}"


@pytest.mark.parametrize("error", [KeyError, asyncio.CancelledError])
def test_an_end_without_a_message_is_logged(log, error):
    with pytest.raises(error):
        asyncio.run(wait_for_async(scripted(error()), max_wait=60, label="the thing"))
    words = "KeyError" if error is KeyError else "cancelled"
    assert words in log.messages[-1]
    assert log.records[-1].levelname == "INFO"
