"""What a stored wait is made of, and what never changes it."""

import gc
import logging
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import boto3
import botocore.exceptions
import pytest
from stored_waits import QUICK, start, work  # beside this file

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.batch.tasks import Task
from boto_waiters_plus.operations.stored_wait import WaitMaker

# --- the policy -----------------------------------------------------------------------------------


def test_settings_of_a_worker_change_no_wait(store, stream, active):
    client = stream(active)
    operation = start(store, client)
    bwp.install(defaults={"success_count": 3, "max_attempts": 1, "initial_delay": 30})
    assert work(store, client) == 1
    assert operation.result(10).attempts == 1


def test_settings_that_a_wait_could_not_have_are_not_merged(store, stream, active):
    client = stream(active)
    operation = start(store, client, min_delay=5, max_delay=5)
    bwp.install(defaults={"min_delay": 20, "max_delay": 30})
    bwp.enable(client, defaults={"max_delay": 1})
    assert work(store, client) == 1
    assert operation.result(10).attempts == 1


def test_waits_of_one_kind_share_options_and_policy(store, stream, active):
    client = stream(active)
    for name in ("orders", "bills"):
        start(store, client, StreamName=name)
    bwp.enable(client, defaults={"show_parameters": False})
    rows, _ = store.backend.claim(store.backend.acquire("here", 30), 30, 10)
    maker = WaitMaker(lambda _: client, store.seal)
    first, second = [maker.wait_of(row)[0] for row in rows]
    assert first.parameters != second.parameters
    assert first.policy is second.policy
    assert first.merged_options is first.options is second.options


def test_a_worker_keeps_of_a_wait_what_its_end_needs(store, stream, creating, collect_garbage):
    client = stream(creating)
    start(store, client, min_delay=30, max_delay=30)
    stop = threading.Event()
    options = {"make_client": lambda _: client, "stop_event": stop}
    worker = threading.Thread(target=store.work, kwargs=options)
    worker.start()
    try:
        while not store.list().operations[0]["metadata"]["attempts"]:
            assert worker.is_alive()
            time.sleep(0.01)
        collect_garbage()
        kinds = [type(each) for each in gc.get_objects()]
        assert kinds.count(Task) == 1
        assert kinds.count(bwp.Wait) == 0
    finally:
        stop.set()
        worker.join()


def test_settings_of_the_starter_travel(store, stream, creating, active):
    client = stream(active)
    bwp.enable(client, defaults={"success_count": 3, **QUICK})
    operation = store.start(client, "stream_exists", max_wait=60, StreamName="orders")
    work(store, stream(active))
    assert operation.result(10).attempts == 3


def test_hidden_parameters_stay_hidden(store, stream, creating):
    operation = start(store, stream(creating), max_wait=0.2, show_parameters=False)
    work(store, stream(creating))
    assert "orders" not in str(operation.exception(10))
    assert "orders" not in operation.metadata["label"]


# --- parameters and requests ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "member"),
    [({"StreamName": 5}, "StreamName"), ({"Nothing": "x"}, "Nothing"), ({"Limit": "x"}, "Limit")],
)
def test_parameters_are_checked_before_anything_is_stored(
    store, stream, active, parameters, member
):
    with pytest.raises(botocore.exceptions.ParamValidationError, match=member):
        start(store, stream(active), **parameters)
    assert not store.list().operations


def test_parameters_that_handlers_complete_are_accepted(store):
    glacier = boto3.client("glacier")
    assert store.start(glacier, "vault_exists", max_wait=9, vaultName="v")


def test_marks_of_the_encoding_may_be_parameters(store, answers, waitable):
    client = boto3.client("dynamodb")
    client.answers = answers(client, {"Item": {}})
    success = {"state": "success", "matcher": {"success": True}}
    (definition,) = bwp.load_definitions(waitable("ItemRead", "GetItem", success))
    key = {"$bytes": {"S": "x"}}
    store.start(client, definition, max_wait=5, TableName="orders", Key=key)
    work(store, client)
    assert b'"Key": {"$bytes": {"S": "x"}}' in client.answers.requests[0]["body"]


def test_a_request_id_gives_the_same_operation(store, stream, active):
    first = start(store, stream(active), request_id="r-1")
    again = start(store, stream(active), request_id="r-1")
    assert again.path == first.path
    assert len(store.list().operations) == 1
    for change in ({"StreamName": "other"}, {"min_delay": 0.02}, {"exclusive_key": "k"}):
        with pytest.raises(
            operations.OperationError, match=r"with other arguments \(request_mismatch\)"
        ):
            start(store, stream(active), request_id="r-1", **change)
    work(store, stream(active))
    assert start(store, stream(active), request_id="r-1").result(0).attempts == 1
    store.expire(0)
    # A new wait, and a new path: the old one may be kept somewhere.
    later = start(store, stream(active), request_id="r-1")
    assert not later.done()
    assert later.path != first.path
    with pytest.raises(LookupError, match="it has expired"):
        store.get(first.path)


def test_one_request_id_at_once_is_one_operation(open_store, stream, active):
    stores = [open_store() for _ in range(4)]
    client = stream(active)
    with ThreadPoolExecutor(8) as threads:
        started = threads.map(lambda each: start(each, client, request_id="r-1"), stores * 4)
        assert len({operation.path for operation in started}) == 1


