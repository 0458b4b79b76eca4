"""A damaged row ends alone: its neighbours and its worker go on."""

import concurrent.futures
import contextlib
import json
import sqlite3

import hypothesis
import pytest
from case_tables import experiments
from hypothesis import strategies as st
from stored_rows import wait_row  # beside this file
from stored_waits import ON_FILE, changed, driven, row_id, start, swapped, work

from boto_waiters_plus import operations

COLUMNS = sorted(wait_row(0).keys() - {"id"})
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    st.binary(max_size=20),
    st.sampled_from(["{}", "[]", "null", '{"version":1}', '"x"', "5", "encrypted:AAAA"]),
)


def pages(store):
    """Yield the operations of a store, from pages of one."""
    token = None
    while True:
        page = store.list(page_size=1, page_token=token)
        yield from page.operations
        token = page.next_page_token
        if token is None:
            return


def end_of_damaged(store, store_url, client, column, value, place="?"):
    """Damage one of two waits, drive both, and return how the damaged one has ended."""
    damaged, good = start(store, client), start(store, client)
    statement = f"update boto_waiters_operations set {column} = {place} where id = ?"
    with contextlib.suppress(sqlite3.IntegrityError):
        changed(store_url, statement, value, row_id(damaged))
    work(store, client)
    assert good.result(10).attempts == 1
    assert good.path in {body["path"]: json.dumps(body, allow_nan=False) for body in pages(store)}
    body = store.get_json(damaged.path)
    with contextlib.suppress(concurrent.futures.TimeoutError):
        repr(store.get(damaged.path).exception(0))
    store.expire(0)
    return body


@ON_FILE
@experiments("damages", "column", "value", "form", "unreadable")
def test_a_row_that_was_damaged_so_ends_alone(
    store, store_url, stream, active, column, value, form, unreadable
):
    place = "?"
    match form:
        case "bytes":
            value = value.encode()
        case "no UTF-8":
            value, place = bytes.fromhex(value), "cast(? as text)"
        case int():
            value *= form
    body = end_of_damaged(store, store_url, stream(active, active), column, value, place)
    assert body["done"]
    if unreadable:
        assert body["error"]["code"] == "unreadable"


@ON_FILE
@hypothesis.given(column=st.sampled_from(COLUMNS), value=VALUES)
@hypothesis.settings(
    max_examples=10, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_a_damaged_row_ends_alone(store, store_url, stream, active, column, value):
    body = end_of_damaged(store, store_url, stream(active, active), column, value)
    # What cannot be decrypted here is left to another worker.
    assert body["done"] or column == "state" or str(value).startswith("encrypted:"), body


@ON_FILE
def test_a_worker_without_the_key_leaves_all_of_a_kind(open_store, stream, active, caplog):
    client = stream(active)
    sealed = open_store(encrypt=swapped, decrypt=swapped)
    started = [start(sealed, client) for _ in range(50)]
    work(open_store(), client, batch_size=7)
    assert "waits of this kind are left" in caplog.text
    work(sealed, client)
    assert all(each.result(10) for each in started)


@ON_FILE
def test_times_of_a_damaged_row_are_not_learned(store, store_url, stream, active):
    creating = {"StreamDescription": {"StreamStatus": "CREATING"}}
    damaged = driven(store, stream(creating, active), delay_history=True)
    for policy in ("5", "[]", "null"):
        statement = "update boto_waiters_operations set policy = ? where id = ?"
        assert changed(store_url, statement, policy, row_id(damaged))
        assert driven(store, stream(active), delay_history=True).result(10)


@ON_FILE
@pytest.mark.parametrize("expires", ["x", b"x", 1e300])
def test_a_lease_whose_end_is_damaged_has_ended(store, store_url, stream, active, expires):
    client = stream(active)
    operation = start(store, client)
    store.database.claim(store.database.acquire("gone", 600), 600, 10)
    changed(store_url, "update boto_waiters_leases set expires = ?", expires)
    work(store, client)
    assert operation.result(10)


@ON_FILE
def test_a_damaged_clock_is_an_error_of_the_store(open_store, store_url, stream):
    start(open_store(), stream())
    if changed(store_url, "update boto_waiters_clocks set offset = 'x'"):
        with pytest.raises(operations.StoreError, match="clock"):
            open_store().work(until_idle=True)


@ON_FILE
@pytest.mark.parametrize("column", ["record", "answer", "target", "created"])
def test_a_damaged_call_is_left_out(store, store_url, column, caplog):
    damaged, good = store.save_call({"number": 1}), store.save_call({"number": 2})
    statement = f"update boto_waiters_calls set {column} = '5x' where id = ?"
    changed(store_url, statement, damaged.partition("/")[2])
    assert [each["path"] for each in store.open_calls()] == [good]
    assert damaged in caplog.text
    with pytest.raises(operations.OperationError):
        store.get_call(damaged)


@ON_FILE
def test_a_store_without_a_version_is_refused(store, open_store, store_url, stream):
    start(store, stream())
    changed(store_url, "delete from boto_waiters_schema")
    with pytest.raises(operations.StoreError, match="version"):
        open_store().list()
