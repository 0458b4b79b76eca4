"""What holds on a PostgreSQL server only."""

import gc
import logging
import socket
import threading
import time

import pytest
import sqlalchemy
from stored_rows import DEFINITIONS, driver, ids, wait_row  # beside this file
from stored_waits import NIGHTLY, row_id, start, until  # beside this file

from boto_waiters_plus import operations
from boto_waiters_plus.operations.sql import connections
from boto_waiters_plus.operations.sql.tables import LEASES, WAITS
from boto_waiters_plus.operations.stored_row import UNDRIVEN

pytestmark = [NIGHTLY, pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)]


def test_a_server_that_goes_away_and_comes_back(
    server, store_url, store, stream, creating, active, working, caplog
):
    client = stream(*[creating] * 20, active)
    operation = start(store, client)
    working(store, client)
    until(lambda: operation.metadata["attempts"])
    administrator = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
    name = sqlalchemy.make_url(store_url).username
    with administrator.connect() as connection:
        connection.exec_driver_sql(f"alter role {name} nologin")
        connection.exec_driver_sql(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = %s", (name,)
        )
        until(lambda: "trying again" in caplog.text)
        with pytest.raises(operations.StoreError, match="not permitted to log in"):
            store.list()
        connection.exec_driver_sql(f"alter role {name} login")
    administrator.dispose()
    assert operation.result(60).attempts == 21


def test_a_connection_that_is_lost_in_a_transaction_leaves_no_socket(store):
    def sockets():
        return {s for s in gc.get_objects() if type(s) is socket.socket and s.fileno() != -1}

    before = sockets()
    with pytest.raises(operations.StoreError), store.database.writing() as connection:
        connection.exec_driver_sql("select pg_terminate_backend(pg_backend_pid())")
    assert sockets() <= before


def test_across_machines_the_clock_of_the_server_counts(store, stream, active, monkeypatch):
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 3600)
    operation = start(store, stream(active))
    (row,) = store.database.get([row_id(operation)])
    assert abs(row["created"] - real()) < 600


def test_a_server_that_accepts_and_is_silent_is_given_up(store_url, monkeypatch):
    monkeypatch.setattr(connections, "CONNECT_LIMIT", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        store = operations.Store(f"postgresql://me:hidden-word@127.0.0.1:{port}/waits")
        with pytest.raises(operations.StoreError, match=r"127\.0\.0\.1") as caught:
            store.list()
        store.close()
    assert "hidden-word" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_password_is_never_shown(server, store_url, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    url = sqlalchemy.make_url(server).set(username="nobody", password="hidden-word")
    store = operations.Store(url.render_as_string(hide_password=False))
    with pytest.raises(operations.StoreError, match="nobody") as caught:
        store.list()
    shown = capsys.readouterr()
    for text in (str(caught.value), repr(store), caplog.text, shown.out, shown.err):
        assert "hidden-word" not in text


@pytest.mark.parametrize("other", ["acquire", "write"])
def test_a_wait_that_is_claimed_meanwhile_stays_claimed(store, other):
    """The other reads the leases before the claim is committed."""
    database = store.database
    database.add([wait_row(1)], DEFINITIONS)
    overdue = [{"id": ids(1)[0], "state": "expired", "lease": None, "worker": None}]
    arguments = {"acquire": ("second", 30), "write": (UNDRIVEN, overdue)}[other]
    thread = threading.Thread(target=getattr(database, other), args=arguments)
    with database.writing() as first:
        lease = LEASES.insert().values(worker="first", expires=1e12).returning(LEASES.c.id)
        number = first.execute(lease).scalar_one()
        first.execute(WAITS.update().values(lease=number, worker="first"))
        thread.start()
        waiting = "select count(*) from pg_locks where not granted"
        while thread.is_alive() and not first.exec_driver_sql(waiting).scalar_one():
            pass
    thread.join()
    assert driver(database, 1) == (number, "first")


def test_a_claim_that_commits_late_is_released_too(store, stream, active):
    operation = start(store, stream(active))
    lease = store.database.acquire("worker", 30)
    engine = sqlalchemy.create_engine(store.database.url)
    claim = "update boto_waiters_operations set lease = :lease"
    renew = "update boto_waiters_leases set expires = expires + 1 where id = :lease"
    with engine.connect() as connection:
        for statement in (renew, claim):
            connection.execute(sqlalchemy.text(statement), {"lease": lease})
        releasing = threading.Thread(target=store.database.release, args=[lease])
        releasing.start()
        releasing.join(0.5)
        connection.commit()
    engine.dispose()
    releasing.join(60)
    assert operation.metadata["worker"] is None
    rows, _ = store.database.claim(store.database.acquire("another", 30), 30, 10)
    assert [row["id"] for row in rows] == [row_id(operation)]
