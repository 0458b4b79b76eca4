"""Stores that a package with another schema made."""

import re
import subprocess
import sys
import threading

import pytest
from stored_waits import NIGHTLY, SHARED, start, until  # beside this

from boto_waiters_plus import operations

# Processes that have imported all they need before the first of them opens the store.
OPEN_AT_ONCE = """if True:
    import multiprocessing, sys
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

pytestmark = SHARED


def set_version(store, version):
    with store.backend.database.writing() as connection:
        connection.exec_driver_sql(f"update boto_waiters_schema set version = {version}")


@pytest.mark.parametrize(("version", "needed"), [(99, "a newer"), (0, "an older")])
def test_another_schema_version_is_refused(open_store, store_url, version, needed):
    store = open_store()
    store.list()
    set_version(store, version)
    with pytest.raises(operations.StoreError, match=rf"version {version}.*install {needed}"):
        open_store(store_url).list()


def test_an_open_store_notices_a_newer_schema(store, stream, creating):
    held = start(store, stream(creating))
    errors = []

    def work_on():
        with pytest.raises(operations.StoreError) as caught:
            store.work(make_client=lambda _: stream(creating))
        errors.append(caught.value)

    worker = threading.Thread(target=work_on, daemon=True)
    worker.start()
    until(lambda: held.metadata["attempts"])
    set_version(store, 99)
    newer = r"(waits\.db|postgresql).*version 99.*install a newer"
    with pytest.raises(operations.StoreError, match=newer):
        held.result(60)
    worker.join(60)
    assert re.search(newer, str(errors[0]))
    for refused in (lambda: start(store, stream(creating)), store.list):
        with pytest.raises(operations.StoreError, match=newer):
            refused()


@NIGHTLY
def test_processes_may_open_it_at_once(store_url):
    command = [sys.executable, "-c", OPEN_AT_ONCE, store_url]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == (f"{[(0, 0)] * 10}\n", "")
