"""The label of waits on an aiobotocore client: on outcomes, errors, events and log lines."""

import asyncio
import logging

import pytest
from aio.clients import MISSING, UP, awaited_client, ending, required
from faults.server import FaultServer

import boto_waiters_plus as bwp
from boto_waiters_plus.testing import virtual_time

required("aiobotocore.session")

LABEL = "dynamodb TableName=planted"
WAITER, PARAMETERS = "table_up", {"TableName": "planted"}


async def by_method(client, **options):
    return await client.wait_until_table_up(**PARAMETERS, max_wait=9, **options)


async def by_function(client, **options):
    return await bwp.wait_until_async(client, WAITER, **PARAMETERS, max_wait=9, **options)


async def by_waiter(client, **options):
    waiter = client.get_waiter("table_exists")
    await waiter.wait(**PARAMETERS, max_wait=9, **options)
    return waiter.outcome


async def by_batch(client, **options):
    try:
        [outcome] = await bwp.wait_all_async([wait_on(client, **options)], max_wait=9)
    except bwp.WaitersError as error:
        raise error.errors[0] from None
    return outcome


WAYS = [by_method, by_function, by_waiter, by_batch]


def wait_on(client, **options):
    return bwp.Wait(client, WAITER, PARAMETERS, **options)


def ended(wait, answer, caplog, **options):
    """Return the outcome or the error of a wait, and what else tells of it."""
    events = []

    async def main(server):
        async with awaited_client(server.url) as client:
            bwp.enable(client, on_event=events.append)
            return await ending(wait(client, **options))

    caplog.set_level(logging.DEBUG, logger="boto_waiters_plus")
    with FaultServer([answer]) as server, virtual_time():
        return asyncio.run(main(server)), events, caplog.text


@pytest.mark.parametrize("wait", WAYS)
@pytest.mark.parametrize("answer", [UP, MISSING], ids=["up", "missing"])
def test_an_awaited_wait_has_its_label(wait, answer, caplog):
    end, events, lines = ended(wait, answer, caplog)
    assert end.label == LABEL
    assert {event.label for event in events} == {LABEL}
    assert f"for {LABEL}" in lines
    assert answer is UP or f"or {LABEL}: " in str(end)


@pytest.mark.parametrize("wait", WAYS)
@pytest.mark.parametrize("answer", [UP, MISSING], ids=["up", "missing"])
def test_an_awaited_wait_hides_its_parameters(wait, answer, caplog):
    end, events, lines = ended(wait, answer, caplog, show_parameters=False)
    assert end.label == "dynamodb"
    assert "planted" not in f"{end}{end!r}{events}{lines}"
