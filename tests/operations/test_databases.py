"""Databases that cannot be used: a clear error, and nothing half written."""

import contextlib
import os
import re
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import sqlalchemy
from case_tables import experiments
from starlette.testclient import TestClient
from stored_waits import SHARED, start, until  # beside this file

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.cli import main
from boto_waiters_plus.operations.sql.tables import VERSION

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "waits.db"


@pytest.fixture
def hasty(file):
    """A store that does not wait for the file; and another connection to the file."""
    operations.Store(file).list()
    store = operations.Store(f"sqlite:///{file}?timeout=0.1")
    with contextlib.closing(
        sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    ) as other:
        yield store, other
        store.close()


def modes(file):
    return {
        path.name: oct(stat.S_IMODE(path.stat().st_mode))
        for path in file.parent.glob(f"{file.name}*")
    }


# --- files ----------------------------------------------------------------------------------------


@POSIX
def test_the_default_is_in_the_state_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    operations.Store().list()
    file = tmp_path / "boto_waiters_plus" / "operations.db"
    assert file.exists()
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@POSIX
@experiments("opens", "url")
def test_the_files_are_their_owners_from_the_first(file, tmp_path, monkeypatch, stream, url):
    at_first = []

    def opened(*_):
        at_first.append(modes(file))

    monkeypatch.chdir(tmp_path)
    file = tmp_path / "own" / "waits.db"
    file.parent.mkdir()
    # A link to the file that is to be made, and one to its folder.
    (tmp_path / "link").symlink_to(file)
    (tmp_path / "folder").symlink_to(file.parent)
    if url == "sqlite:///file:waits.db":
        file = tmp_path / "file:waits.db"
    before = os.umask(0)
    sqlalchemy.event.listen(sqlalchemy.Engine, "connect", opened)
    try:
        store = operations.Store(url.format(file=file, folder=tmp_path))
        start(store, stream())
        private = dict.fromkeys((file.name, f"{file.name}-wal", f"{file.name}-shm"), "0o600")
        assert modes(file) == private
    finally:
        sqlalchemy.event.remove(sqlalchemy.Engine, "connect", opened)
        os.umask(before)
    assert at_first[0] == {file.name: "0o600"}
    # What was opened to others is closed.
    for path in modes(file):
        (file.parent / path).chmod(0o666)
    operations.Store(url.format(file=file, folder=tmp_path)).list()
    assert modes(file) == private


@POSIX
def test_a_file_of_another_program_is_refused(file, tmp_path, stream):
    with contextlib.closing(sqlite3.connect(file)) as other, other:
        other.execute("create table bookmarks (x)")
    file.chmod(0o644)
    with pytest.raises(operations.StoreError, match="bookmarks"):
        start(operations.Store(file), stream())
    with pytest.raises(operations.StoreError, match="unable to open"):
        operations.Store(f"sqlite:///file:{tmp_path}/no.db?mode=ro&uri=true").list()
    assert modes(file) == {"waits.db": "0o644"}
    assert not (tmp_path / "no.db").exists()
    with contextlib.closing(sqlite3.connect(file)) as other:
        assert other.execute("select count(*) from sqlite_master").fetchone() == (1,)


@pytest.mark.parametrize("content", ["text", "folder", "missing folder"])
def test_what_is_no_database_is_refused(file, stream, content):
    words = "unable to open"
    if content == "text":
        file.write_bytes(b"no database at all, but a text" * 50)
        words = "not a database"
    elif content == "folder":
        file.mkdir()
    else:
        file = file / "waits.db"
    with pytest.raises(operations.StoreError, match=words) as caught:
        start(operations.Store(file), stream())
    assert "waits.db" in str(caught.value)


def test_a_locked_file_is_reported(hasty, stream):
    store, other = hasty
    other.execute("begin immediate")
    with pytest.raises(operations.StoreError, match="locked"):
        start(store, stream())
    other.execute("rollback")
    assert not store.list().operations
    assert start(store, stream())


def test_a_worker_goes_on_after_a_lock(hasty, stream, creating, active, working, caplog):
    store, other = hasty
    client = stream(*[creating] * 20, active)
    operation = start(store, client)
    working(store, client)
    until(lambda: operation.metadata["attempts"])

    def begins():
        with contextlib.suppress(sqlite3.OperationalError):
            return other.execute("begin immediate")

    until(begins)
    until(lambda: "locked; trying again" in caplog.text)
    other.execute("rollback")
    assert operation.result(60).attempts == 21


