"""What tells of waits on an aiobotocore client: events, labels, log lines."""

import asyncio
import logging

import pytest
from aio.clients import COMING, GOING, NAME, UP, client_of, required

import boto_waiters_plus as bwp

required("aiobotocore.session")

WAITS = {
    "method": lambda client, options: client.wait_until_table_up(**NAME, **options),
    "function": lambda client, options: bwp.wait_until_async(client, "table_up", **NAME, **options),
    "get_waiter": lambda client, options: client.get_waiter("table_up").wait(**NAME, **options),
    "batch": lambda client, options: bwp.wait_all_async(
        [bwp.Wait(client, "table_up", NAME, **options)]
    ),
}
ENDINGS = {"success": UP, "failure": GOING, "timeout": COMING, "cancel": COMING}


@pytest.mark.parametrize("shows", [True, False])
@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_start_and_end_come_once_with_the_label(answers, ending, wait, shows, virtual_time, caplog):
    events = []

    async def main():
        async with client_of("aiobotocore") as client:
            answers(client, ENDINGS[ending])
            bwp.enable(client, on_event=events.append)
            options = {"max_wait": 30, "show_parameters": shows}
            waiting = asyncio.ensure_future(WAITS[wait](client, options))
            if ending == "cancel":
                await asyncio.sleep(8)
                waiting.cancel()
            return await asyncio.gather(waiting, return_exceptions=True)

    caplog.set_level(logging.DEBUG, logger="boto_waiters_plus")
    [end] = asyncio.run(main())
    assert [event.kind for event in events if event.kind != "attempt"] == ["start", ending]
    label = "dynamodb TableName=table" if shows else "dynamodb"
    assert {event.label for event in events} == {label}
    assert f"for {label}" in caplog.text
    if not shows:
        assert "TableName" not in f"{end}{events}{caplog.text}"
