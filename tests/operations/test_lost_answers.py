"""Writes of a worker that fail, or whose answers are lost: what it has leased, it drives."""

import threading
import time

import botocore.exceptions
import pytest
import sqlalchemy
from stored_waits import ON_SERVER, start  # beside this file

import boto_waiters_plus as bwp
from boto_waiters_plus.operations import StoreError


@pytest.fixture
def failing(store, monkeypatch):
    """`failing(name, condition, is_done=...)`: an access to the store fails once, done or not."""

    def lose(name, condition=lambda *_: True, *, is_done):
        access, lost = getattr(store.backend, name), []

        def once(*arguments):
            fails = not lost and condition(*arguments)
            answer = access(*arguments) if is_done or not fails else None
            if fails:
                lost.append(arguments)
                raise StoreError("the connection was closed")
            return answer

        monkeypatch.setattr(store.backend, name, once)
        return lost

    return lose


def test_waits_of_a_claim_without_an_answer_are_driven(store, stream, active, working, failing):
    operation = start(store, stream(active))
    lost = failing("claim", is_done=True)
    working(store, stream(active), lease=30)
    assert operation.result(10)
    assert lost


def test_waits_that_were_claimed_begin_without_a_renewal(store, stream, active, working, failing):
    started = [start(store, stream(active)) for _ in range(3)]
    lost = failing("renew", is_done=False)
    client = stream(active)

    def slow_client(_):
        time.sleep(0.5)
        return client

    working(store, client, make_client=slow_client, lease=1)
    assert all(each.result(10) for each in started)
    assert lost


def test_waits_that_cannot_be_given_back_are_driven(store, stream, active, working, failing):
    operation = start(store, stream(active), min_delay=0.5, max_delay=0.5)
    unreachable = botocore.exceptions.EndpointConnectionError(endpoint_url="https://example.com")
    lost = failing("write", lambda _, changes: "worker" in changes[0], is_done=False)
    working(store, stream(unreachable, active), lease=30)
    assert operation.result(10)
    assert lost


@ON_SERVER
def test_a_claim_that_commits_late_is_released_too(store, stream, active):
    operation = start(store, stream(active))
    lease = store.backend.acquire("worker", 30)
    engine = sqlalchemy.create_engine(store.backend.url)
    claim = "update boto_waiters_operations set lease = :lease"
    renew = "update boto_waiters_leases set expires = expires + 1 where id = :lease"
    with engine.connect() as connection:
        for statement in (renew, claim):
            connection.execute(sqlalchemy.text(statement), {"lease": lease})
        releasing = threading.Thread(target=store.backend.release, args=[lease])
        releasing.start()
        releasing.join(0.5)
        connection.commit()
    engine.dispose()
    releasing.join(10)
    assert operation.metadata["worker"] is None
    rows, _ = store.backend.claim(store.backend.acquire("another", 30), 30, 10)
    assert [row["id"] for row in rows] == [operation.path.partition("/")[2]]


def test_time_before_a_claim_is_counted_once(store, stream, creating, monkeypatch):
    operation = store.start(
        stream(creating), "stream_exists", max_wait=2, min_delay=0.1, StreamName="orders"
    )
    claim, began = store.backend.claim, time.monotonic()
    pauses = iter([1.2])  # As long as a frozen worker may hold the lock of a file.

    def claimed_late(*arguments):
        time.sleep(next(pauses, 0))
        return claim(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(store.backend, "claim", claimed_late)
        store.work(until_idle=True, make_client=lambda _: stream(creating))
    assert isinstance(operation.exception(10), bwp.WaiterTimeoutError)
    # Counted twice, it would be over once the claim is made.
    assert time.monotonic() - began > 1.7
