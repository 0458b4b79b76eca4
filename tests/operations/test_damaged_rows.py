"""A damaged row ends alone: its neighbours and its worker go on."""

import contextlib
import json
import sqlite3

import hypothesis
from backend_contract import wait_row  # beside this file
from hypothesis import strategies as st
from stored_waits import ON_FILE, changed, row_id, start, work  # beside this file

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

KNOWN = [
    *[(name, text) for name in ("endpoint", "service", "kind", "digest") for text in ("x", "")],
    *[("client_settings", text) for text in ("5", '{"retries":5}', '{"nothing":1}')],
    *[(name, "[" * 10_000) for name in ("policy", "machine")],
    *[("policy", "{}"), ("parameters", "5")],
    *[
        (name, text)
        for name in ("deadline", "machine_at", "elapsed")
        for text in ("x", None, 1e300)
    ],
    *[("machine", text) for text in ("{}", "x", b"x")],
    ("lease", 99),
    ("created", "x"),
    ("last_error", "5"),
    ("last_error", b"x"),
]


def with_known(test):
    for column, value in KNOWN:
        test = hypothesis.example(column=column, value=value)(test)
    return test


@ON_FILE
@with_known
@hypothesis.given(column=st.sampled_from(COLUMNS), value=VALUES)
@hypothesis.settings(
    max_examples=10, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_a_damaged_row_ends_alone(store, store_url, stream, active, column, value):
    client = stream(active, active)
    damaged, good = start(store, client), start(store, client)
    statement = f"update boto_waiters_operations set {column} = ? where id = ?"
    with contextlib.suppress(sqlite3.IntegrityError):
        changed(store_url, statement, value, row_id(damaged))
    work(store, client)
    assert good.result(10).attempts == 1
    bodies = {body["path"]: json.dumps(body) for body in store.list().operations}
    assert good.path in bodies
    body = store.get_json(damaged.path)
    assert body["done"] or column == "state", body
    # No definition has that digest: a database with keys refuses it.
    if (column, value) in KNOWN[:15] and column != "digest":
        assert body["error"]["code"] == "unreadable"
    with contextlib.suppress(TimeoutError):
        repr(store.get(damaged.path).exception(0))
    store.expire(0)
