"""A PostgreSQL server, and empty databases on it."""

import itertools
import os

import postgres  # beside this file
import pytest
import sqlalchemy

NAMES = itertools.count()


@pytest.fixture(scope="session")
def server():
    absence = postgres.absence()
    if absence is not None:
        assert not os.environ.get("POSTGRES_REQUIRED"), absence
        pytest.skip(absence)
    with postgres.server() as url:
        yield url


@pytest.fixture
def new_database(server):
    """`new_database()`: the URL of an empty database of the server."""

    def make():
        name = f"test_{os.getpid()}_{next(NAMES)}"
        engine = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(f"create database {name}")
        engine.dispose()
        url = sqlalchemy.make_url(server).set(database=name)
        return url.render_as_string(hide_password=False)

    return make
