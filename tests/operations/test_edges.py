"""Edges of stores: another definition, another boot, another clock, names, hang-ups, references."""

import json
import signal
import socket
import subprocess
import sys
import time

import httpx2 as httpx
import pytest
import sqlalchemy
from stored_waits import (  # beside this file
    BY_SIGNALS,
    ON_FILE,
    ON_SERVER,
    QUICK,
    SHARED,
    start,
    until,
    work,
)

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.cli import main
from boto_waiters_plus.operations import worker as worker_module
from boto_waiters_plus.operations.sql import database

HOUR = 3600


def row_of(store, operation):
    (row,) = store.backend.get([operation.path.partition("/")[2]])
    return row


def execute(store, statement, **names):
    with store.backend.database.writing() as connection:
        connection.execute(sqlalchemy.text(statement), names)


# --- the state and its definition -----------------------------------------------------------------


@SHARED
def test_a_state_of_another_definition_is_an_error(store, stream, active, definition):
    client = stream(active)
    (mine,) = bwp.load_definitions(definition("StreamIsMine", expected="CREATING"))
    other = store.start(client, mine, max_wait=60, StreamName="orders", **QUICK)
    operation = start(store, client)
    execute(
        store,
        "update boto_waiters_operations set digest = :digest where id = :id",
        digest=row_of(store, other)["digest"],
        id=operation.path.partition("/")[2],
    )
    other.cancel()
    assert work(store, client) == 1
    assert operation.exception(10).code == "unreadable"
    assert not client.answers.requests


def test_a_state_names_its_definition_after_each_attempt(store, stream, creating):
    operation = start(store, stream(creating), max_attempts=3)
    before = row_of(store, operation)
    assert json.loads(before["machine"])["definition"] == before["digest"]
    work(store, stream(creating))
    after = row_of(store, operation)
    assert after["attempts"] == 3
    assert json.loads(after["machine"])["definition"] == before["digest"]


def test_a_wait_for_a_state_travels(store, stream, creating, active):
    options = {"until_state": "ACTIVE", "max_wait": 60, "StreamName": "orders", **QUICK}
    operation = store.start(stream(), "DescribeStream", **options)
    work(store, stream(creating, active))
    assert operation.result(10).attempts == 2


def test_only_what_reads_is_polled_for_a_state(store, stream):
    with pytest.raises(ValueError, match="may modify resources"):
        store.start(stream(), "DeleteStream", until_state="ACTIVE", max_wait=9, StreamName="x")
    assert not store.list().operations


# --- workers that cannot --------------------------------------------------------------------------


def test_a_worker_tries_a_kind_again_after_a_while(store, stream, active, working, monkeypatch):
    monkeypatch.setattr(worker_module, "UNABLE_FOR", 0.5)
    operation = start(store, stream(active))
    tries = []

    def make(_):
        tries.append(time.monotonic())
        if len(tries) == 1:
            raise PermissionError("not yet")
        return stream(active)

    working(store, None, make_client=make)
    assert operation.result(20).attempts == 1
    assert tries[1] - tries[0] >= 0.5


# --- clocks ---------------------------------------------------------------------------------------


@ON_FILE
@pytest.mark.skipif(database.BOOT is None, reason="needs a boot id")
def test_after_another_boot_the_wall_clock_counts(
    open_store, stream, creating, active, monkeypatch
):
    operation = start(open_store(), stream(creating), max_wait=100)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + HOUR)
    monkeypatch.setattr(database, "BOOT", "another")
    later = open_store()
    work(later, stream(active))
    assert later.get_json(operation.path)["error"]["code"] == "timed_out"


@ON_FILE
@pytest.mark.parametrize("boot", [database.BOOT, None], ids=["boot id", "none"])
def test_within_one_boot_the_wall_clock_does_not_count(
    open_store, stream, creating, active, monkeypatch, boot
):
    monkeypatch.setattr(database, "BOOT", boot)
    operation = start(open_store(), stream(creating), max_wait=100)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + HOUR)
    later = open_store()
    work(later, stream(active))
    assert later.get(operation.path).result(10).elapsed < 60


@ON_SERVER
def test_across_machines_the_clock_of_the_server_counts(store, stream, active, monkeypatch):
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + HOUR)
    operation = start(store, stream(active))
    assert abs(row_of(store, operation)["created"] - real()) < 60


# --- processes and connections --------------------------------------------------------------------


@BY_SIGNALS
def test_work_and_serve_end_by_either_signal(tmp_path, serve, name):
    file = str(tmp_path / "waits.db")
    server, address = serve("--store", file)
    assert httpx.get(address.partition("#")[0]).status_code == 200
    code = "import sys; from boto_waiters_plus.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "operations", "work", "--store", file]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as worker:
        assert "working on" in worker.stderr.readline()
        store = operations.Store(file)
        until(store.backend.leases)
        for process in (worker, server):
            process.send_signal(getattr(signal, name))
        assert (worker.wait(20), server.wait(20)) == (0, 143)
    assert not store.backend.leases()
    store.close()


@ON_SERVER
def test_the_server_ends_what_takes_too_long(store):
    with store.backend.database.reading() as connection:
        settings = {
            name: connection.exec_driver_sql(f"show {name}").scalar_one()
            for name in ("statement_timeout", "lock_timeout", "tcp_keepalives_idle")
        }
    assert settings["statement_timeout"] == "30s"
    assert settings["lock_timeout"] == "10s"
    with store.backend.database.reading() as connection:
        arguments = connection.connection.dbapi_connection.info.get_parameters()
    assert arguments["keepalives_idle"] == "10"


def test_a_server_that_accepts_and_is_silent_is_given_up(monkeypatch):
    monkeypatch.setattr(database, "CONNECT_LIMIT", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = operations.Store(f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/waits")
        began = time.monotonic()
        with pytest.raises(operations.StoreError):
            store.list()
        assert time.monotonic() - began < 20
        store.close()


# --- data -----------------------------------------------------------------------------------------


@SHARED
def test_the_schema_keeps_the_definition_of_a_wait(store, stream, active):
    operation = start(store, stream(active))
    with pytest.raises(operations.StoreError):
        execute(store, "delete from boto_waiters_definitions")
    assert work(store, stream(active)) == 1
    assert operation.result(10)
    with pytest.raises(operations.StoreError):
        execute(store, "update boto_waiters_operations set digest = 'none'")


def test_a_long_profile_is_refused_in_the_same_words(store, stream, active):
    with pytest.raises(ValueError, match="profile must have at most 200 characters"):
        start(store, stream(active), profile_name="p" * 201)
    assert not store.list().operations


@ON_FILE
def test_the_command_lists_the_holder_of_a_key(store, store_url, stream, active, capsys):
    wanted = start(store, stream(active), exclusive_key="deploy")
    start(store, stream(active), exclusive_key="other")
    words = ["operations", "list", "--store", store_url, "--exclusive-key", "deploy"]
    assert main([*words, "--output", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert found["path"] == wanted.path
