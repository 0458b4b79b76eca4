"""Several runs at once on one client: they keep to its connections together."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import boto3
import pytest
from batch.calls import parsed
from botocore.config import Config

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.batch.limits import ClientSlots

LIMIT = 3


class Calls:
    """Answers the calls of a client; counts how many of them are in flight."""

    def __init__(self, client, patience=0.02):
        self.patience = patience
        self.changed = threading.Condition()
        self.now = self.most = 0
        client.meta.events.register("before-call", self.answer)

    def answer(self, **_):
        with self.changed:
            self.now += 1
            self.most = max(self.most, self.now)
            self.changed.notify_all()
            # Others have time to be one too many.
            self.changed.wait_for(lambda: self.most > LIMIT, timeout=self.patience)
            self.now -= 1
        return parsed({"Table": {"TableStatus": "ACTIVE"}})


@pytest.fixture
def dynamodb():
    config = Config(max_pool_connections=LIMIT)
    return bwp.enable(boto3.client("dynamodb", config=config))


def waits(client):
    return [bwp.Wait(client, "TableExists", {"TableName": f"t{n}"}, max_wait=60) for n in range(8)]


def in_tasks(client):
    async def both():
        await asyncio.gather(*(bwp.wait_all_async(waits(client)) for _ in range(2)))

    asyncio.run(both())


def in_threads(*runs):
    def run(client):
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda each: each(client), runs))

    return run


def in_background(client):
    start = partial(operations.start, client, "TableExists", max_wait=60)
    return [each.result(60) for each in [start(TableName=f"t{n}") for n in range(8)]]


RUNS = {
    "three forms": in_threads(
        lambda c: bwp.wait_all(waits(c)),
        lambda c: bwp.wait_any(waits(c)),
        lambda c: list(bwp.as_completed(waits(c))),
    ),
    "in the background, too": in_threads(in_background, lambda c: bwp.wait_all(waits(c))),
    "in tasks": in_tasks,
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_runs_on_one_client_keep_to_its_connections(dynamodb, run):
    calls = Calls(dynamodb)
    run(dynamodb)
    assert calls.most <= LIMIT
    # As many as before are free again.
    run(dynamodb)
    assert calls.most <= LIMIT


def test_another_client_has_connections_of_its_own(dynamodb):
    other = bwp.enable(boto3.client("dynamodb", config=Config(max_pool_connections=LIMIT)))
    calls = Calls(dynamodb, patience=30)
    other.meta.events.register("before-call", calls.answer)
    in_threads(lambda _: bwp.wait_all(waits(dynamodb)), lambda _: bwp.wait_all(waits(other)))(None)
    assert calls.most > LIMIT


def test_a_call_that_gets_no_connection_in_time_is_not_made(dynamodb):
    calls, held, free = Calls(dynamodb), threading.Barrier(LIMIT + 1), threading.Event()

    def hold(**_):
        if not free.is_set():
            held.wait(30)
        free.wait(30)

    dynamodb.meta.events.register_first("before-call", hold)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(bwp.wait_all, waits(dynamodb))
        held.wait(30)
        late = bwp.Wait(dynamodb, "TableExists", {"TableName": "late"}, max_wait=0.2)
        with pytest.raises(bwp.WaitersError) as caught:
            bwp.wait_all([late])
        free.set()
        first.result()
    [error] = caught.value.errors.values()
    assert (type(error), error.attempts) == (bwp.WaiterTimeoutError, 0)
    assert calls.most <= LIMIT


def test_a_child_of_a_fork_has_all_connections(dynamodb):
    slots = ClientSlots(dynamodb)
    with slots.one(lambda: 60):
        slots._renew()
        with slots.one(lambda: 0.1), slots.one(lambda: 0.1), slots.one(lambda: 0.1):
            free = slots._free
            assert not free.acquire(blocking=False)
    assert [free.acquire(blocking=False) for _ in range(LIMIT + 1)] == [True] * LIMIT + [False]
