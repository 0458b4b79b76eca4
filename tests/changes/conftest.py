"""Clients of call_once, and errors of transport."""

import asyncio
import functools
import json

import boto3
import pytest
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError, ReadTimeoutError
from changes.token_service import serving

from boto_waiters_plus import idempotency

LOST = [
    kind(endpoint_url="https://ec2")
    for kind in (ReadTimeoutError, ConnectionClosedError, EndpointConnectionError)
]


class SmallStore:
    """Keeps calls in memory, as JSON, with no more methods than a store must have.

    Args:
        pass_point: called with the name of each point that is passed.
    """

    def __init__(self, pass_point=lambda point: None):
        self.records, self.results, self._pass_point = [], [], pass_point

    def save_call(self, record):
        self._keep(self.records, record, "save")
        return "calls/1"

    def finish_call(self, path, result):
        assert path == "calls/1"
        self._keep(self.results, result, "finish")

    def _keep(self, rows, row, name):
        self._pass_point(f"before {name}")
        rows.append(json.loads(json.dumps(row)))
        self._pass_point(f"after {name}")


@pytest.fixture
def small_store():
    return SmallStore()


@pytest.fixture
def image():
    return {"ImageId": "ami-1", "MinCount": 1, "MaxCount": 1}


@pytest.fixture
def running():
    return {"Instances": [{"InstanceId": "i-1", "State": {"Name": "pending"}}]}


@pytest.fixture
def polled():
    """`polled(state)`: an instance in this state, as DescribeInstances answers."""

    def answer(state):
        instance = {"InstanceId": "i-1", "State": {"Name": state}}
        return {"Reservations": [{"Instances": [instance]}]}

    return answer


@pytest.fixture
def table():
    return {
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }


@pytest.fixture(params=LOST, ids=lambda error: type(error).__name__)
def each_lost(request):
    return request.param


@pytest.fixture
def lost():
    return LOST[0]


@pytest.fixture
def ec2(stock_botocore, virtual_time):
    return boto3.client("ec2")


@pytest.fixture
def dynamodb(stock_botocore, virtual_time):
    return boto3.client("dynamodb")


@pytest.fixture(params=["blocking", "task"])
def call_once(request):
    """`call_once`, blocking and as part of a task."""
    if request.param == "blocking":
        return idempotency.call_once

    @functools.wraps(idempotency.call_once)
    def in_task(*arguments, **keywords):
        return asyncio.run(idempotency.call_once_async(*arguments, **keywords))

    return in_task


@pytest.fixture(scope="module")
def served():
    """A service on a loopback port."""
    with serving() as kept:
        yield kept
