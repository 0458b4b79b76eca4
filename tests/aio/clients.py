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
    "TableUp", "DescribeTable", path="Table.TableStatus", success=["ACTIVE"], failure=["DELETING"],
    min_delay=5, max_delay=5,
)  # fmt: skip


def required(module):
    """The module; where it is missing the test is skipped, but not where it has to be there."""
    if os.environ.get("AIO_REQUIRED"):
        return importlib.import_module(module)
    return pytest.importorskip(module, reason=f"{module} is not installed")


def awaited_client(service, *, session=None, **arguments):
    """`async with` gives a client of aiobotocore."""
    session = session or required("aiobotocore.session").get_session()
    return session.create_client(service, **{"region_name": "us-east-1", **arguments})


def table(status):
    """The response that has a table in this state."""
    return {"Table": {"TableStatus": status}}


UP, COMING = table("ACTIVE"), table("CREATING")


@contextlib.asynccontextmanager
async def client_of(kind, server=None, connections=1, retries=NO_RETRIES):
    """A client with a waiter `table_up`, which leaves nothing behind.

    Args:
        kind: see the fixture of this name.
        server: is called, if there is one.
        connections: that may be left, to be used again.
        retries: of the client itself.
    """
    url = None if server is None else server.url
    async with contextlib.AsyncExitStack() as stack:
        if kind == "aiobotocore":
            config = required("aiobotocore.config").AioConfig(retries=retries)
            client = awaited_client("dynamodb", endpoint_url=url, config=config)
            client = await stack.enter_async_context(client)
        else:
            client = boto3.client("dynamodb", endpoint_url=url, config=Config(retries=retries))
            stack.callback(client.close)
        yield bwp.enable(client, definitions=TABLE_UP)
        await nothing_left(server, connections)


def table_up(client, **options):
    """A wait of five minutes on a task's client."""
    return bwp.wait_until_async(client, "table_up", **NAME, **{"max_wait": 300, **options})


async def ending(wait):
    """The outcome of a wait, or its error."""
    try:
        return await wait
    except bwp.WaiterError as error:
        return error


async def pause_of_the_loop():
    """A pause of the loop's own clock, which virtual time leaves alone."""
    await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0.005)


async def nothing_left(server=None, connections=1):
    """No task but the caller's, and no connections but those that can be used again."""
    assert asyncio.all_tasks() == {asyncio.current_task()}
    while server is not None and server.open_connections > connections:
        await pause_of_the_loop()
