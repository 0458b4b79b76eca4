"""`begin` for calls whose answer refuses some or all of what was asked for.

A row has the refused items, or those that have failed at the end; `ends` if a part was accepted.
"""

import contextlib
import json

import pytest
from case_tables import CASES
from stored_waits import work
from test_begin import StaleService, begin

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.idempotency import call_once

ROWS = json.loads((CASES / "refused-items.json").read_text("utf-8"))
NONE = [pytest.param(row, id=row["name"]) for row in ROWS if "ends" not in row]
PART = [pytest.param(row, id=row["name"]) for row in ROWS if "ends" in row]


@pytest.fixture
def service(virtual_time):
    return lambda row: StaleService(row, virtual_time)


def is_about(error, row):
    """Whether an error names the items of a row."""
    words = [word.rpartition("/")[2] for word in (*row["refused"], *row.get("says", ()))]
    return error.failed_ids == row["refused"] and all(word in str(error) for word in words)


def begin_kept(service):
    """Begin in a store; return the operation of its only row once a worker has driven it."""
    store = operations.Store(":memory:")
    with contextlib.suppress(bwp.WaiterFailedError):
        begin(service, in_store=store)
    work(store, service.client)
    [operation] = store.list().operations
    return store.get(operation["path"])


@pytest.mark.parametrize("row", NONE)
def test_nothing_accepted_is_a_failure_before_the_first_poll(service, row):
    made = service(row)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        begin(made)
    assert is_about(caught.value, row)
    assert caught.value.call.response.items() >= row["answer"].items()
    assert len(made.operations) == 1


@pytest.mark.parametrize("row", NONE[:3])
def test_a_row_of_which_nothing_was_accepted_has_ended(service, row):
    made = service(row)
    error = begin_kept(made).exception(0)
    assert isinstance(error, bwp.WaiterFailedError)
    assert is_about(error, row)
    assert len(made.operations) == 1


@pytest.mark.parametrize("row", NONE[:1])
def test_what_is_hidden_is_not_named(service, row):
    with pytest.raises(bwp.WaiterFailedError) as caught:
        begin(service(row), show_parameters=False)
    assert row["refused"][0].rpartition("/")[2] not in str(caught.value)
    assert caught.value.service_message == "no room"


@pytest.mark.parametrize("in_store", [False, True])
def test_a_long_reason_keeps_its_beginning_and_end(service, in_store):
    made = service(json.loads(json.dumps(NONE[0].values[0]).replace("no room", "no room" * 99)))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        raise begin_kept(made).exception(0) if in_store else begin(made).exception(0)
    reason = "no room" * 99
    assert caught.value.service_message == f"{reason[:150]} [...] {reason[-350:]}"
    assert caught.value.service_message in str(caught.value)


@pytest.mark.parametrize("begins", [begin, begin_kept])
@pytest.mark.parametrize("row", PART)
def test_after_the_rest_a_part_that_was_refused_is_a_failure(service, row, begins):
    made = service(row)
    error = begins(made).exception(60)
    assert type(error).__name__ == row["ends"]
    assert is_about(error, row)
    assert error.call.response.items() >= row["answer"].items()
    assert made.requests[-1] == row["polled"]
    assert row["at"] - 1 <= error.elapsed <= row["at"] + 60


@pytest.mark.parametrize("row", PART[:1])
def test_call_once_ends_as_begin_does(service, row):
    with pytest.raises(bwp.WaiterFailedError) as caught:
        begin(service(row), begins=call_once, then_wait=True)
    assert is_about(caught.value, row)