def test_a_program_that_reads_the_file_holds_up_no_writer(hasty, stream):
    store, other = hasty
    count = "select count(*) from boto_waiters_operations"
    other.execute("begin")
    before = other.execute(count).fetchone()
    assert start(store, stream())
    assert other.execute(count).fetchone() == before


def test_a_read_only_file_can_be_read(file, stream):
    path = start(operations.Store(file), stream()).path
    store = operations.Store(f"sqlite:///file:{file}?mode=ro&uri=true")
    assert store.get_json(path)["path"] == path
    for change in (lambda: start(store, stream()), lambda: store.work(until_idle=True)):
        with pytest.raises(operations.StoreError, match="readonly"):
            change()
    assert len(store.list().operations) == 1


def test_a_full_disk_is_reported(file, stream):
    store = operations.Store(file)
    path = start(store, stream()).path
    with contextlib.closing(sqlite3.connect(file)) as other:
        (pages,) = other.execute("pragma page_count").fetchone()
    # SQLite refuses to grow the file any further, as on a full disk.
    full = operations.Store(file)

    def limit(connection):
        connection.exec_driver_sql(f"pragma max_page_count = {pages}")

    sqlalchemy.event.listen(sqlalchemy.Engine, "begin", limit)
    with pytest.raises(operations.StoreError, match="full"):
        start(full, stream(), StreamName="x" * 1_000_000)
    sqlalchemy.event.remove(sqlalchemy.Engine, "begin", limit)
    assert [body["path"] for body in store.list().operations] == [path]
    assert start(store, stream())


@SHARED
def test_many_may_open_it_at_once(store_url):
    barrier = threading.Barrier(10)

    def look(_):
        with contextlib.closing(operations.Store(store_url)) as store:
            barrier.wait(60)
            return store.open_calls(), store.list().operations

    with ThreadPoolExecutor(10) as threads:
        assert [*threads.map(look, range(10))] == [([], [])] * 10


# --- schemas --------------------------------------------------------------------------------------


def set_version(url, version):
    engine = sqlalchemy.create_engine(url if "://" in url else f"sqlite:///{url}")
    with engine.begin() as connection:
        connection.exec_driver_sql(f"update boto_waiters_schema set version = {version}")
    engine.dispose()


OTHER_SCHEMAS = pytest.mark.parametrize(("version", "needed"), [
    (VERSION + 1, "install a newer boto-waiters-plus"),
    (VERSION - 1, "use a new store, or install an older"),
])  # fmt: skip


@SHARED
@OTHER_SCHEMAS
def test_another_schema_version_is_refused(open_store, store_url, capsys, version, needed):
    open_store().list()
    set_version(store_url, version)
    reason = rf"(waits\.db|postgresql).*version {version}, this package knows {VERSION}: {needed}"
    with pytest.raises(operations.StoreError, match=reason):
        open_store(store_url).list()
    for words in (["list"], ["work", "--until-idle"]):
        assert main(["operations", *words, "--store", store_url]) == 255
        assert re.search(reason, capsys.readouterr().err)
    app = operations.asgi(open_store(store_url), token="word")
    web = TestClient(app, headers={"Authorization": "Bearer word"})
    for path in ("/operations", "/operations:events"):
        refused = web.get(path)
        assert refused.status_code == 503
        assert re.search(reason, refused.json()["detail"])


@SHARED
@OTHER_SCHEMAS
def test_an_open_store_notices_another_schema(store, store_url, stream, creating, version, needed):
    held, client = start(store, stream(creating)), stream({})
    with ThreadPoolExecutor() as threads:
        worker = threads.submit(store.work, make_client=lambda _: stream(creating))
        until(lambda: held.metadata["attempts"])
        set_version(store_url, version)
    begin = partial(bwp.begin, client.delete_stream, in_store=store, StreamName="orders")
    reason = rf"(waits\.db|postgresql).*version {version}.*{needed}"
    for refused in (
        worker.result,
        lambda: held.result(60),
        lambda: start(store, stream(creating)),
        lambda: begin(max_wait=60),
        store.list,
    ):
        with pytest.raises(operations.StoreError, match=reason):
            refused()
    assert client.answers.requests == []


# --- URLs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("url", "words"), [
    ("postgresql://a:hidden-word@h:port/x", "cannot be parsed"),
    ("mysql://a:hidden-word@h/x", "not mysql"),
    ("", "empty"),
    ("sqlite:///file::memory:?uri=true", ":memory:"),
    ("sqlite:///file:x?mode=memory&uri=true", ":memory:"),
])  # fmt: skip
def test_what_is_no_url_of_a_store_is_refused(url, words):
    with pytest.raises(ValueError, match=words) as caught:
        operations.Store(url)
    assert "hidden-word" not in str(caught.value)
