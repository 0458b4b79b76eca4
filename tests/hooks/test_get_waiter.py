"""`client.get_waiter` and `client.waiter_names` know the waiters that botocore lacks."""

from unittest import mock

import boto3
import botocore.waiter
import pytest
from botocore.exceptions import ClientError, WaiterError

import boto_waiters_plus as bwp

QUERY = "query_execution_succeeded"


@pytest.fixture
def athena():
    bwp.install()
    return boto3.client("athena")


# --- names --------------------------------------------------------------------------------------


@pytest.fixture
def stock():
    """The names that botocore has for EC2."""
    return boto3.client("ec2").waiter_names


def test_waiter_names_are_botocores_and_then_those_it_lacks(stock, athena):
    assert "instance_running" in stock
    ec2 = boto3.client("ec2")
    names = ec2.waiter_names
    ours = names[len(stock) :]
    assert names == stock + sorted(ours)
    assert "transit_gateway_available" in ours
    assert len(names) == len(set(names))
    bwp.uninstall()
    assert ec2.waiter_names == stock
    with pytest.raises(ValueError, match=f"{QUERY}$"):
        athena.get_waiter(QUERY)


def test_waiter_names_are_empty_where_botocore_has_none(athena):
    assert athena.waiter_names == []
    names = [n.removeprefix("wait_until_") for n in dir(athena) if "wait_until_" in n]
    assert QUERY in names
    for name in names:
        assert athena.get_waiter(name).name


def test_a_test_may_put_names_of_its_own_there(stock, athena):
    ec2 = boto3.client("ec2")
    with mock.patch.object(ec2, "waiter_names", ["mine"]):
        assert ec2.waiter_names == ["mine"]
    assert len(ec2.waiter_names) > len(stock)
    assert mock.create_autospec(athena).waiter_names is not None
    assert callable(mock.create_autospec(type(athena)).get_waiter)
    assert mock.Mock(spec=athena).waiter_names is not None


def test_botocores_own_names_keep_botocores_own_acceptors(s3, answers):
    """By AWS's Smithy model a 403 ends this wait in failure, by botocore's waiter in success."""
    assert 403 in [a.expected for a in s3.get_waiter("bucket_exists").config.acceptors]
    answers(s3, {"Error": {"Code": "403", "Message": "Forbidden"}})
    with pytest.raises(bwp.WaiterFailedError):
        s3.wait_until_bucket_exists(Bucket="b", max_wait=60)


# --- the object ---------------------------------------------------------------------------------


def test_it_is_a_waiter_as_any_other(athena):
    waiter = athena.get_waiter(QUERY)
    assert isinstance(waiter, botocore.waiter.Waiter)
    assert type(waiter).__name__ == "Athena.Waiter.QueryExecutionSucceeded"
    assert (waiter.name, waiter.outcome) == ("QueryExecutionSucceeded", None)
    definition = athena.wait_until_query_execution_succeeded.definition
    assert waiter.config.operation == "GetQueryExecution"
    assert waiter.config.delay == definition.max_delay
    expected = ["SUCCEEDED", "FAILED", "CANCELLED"]
    assert [a.expected for a in waiter.config.acceptors if a.matcher == "path"][:3] == expected


@pytest.mark.parametrize("delays", [(7, 7), (6, 10)])
def test_untouched_it_keeps_the_definitions_delays(definition, virtual_time, delays, answers):
    least, most = delays
    bwp.install(definitions=definition("StreamOfMine", minDelay=least, maxDelay=most))
    kinesis = boto3.client("kinesis")
    answers(kinesis, {"StreamDescription": {"StreamStatus": "CREATING"}})
    events = []
    waiter = kinesis.get_waiter("stream_of_mine")
    with pytest.raises(bwp.WaiterAttemptsError):
        waiter.wait(StreamName="s", on_attempt=events.append)
    assert 590 <= virtual_time.now <= 660
    found = [event.next_delay for event in events][:-2]
    assert all(least <= delay <= most for delay in found)
    assert max(found) == most


# --- what waiters-2 cannot say ------------------------------------------------------------------


def compared(state, path):
    matcher = {"path": path, "expected": "true", "comparator": "booleanEquals"}
    return {"state": state, "matcher": {"inputOutput": matcher}}


@pytest.mark.parametrize("uninstalled", [False, True])
def test_the_definition_judges_what_botocore_cannot(waitable, virtual_time, uninstalled, answers):
    """A waiter that compares input and output: what was asked for is all there."""
    all_there = waitable(
        *("AllThere", "ListShards", compared("retry", "!output.Shards")),
        compared("success", "length(input.StreamName) == length(output.Shards)"),
        {"state": "retry", "matcher": {"success": True}},
    )
    bwp.install(definitions=all_there)
    kinesis = boto3.client("kinesis")
    service = answers(kinesis, {"Shards": []}, {"Shards": [{}]}, {"Shards": [{}, {}]})
    waiter = kinesis.get_waiter("all_there")
    expected = [(each, "inputOutput", True) for each in ("retry", "success")]
    expected.append(("retry", "error", False))
    assert [(a.state, a.matcher, a.expected) for a in waiter.config.acceptors] == expected
    if uninstalled:
        # botocore's own loop could never end it.
        bwp.uninstall()
    outcome = waiter.wait(StreamName="ab")
    assert (outcome.attempts, len(service.operations)) == (3, 3)
    assert outcome.acceptor.text.startswith("length(input.StreamName)")


# --- tests of users -----------------------------------------------------------------------------


def test_a_replaced_operation_is_honoured(athena):
    waiter = athena.get_waiter(QUERY)
    succeeded = {"QueryExecution": {"Status": {"State": "SUCCEEDED"}}}
    waiter._operation_method = mock.Mock(return_value=succeeded)
    assert waiter.wait(QueryExecutionId="q").attempts == 1
    assert waiter._operation_method.mock_calls == [mock.call(QueryExecutionId="q")]
    failing = {"Error": {"Code": "InvalidRequestException", "Message": "no"}}
    waiter._operation_method = mock.Mock(return_value=failing)
    with pytest.raises(WaiterError, match="InvalidRequestException") as caught:
        waiter.wait(QueryExecutionId="q")
    assert caught.value.last_response == failing
    # What it raises, it raises on purpose.
    waiter._operation_method = mock.Mock(side_effect=ClientError(failing, "GetQueryExecution"))
    with pytest.raises(ClientError):
        waiter.wait(QueryExecutionId="q")
