"""Databases that cannot be used: a clear error, and nothing half written."""

import contextlib
import datetime as dt
import logging
import os
import sqlite3
import stat
import subprocess
import sys
import time

import pytest
import sqlalchemy
from case_tables import tabled
from stored_waits import start  # beside this file

from boto_waiters_plus import operations


def test_the_default_is_in_the_state_directory(tmp_path, stream, active):
    script = "from boto_waiters_plus import operations; print(operations.Store().list())"
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment, timeout=60)
    file = tmp_path / "boto_waiters_plus" / "operations.db"
    assert file.exists()
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def modes(file):
    return {
        path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in file.parent.glob("waits.db*")
    }


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize("url", ["{}", "sqlite:///{}", "sqlite:///file:{}?uri=true"])
def test_the_files_are_their_owners_from_the_first(tmp_path, stream, active, url):
    file = tmp_path / "waits.db"
    at_first = []

    def opened(*_):
        at_first.append(modes(file))

    before = os.umask(0)
    sqlalchemy.event.listen(sqlalchemy.Engine, "connect", opened)
    try:
        store = operations.Store(url.format(file))
        start(store, stream(active))
        private = dict.fromkeys(("waits.db", "waits.db-wal", "waits.db-shm"), "0o600")
        assert modes(file) == private
    finally:
        sqlalchemy.event.remove(sqlalchemy.Engine, "connect", opened)
        os.umask(before)
    assert at_first[0] == {"waits.db": "0o600"}
    # What an older version left open to others is closed.
    for path in tmp_path.iterdir():
        path.chmod(0o666)
    operations.Store(file).list()
    assert modes(file) == private


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_the_mode_of_another_programs_file_stays(tmp_path):
    file = tmp_path / "waits.db"
    with contextlib.closing(sqlite3.connect(file)) as other, other:
        other.execute("create table bookmarks (x)")
    file.chmod(0o644)
    with pytest.raises(operations.StoreError, match="has the table bookmarks"):
        operations.Store(file).list()
    with pytest.raises(operations.StoreError, match="unable to open"):
        operations.Store(f"sqlite:///file:{tmp_path}/no.db?mode=ro&uri=true").list()
    assert modes(file) == {"waits.db": "0o644"}
    assert not (tmp_path / "no.db").exists()


def test_a_file_does_not_import_the_dialect_of_postgresql(tmp_path):
    script = (
        "import sys; from boto_waiters_plus import operations; operations.Store(sys.argv[1]).list()"
        "; sys.exit('sqlalchemy.dialects.postgresql' in sys.modules)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "waits.db")]
    subprocess.run(command, check=True, timeout=60)


def test_a_file_of_another_program_is_refused(tmp_path, stream, active):
    file = tmp_path / "bookmarks.db"
    with contextlib.closing(sqlite3.connect(file)) as other, other:
        other.execute("create table bookmarks (x)")
    with pytest.raises(operations.StoreError, match="has the table bookmarks"):
        start(operations.Store(file), stream(active))
    with contextlib.closing(sqlite3.connect(file)) as other:
        assert other.execute("select count(*) from sqlite_master").fetchone() == (1,)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"no database at all, but a text" * 50, "not a database"), (None, "unable to open")],
)
def test_what_is_no_database_is_refused(tmp_path, stream, active, content, words):
    file = tmp_path / "waits.db"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with pytest.raises(operations.StoreError, match=words) as caught:
        start(operations.Store(file), stream(active))
    assert "waits.db" in str(caught.value)


def test_a_missing_folder_is_named(tmp_path, stream, active):
    with pytest.raises(operations.StoreError, match="unable to open"):
        start(operations.Store(tmp_path / "no" / "waits.db"), stream(active))


def test_a_locked_file_is_reported(tmp_path, stream, active):
    file = tmp_path / "waits.db"
    operations.Store(file).list()
    store = operations.Store(f"sqlite:///{file}?timeout=0.1")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("begin immediate")
        with pytest.raises(operations.StoreError, match="database is locked"):
            start(store, stream(active))
        other.execute("rollback")
    assert not store.list().operations
    assert start(store, stream(active))


def test_a_program_that_reads_the_file_holds_up_no_writer(tmp_path, stream, active):
    file = tmp_path / "waits.db"
    operations.Store(file).list()
    store = operations.Store(f"sqlite:///{file}?timeout=0.1")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("begin")
        (before,) = other.execute("select count(*) from boto_waiters_operations").fetchone()
        assert start(store, stream(active))
        assert other.execute("select count(*) from boto_waiters_operations").fetchone() == (before,)
        other.execute("rollback")


def test_a_read_only_file_can_be_read(tmp_path, stream, active):
    file = tmp_path / "waits.db"
    writer = operations.Store(file)
    path = start(writer, stream(active)).path
    store = operations.Store(f"sqlite:///file:{file}?mode=ro&uri=true")
    assert store.get_json(path)["path"] == path
    with pytest.raises(operations.StoreError, match="attempt to write a readonly database"):
        start(store, stream(active))
    with pytest.raises(operations.StoreError, match="attempt to write a readonly database"):
        store.work(until_idle=True)
    assert len(store.list().operations) == 1


def test_a_full_disk_is_reported(tmp_path, stream, active):
    store = operations.Store(tmp_path / "waits.db")
    path = start(store, stream(active)).path
    with store.backend.database.reading() as connection:
        pages = connection.exec_driver_sql("pragma page_count").scalar()
    # SQLite refuses to grow the file any further, as on a full disk.
    full = operations.Store(tmp_path / "waits.db")
    limit = f"pragma max_page_count = {pages}"

    def listener(connection):
        connection.exec_driver_sql(limit)

    sqlalchemy.event.listen(sqlalchemy.Engine, "begin", listener)
    name = "x" * 1_000_000
    with pytest.raises(operations.StoreError, match="database or disk is full"):
        full.start(stream(active), "stream_exists", max_wait=60, StreamName=name)
    sqlalchemy.event.remove(sqlalchemy.Engine, "begin", listener)
    assert [body["path"] for body in store.list().operations] == [path]
    assert start(store, stream(active))


def test_two_stores_on_one_file(store, open_store, stream, active, store_url):
    if store_url == ":memory:":
        pytest.skip("it has no file")
    other = open_store()
    first, second = start(store, stream(active)), start(other, stream(active))
    listed = {body["path"] for body in store.list().operations}
    assert listed == {first.path, second.path}


def test_times_of_a_new_file_are_those_of_the_wall_clock(tmp_path, stream, active):
    operation = start(operations.Store(tmp_path / "waits.db"), stream(active))
    created = dt.datetime.fromisoformat(operation.metadata["create_time"].replace("Z", "+00:00"))
    assert created.timestamp() == pytest.approx(time.time(), abs=60)


def test_a_server_that_does_not_answer():
    store = operations.Store("postgresql://me:hidden-word@127.0.0.1:1/waits")
    with pytest.raises(operations.StoreError, match=r"127\.0\.0\.1") as caught:
        store.list()
    assert "hidden-word" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_password_is_never_shown(server, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    url = sqlalchemy.make_url(server).set(username="nobody", password="hidden-word")
    store = operations.Store(url.render_as_string(hide_password=False))
    with pytest.raises(operations.StoreError, match="nobody") as caught:
        store.list()
    shown = capsys.readouterr()
    for text in (str(caught.value), repr(store), caplog.text, shown.out, shown.err):
        assert "hidden-word" not in text


@tabled("url", "words")
def test_urls_that_are_none(url, words):
    with pytest.raises(ValueError, match=words) as caught:
        operations.Store(url)
    assert "hidden-word" not in str(caught.value)
