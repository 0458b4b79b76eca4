"""Waits on a Dask cluster of two processes."""

import collections
import logging
import os
import signal
import socket

import distributed
import pytest
import stream_clients  # beside this file

from boto_waiters_plus import fleet, operations
from boto_waiters_plus.fleet import fleet_run

ATTEMPTS = "create table test_attempts (id varchar(32), attempts integer)"
TRIGGERS = {
    "sqlite": """create trigger test_attempt after update of attempts on boto_waiters_operations
        begin insert into test_attempts values (new.id, new.attempts); end""",
    "postgresql": """create trigger test_attempt after update of attempts
        on boto_waiters_operations for each row execute function test_note()""",
}
NOTE = """create function test_note() returns trigger as $$ begin
    insert into test_attempts values (new.id, new.attempts); return new; end $$ language plpgsql"""


@pytest.fixture
def stored_attempts(store):
    """Returns how often each attempt of each operation was stored, by any worker."""
    store.list()
    with store.backend.database.writing() as connection:
        connection.exec_driver_sql(ATTEMPTS)
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(NOTE)
        connection.exec_driver_sql(TRIGGERS[connection.dialect.name])

    def read():
        with store.backend.database.reading() as connection:
            rows = connection.exec_driver_sql("select id, attempts from test_attempts")
            return collections.Counter((row.id, row.attempts) for row in rows)

    return read


def drivers(store):
    """The workers of the open operations that were polled, and how many each drives."""
    found = store.list(state="open", page_size=1000).operations
    return collections.Counter(
        each["metadata"]["worker"] for each in found if each["metadata"]["attempts"]
    )


def test_all_waits_end_with_few_open(store, dask, waits, make_client, tmp_path):
    seen = []

    def note(progress):
        seen.append(progress)
        if len(drivers(store)) == 2:
            (tmp_path / "active").touch()

    ended = list(
        fleet.run(
            waits(50),
            client=dask,
            in_store=store,
            make_client=make_client,
            max_open=5,
            progress=note,
        )
    )
    assert all(operation.result().attempts for operation in ended)
    assert len({operation.path for operation in ended}) == len(ended) == 50
    assert max(progress.open for progress in seen) == 10
    assert (seen[-1].ended, seen[-1].open, seen[-1].shards) == (50, 0, 2)
    assert not store.backend.open_ids()


def test_a_killed_shard_goes_on_elsewhere(
    store, dask_to_kill, waits, make_client, tmp_path, stored_attempts
):
    paths = store.start_all(waits(40))
    addresses = dask_to_kill.run(os.getpid)
    at_the_kill = {}

    def kill_one(_):
        driving = drivers(store)
        if not at_the_kill and len(driving) == 2:
            victim = min(driving)
            os.kill(addresses[victim], signal.SIGKILL)
            found = store.list(state="open", page_size=1000).operations
            at_the_kill.update(
                (each["path"], each["metadata"]["attempts"])
                for each in found
                if each["metadata"]["worker"] == victim
            )
        elif at_the_kill and not drivers(store).keys() & {min(addresses)}:
            (tmp_path / "active").touch()

    # None may take all of them before the other has begun.
    options = {"make_client": make_client, "batch_size": 5, "max_open": 35, "lease": 1}
    ended = list(fleet.run(store, client=dask_to_kill, progress=kill_one, **options))
    assert {operation.path for operation in ended} == set(paths)
    by_path = {operation.path: operation.result() for operation in ended}
    assert at_the_kill
    assert all(by_path[path].attempts > attempts for path, attempts in at_the_kill.items())
    assert set(stored_attempts().values()) == {1}


def test_a_worker_killed_after_the_last_wait_delays_no_end(
    dask_to_kill, waits, make_client, tmp_path, monkeypatch
):
    (tmp_path / "active").touch()
    store = operations.Store(str(tmp_path / "waits.db"))
    store.start_all(waits(1))
    monkeypatch.setattr(fleet_run, "STOP_GRACE", None)  # It would wait for ever.
    addresses = dask_to_kill.run(os.getpid)

    def kill_one(progress):
        if not progress.open:
            os.kill(addresses[min(addresses)], signal.SIGKILL)

    ended = list(fleet.run(store, client=dask_to_kill, make_client=make_client, progress=kill_one))
    assert len(ended) == 1
    store.close()


def test_a_shard_that_takes_long_to_stop_is_no_error(
    dask, waits, make_client, tmp_path, monkeypatch
):
    (tmp_path / "active").touch()
    store = operations.Store(str(tmp_path / "waits.db"))
    store.start_all(waits(1))
    monkeypatch.setattr(fleet_run, "STOP_GRACE", 0.001)
    assert len(list(fleet.run(store, client=dask, make_client=make_client))) == 1
    store.close()


