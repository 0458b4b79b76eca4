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

pytestmark = pytest.mark.nightly(subject="stores")
ON_FILE = pytest.mark.parametrize("store", ["file"], indirect=True)


def drivers(store):
    """The workers of the open operations that were polled, and how many each drives."""
    found = store.list(state="open", page_size=1000).operations
    polled = [each["metadata"] for each in found if each["metadata"]["attempts"]]
    return collections.Counter(each["worker"] for each in polled)


def test_all_waits_end_with_few_open(store, dask, waits, make_client, tmp_path):
    seen = []

    def note(progress):
        seen.append(progress)
        if len(drivers(store)) == 2:
            (tmp_path / "active").touch()

    options = {"make_client": make_client, "max_open": 5, "progress": note}
    ended = list(fleet.run(waits(50), client=dask, in_store=store, **options))
    assert all(operation.result().attempts for operation in ended)
    assert len({operation.path for operation in ended}) == len(ended) == 50
    assert max(progress.open for progress in seen) == 10
    assert (seen[-1].ended, seen[-1].open, seen[-1].shards) == (50, 0, 2)
    assert not store.database.open_ids()


def test_a_killed_shard_goes_on_elsewhere(store, dask, waits, make_client, tmp_path):
    paths = store.start_all(waits(40))
    addresses, at_the_kill = dask.run(os.getpid), {}
    victim = min(addresses)

    def kill_one(_):
        driving = drivers(store).keys()
        if not at_the_kill and addresses.keys() <= driving:
            os.kill(addresses[victim], signal.SIGKILL)
            for each in store.list(state="open", page_size=1000).operations:
                if each["metadata"]["worker"] == victim:
                    at_the_kill[each["path"]] = each["metadata"]["attempts"]
        elif at_the_kill and victim not in driving:
            (tmp_path / "active").touch()

    # None may take all of them before the other has begun.
    options = {"make_client": make_client, "batch_size": 5, "max_open": 35, "lease": 1}
    ended = list(fleet.run(store, client=dask, progress=kill_one, **options))
    assert sorted(operation.path for operation in ended) == sorted(paths)
    by_path = {operation.path: operation.result() for operation in ended}
    assert at_the_kill
    assert all(by_path[path].attempts > attempts for path, attempts in at_the_kill.items())


@ON_FILE
def test_closing_hands_waits_back(store, dask, waits, make_client):
    paths = store.start_all(waits(4))

    def stop(_):
        if drivers(store):
            raise KeyboardInterrupt

    run = fleet.run(store, client=dask, make_client=make_client, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        list(run)
    assert store.database.open_ids() == {path.partition("/")[2] for path in paths}
    assert drivers(store).keys() == {None}


@ON_FILE
@pytest.mark.parametrize("is_stored", [True, False])
def test_a_lost_reply_stores_no_wait_twice(
    store, dask, waits, make_client, tmp_path, monkeypatch, caplog, is_stored
):
    (tmp_path / "active").touch()
    caplog.set_level(logging.WARNING)  # Dask silenced every handler
    add = store.database.add

    def without_reply(rows, definitions):
        monkeypatch.undo()
        if is_stored:
            add(rows, definitions)
        raise operations.StoreError("the connection is gone")

    monkeypatch.setattr(store.database, "add", without_reply)
    ended = list(fleet.run(waits(5), client=dask, in_store=store, make_client=make_client))
    assert caplog.messages == ["fleet: the connection is gone; trying again"]
    assert len(ended) == len(store.list().operations) == 5


@ON_FILE
def test_workers_that_cannot_make_a_client_end_no_run(store, dask, waits):
    store.start_all(waits(3, max_wait=2))
    ended = list(fleet.run(store, client=dask, make_client=stream_clients.no_client))
    errors = [operation.exception() for operation in ended]
    assert [error.code for error in errors] == ["internal"] * 3
    assert "RuntimeError" in str(errors[0])


@ON_FILE
def test_a_cluster_that_cannot_serve_is_refused(store, dask, monkeypatch):
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        cluster.get_client() as client,
        pytest.raises(ValueError, match="no workers"),
    ):
        fleet.run(store, client=client)
    monkeypatch.setattr(socket, "gethostname", lambda: "another-machine")
    with pytest.raises(ValueError, match="PostgreSQL"):
        fleet.run(store, client=dask)


@ON_FILE
def test_wrong_arguments_start_nothing(store, waits):
    (wait,) = waits(1)
    (unbounded,) = waits(1, max_wait=None)
    for source, options, words in [
        (operations.Store(":memory:"), {}, "in memory"),
        (store, {"in_store": store}, "needs no other"),
        ([wait], {}, "need in_store"), (wait, {"in_store": store}, "must be Wait objects"),
        ([print], {"in_store": store}, "must be Wait objects"),
        ([wait, unbounded], {"in_store": store}, "needs max_wait"),
        (store, {"max_open": 0}, "max_open"), (store, {"lease": 0}, "lease"),
        (store, {"calls_per_second": 20}, "mapping"),
        (store, {"calls_per_second": {"ecc": 20}}, "'ec2'|'ecs'|'ecr'"),
        (store, {"make_client": None}, "make_client"),
        (store, {"client": wait.client}, "must be a distributed.Client"),
    ]:  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=words):
            fleet.run(source, **{"client": None, **options})
    assert not store.database.open_ids()
