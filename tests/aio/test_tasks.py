"""Waits as parts of tasks: cancelled, timed out, side by side; nothing is left behind."""

import asyncio
import threading

import pytest
from aio.clients import CLIENTS, COMING, NAME, UP, client_of, nothing_left, required, table_up

import boto_waiters_plus as bwp


@pytest.fixture(params=CLIENTS)
def name(request):
    """The kind of client, if what it needs is installed."""
    if request.param == "aiobotocore":
        required("aiobotocore.session")
    return request.param


def on(name, main):
    """Run `main(client)` in a loop of its own."""

    async def run():
        async with client_of(name) as client:
            result = await main(client)
            await nothing_left()
            return result

    return asyncio.run(run())


def test_a_task_that_is_cancelled_in_its_call_ends_at_once(name):
    released = threading.Event()

    async def main(client):
        begun, loop = asyncio.Event(), asyncio.get_running_loop()

        def block(**_):
            loop.call_soon_threadsafe(begun.set)
            released.wait(60)
            raise LookupError("lost")

        async def sleep(**_):
            begun.set()
            await asyncio.Event().wait()

        client.meta.events.register("before-call", sleep if name == "aiobotocore" else block)
        task = asyncio.ensure_future(table_up(client))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    try:
        on(name, main)
    finally:
        released.set()


@pytest.mark.parametrize("event", [asyncio.Event, threading.Event])
def test_a_cancel_event_ends_an_awaited_call_in_flight(event):
    required("aiobotocore.session")

    async def main(client):
        cancel = event()

        async def hang(**_):
            cancel.set()
            await asyncio.Event().wait()

        client.meta.events.register("before-call", hang)
        with pytest.raises(bwp.WaiterCancelledError) as caught:
            await table_up(client, cancel_event=cancel)
        assert caught.value.attempts == 1

    on("aiobotocore", main)


@pytest.mark.skipif(not hasattr(asyncio, "timeout"), reason="asyncio.timeout came with 3.11")
def test_asyncio_timeout_around_a_wait_is_a_timeout_of_asyncio(name, answers):
    async def main(client):
        answers(client, COMING)
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(0.01):
                await table_up(client)
        assert not isinstance(caught.value, bwp.WaiterTimeoutError)
        assert not asyncio.current_task().cancelling()

    on(name, main)


@pytest.mark.parametrize("error", [SystemExit(3), LookupError("a bug")], ids=repr)
def test_an_error_of_a_handler_of_the_call_comes_through_as_it_is(name, error):
    def stumble(**_):
        raise error

    async def main(client):
        client.meta.events.register("before-call", stumble)
        await table_up(client)

    with pytest.raises(type(error)) as caught:
        on(name, main)
    assert caught.value is error


def test_the_blocking_function_refuses_an_awaited_client():
    required("aiobotocore.session")

    async def main(client):
        with pytest.raises(TypeError, match="wait_until_async"):
            bwp.wait_until(client, "table_up", **NAME, max_wait=300)

    on("aiobotocore", main)


def test_the_loop_runs_while_a_blocking_client_is_called(answers):
    released = threading.Event()

    async def main(client):
        begun, loop = asyncio.Event(), asyncio.get_running_loop()

        def answer():
            loop.call_soon_threadsafe(begun.set)
            assert released.wait(60)
            return UP

        answers(client, answer)
        task = asyncio.ensure_future(table_up(client))
        await begun.wait()
        # Another task of the loop has its turn while the call is in flight.
        released.set()
        return await task

    assert on("boto3 in threads", main).attempts == 1


def test_a_long_message_keeps_its_beginning_and_end(name, answers, virtual_time):
    async def main(client):
        answers(client, {"Error": {"Code": "Oops", "Message": "a" * 300 + "z" * 400}})
        with pytest.raises(bwp.WaiterFailedError) as caught:
            await table_up(client)
        return caught.value

    error = on(name, main)
    assert error.service_message == f"{'a' * 150} [...] {'z' * 350}"
    assert error.service_message in str(error)
