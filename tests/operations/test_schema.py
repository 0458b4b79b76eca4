"""Stores that an older or a newer package made; on SQLite and on PostgreSQL."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import sqlalchemy
from stored_waits import start, until  # beside this

from boto_waiters_plus import operations
from boto_waiters_plus.operations.sql import tables

SCHEMA_1 = Path(__file__).with_name("schema_1.sql").read_text("utf-8")
SCHEMA_2 = Path(__file__).with_name("schema_2.sql").read_text("utf-8")
PATH = "operations/a96e8a5b403e4c31abe8c130e0c089d4"
LEASE_KEY = {"sqlite": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "postgresql": "BIGSERIAL"}
CALLS = """
create table boto_waiters_calls (id varchar(32) primary key not null,
  created double precision not null, ended double precision, record text not null, result text);
insert into boto_waiters_calls (id, created, record)
  values ('1', 1795326361.0, '{"operation":"RunInstances"}');
"""
# Processes that have imported all they need before the first of them opens the store.
OPEN_AT_ONCE = """if True:
    import multiprocessing, sys
    import psycopg
    import sqlalchemy.dialects.postgresql.psycopg
    from boto_waiters_plus import operations
    import boto_waiters_plus.operations.sql.sql_backend

    processes = multiprocessing.get_context("fork")
    barrier = processes.Barrier(10)

    def look(_):
        store = operations.Store(sys.argv[1])
        barrier.wait()
        return len(store.open_calls()), len(store.list().operations)

    with processes.Pool(10) as pool:
        print(pool.map(look, range(10), chunksize=1))
