"""The start and the end that observers get of waits on aiobotocore clients."""

import asyncio

import pytest
from aio.clients import COMING, GOING, UP, required, way
from faults.server import FaultServer

import boto_waiters_plus as bwp

required("aiobotocore.session")

TABLE = {"TableName": "table"}
WAITS = {
    "method": lambda client: client.wait_until_table_up(**TABLE, max_wait=30),
    "get_waiter": lambda client: client.get_waiter("table_up").wait(**TABLE, max_wait=30),
    "wait_all": lambda client: bwp.wait_all_async(
        [bwp.Wait(client, "table_up", TABLE, max_wait=30)]
    ),
}
ENDINGS = [(UP, "success"), (GOING, "failure"), (COMING, "timeout"), (None, "cancel")]


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize(("reply", "ending"), ENDINGS, ids=[name for _, name in ENDINGS])
def test_start_and_end_come_once(wait, reply, ending, virtual_time):
    events = []

    async def main():
        async with way("aiobotocore").client(server.url) as client:
            bwp.enable(client, on_event=events.append)
            waiting = asyncio.ensure_future(WAITS[wait](client))
            if reply is None:
                await asyncio.sleep(8)
                waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    with FaultServer([reply or COMING]) as server:
        asyncio.run(main())
    told = [event.kind for event in events if event.kind != "attempt"]
    assert told == ["start", ending]
