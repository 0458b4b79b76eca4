"""Stores that a package with another schema made."""

import re
import threading

import pytest
from stored_waits import SHARED, start, until  # beside this

from boto_waiters_plus import operations

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
