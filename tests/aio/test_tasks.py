"""Waits as parts of tasks: cancelled, timed out, many side by side; nothing is left behind."""

import asyncio
import threading
import weakref

import pytest
from aio.clients import (
    AWAITED,
    COMING,
    THROTTLED,
    UNAVAILABLE,
    UP,
    ending,
    nothing_left,
    way,
)
from faults.scenarios import retry_quota
from faults.server import BEFORE_HEADERS, BODY, FaultServer, hang

import boto_waiters_plus as bwp

LONG = 300
PATIENCE = 10


def table_up(name, client, **options):
    keywords = {"TableName": "table", "max_wait": LONG, **options}
    return way(name).wait(client, "table_up", **keywords)


def on(name, server, main, connections=1):
    """Run `main(client)` in a loop of its own; its connections may be kept for other calls."""

    async def run():
        async with way(name).client(server.url) as client:
            result = await main(client)
            await nothing_left(server, connections)
            return result

    return asyncio.run(run())


async def requested(server, count=1):
    """Let the loop run until so many requests have come."""
    while len(server.requests) < count:
        await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0.005)


# --- cancelled --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AWAITED)
def test_a_task_that_is_cancelled_in_its_pause_ends_at_once(name, virtual_time):
    async def main(client):
        task = asyncio.ensure_future(table_up(name, client, delay_pace=lambda _: 5))
        await asyncio.sleep(7)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return virtual_time.now

    with FaultServer([COMING]) as server:
        assert on(name, server, main) == 7
        assert len(server.requests) == 2


@pytest.mark.parametrize("name", AWAITED)
@pytest.mark.parametrize("where", [BEFORE_HEADERS, BODY])
def test_a_task_that_is_cancelled_in_its_call_ends_and_closes_the_connection(name, where):
    async def main(client):
        task = asyncio.ensure_future(table_up(name, client))
        await requested(server)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await nothing_left(server, connections=0)

    with FaultServer([hang(where)]) as server:
        on(name, server, main)
        assert len(server.requests) == 1


@pytest.mark.timing
@pytest.mark.skipif(not hasattr(asyncio, "timeout"), reason="asyncio.timeout came with 3.11")
@pytest.mark.parametrize("name", AWAITED)
@pytest.mark.parametrize("script", [[hang(BEFORE_HEADERS)], [COMING]], ids=["call", "pause"])
def test_asyncio_timeout_around_a_wait_is_a_timeout_of_asyncio(name, script):
    async def main(client):
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(0.3):
                await table_up(name, client)
        assert not isinstance(caught.value, bwp.WaiterTimeoutError)
        assert not asyncio.current_task().cancelling()

    with FaultServer(script) as server:
        on(name, server, main)


@pytest.mark.parametrize("name", AWAITED)
def test_an_event_of_asyncio_cancels_a_call_in_flight(name):
    async def main(client):
        event = asyncio.Event()
        task = asyncio.ensure_future(ending(table_up(name, client, cancel_event=event)))
        await requested(server)
        event.set()
        assert type(await task) is bwp.WaiterCancelledError
        await nothing_left(server, connections=0)

    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        on(name, server, main)


@pytest.mark.parametrize("name", AWAITED)
def test_an_interrupt_in_a_handler_of_the_call_passes(name):
    def interrupt(**_):
        raise SystemExit(3)

    async def main(client):
        client.meta.events.register("before-send.dynamodb", interrupt)
        return await table_up(name, client)

    with FaultServer([UP]) as server, pytest.raises(SystemExit):
        on(name, server, main)


@pytest.mark.parametrize("name", AWAITED)
def test_a_bug_in_a_handler_of_the_call_comes_through_as_it_is(name):
    def stumble(**_):
        raise LookupError("a bug")

    async def main(client):
        client.meta.events.register("before-send.dynamodb", stumble)
        with pytest.raises(LookupError, match="a bug"):
            await table_up(name, client)

    with FaultServer([UP]) as server:
        on(name, server, main)


@pytest.mark.parametrize("name", AWAITED)
def test_a_wait_that_was_cancelled_is_not_kept_alive(collect_garbage, name):
    class Options:
        def __call__(self, event):
            pass

    async def main(client):
        observer = Options()
        task = asyncio.ensure_future(table_up(name, client, on_attempt=observer))
        await requested(server)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return weakref.ref(observer)

    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        reference = on(name, server, main)
        collect_garbage()
        assert reference() is None