"""

# A store in memory has no older version.
pytestmark = pytest.mark.parametrize("store_url", ["file", "postgresql"], indirect=True)


@pytest.fixture
def url(store_url):
    return store_url if "://" in store_url else f"sqlite:///{store_url}"


@pytest.fixture
def sql(url):
    """`sql(text)`: run statements; return the first value of the last."""
    engine = sqlalchemy.create_engine(url)

    def run(text):
        text = text.replace("LEASE_KEY", LEASE_KEY[engine.dialect.name])
        with engine.begin() as connection:
            for statement in text.strip().split(";\n"):
                result = connection.exec_driver_sql(statement)
            return result.scalar() if result.returns_rows else None

    yield run
    engine.dispose()


@pytest.fixture
def version(sql):
    """`version()`: the version that the database says it has."""
    return lambda: sql("select version from boto_waiters_schema")


def test_version_1_is_migrated(sql, version, url, open_store, stream, active):
    sql(SCHEMA_1)
    store = open_store(url)
    call = store.save_call({"operation": "RunInstances"})
    assert [each["path"] for each in store.open_calls()] == [call]
    assert version() == tables.VERSION
    assert store.work(until_idle=True, make_client=lambda _: stream(active)) == 1
    assert store.get(PATH).result(10).attempts == 1


def test_version_1_with_calls_keeps_them(sql, version, url, open_store):
    """Packages later in version 1 made the table without another number."""
    sql(SCHEMA_1 + CALLS)
    (call,) = open_store(url).open_calls()
    assert call["record"] == {"operation": "RunInstances"}
    assert call["phase"] == "started"
    assert version() == tables.VERSION


def labelled(store, **filters):
    found = store.list(**filters).operations
    return {body["metadata"]["label"].rpartition("=")[2]: body for body in found}


def test_waits_of_version_2_go_on(sql, version, url, open_store, stream, active, error_answer):
    sql(SCHEMA_2)
    store = open_store(url)
    found = labelled(store)
    states = {name: body["error"]["code"] for name, body in found.items() if "error" in body}
    assert states == {"used": "attempts_used_up", "odd": "unreadable"}
    assert store.get(found["done"]["path"]).result(0).attempts == 1
    assert version() == tables.VERSION
    # What its version called a failure is one, whatever the default is now.
    client = stream(error_answer("InternalFailure", "busy", 500))
    assert store.work(until_idle=True, make_client=lambda _: client) == 2
    after = labelled(store)
    assert after["orders"]["error"]["code"] == after["polled"]["error"]["code"] == "failed"
    assert after["polled"]["metadata"]["attempts"] > found["polled"]["metadata"]["attempts"] > 3
    resumed = store.resume(found["used"]["path"], max_attempts=1)
    store.work(until_idle=True, make_client=lambda _: stream(active))
    assert resumed.result(10).attempts == 3
    with pytest.raises(operations.OperationError, match="its state cannot be read"):
        store.resume(found["odd"]["path"], max_wait=9)


def test_waits_whose_definition_is_lost_are_migrated(sql, version, url, open_store, monkeypatch):
    sql(SCHEMA_2)
    before = sql("select count(*) from boto_waiters_operations")
    sql("delete from boto_waiters_definitions")
    monkeypatch.setattr(tables, "_COPIED_AT_ONCE", 1)
    assert len(open_store(url).list().operations) == before
    assert version() == tables.VERSION


def test_keys_and_calls_of_version_2_stay(sql, url, open_store, stream, active):
    sql(SCHEMA_2)
    store = open_store(url)
    with pytest.raises(
        operations.OperationError, match=r"with this exclusive_key is open \(conflict\)"
    ):
        store.start(
            stream(active), "stream_exists", max_wait=9, StreamName="x", exclusive_key="deploy"
        )
    (call,) = store.open_calls()
    assert call["record"] == {"operation": "RunInstances", "service": "ec2"}
    store.finish_call(call["path"], {"succeeded": True})
    assert store.get_call(call["path"])["phase"] == "finished"


@pytest.mark.parametrize("schema", ["", SCHEMA_1], ids=["empty", "version 1"])
def test_processes_may_open_it_at_once(sql, version, url, schema):
    if schema:
        sql(schema)
    command = [sys.executable, "-c", OPEN_AT_ONCE, url]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == (f"{[(0, 1 if schema else 0)] * 10}\n", "")
    assert version() == tables.VERSION


def test_a_failed_migration_changes_nothing(sql, version, url, open_store, monkeypatch):
    sql(SCHEMA_1)
    before = sql("select count(*) from boto_waiters_operations")

    def fail(row, definitions, now):
        raise ZeroDivisionError

    monkeypatch.setattr(tables, "upgraded", fail)
    with pytest.raises(ZeroDivisionError):
        open_store(url).list()
    assert version() == 1
    assert sql("select count(*) from boto_waiters_operations") == before
    monkeypatch.undo()
    assert open_store(url).get(PATH)


def test_a_newer_schema_is_refused(sql, url, open_store):
    open_store(url).list()
    sql("update boto_waiters_schema set version = 99")
    with pytest.raises(operations.StoreError, match=r"version 99.*install a newer"):
        open_store(url).list()
    assert sql("select version from boto_waiters_schema") == 99


def test_an_open_store_notices_a_newer_schema(sql, url, open_store, stream, creating, working):
    store = open_store(url)
    held = start(store, stream(creating))
    errors = []

    def work_on():
        with pytest.raises(operations.StoreError) as caught:
            store.work(make_client=lambda _: stream(creating))
        errors.append(caught.value)

    worker = threading.Thread(target=work_on, daemon=True)
    worker.start()
    until(lambda: held.metadata["attempts"])
    sql("update boto_waiters_schema set version = 99")
    newer = r"waits\.db|postgresql.*version 99.*install a newer"
    with pytest.raises(operations.StoreError, match=newer):
        held.result(20)
    worker.join(20)
    assert re.search(newer, str(errors[0]))
    before = sql("select count(*) from boto_waiters_operations")
    with pytest.raises(operations.StoreError, match=newer):
        start(store, stream(creating))
    with pytest.raises(operations.StoreError, match=newer):
        store.list()
    assert sql("select count(*) from boto_waiters_operations") == before


def test_a_migration_waits_for_transactions_under_way(sql, version, url, open_store):
    sql(SCHEMA_1)
    engine = sqlalchemy.create_engine(url)
    migration = threading.Thread(target=lambda: open_store(url).list(), daemon=True)
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("begin immediate")
        connection.exec_driver_sql("select version from boto_waiters_schema")
        migration.start()
        migration.join(0.5)
        assert migration.is_alive()
    migration.join(20)
    engine.dispose()
    assert version() == tables.VERSION
