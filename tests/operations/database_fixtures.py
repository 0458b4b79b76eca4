"""A PostgreSQL server, and users with empty schemas on it."""

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
    """`new_database()`: the URL of a new user with an empty schema, which is made faster."""

    def make():
        name = f"test_{os.getpid()}_{next(NAMES)}"
        engine = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(f"create role {name} superuser login")
            connection.exec_driver_sql(f"create schema {name} authorization {name}")
        engine.dispose()
        return sqlalchemy.make_url(server).set(username=name).render_as_string(hide_password=False)

    return make
