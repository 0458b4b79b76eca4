"""Clients whose waits are awaited, of aiobotocore and of boto3, and what these tests answer."""

import asyncio
import contextlib
import importlib
import os

import boto3
import pytest
from botocore.config import Config

import boto_waiters_plus as bwp

KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
NO_RETRIES = {"total_max_attempts": 1, "mode": "standard"}
NAME = {"TableName": "table"}
TABLE_UP = bwp.WaiterDefinition.from_states(
    "TableUp",
    "DescribeTable",
    path="Table.TableStatus",
    success=["ACTIVE"],
    failure=["DELETING"],
    min_delay=5,
    max_delay=5,
)


def required(module):
    """The module; where it is missing the test is skipped, but not where it has to be there."""
    if os.environ.get("AIO_REQUIRED"):
        return importlib.import_module(module)
    return pytest.importorskip(module, reason=f"{module} is not installed")


def table(status):
    """The response that has a table in this state."""
    return {"Table": {"TableStatus": status}}


UP, COMING, GOING = table("ACTIVE"), table("CREATING"), table("DELETING")


def _arguments(url, config, retries):
    return {
        "region_name": "us-east-1",
        "endpoint_url": url,
        "config": config(retries=retries),
        **KEYS,
    }


@contextlib.asynccontextmanager
async def _awaited_client(url, retries):
    config = required("aiobotocore.config").AioConfig
    session = required("aiobotocore.session").get_session()
    async with session.create_client("dynamodb", **_arguments(url, config, retries)) as client:
        yield client


@contextlib.asynccontextmanager
async def _blocking_client(url, retries):
    client = boto3.Session().client("dynamodb", **_arguments(url, Config, retries))
    with contextlib.closing(client):
        yield client


CLIENTS = {"aiobotocore": _awaited_client, "boto3 in threads": _blocking_client}


@contextlib.asynccontextmanager
async def client_of(name, url=None, retries=NO_RETRIES):
    """A client with a waiter `table_up`; it does not retry by itself unless asked to."""
    async with CLIENTS[name](url, retries) as client:
        yield bwp.enable(client, definitions=TABLE_UP)


def table_up(client, **options):
    """A wait of five minutes on a task's client."""
    return bwp.wait_until_async(client, "table_up", **NAME, **{"max_wait": 300, **options})


async def ending(wait):
    """The outcome of a wait, or its error."""
    try:
        return await wait
    except bwp.WaiterError as error:
        return error


async def nothing_left(server=None, connections=1):
    """No task but the caller's, and no connections but those that can be used again."""
    assert asyncio.all_tasks() == {asyncio.current_task()}
    if server is not None:
        for _ in range(12_000):
            if server.open_connections <= connections:
                break
            # A pause of the loop's own clock, which virtual time leaves alone.
            await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0.005)
        assert server.open_connections <= connections
