"""Runs of waits on clients whose calls take virtual time, in threads or awaited."""

import asyncio
import contextlib
import time
from types import SimpleNamespace

import boto3
from aio.clients import KEYS, required
from botocore.config import Config

import boto_waiters_plus as bwp

SESSION = boto3.session.Session(region_name="us-east-1")
COLLECTED = {"on_failure": "collect", "screen": False}


def parsed(response, status=None):
    """Return what a handler of `before-call` returns, so that no request is sent."""
    status = status or (400 if "Error" in response else 200)
    metadata = {"HTTPStatusCode": status}
    return SimpleNamespace(status_code=status), {**response, "ResponseMetadata": metadata}


def run_blocking(names, answer, waits_of, *, service, pool=1000, **options):
    """Return the results of waits by `wait_all`.

    Args:
        names: of the clients, each a region and what else tells it apart.
        answer: `answer(name, params)` gives the seconds of a call and its response.
        waits_of: returns the waits on clients that it gets by name.
        service: that of the clients.
        pool: the connections of each client.
    """

    def handler(name):
        def handle(params, **_):
            seconds, response = answer(name, params)
            time.sleep(seconds)
            return parsed(response)

        return handle

    clients, config = {}, Config(max_pool_connections=pool)
    for name in names:
        region = name.partition(" ")[0]
        clients[name] = SESSION.client(service, region_name=region, config=config)
        clients[name].meta.events.register("before-call", handler(name))
    return bwp.wait_all(waits_of(clients), **{**COLLECTED, **options})


def run_awaited(names, answer, waits_of, *, service, pool=1000, **options):
    """Return the results of the same by `wait_all_async` and aiobotocore, which cuts calls off."""
    config = required("aiobotocore.config").AioConfig(max_pool_connections=pool)
    session = required("aiobotocore.session").get_session()

    def handler(name):
        async def handle(params, **_):
            seconds, response = answer(name, params)
            await asyncio.sleep(seconds)
            return parsed(response)

        return handle

    async def main():
        async with contextlib.AsyncExitStack() as stack:
            clients = {}
            for name in names:
                arguments = {"region_name": name.partition(" ")[0], "config": config, **KEYS}
                made = session.create_client(service, **arguments)
                clients[name] = await stack.enter_async_context(made)
                clients[name].meta.events.register("before-call", handler(name))
            return await bwp.wait_all_async(waits_of(clients), **{**COLLECTED, **options})

    return asyncio.run(main())
