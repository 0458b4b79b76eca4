"""Awaited waits on a loopback server that fails: their ends, and what is left of them."""

import asyncio
import json

import pytest
from aio.clients import client_of, ending, pause_of_the_loop, table, table_up
from faults import server as servers
from faults.scenarios import error, retry_quota
from faults.server import BEFORE_HEADERS, BODY, HEADERS, FaultServer, answer, drip, hang

import boto_waiters_plus as bwp

pytestmark = pytest.mark.nightly(subject="wire")

UP, COMING = (answer(body=json.dumps(table(state)).encode()) for state in ("ACTIVE", "CREATING"))
THROTTLED = error("json", 400, "ThrottlingException")
UNAVAILABLE = error("json", 503, "ServiceUnavailable")
RETRIES = {"total_max_attempts": 3, "mode": "standard"}
HANGING = {
    "hangs before headers": hang(BEFORE_HEADERS),
    "hangs in headers": hang(HEADERS),
    "hangs in body": hang(BODY),
    "headers drip": drip(HEADERS),
    "body drips": drip(BODY),
}


@pytest.mark.parametrize("fault", HANGING)
async def test_max_wait_ends_a_call_in_flight_and_its_connection(kind, fault):
    with FaultServer([HANGING[fault]]) as server:
        async with client_of(kind, server, connections=0) as client:
            end = await ending(table_up(client, max_wait=1))
    assert type(end) is bwp.WaiterTimeoutError
    assert end.elapsed >= 1
    assert "no answer" in str(end)


@pytest.mark.parametrize("where", [BEFORE_HEADERS, BODY])
@pytest.mark.parametrize("by_event", [True, False])
async def test_cancelling_ends_a_call_in_flight_and_its_connection(kind, where, by_event):
    event = asyncio.Event()
    with FaultServer([hang(where)]) as server:
        async with client_of(kind, server, connections=0) as client:
            task = asyncio.ensure_future(table_up(client, cancel_event=event))
            while not server.requests:
                await pause_of_the_loop()
            event.set() if by_event else task.cancel()
            with pytest.raises(bwp.WaiterCancelledError if by_event else asyncio.CancelledError):
                await task
        assert len(server.requests) == 1


async def test_a_closed_connection_is_retried(kind, virtual_time):
    with FaultServer([servers.close, COMING, servers.close, UP]) as server:
        async with client_of(kind, server) as client:
            end = await table_up(client)
    assert (end.attempts, end.elapsed) == (4, 15)


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
async def test_a_retry_of_the_sdk_that_fits_is_made(kind, mode):
    with FaultServer([UNAVAILABLE, UP]) as server:
        async with client_of(kind, server, retries={**RETRIES, "mode": mode}) as client:
            assert (await table_up(client)).attempts == 1
        assert len(server.requests) == 2


async def test_retries_that_would_not_fit_take_nothing_from_the_quota(kind):
    """A call is not cut off in the SDK's delay, and the wait times out, as where boto3 blocks."""
    with FaultServer([THROTTLED]) as server:
        async with client_of(kind, server, retries=RETRIES) as client:
            before = retry_quota(client)
            # Less than the longest pause of a first retry.
            ends = [await ending(table_up(client, max_wait=0.4)) for _ in range(5)]
            assert [type(end) for end in ends] == [bwp.WaiterTimeoutError] * 5
            assert retry_quota(client) == before == 500
        # Each wait polls at most once more.
        assert 5 <= len(server.requests) <= 10
