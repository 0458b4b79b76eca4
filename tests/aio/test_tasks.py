"""Waits as parts of tasks: cancelled, timed out, disturbed; nothing is left behind."""

import asyncio
import threading

import pytest
from aio.clients import COMING, client_of, table_up

import boto_waiters_plus as bwp


async def test_a_task_that_is_cancelled_in_its_call_ends_at_once(kind):
    begun, released, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()

    def block(**_):
        loop.call_soon_threadsafe(begun.set)
        released.wait(60)
        raise LookupError("lost")

    async def sleep(**_):
        begun.set()
        await asyncio.Event().wait()

    async with client_of(kind) as client:
        client.meta.events.register("before-call", sleep if kind == "aiobotocore" else block)
        task = asyncio.ensure_future(table_up(client))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    released.set()


@pytest.mark.skipif(not hasattr(asyncio, "timeout"), reason="asyncio.timeout came with 3.11")
async def test_asyncio_timeout_around_a_wait_is_a_timeout_of_asyncio(kind, answers):
    async with client_of(kind) as client:
        answers(client, COMING)
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(0.01):
                await table_up(client)
    assert not isinstance(caught.value, bwp.WaiterTimeoutError)
    assert not asyncio.current_task().cancelling()
