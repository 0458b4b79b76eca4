"""`until_state`: an operation and a state in place of a waiter."""

import asyncio

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import operations


@pytest.fixture
def dynamodb(answers):
    """`dynamodb(*states)`: a client whose table passes through these states."""

    def client(*states):
        made = boto3.client("dynamodb")
        answers(made, *[{"Table": {"TableStatus": state}} for state in states])
        return made

    return client


ACTIVE = {"until_state": "ACTIVE", "max_wait": 60}


@pytest.mark.parametrize("name", ["DescribeTable", "describe_table"])
def test_wait_until_takes_an_operation_and_a_state(dynamodb, virtual_time, name):
    client = dynamodb("CREATING", "ACTIVE", "INACCESSIBLE_ENCRYPTION_CREDENTIALS")
    outcome = bwp.wait_until(client, name, TableName="orders", **ACTIVE)
    assert (outcome.waiter, outcome.attempts) == ("DescribeTableUntilActive", 2)
    assert outcome.observed == "ACTIVE"
    # A failure state of the model.
    with pytest.raises(bwp.WaiterFailedError) as caught:
        bwp.wait_until(client, name, TableName="orders", **ACTIVE)
    assert caught.value.observed == "INACCESSIBLE_ENCRYPTION_CREDENTIALS"


def test_tasks_and_many_waits_take_it(dynamodb, virtual_time):
    client = dynamodb("ACTIVE")
    wait = bwp.Wait(client, "DescribeTable", {"TableName": "orders"}, **ACTIVE)
    assert bwp.wait_all([wait])[0].observed == "ACTIVE"
    operation = operations.start(client, "DescribeTable", TableName="orders", **ACTIVE)
    assert operation.result(timeout=60).observed == "ACTIVE"
    coroutine = bwp.wait_until_async(client, "DescribeTable", TableName="orders", **ACTIVE)
    assert asyncio.run(coroutine).observed == "ACTIVE"


@pytest.mark.parametrize(
    ("waiter", "keywords", "error", "names"),
    [
        ("DescribeTabel", ACTIVE, ValueError, "dynamodb: .* 'DescribeTable'"),
        ("TableExists", ACTIVE, ValueError, "until_state"),
        ("DescribeTable", {"max_wait": 60}, ValueError, "until_state"),
        ("DescribeTable", {"max_wait": 60, "state_path": "Table"}, TypeError, "until_state"),
        (7, ACTIVE, TypeError, "until_state"),
        ("DescribeTable", ACTIVE | {"until_state": "ACTIV"}, ValueError, "'ACTIVE'"),
    ],
)
def test_what_does_not_go_together_is_refused(dynamodb, waiter, keywords, error, names):
    with pytest.raises(error, match=names):
        bwp.wait_until(dynamodb(), waiter, TableName="orders", **keywords)


def test_a_method_of_a_client_does_not_take_it():
    client = bwp.enable(boto3.client("dynamodb"))
    with pytest.raises(TypeError, match="until_state"):
        client.wait_until_table_exists(TableName="orders", until_state="ACTIVE", max_wait=60)
