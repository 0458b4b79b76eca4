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


@pytest.mark.parametrize("event", [asyncio.Event, threading.Event])
async def test_a_cancel_event_ends_an_awaited_call_in_flight(event):
    cancel = event()

    async def hang(**_):
        cancel.set()
        await asyncio.Event().wait()

    async with client_of("aiobotocore") as client:
        client.meta.events.register("before-call", hang)
        with pytest.raises(bwp.WaiterCancelledError) as caught:
            await table_up(client, cancel_event=cancel)
    assert caught.value.attempts == 1


@pytest.mark.skipif(not hasattr(asyncio, "timeout"), reason="asyncio.timeout came with 3.11")
async def test_asyncio_timeout_around_a_wait_is_a_timeout_of_asyncio(kind, answers):
    async with client_of(kind) as client:
        answers(client, COMING)
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(0.01):
                await table_up(client)
    assert not isinstance(caught.value, bwp.WaiterTimeoutError)
    assert not asyncio.current_task().cancelling()


@pytest.mark.parametrize("error", [SystemExit(3), LookupError("a bug")], ids=repr)
def test_an_error_of_a_handler_of_the_call_comes_through_as_it_is(kind, error):
    def stumble(**_):
        raise error

    async def main():
        async with client_of(kind) as client:
            client.meta.events.register("before-call", stumble)
            await table_up(client)

    with pytest.raises(type(error)) as caught:
        asyncio.run(main())
    assert caught.value is error
