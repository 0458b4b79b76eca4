"""A Dask cluster of two processes, and stores that they share."""

import functools
import sys
from pathlib import Path

import distributed
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "operations"))
import stream_clients  # beside this file
from database_fixtures import new_database, server  # noqa: F401 - fixtures of stores


@pytest.fixture
def dask(_no_real_account):
    """The client of a cluster whose workers import what the tests import.

    One for each test, because Dask sometimes fails to restart a killed worker.
    """
    options = {"n_workers": 2, "threads_per_worker": 1, "silence_logs": 50}
    made = distributed.LocalCluster(dashboard_address=":0", **options)
    with made as cluster, cluster.get_client() as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture(params=["file", "postgresql"])
def store(request, tmp_path):
    url = str(tmp_path / "waits.db")
    if request.param == "postgresql":
        url = request.getfixturevalue("new_database")()
    store = operations.Store(url)
    yield store
    store.close()


@pytest.fixture
def make_client(tmp_path):
    return functools.partial(stream_clients.waiting_client, str(tmp_path))


@pytest.fixture
def waits(make_client):
    """`waits(number)`: that many waits for streams, one by one."""
    client = make_client()

    def make(number, **options):
        options = {"max_wait": 60, "min_delay": 0.05, "max_delay": 0.1, **options}
        for index in range(number):
            yield bwp.Wait(client, "stream_exists", {"StreamName": f"s-{index}"}, **options)

    return make
