"""`client.get_waiter` and `client.waiter_names` know the waiters that botocore lacks."""

import pickle
from unittest import mock

import boto3
import botocore.waiter
import jmespath
import pytest
from botocore import xform_name
from botocore.exceptions import ClientError, WaiterError
from botocore.utils import ArgumentGenerator

import boto_waiters_plus as bwp

QUERY = "query_execution_succeeded"


def query(state, reason=None):
    status = {"State": state} if reason is None else {"State": state, "StateChangeReason": reason}
    return {"QueryExecution": {"Status": status}}


@pytest.fixture
def athena():
    bwp.install()
    return boto3.client("athena")


def wait(client, name=QUERY, **keywords):
    return client.get_waiter(name).wait(QueryExecutionId="q", **keywords)


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


@pytest.mark.parametrize("service", ["appflow", "ecr", "mwaa", "sns"])
def test_each_config_is_one_that_botocores_lint_accepts(service):
    bwp.install()
    client = boto3.client(service)
    names = [n.removeprefix("wait_until_") for n in dir(client) if n.startswith("wait_until_")]
    assert names
    for name in names:
        config = client.get_waiter(name).config
        operation = client.meta.service_model.operation_model(config.operation)
        assert xform_name(config.operation) in dir(client)
        assert config.delay >= 1
        assert config.max_attempts >= 1
        for acceptor in config.acceptors:
            if acceptor.matcher.startswith("path"):
                made_up = ArgumentGenerator().generate_skeleton(operation.output_shape)
                value = jmespath.search(acceptor.argument, made_up)
                assert isinstance(value, object if acceptor.matcher == "path" else list)
                assert value is not None


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


def test_a_failure_is_in_botocores_words_and_the_services(athena, answers):
    answers(athena, query("FAILED", "SYNTAX_ERROR"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        wait(athena)
    error = caught.value
    assert "terminal failure state: For expression" in error.kwargs["reason"]
    assert error.service_message == "SYNTAX_ERROR"
    assert error.last_response["QueryExecution"]["Status"]["State"] == "FAILED"
    assert error.acceptor.index == 1
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_failure_of_several_names_the_one_that_failed(answers):
    bwp.install()
    ec2, states = boto3.client("ec2"), {"i-0": "running", "i-1": "terminated"}
    instances = [{"InstanceId": each, "State": {"Name": states[each]}} for each in states]
    answers(ec2, {"Reservations": [{"Instances": instances}]})
    with pytest.raises(bwp.WaiterFailedError, match="failed: i-1 "):
        ec2.get_waiter("instance_running").wait(InstanceIds=[*states])


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
def test_the_definition_judges_where_botocores_form_has_no_words(
    waitable, virtual_time, uninstalled, answers
):
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
    assert [(a.state, a.matcher, a.expected) for a in waiter.config.acceptors] == [
        ("retry", "inputOutput", True),
        ("success", "inputOutput", True),
        ("retry", "error", False),
    ]
    if uninstalled:
        # botocore's own loop could never end it.
        bwp.uninstall()
    outcome = waiter.wait(StreamName="ab")
    assert (outcome.attempts, len(service.operations)) == (3, 3)
    assert outcome.acceptor.text.startswith("length(input.StreamName)")


# --- tests of users -----------------------------------------------------------------------------


def test_a_replaced_operation_is_honoured(athena):
    waiter = athena.get_waiter(QUERY)
    waiter._operation_method = mock.Mock(return_value=query("SUCCEEDED"))
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
