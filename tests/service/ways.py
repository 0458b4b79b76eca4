"""The ways to wait on a client, called alike: `way(client, waiter, max_wait=, **parameters)`."""

import asyncio
import contextlib

import boto_waiters_plus as bwp
from boto_waiters_plus import operations


def by_method(client, waiter, **keywords):
    return getattr(client, f"wait_until_{waiter}")(**keywords)


def by_waiter(client, waiter, **keywords):
    return client.get_waiter(waiter).wait(**keywords)


def by_plain_waiter(client, waiter, *, max_wait, **parameters):
    config = {"Delay": 1, "MaxAttempts": max_wait}
    return by_waiter(client, waiter, WaiterConfig=config, **parameters)


def by_task(client, waiter, **keywords):
    return asyncio.run(bwp.wait_until_async(client, waiter, **keywords))


def by_batch(client, waiter, **keywords):
    options = {name: keywords.pop(name) for name in list(keywords) if "_" in name}
    wait = bwp.Wait(client, waiter, keywords, **options)
    [result] = bwp.wait_all([wait], on_failure="collect")
    if isinstance(result, Exception):
        raise result
    return result


def in_background(client, waiter, **keywords):
    return operations.start(client, waiter, **keywords).result()


def in_store(client, waiter, **keywords):
    with contextlib.closing(operations.Store(":memory:")) as store:
        operation = store.start(client, waiter, **keywords)
        store.work(until_idle=True, make_client=lambda _: client)
        return operation.result()


CALLS = [by_method, by_waiter, by_task, by_batch]
ALL = [*CALLS, in_background, in_store]
