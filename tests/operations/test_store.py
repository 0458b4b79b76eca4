"""What a store keeps, and what it gives back."""

import concurrent.futures
import dataclasses
import datetime as dt
import json
import pickle
import threading
import time
from pathlib import Path

import boto3
import pytest
from case_tables import experiments
from installed_models import installed_operation
from stored_waits import (
    ON_FILE,
    QUICK,
    SHARED,
    changed,
    driven,
    is_in_files,
    row_id,
    start,
    swapped,
    until,
    work,
)

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

# --- ends -----------------------------------------------------------------------------------------


def test_a_worker_ends_an_operation(store, stream, creating, active):
    client = stream(creating, creating, active)
    options = {"max_wait": 60, "StreamName": "orders", **QUICK}
    operation = operations.start(client, "stream_exists", in_store=store, **options)
    assert operation.to_json()["done"] is False
    assert not client.answers.requests
    assert work(store, client) == 1
    outcome = operation.result(10)
    assert isinstance(outcome, bwp.ResponseOutcome)
    assert (outcome.attempts, outcome.response) == (3, {})
    body = operation.to_json()
    assert (body["done"], body["metadata"]["attempts"]) == (True, 3)
    assert body == store.get(operation.path).to_json() == store.get_json(operation.path)
    assert store.get(operation.path).result(0) == outcome


@pytest.mark.parametrize(("last", "options", "kept"), [
    (True, {}, [(1, "CREATING"), (5, "ACTIVE")]),
    (False, {"max_attempts": 3}, [(1, "CREATING"), (3, "CREATING")]),
])  # fmt: skip
def test_the_timeline_keeps_changes_of_state(store, stream, creating, active, last, options, kept):
    operation = driven(store, stream(*[creating] * 4, *[active] * last), **options)
    end = operation.result(10) if last else operation.exception(10)
    assert [(entry.attempt, entry.state) for entry in end.timeline] == kept


def test_a_call_without_an_answer_is_an_attempt(store, stream, creating, no_answer):
    is_over = threading.Event()
    operation = driven(store, stream(creating, lambda: is_over.wait(60) and no_answer), max_wait=2)
    is_over.set()
    error = operation.exception(10)
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert "the last call got no answer" in str(error)
    assert error.label == operation.metadata["label"]
    assert operation.metadata["attempts"] == error.attempts == 2
    assert operation.metadata["elapsed"] == pytest.approx(error.elapsed, abs=0.001)
    assert operation.metadata["state_seen"] == "CREATING"


@pytest.mark.parametrize("code", ["ReadTimeoutError", "ResourceNotFoundException"])
def test_an_expected_exception_comes_back(store, stream, no_answer, waitable, error_answer, code):
    fails = {"state": "success", "matcher": {"success": False}}
    document = waitable("StreamFails", "DescribeStream", fails, namespace="com.amazonaws.kinesis")
    (waiter,) = bwp.load_definitions(document)
    client = stream(no_answer if code == "ReadTimeoutError" else error_answer(code, "gone"))
    outcome = driven(store, client, waiter=waiter).result(10)
    assert isinstance(outcome, bwp.ExceptionOutcome)
    assert outcome.exception.response["Error"]["Code"] == code


def test_errors_keep_what_responses_told(store, answered, no_answer):
    states = {"i-1": "running", "i-2": "pending"}
    instances = [{"InstanceId": each, "State": {"Name": states[each]}} for each in states]
    ec2 = answered("ec2", {"Reservations": [{"Instances": instances}]}, no_answer)
    options = {"max_wait": 60, "max_attempts": 2, **QUICK}
    operation = store.start(ec2, "instance_running", InstanceIds=list(states), **options)
    work(store, ec2)
    assert list(operation.exception(10).failed_ids) == ["i-2"]


@experiments("stores a response of", "service", "operation", "parameters", "answer", "stored")
def test_sensitive_members_of_a_response_are_left_out(
    store, answered, waitable, service, operation, parameters, answer, stored
):
    installed_operation(f"{service}.{operation}")
    client = answered(service, {**answer, "Unknown": "hidden-word"})
    success = {"state": "success", "matcher": {"success": True}}
    (definition,) = bwp.load_definitions(waitable("Read", operation, success))
    definition = dataclasses.replace(definition, service=None)
    given = {"max_wait": 5, "include_response": True, **(parameters or {})}
    operation = store.start(client, definition, **given)
    work(store, client)
    assert operation.result(10).response == stored
    assert "hidden-word" not in json.dumps(operation.to_json())


