"""Warnings name the caller's line, whichever way the wait was started."""

import asyncio
import warnings

import boto3
import botocore.waiter
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.conditions import poll

EMPTY = {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]}


@pytest.fixture
def kinesis(definition, answers, active):
    client = boto3.client("kinesis")
    answers(client, active)
    return bwp.enable(client, definitions=definition("OldStream", deprecated=True))


OLD = {
    "function": lambda c: bwp.wait_until(c, "old_stream", StreamName="s", max_wait=60),
    "of many": lambda c: bwp.Wait(c, "old_stream", {"StreamName": "s"}, max_wait=60),
    "waiter object": lambda c: c.get_waiter("old_stream").wait(StreamName="s"),
    "poll": lambda c: poll(c.describe_stream, c.wait_until_old_stream.definition, max_wait=60),
}


@pytest.mark.parametrize("wait", OLD.values(), ids=OLD)
def test_a_deprecated_waiter_names_the_line_of_the_call(kinesis, wait):
    with pytest.warns(DeprecationWarning, match="OldStream") as caught:
        wait(kinesis)
    assert (caught[0].filename, caught[0].lineno) == (__file__, wait.__code__.co_firstlineno)


@pytest.mark.parametrize("wait", OLD.values(), ids=OLD)
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
    waiter = client.get_waiter("instance_running")
    with pytest.warns(UserWarning, match="InstanceIds") as caught:
        assert waiter.wait(InstanceIds=[]).attempts == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert waiter.wait(InstanceIds=["i-1"]).attempts == 1
    assert len(asked.requests) == 2


# --- expressions that fail ---


FAILING = "abs(StreamDescription.StreamStatus)"
STREAM = {"StreamName": "s"}
GIVEN = {**STREAM, "max_wait": 9}


def one(client):
    return [bwp.Wait(client, "GoodStream", STREAM, max_wait=9)]


def completed(client):
    [(_, error)] = bwp.as_completed(one(client))
    raise error


def by_hand(client):
    bwp.install()
    acceptor = {"matcher": "path", "argument": FAILING, "expected": 1, "state": "success"}
    config = {"operation": "DescribeStream", "delay": 1, "maxAttempts": 9, "acceptors": [acceptor]}
    model = botocore.waiter.WaiterModel({"version": 2, "waiters": {"GoodStream": config}})
    botocore.waiter.create_waiter_with_client("GoodStream", model, client).wait(**GIVEN)


WAYS = {
    "method": lambda c: c.wait_until_good_stream(**GIVEN),
    "wait_until": lambda c: bwp.wait_until(c, "GoodStream", **GIVEN),
    "get_waiter": lambda c: c.get_waiter("good_stream").wait(**GIVEN),
    "by hand": by_hand,
    "wait_until_async": lambda c: asyncio.run(bwp.wait_until_async(c, "GoodStream", **GIVEN)),
    "wait_all": lambda c: bwp.wait_all(one(c)),
    "wait_all in a thread": lambda c: bwp.wait_all(one(c), progress=lambda _: None),
    "as_completed": completed,
    "wait_all_async": lambda c: asyncio.run(bwp.wait_all_async(one(c))),
    "start": lambda c: operations.start(c, "GoodStream", **GIVEN).result(60),
    "poll": lambda c: poll(
        c.describe_stream, c.wait_until_good_stream.definition, input=STREAM, max_wait=9
    ),
}


@pytest.fixture
def failing(waitable, answers):
    """`failing(path, *states)`: a client with a waiter `GoodStream` on this expression."""

    def make(path, *states):
        client = boto3.client("kinesis")
        streams = [{"StreamDescription": {"StreamStatus": each}} for each in states or ["CREATING"]]
        answers(client, *streams)
        failing = {"path": path, "expected": "ACTIVE", "comparator": "stringEquals"}
        success = {"state": "success", "matcher": {"output": failing}}
        document = waitable("GoodStream", "DescribeStream", success, minDelay=1, maxDelay=1)
        return bwp.enable(client, definitions=document)

    return make


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_expression_is_told_after_an_attempt(failing, virtual_time, caplog, way):
    client, is_told = failing(FAILING), pytest.warns(UserWarning, match="GoodStream")
    with is_told as caught, pytest.raises(bwp.WaiterError) as raised:
        WAYS[way](client)
    [warning] = caught
    assert FAILING in str(warning.message)
    assert warning.filename == __file__
    logged = [each for each in caplog.records if each.getMessage() == str(warning.message)]
    assert [each.levelname for each in logged] == ["WARNING"]
    error = raised.value
    error = error.errors[0] if isinstance(error, bwp.WaitersError) else error
    assert f"{FAILING} (abs() takes number, not string)" in str(error)
    assert error.attempts > 1


@pytest.mark.parametrize(("path", "states", "is_named"), [
    ("sum([Missing])", ["CREATING"], True),
    ("length(StreamDescription.StreamStatus)", [None, "CREATING"], False),
    ("length(StreamDescription.StreamStatus)", ["CREATING", None], False),
    ("abs(StreamDescription.StreamStatus)", [None, "CREATING"], True),
])  # fmt: skip
def test_what_may_succeed_later_is_named_by_the_error_only(
    failing, virtual_time, recwarn, path, states, is_named
):
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        failing(path, *states).wait_until_good_stream(StreamName="s", max_wait=9)
    assert list(recwarn) == []
    assert (f"Failing expressions: {path} (" in str(raised.value)) is is_named


def test_all_waits_of_a_waiter_tell_a_failing_expression_once(failing, virtual_time):
    client = failing("length()")
    waits = [bwp.Wait(client, "GoodStream", {"StreamName": f"s{n}"}) for n in range(5)]
    is_told = pytest.warns(UserWarning, match="the expression")
    with is_told as caught, pytest.raises(bwp.WaitersError):
        bwp.wait_all(waits, max_wait=3)
    assert len(caught) == 1


def test_a_failing_expression_is_told_as_it_was_given(failing, virtual_time):
    waiter = bwp.WaiterDefinition.from_states("Good", "DescribeStream", path=FAILING, success=["1"])
    is_told = pytest.warns(UserWarning, match="the expression")
    with is_told as caught, pytest.raises(bwp.WaiterError) as raised:
        bwp.wait_until(failing(FAILING), waiter, StreamName="s", max_wait=3)
    assert (len(caught), f"[{FAILING}]" in f"{caught[0].message} {raised.value}") == (1, False)
