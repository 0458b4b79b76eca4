"""Awaited waits on a loopback server that fails: their ends, and what is left of them."""

import asyncio
import json

import pytest
from aio.clients import CLIENTS, client_of, ending, nothing_left, required, table, table_up
from faults.scenarios import error, retry_quota
from faults.server import (
    BEFORE_HEADERS,
    BODY,
    HEADERS,
    FaultServer,
    Refusing,
    answer,
    close,
    drip,
    hang,
)

import boto_waiters_plus as bwp

pytestmark = pytest.mark.nightly(subject="wire")

UP, COMING = (answer(body=json.dumps(table(state)).encode()) for state in ("ACTIVE", "CREATING"))
THROTTLED = error("json", 400, "ThrottlingException")
UNAVAILABLE = error("json", 503, "ServiceUnavailable")
RETRIES = {"total_max_attempts": 3, "mode": "standard"}


@pytest.fixture(params=CLIENTS)
def on(request):
    """`on(server, main)`: runs `main(client)` in a loop of its own."""
    if request.param == "aiobotocore":
        required("aiobotocore.session")

    def on(server, main, connections=1, **options):
        async def run():
            async with client_of(request.param, server.url, **options) as client:
                result = await main(client)
                await nothing_left(server, connections)
                return result

        return asyncio.run(run())

    return on


async def requested(server):
    """Let the loop run until a request has come."""
    while not server.requests:
        await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0.005)


@pytest.mark.parametrize(
    "fault",
    [hang(BEFORE_HEADERS), hang(HEADERS), hang(BODY), drip(HEADERS), drip(BODY)],
    ids=["hangs before headers", "hangs in headers", "hangs in body", "headers drip", "body drips"],
)
def test_max_wait_ends_a_call_in_flight_and_its_connection(on, fault):
    with FaultServer([fault]) as server:
        end = on(server, lambda client: ending(table_up(client, max_wait=1)), connections=0)
        assert type(end) is bwp.WaiterTimeoutError
        assert end.elapsed >= 1
        assert "no answer" in str(end)


@pytest.mark.parametrize("where", [BEFORE_HEADERS, BODY])
@pytest.mark.parametrize("by_event", [True, False])
def test_cancelling_ends_a_call_in_flight_and_its_connection(on, where, by_event):
    async def main(client):
        event = asyncio.Event()
        task = asyncio.ensure_future(table_up(client, cancel_event=event))
        await requested(server)
        event.set() if by_event else task.cancel()
        kind = bwp.WaiterCancelledError if by_event else asyncio.CancelledError
        with pytest.raises(kind):
            await task

    with FaultServer([hang(where)]) as server:
        on(server, main, connections=0)
        assert len(server.requests) == 1


def test_a_closed_connection_is_retried(on, virtual_time):
    with FaultServer([close, COMING, close, UP]) as server:
        end = on(server, table_up)
        assert (end.attempts, end.elapsed) == (4, 15)


def test_a_refusing_port_is_a_failure_with_its_endpoint(on, virtual_time):
    with Refusing([UP]) as refusing:
        end = on(refusing, lambda client: ending(table_up(client)))
        assert type(end) is bwp.WaiterFailedError
        assert refusing.url in str(end)


def test_a_port_that_refuses_at_first_is_retried(on, virtual_time):
    with Refusing([UP]) as refusing:
        virtual_time.call_at(7, refusing.up)
        end = on(refusing, lambda client: table_up(client, retry_transient=True))
        assert (end.attempts, end.elapsed) == (3, 10)


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_a_retry_of_the_sdk_that_fits_is_made(on, mode):
    with FaultServer([UNAVAILABLE, UP]) as server:
        outcome = on(server, table_up, retries={**RETRIES, "mode": mode})
        assert outcome.attempts == 1
        assert len(server.requests) == 2


def test_retries_that_would_not_fit_are_not_made_and_take_nothing_from_the_quota(on):
    """A call is not cut off in the SDK's delay, and the wait times out, as where boto3 blocks."""

    async def main(client):
        before = retry_quota(client)
        # Less than the longest pause of a first retry.
        ends = [await ending(table_up(client, max_wait=0.4)) for _ in range(5)]
        assert [type(end) for end in ends] == [bwp.WaiterTimeoutError] * 5
        assert retry_quota(client) == before == 500

    with FaultServer([THROTTLED]) as server:
        on(server, main, retries=RETRIES)
        # Each wait polls at most once more.
        assert 5 <= len(server.requests) <= 10