# --- at the deadline --------------------------------------------------------------------------


@pytest.mark.timing
@pytest.mark.parametrize("name", AWAITED)
def test_an_answer_that_arrived_in_time_is_judged(name):
    async def main(client):
        parsing = lambda **_: threading.Event().wait(0.6) and None  # noqa: E731 - one line
        await table_up(name, client)  # the first wait imports what waits need
        client.meta.events.register("before-parse.dynamodb", parsing)
        return await table_up(name, client, max_wait=0.3)

    with FaultServer([UP]) as server:
        assert on(name, server, main).response["Table"]["TableStatus"] == "ACTIVE"


# --- side by side -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", AWAITED)
def test_time_stands_still_for_all_tasks_while_one_of_them_calls(name, virtual_time):
    """Each call takes real time, in which the other tasks sleep on a clock that could jump."""

    def behave(exchange):
        exchange.pause(0.05)
        (UP if len(server.requests) > 8 else COMING)(exchange)

    async def main(client):
        asleep = asyncio.ensure_future(asyncio.sleep(LONG))
        waits = [table_up(name, client, delay_pace=lambda _, d=d: d) for d in (3, 5, 7)]
        outcomes = await asyncio.gather(*waits)
        now = virtual_time.now
        asleep.cancel()
        await asyncio.gather(asleep, return_exceptions=True)
        return now, [(outcome.attempts, outcome.elapsed) for outcome in outcomes]

    with FaultServer([behave]) as server:
        # Looks at 0 (all three), 3, 5, 6, 7, 9: those after the eighth see it up.
        assert on(name, server, main, connections=3) == (14, [(5, 12), (3, 10), (3, 14)])


# --- which function for which client ----------------------------------------------------------


def test_the_blocking_function_refuses_an_awaited_client():
    async def main(client):
        with pytest.raises(TypeError, match="await wait_until_async"):
            bwp.wait_until(client, "table_up", TableName="table", max_wait=LONG)

    with FaultServer([UP]) as server:
        on("aiobotocore", server, main)
        assert server.requests == []


def test_the_loop_runs_while_a_blocking_client_is_called():
    released = threading.Event()

    def behave(exchange):
        # Answers only once another task of the loop has had its turn.
        released.wait(PATIENCE)
        UP(exchange)

    async def main(client):
        task = asyncio.ensure_future(table_up("boto3 in threads", client))
        await requested(server)
        released.set()
        return await task

    with FaultServer([behave]) as server:
        assert on("boto3 in threads", server, main).elapsed < PATIENCE


# --- the SDK's own retries ----------------------------------------------------------------------


def on_retrying_client(name, server, main, mode="standard"):
    """Run `main(client)` on a client that retries by itself."""

    async def run():
        retries = {"total_max_attempts": 3, "mode": mode}
        async with way(name).client(server.url, retries) as client:
            return await main(client)

    return asyncio.run(run())


@pytest.mark.parametrize("name", AWAITED)
@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_a_retry_of_the_sdk_that_fits_is_made(name, mode):
    with FaultServer([UNAVAILABLE, UP]) as server:
        outcome = on_retrying_client(name, server, lambda client: table_up(name, client), mode)
        assert outcome.attempts == 1
        assert len(server.requests) == 2


@pytest.mark.timing
@pytest.mark.parametrize("name", AWAITED)
def test_retries_that_would_not_fit_are_not_made_and_take_nothing_from_the_quota(name):
    """A call is not cut off in the SDK's delay, and the wait times out, as where boto3 blocks."""

    async def main(client):
        before = retry_quota(client)
        # Less than the longest pause of a first retry.
        ends = [await ending(table_up(name, client, max_wait=0.4)) for _ in range(5)]
        assert [type(end) for end in ends] == [bwp.WaiterTimeoutError] * 5
        assert ends[0].last_response["Error"]["Code"] == "ThrottlingException"
        assert retry_quota(client) == before == 500

    with FaultServer([THROTTLED]) as server:
        on_retrying_client(name, server, main)
        # Each wait polls at most once more.
        assert 5 <= len(server.requests) <= 10
