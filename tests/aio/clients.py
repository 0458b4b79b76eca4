"""Clients of either kind on a loopback server, and the three ways to wait on them."""

import asyncio
import contextlib
import functools
import importlib
import json
import os

import boto3
import pytest
from botocore.config import Config
from case_tables import tables
from faults.scenarios import KEYS, error
from faults.server import answer

import boto_waiters_plus as bwp

DEFINITIONS = tables("aio")["clients.py::DEFINITIONS"]


def table(status):
    """The answer that has a table in this state."""
    body = json.dumps({"Table": {"TableName": "table", "TableStatus": status}})
    return answer(body=body.encode())


UP, COMING, GOING = table("ACTIVE"), table("CREATING"), table("DELETING")
IN_USE = error("json", 400, "TableInUseException")
MISSING = error("json", 400, "ResourceNotFoundException")
FORBIDDEN = error("json", 400, "AccessDeniedException")
THROTTLED = error("json", 400, "ThrottlingException")
UNAVAILABLE = error("json", 503, "ServiceUnavailable")


def required(module):
    """The module; where it is missing the test is skipped, but not where it has to be there."""
    if os.environ.get("AIO_REQUIRED"):
        return importlib.import_module(module)
    return pytest.importorskip(module, reason=f"{module} is not installed")


NO_RETRIES = {"total_max_attempts": 1, "mode": "standard"}


def _arguments(url, config, retries):
    return {
        "region_name": "us-east-1",
        "endpoint_url": url,
        "config": config(retries=retries),
        **KEYS,
    }


@functools.cache
def _session():
    return boto3.Session()


@functools.cache
def _aiosession():
    return required("aiobotocore.session").get_session()


def blocking_client(url, retries=NO_RETRIES):
    """A boto3 client; it does not retry by itself unless asked to."""
    client = _session().client("dynamodb", **_arguments(url, Config, retries))
    return bwp.enable(client, definitions=DEFINITIONS)


@contextlib.asynccontextmanager
async def awaited_client(url, retries=NO_RETRIES):
    """An aiobotocore client; it does not retry by itself unless asked to."""
    config = required("aiobotocore.config").AioConfig
    arguments = _arguments(url, config, retries)
    async with _aiosession().create_client("dynamodb", **arguments) as client:
        yield bwp.enable(client, definitions=DEFINITIONS)


@contextlib.asynccontextmanager
async def _blocking_client(url, retries=NO_RETRIES):
    with contextlib.closing(blocking_client(url, retries)) as client:
        yield client


async def by_method(client, waiter, **keywords):
    return await getattr(client, f"wait_until_{waiter}")(**keywords)


async def by_function(client, waiter, **keywords):
    return await bwp.wait_until_async(client, waiter, **keywords)


class Awaited:
    """A way to wait that is part of a task.

    Args:
        make_client: gives the client on a URL.
        wait: waits on it.
    """

    def __init__(self, make_client, wait):
        self.client = make_client
        self.wait = wait

    def run(self, server, waiter, keywords, budget=None):
        """Wait in a loop of its own; the outcome or the error, with nothing left behind."""

        async def main():
            async with self.client(server.url) as client:
                with budgeted(budget):
                    end = await ending(self.wait(client, waiter, **keywords))
                await nothing_left(server)
            return end

        return asyncio.run(main())


class Blocking:
    """boto3 as ever."""

    def run(self, server, waiter, keywords, budget=None):
        """Wait; the outcome or the error, with nothing left behind."""
        with contextlib.closing(blocking_client(server.url)) as client:
            try:
                with budgeted(budget):
                    end = getattr(client, f"wait_until_{waiter}")(**keywords)
            except bwp.WaiterError as error:
                end = error
            # botocore keeps what can be used again; the table has no more requests to come. The
            # server's thread may still be closing a connection that it ended itself.
            assert server.wait_until_closed(5, but=1)
        return end


def budgeted(seconds):
    """A `deadline` of so many seconds, or none."""
    return contextlib.nullcontext() if seconds is None else bwp.deadline(seconds)


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
        for _ in range(1000):
            if server.open_connections <= connections:
                break
            # A pause of the loop's own clock, which virtual time leaves alone.
            await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0.005)
        assert server.open_connections <= connections


WAYS = {
    "boto3": Blocking(),
    "aiobotocore": Awaited(awaited_client, by_method),
    "aiobotocore by name": Awaited(awaited_client, by_function),
    "boto3 in threads": Awaited(_blocking_client, by_function),
}
AWAITED = [name for name, way in WAYS.items() if isinstance(way, Awaited) and "name" not in name]


def way(name):
    """One of the ways, if what it needs is installed."""
    if name.startswith("aiobotocore"):
        required("aiobotocore.session")
    return WAYS[name]