def test_a_response_is_stored_as_json(store, answered, waitable):
    moment = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)
    points = [{"Sum": float("nan"), "Timestamp": moment}, {"Sum": float("-inf")}]
    client = answered("cloudwatch", {"Datapoints": points})
    success = {"state": "success", "matcher": {"success": True}}
    (definition,) = bwp.load_definitions(waitable("Read", "GetMetricStatistics", success))
    parameters = {"Namespace": "n", "MetricName": "m", "StartTime": 0, "EndTime": 1, "Period": 60}
    store.start(client, definition, max_wait=60, include_response=True, **parameters)
    work(store, client)
    (body,) = store.list().operations
    stored = [{"Sum": "NaN", "Timestamp": 1767225600}, {"Sum": "-Infinity"}]
    assert body["response"]["response"]["Datapoints"] == stored


@SHARED
@pytest.mark.parametrize(("column", "value"), [
    ("response", "{}"), ("response", "5"), ("error", "[" * 10_000), ("error", "no json"),
])  # fmt: skip
def test_an_unreadable_end_is_an_error_of_its_own(store, stream, active, column, value):
    held, other = start(store, stream(active)), start(store, stream(active))
    state = "succeeded" if column == "response" else "failed"
    store.database.write(None, [{"id": row_id(held), "state": state, "ended": 0.0, column: value}])
    assert held.exception(10)
    assert len(store.list().operations) == 2
    work(store, stream(active))
    assert other.result(10)


def test_a_state_of_another_definition_is_an_error(store, stream, active, definition):
    client = stream(active)
    (mine,) = bwp.load_definitions(definition("StreamIsMine", expected="CREATING"))
    other, operation = start(store, client, waiter=mine), start(store, client)
    (row,) = store.database.get([row_id(other)])
    store.database.write(None, [{"id": row_id(operation), "digest": row["digest"]}])
    other.cancel()
    assert work(store, client) == 1
    assert operation.exception(10).code == "unreadable"
    assert not client.answers.requests


# --- what is waited for ---------------------------------------------------------------------------


def test_definitions_travel(store, stream, definition, creating):
    (mine,) = bwp.load_definitions(definition("StreamIsMine", expected="CREATING"))
    assert driven(store, stream(creating), waiter=mine).result(10).waiter == "StreamIsMine"


def test_sensitive_parameters_are_refused(store):
    key = {"SSECustomerKey": "hidden-word", "SSECustomerAlgorithm": "AES256"}
    with pytest.raises(ValueError, match="SSECustomerKey") as caught:
        store.start(boto3.client("s3"), "object_exists", max_wait=60, Bucket="b", Key="k", **key)
    assert "hidden-word" not in str(caught.value)
    assert not store.list().operations


@pytest.mark.parametrize(("option", "value"), [
    ("on_attempt", print),
    ("cancel_event", threading.Event()),
    ("wake_signal", threading.Event()),
    ("delay_pace", lambda attempt: 1),
])  # fmt: skip
def test_what_belongs_to_the_process_is_refused(store, stream, option, value):
    with pytest.raises(TypeError, match=option):
        start(store, stream(), **{option: value})


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


def test_marks_of_the_encoding_may_be_parameters(store, answered, waitable):
    client = answered("dynamodb", {"Item": {}})
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
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
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


# --- looking up -----------------------------------------------------------------------------------


def test_lists_in_stable_pages(store, stream):
    client = stream()
    paths = [start(store, client).path for _ in range(7)]
    first = store.list(page_size=3)
    later = start(store, client).path
    second = store.list(page_size=3, page_token=first.next_page_token)
    third = store.list(page_size=3, page_token=second.next_page_token)
    listed = [body["path"] for page in (first, second, third) for body in page.operations]
    assert listed == paths[::-1]
    assert third.next_page_token is None
    assert store.list().operations[0]["path"] == later
    token = store.list(page_size=1, state="open").next_page_token
    with pytest.raises(ValueError, match="page_token"):
        store.list(page_size=1, page_token=token)