@pytest.mark.parametrize("key", ["a\ud800", "a\0", "x" * 201])
@pytest.mark.parametrize("name", ["exclusive_key", "request_id"])
def test_odd_keys_are_refused_in_the_same_words(store, stream, active, key, name):
    with pytest.raises(ValueError, match=f"{name} must have at most 200 characters, and no"):
        start(store, stream(active), **{name: key})


def test_long_names_are_refused_in_the_same_words(store, stream, active, definition):
    (mine,) = bwp.load_definitions(definition("S" * 201))
    with pytest.raises(ValueError, match="waiter must have at most 200 characters"):
        store.start(stream(active), mine, max_wait=9, StreamName="x")


# --- responses ------------------------------------------------------------------------------------


def test_not_a_number_is_text(store, answers, waitable):
    client = boto3.client("cloudwatch")
    client.answers = answers(
        client, {"Datapoints": [{"Sum": float("nan")}, {"Sum": float("-inf")}]}
    )
    success = {"state": "success", "matcher": {"success": True}}
    (definition,) = bwp.load_definitions(waitable("Read", "GetMetricStatistics", success))
    parameters = {"Namespace": "n", "MetricName": "m", "StartTime": 0, "EndTime": 1, "Period": 60}
    store.start(client, definition, max_wait=5, include_response=True, **parameters)
    work(store, client)
    (body,) = store.list().operations
    assert body["response"]["response"]["Datapoints"] == [{"Sum": "NaN"}, {"Sum": "-Infinity"}]


def test_a_presigned_url_is_left_out(store, answers):
    client = boto3.client("lambda")
    url = "https://bucket.s3.amazonaws.com/code?X-Amz-Signature=hidden-word"
    state = {"State": "Active", "LastUpdateStatus": "Successful", "FunctionName": "f"}
    client.answers = answers(client, {"Configuration": state, "Code": {"Location": url}})
    operation = store.start(
        client, "function_active_v2", max_wait=5, include_response=True, FunctionName="f"
    )
    work(store, client)
    assert operation.result(10).response["Configuration"]["FunctionName"] == "f"
    assert "hidden-word" not in str(operation.to_json())


def test_all_of_requests_and_responses_is_encrypted(open_store, stream, error_answer, tmp_path):
    def swapped(data):
        return bytes(255 - byte for byte in data)

    store = open_store(encrypt=swapped, decrypt=swapped)
    words = "hidden-word"
    client = stream(error_answer("ResourceNotFoundException", words))
    # Labels stay plain.
    hidden = {"StreamName": words, "show_parameters": False}
    failed = start(store, client, **hidden)
    gone = store.start(client, "stream_not_exists", max_wait=9, **hidden)
    call = store.save_call({"parameters": words, "target": {"account": words}})
    store.note_call(call, "answered", {"response": words})
    store.finish_call(call, {"result": words})
    work(store, client)
    assert words in str(failed.exception(10).last_response or failed.to_json()["error"])
    assert gone.result(10).exception.response["Error"]["Message"] == words
    assert store.get_call(call)["answer"] == {"response": words}
    for file in tmp_path.glob("waits.db*"):
        assert words.encode() not in file.read_bytes()
    if store.backend.name == ":memory:":
        return
    blind = open_store(store.backend.url)
    by_state = {body["error"]["code"] for body in blind.list().operations}
    assert by_state == {"failed", "unreadable"}
    with pytest.raises(operations.OperationError, match="decrypt="):
        blind.get_call(call)


# --- lifetimes ------------------------------------------------------------------------------------


class Callback:
    """A callback that can be watched."""

    def __init__(self, error=None):
        self.calls = 0
        self._error = error

    def __call__(self, event):
        self.calls += 1
        if self._error:
            raise self._error


def test_callbacks_of_ended_waits_are_dropped(stream, active):
    callbacks = [Callback() for _ in range(20)]
    alive = [weakref.ref(each) for each in callbacks]
    client = stream(active)
    # One that is open keeps the client's state in the pool.
    other = operations.start(
        client, "stream_exists", max_wait=9e6, StreamName="x", initial_delay=9e5
    )
    for callback in callbacks:
        started = operations.start(
            client, "stream_exists", max_wait=9, StreamName="orders", on_attempt=callback
        )
        assert started.result(10)
    del callback, started
    callbacks.clear()
    end = time.monotonic() + 10
    while any(each() for each in alive) and time.monotonic() < end:
        gc.collect()
        time.sleep(0.01)
    assert not any(each() for each in alive)
    other.cancel()


def test_each_wait_reports_the_first_error_of_its_callback(stream, creating, active, caplog):
    caplog.set_level(logging.ERROR)
    for number in range(3):
        callback = Callback(ZeroDivisionError(number))
        client = stream(creating, active)
        operation = operations.start(
            client, "stream_exists", max_wait=9, StreamName="x", on_attempt=callback, **QUICK
        )
        assert operation.result(10).attempts == 2
        end = time.monotonic() + 10
        while callback.calls < 2 and time.monotonic() < end:
            time.sleep(0.01)
    assert caplog.messages == ["on_attempt raised; the wait goes on"] * 3