def test_closing_hands_waits_back(store, dask, waits, make_client):
    paths = store.start_all(waits(4))

    def stop(_):
        if drivers(store):
            raise KeyboardInterrupt

    run = fleet.run(store, client=dask, make_client=make_client, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        list(run)
    assert store.backend.open_ids() == {path.partition("/")[2] for path in paths}
    assert drivers(store).keys() == {None}


def test_a_store_that_does_not_answer_is_asked_again(
    store, dask, waits, make_client, tmp_path, monkeypatch, caplog
):
    (tmp_path / "active").touch()
    caplog.set_level(logging.WARNING)  # Dask silenced every handler
    store.start_all(waits(1))
    failing = iter([False, True])

    open_ids = store.backend.open_ids

    def failing_open_ids(ids=None):
        if next(failing, False):
            raise operations.StoreError("the disk is full")
        return open_ids(ids)

    monkeypatch.setattr(store.backend, "open_ids", failing_open_ids)
    (ended,) = fleet.run(store, client=dask, make_client=make_client)
    assert ended.done()
    assert caplog.messages == ["fleet: the disk is full; trying again"]


def test_a_newer_schema_ends_the_run(store, dask, waits, make_client):
    store.start_all(waits(1))
    run = iter(fleet.run(store, client=dask, make_client=make_client))
    with store.backend.database.writing() as connection:
        connection.exec_driver_sql("update boto_waiters_schema set version = 99")
    with pytest.raises(operations.StoreError, match="install a newer"):
        next(run)


def test_a_cluster_without_workers_is_refused(tmp_path):
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        cluster.get_client() as client,
        pytest.raises(ValueError, match="the cluster of client has no workers"),
    ):
        fleet.run(operations.Store(tmp_path / "waits.db"), client=client)


def test_workers_that_cannot_make_a_client_end_no_run(store, dask, waits, make_client):
    store.start_all(waits(3, max_wait=2))
    ended = list(fleet.run(store, client=dask, make_client=stream_clients.no_client))
    errors = [operation.exception() for operation in ended]
    assert [error.code for error in errors] == ["internal"] * 3
    assert "RuntimeError" in str(errors[0])


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_lost_reply_stores_no_wait_twice(
    store, dask, waits, make_client, tmp_path, monkeypatch, caplog, is_stored
):
    (tmp_path / "active").touch()
    caplog.set_level(logging.WARNING)
    add = store.backend.add

    def without_reply(rows, definitions):
        monkeypatch.undo()
        if is_stored:
            add(rows, definitions)
        raise operations.StoreError("the connection is gone")

    monkeypatch.setattr(store.backend, "add", without_reply)
    ended = list(fleet.run(waits(5), client=dask, in_store=store, make_client=make_client))
    assert caplog.messages == ["fleet: the connection is gone; trying again"]
    assert len(ended) == len(store.list().operations) == 5


def test_a_file_of_another_machine_is_refused(tmp_path, dask, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "another-machine")
    with pytest.raises(ValueError, match="use a store on PostgreSQL"):
        fleet.run(operations.Store(tmp_path / "waits.db"), client=dask)


def test_wrong_arguments_start_nothing(tmp_path, waits):
    store = operations.Store(tmp_path / "waits.db")
    (wait,) = waits(1)
    (unbounded,) = waits(1, max_wait=None)
    (with_function,) = waits(1, on_attempt=print)
    for source, options, words in [
        (operations.Store(":memory:"), {}, "in memory"),
        (store, {"in_store": store}, "needs no other"),
        ([wait], {}, "need in_store"),
        (wait, {"in_store": store}, "must be Wait objects"),
        ([print], {"in_store": store}, "must be Wait objects"),
        ([wait, unbounded], {"in_store": store}, "needs max_wait"),
        (store, {"max_open": 0}, "max_open"),
        (store, {"lease": 0}, "lease"),
        (store, {"calls_per_second": 20}, "mapping"),
        (store, {"calls_per_second": {"ecc": 20}}, "'ec2'|'ecs'|'ecr'"),
        (store, {"calls_per_second": {"ec2": 0}}, "greater than 0"),
        (store, {"make_client": None}, "make_client"),
        (store, {"client": wait.client}, "must be a distributed.Client"),
    ]:
        with pytest.raises((TypeError, ValueError), match=words):
            fleet.run(source, **{"client": None, **options})
    with pytest.raises(TypeError, match="on_attempt cannot be stored"):
        store.start_all([wait, with_function])
    assert not store.backend.open_ids()
    store.close()