def test_list_filters(store, stream, active):
    client = stream(active)
    done = start(store, client).path
    work(store, client)
    still_open = start(store, client, exclusive_key="deploy").path
    gone = start(store, client, waiter="stream_not_exists").path
    cancelled = start(store, client)
    assert cancelled.cancel()

    def paths(**filters):
        return {body["path"] for body in store.list(**filters).operations}

    assert paths(state="open") == {still_open, gone}
    assert paths(state="succeeded") == {done}
    assert paths(state="done") == {done, cancelled.path}
    assert paths(state="cancelled") == {cancelled.path}
    assert paths(waiter="StreamNotExists") == {gone}
    assert paths(exclusive_key="deploy") == {still_open}
    assert paths(service="s3") == set()
    assert len(paths(service="kinesis")) == 4


def test_operations_are_pickled_by_path(store, stream):
    operation = start(store, stream())
    text = pickle.dumps(operation)
    assert b"hidden-password" not in text
    assert pickle.loads(text) is operation


def test_a_callback_keeps_the_operation(store, stream, active):
    called = threading.Event()
    start(store, stream(active)).add_done_callback(lambda _: called.set())
    work(store, stream(active))
    assert called.wait(60)


# --- cancel, resume, expire, close ----------------------------------------------------------------


def test_cancel_ends_it_for_everybody(store, stream, creating):
    client = stream(creating)
    operation, other = start(store, client), start(store, client)
    seen = store.get(operation.path)
    worker = threading.Thread(target=work, args=(store, client))
    worker.start()
    until(lambda: other.metadata["attempts"])
    assert store.cancel(operation.path)
    assert not store.cancel(operation.path)
    with pytest.raises(concurrent.futures.CancelledError):
        seen.result(60)
    assert seen.cancelled()
    assert other.cancel()
    # It has nothing to poll any more.
    worker.join(60)
    assert not worker.is_alive()
    assert operation.to_json()["error"]["code"] == "cancelled"


def test_resume_goes_on_from_the_stored_state(store, stream, creating, active):
    client = stream(creating, creating, active)
    operation = driven(store, client, max_attempts=2)
    assert isinstance(operation.exception(10), bwp.WaiterAttemptsError)
    with pytest.raises(ValueError, match="max_attempts"):
        store.resume(operation.path, max_wait=60)
    resumed = store.resume(operation.path, max_wait=60, max_attempts=2)
    assert not resumed.done()
    assert resumed.metadata["attempts"] == 2
    work(store, client)
    assert resumed.result(10).attempts == 3
    with pytest.raises(ValueError, match="succeeded"):
        store.resume(operation.path)


def test_a_cancelled_wait_is_resumed_in_the_time_left(open_store, clock, stream):
    store = open_store(clock=clock)
    operation = start(store, stream(), max_wait=60)
    operation.cancel()
    assert store.resume(operation.path).metadata["deadline"]
    with pytest.raises(ValueError, match="open"):
        store.resume(operation.path)
    store.database.write(None, [{"id": row_id(operation), "elapsed": 60.0}])
    store.cancel(operation.path)
    with pytest.raises(ValueError, match="max_wait"):
        store.resume(operation.path)
    assert not store.resume(operation.path, max_wait=5).done()


def test_expired_operations_are_gone(open_store, clock, stream, active):
    store, client = open_store(clock=clock), stream(active)
    done = driven(store, client)
    still_open = start(store, client)
    clock.now += 50
    assert store.expire(3600) == 0
    assert store.expire(dt.timedelta(seconds=50)) == 1
    with pytest.raises(LookupError, match="expired"):
        store.get(done.path)
    assert not store.get(still_open.path).done()
    work(store, client)
    assert store.get(still_open.path).result(10)


@ON_FILE
def test_an_operation_whose_row_is_gone_ends(open_store, store_url, running_clock, stream):
    operation = start(open_store(clock=running_clock), stream())
    changed(store_url, "delete from boto_waiters_operations")
    running_clock.now += 60
    assert operation.exception(60).code == "not_found"


def test_a_closed_store_says_so_at_once(store, stream):
    held = start(store, stream())
    with concurrent.futures.ThreadPoolExecutor() as threads:
        waiting = threads.submit(held.result)
        store.close()
        assert isinstance(waiting.exception(60), operations.StoreError)
    for refused in (held.result, lambda: start(store, stream())):
        with pytest.raises(operations.StoreError, match="closed"):
            refused()


# --- paths ----------------------------------------------------------------------------------------

TAKERS = ("get", "get_json", "cancel", "resume", "get_call", "note_call", "finish_call")


