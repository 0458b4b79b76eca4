"""A Dask cluster of two processes, and stores that they share."""

import functools
import os
import sys
import uuid
from pathlib import Path

import distributed
import pytest
import sqlalchemy

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "operations"))
import postgres  # beside the tests of stores
import stream_clients  # beside this file


@pytest.fixture(scope="module")
def cluster(_no_real_account):
    """Workers import what the tests import, and are restarted by Dask when they are killed."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture
def dask(cluster):
    with cluster.get_client() as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture(scope="session")
def server():
    absence = postgres.absence()
    if absence is not None:
        assert not os.environ.get("POSTGRES_REQUIRED"), absence
        pytest.skip(absence)
    with postgres.server() as url:
        yield sqlalchemy.make_url(url)


@pytest.fixture(params=["file", "postgresql"])
def store(request, tmp_path):
    url = str(tmp_path / "waits.db")
    if request.param == "postgresql":
        server = request.getfixturevalue("server")
        name = f"fleet_{uuid.uuid4().hex}"
        engine = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(f"create database {name}")
        engine.dispose()
        url = server.set(database=name).render_as_string(hide_password=False)
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
