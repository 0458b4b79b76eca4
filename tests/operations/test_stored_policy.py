"""What a stored wait is made of, and what never changes it."""

from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest
from stored_waits import QUICK, driven, start, work

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

# --- the policy -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("own", "settings"), [
    ({}, {"success_count": 3, "max_attempts": 1, "initial_delay": 30}),
    ({"min_delay": 5, "max_delay": 5}, {"min_delay": 20, "max_delay": 30}),
])  # fmt: skip
def test_settings_of_a_worker_change_no_wait(store, stream, active, own, settings):
    client = stream(active)
    operation = start(store, client, **own)
    bwp.install(defaults=settings)
    bwp.enable(client, defaults={"max_delay": 1})
    assert work(store, client) == 1
    assert operation.result(10).attempts == 1


def test_settings_of_the_starter_travel(store, stream, active):
    client = stream()
    bwp.enable(client, defaults={"success_count": 3, **QUICK})
    operation = store.start(client, "stream_exists", max_wait=60, StreamName="orders")
    work(store, stream(active))
    assert operation.result(10).attempts == 3


def test_hidden_parameters_stay_hidden(store, stream, creating):
    operation = driven(store, stream(creating), max_attempts=2, show_parameters=False)
    assert "orders" not in str(operation.exception(10))
    assert "orders" not in operation.metadata["label"]


# --- parameters and requests ----------------------------------------------------------------------


def test_parameters_that_handlers_complete_are_accepted(store):
    assert store.start(boto3.client("glacier"), "vault_exists", max_wait=9, vaultName="v")


def test_marks_of_the_encoding_may_be_parameters(store, answers, waitable):
    client = boto3.client("dynamodb")
    client.answers = answers(client, {"Item": {}})
    success = {"state": "success", "matcher": {"success": True}}
    (definition,) = bwp.load_definitions(waitable("ItemRead", "GetItem", success))
    store.start(client, definition, max_wait=60, TableName="orders", Key={"$bytes": {"S": "x"}})
    work(store, client)
    assert b'"Key": {"$bytes": {"S": "x"}}' in client.answers.requests[0]["body"]


def test_a_request_id_gives_the_same_operation(store, stream, active):
    client = stream(active)
    first = start(store, client, request_id="r-1")
    assert start(store, client, request_id="r-1").path == first.path
    assert len(store.list().operations) == 1
    for change in ({"StreamName": "other"}, {"min_delay": 0.02}, {"exclusive_key": "k"}):
        with pytest.raises(operations.OperationError, match="request_mismatch"):
            start(store, client, request_id="r-1", **change)
    work(store, client)
    assert start(store, client, request_id="r-1").result(0).attempts == 1
    store.expire(0)
    # A new wait, and a new path: the old one may be kept somewhere.
    later = start(store, client, request_id="r-1")
    assert not later.done()
    assert later.path != first.path
    with pytest.raises(LookupError, match="expired"):
        store.get(first.path)


def test_one_request_id_at_once_is_one_operation(open_store, stream):
    stores, client = [open_store() for _ in range(4)], stream()
    with ThreadPoolExecutor(8) as threads:
        started = threads.map(lambda each: start(each, client, request_id="r-1"), stores * 4)
        assert len({operation.path for operation in started}) == 1


@pytest.mark.parametrize("value", ["a\ud800", "a\0", "x" * 201])
@pytest.mark.parametrize("name", ["exclusive_key", "request_id", "profile_name"])
def test_odd_names_are_refused(store, stream, value, name):
    with pytest.raises(ValueError, match=name.removesuffix("_name")):
        start(store, stream(), **{name: value})
    assert not store.list().operations


def test_long_names_of_waiters_are_refused(store, stream, definition):
    (mine,) = bwp.load_definitions(definition("S" * 201))
    with pytest.raises(ValueError, match="waiter"):
        start(store, stream(), waiter=mine)
