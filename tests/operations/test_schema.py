"""Stores that an older or a newer package made; on SQLite and on PostgreSQL."""

import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy

from boto_waiters_plus import operations
from boto_waiters_plus.operations import tables

SCHEMA_1 = Path(__file__).with_name("schema_1.sql").read_text("utf-8")
PATH = "operations/a96e8a5b403e4c31abe8c130e0c089d4"
LEASE_KEY = {"sqlite": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "postgresql": "BIGSERIAL"}
OPEN_AT_ONCE = """if True:
    import sys
    from boto_waiters_plus import operations
    store = operations.Store(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    print(len(store.open_calls()), len(store.list().operations))
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
    sql(SCHEMA_1)
    open_store(url).save_call({"operation": "RunInstances"})
    sql("update boto_waiters_schema set version = 1")
    assert len(open_store(url).open_calls()) == 1
    assert version() == tables.VERSION


@pytest.mark.parametrize("schema", ["", SCHEMA_1], ids=["empty", "version 1"])
def test_processes_may_open_it_at_once(sql, version, url, schema):
    if schema:
        sql(schema)
    command = [sys.executable, "-c", OPEN_AT_ONCE, url]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    processes = [subprocess.Popen(command, text=True, **pipes) for _ in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    expected = f"0 {1 if schema else 0}\n"
    assert [process.communicate(timeout=60) for process in processes] == [(expected, "")] * 2
    assert version() == tables.VERSION


def test_a_failed_migration_changes_nothing(sql, version, url, open_store, monkeypatch):
    sql(SCHEMA_1)
    before = sql("select count(*) from boto_waiters_operations")

    def fail(connection):
        connection.exec_driver_sql("delete from boto_waiters_operations")
        raise ZeroDivisionError

    monkeypatch.setattr(tables, "MIGRATIONS", {1: fail})
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