@pytest.mark.parametrize("taker", TAKERS)
def test_what_is_no_path_is_not_there(store, stream, taker):
    """Whatever the database says of a NUL, or of half a character."""
    wait, call = start(store, stream()).path, store.save_call({"number": 1})
    rest = {"note_call": ("answered", {}), "finish_call": ({},)}.get(taker, ())
    own = call if "call" in taker else wait
    collection, _, found = own.partition("/")
    ids = ["\0", "", "\ud800", "x" * 10**5, found.upper(), f"{found}\0", f"{found}\n", f"./{found}"]
    wrong = [f"{collection}/{each}" for each in ids]
    if own == wait:
        with pytest.raises(LookupError, match="or it has expired"):
            getattr(store, taker)(f"{collection}/{'0' * 32}")
    for path in [*wrong, found, f"/{own}", f"other/{found}", wait if own == call else call]:
        if taker == "get_json" and path == call:
            continue
        with pytest.raises(LookupError, match="there is no"):
            getattr(store, taker)(path, *rest)
    assert not store.get_json(wait)["done"]
    assert not store.get_call(call)["done"]


# --- encryption -----------------------------------------------------------------------------------


def test_all_of_requests_and_responses_is_encrypted(
    open_store, stream, active, error_answer, tmp_path
):
    store = open_store(encrypt=swapped, decrypt=swapped)
    words = "hidden-word"
    client = stream(active, error_answer("ResourceNotFoundException", words))
    # Labels stay plain.
    hidden = {"StreamName": words, "show_parameters": False}
    assert start(store, client, **hidden)
    work(store, client)
    failed = start(store, client, **hidden)
    gone = start(store, client, waiter="stream_not_exists", **hidden)
    call = store.save_call({"parameters": words, "target": {"account": words}})
    store.note_call(call, "answered", {"response": words})
    store.finish_call(call, {"result": words})
    work(store, client)
    assert client.answers.requests[0]["body"] == b'{"StreamName": "hidden-word"}'
    assert words in str(failed.exception(10).last_response or failed.to_json()["error"])
    assert gone.result(10).exception.response["Error"]["Message"] == words
    assert store.get_call(call)["answer"] == {"response": words}
    assert not is_in_files(words.encode(), tmp_path / "waits.db")
    if store.database.name == ":memory:":
        return
    blind = open_store(store.database.url)
    with pytest.raises(operations.OperationError, match="decrypt="):
        blind.get_call(call)
    by_state = {body.get("error", {}).get("code") for body in blind.list().operations}
    assert by_state == {"failed", "unreadable"}


def test_an_encrypted_wait_has_a_plain_label_unless_it_is_hidden(open_store, stream):
    store, client = open_store(encrypt=swapped, decrypt=swapped), stream()
    plain = start(store, client)
    hidden = start(store, client, show_parameters=False)
    wait = bwp.Wait(client, "stream_exists", {"StreamName": "orders"}, max_wait=9, label="mine")
    (given,) = store.start_all([wait])
    (row,) = store.database.get([row_id(plain)])
    assert "orders" not in row["parameters"]
    assert plain.metadata["label"] == "kinesis StreamName=orders"
    assert "orders" not in hidden.metadata["label"]
    assert store.get(given).metadata["label"] == "mine"


def wrong_length(data):
    raise ValueError("Fernet key must be 32 url-safe base64-encoded bytes.")


@ON_FILE
@pytest.mark.parametrize("wrong", [wrong_length, lambda data: data, lambda data: b"1" + data])
def test_a_worker_with_another_key_leaves_the_wait(open_store, stream, active, wrong):
    operation = start(open_store(encrypt=swapped, decrypt=swapped), stream())
    work(open_store(encrypt=swapped, decrypt=wrong), stream())
    assert "parameters" in operation.metadata["last_error"]["detail"]
    work(open_store(encrypt=swapped, decrypt=swapped), stream(active))
    assert operation.result(10).attempts == 1


# --- clocks ---------------------------------------------------------------------------------------


@ON_FILE
@pytest.mark.skipif(not Path("/proc/sys/kernel/random/boot_id").exists(), reason="needs a boot id")
@pytest.mark.parametrize("is_another", [False, True])
def test_the_wall_clock_counts_after_another_boot_only(
    open_store, store_url, stream, active, monkeypatch, is_another
):
    operation = start(open_store(), stream(), max_wait=100)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600)
    new = "'another'" if is_another else "boot"
    assert changed(store_url, f"update boto_waiters_clocks set boot = {new}") == 1
    later = open_store()
    work(later, stream(active))
    body = later.get_json(operation.path)
    assert body.get("error", {}).get("code") == ("timed_out" if is_another else None)
