"""What a store keeps, and what it gives back; on SQLite and on PostgreSQL."""

import concurrent.futures
import dataclasses
import datetime as dt
import json
import pickle
import subprocess
import sys
import threading
import time

import boto3
import pytest
from case_tables import tabled
from stored_waits import ON_FILE, QUICK, work  # beside this file

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.operations import stored_operation

NAME = {"StreamName": "orders"}


def start(store, client, max_wait=300, waiter="stream_exists", **keywords):
    return operations.start(
        client, waiter, max_wait=max_wait, in_store=store, **{**NAME, **QUICK, **keywords}
    )


def test_a_worker_ends_an_operation(store, stream, creating, active):
    client = stream(creating, creating, active)
    operation = start(store, client)
    assert operation.to_json()["done"] is False
    assert not client.answers.requests
    assert work(store, client) == 1
    outcome = operation.result(10)
    assert isinstance(outcome, bwp.ResponseOutcome)
    assert outcome.attempts == 3
    assert outcome.response == {}
    body = operation.to_json()
    assert body["done"] is True
    assert body["metadata"]["attempts"] == 3
    assert body == store.get(operation.path).to_json() == store.get_json(operation.path)
    assert store.get(operation.path).result(0) == outcome


def test_errors_come_back_with_their_facts(store, stream, creating):
    client = stream(creating)
    operation = start(store, client, max_wait=3)
    assert work(store, client) == 1
    error = operation.exception(10)
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert error.attempts == operation.metadata["attempts"] > 1
    assert error.observed == "CREATING"
    assert error.label == operation.metadata["label"]
    assert str(error).startswith(f"Waiter StreamExists timed out after 3 s for {error.label}: ")
    assert operation.to_json()["error"]["code"] == "timed_out"
    assert operation.metadata["elapsed"] == pytest.approx(error.elapsed, abs=0.001)


@pytest.mark.parametrize(
    ("last", "options", "kept"),
    [
        (True, {}, [(1, "CREATING"), (5, "ACTIVE")]),
        (False, {"max_attempts": 3}, [(1, "CREATING"), (3, "CREATING")]),
    ],
)
def test_the_timeline_keeps_changes_of_state(store, stream, creating, active, last, options, kept):
    client = stream(*[creating] * 4, *[active] * last)
    operation = start(store, client, **options)
    work(store, client)
    end = operation.result(10) if last else operation.exception(10)
    assert [(entry.attempt, entry.state) for entry in end.timeline] == kept


def test_a_call_without_an_answer_is_an_attempt(store, stream, creating, no_answer):
    is_over = threading.Event()
    client = stream(creating, lambda: is_over.wait(60) and no_answer)
    operation = start(store, client, max_wait=3)
    work(store, client)
    is_over.set()
    error = operation.exception(10)
    assert "the last call got no answer" in str(error)
    assert operation.metadata["attempts"] == error.attempts == 2
    assert operation.metadata["elapsed"] == pytest.approx(error.elapsed, abs=0.001)
    assert operation.metadata["state_seen"] == "CREATING"


def test_an_expected_exception_without_a_response_comes_back(store, stream, no_answer):
    acceptors = [{"state": "success", "matcher": {"success": False}}]
    waitable = {"smithy.waiters#waitable": {"StreamFails": {"acceptors": acceptors}}}
    shapes = {"com.amazonaws.kinesis#DescribeStream": {"type": "apply", "traits": waitable}}
    (waiter,) = bwp.load_definitions({"smithy": "2.0", "shapes": shapes})
    client = stream(no_answer)
    operation = start(store, client, waiter=waiter)
    work(store, client)
    outcome = operation.result(10)
    assert isinstance(outcome, bwp.ExceptionOutcome)
    assert outcome.exception.response["Error"]["Code"] == "ReadTimeoutError"


def test_an_expected_exception_comes_back(store, stream, error_answer):
    client = stream(error_answer("ResourceNotFoundException", "gone"))
    operation = start(store, client, waiter="stream_not_exists")
    work(store, client)
    outcome = operation.result(10)
    assert isinstance(outcome, bwp.ExceptionOutcome)
    assert outcome.exception.response["Error"]["Code"] == "ResourceNotFoundException"


def test_the_response_is_stored_on_request(store, stream, active):
    moment = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)
    active["StreamDescription"]["StreamCreationTimestamp"] = moment
    client = stream(active)
    operation = start(store, client, include_response=True)
    work(store, client)
    description = operation.result(10).response["StreamDescription"]
    assert description == {"StreamStatus": "ACTIVE", "StreamCreationTimestamp": 1767225600}


def test_an_error_names_the_ids_of_the_last_answer(store, answers, no_answer):
    client = boto3.client("ec2", region_name="us-east-1")
    states = {"i-1": "running", "i-2": "pending"}
    instances = [{"InstanceId": each, "State": {"Name": states[each]}} for each in states]
    answers(client, {"Reservations": [{"Instances": instances}]}, no_answer)
    pace = {"max_wait": 60, "max_attempts": 2, "min_delay": 0.01, "max_delay": 0.02}
    operation = store.start(client, "instance_running", InstanceIds=list(states), **pace)
    work(store, client)
    assert list(operation.exception(10).failed_ids) == ["i-2"]


@tabled("service", "operation", "name", "secret", "kept")
def test_sensitive_members_of_a_response_are_left_out(
    store, answers, waitable, service, operation, name, secret, kept
):
    client = boto3.client(service)
    item = {**kept, **secret}
    is_list = name != "TranscriptionJob"
    answer = {name: [item] if is_list else item, "Unknown": "hidden-word"}
    client.answers = answers(client, answer)
    success = {"state": "success", "matcher": {"success": True}}
    (definition,) = bwp.load_definitions(waitable("Read", operation, success))
    definition = dataclasses.replace(definition, service=None)
    given = {} if is_list else {"TranscriptionJobName": "j"}
    operation = store.start(client, definition, max_wait=5, include_response=True, **given)
    work(store, client)
    stored = operation.result(10).response[name]
    assert (stored[0] if is_list else stored).items() >= kept.items()
    assert "hidden-word" not in json.dumps(operation.to_json())


def test_lists_in_stable_pages(store, stream, active):
    client = stream(active)
    paths = [start(store, client).path for _ in range(7)]
    first = store.list(page_size=3)
    later = start(store, client).path
    second = store.list(page_size=3, page_token=first.next_page_token)
    third = store.list(page_size=3, page_token=second.next_page_token)
    listed = [body["path"] for page in (first, second, third) for body in page.operations]
    assert listed == paths[::-1]
    assert third.next_page_token is None
    assert store.list().operations[0]["path"] == later


def test_list_filters(store, stream, active):
    client = stream(active)
    done = start(store, client).path
    work(store, client)
    still_open = start(store, client).path
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
    assert paths(service="s3") == set()
    assert len(paths(service="kinesis")) == 4


@pytest.mark.parametrize(
    "arguments",
    [{"state": "opne"}, {"page_size": 0}, {"page_token": "x"}, {"page_token": "W10="}],
)
def test_list_refuses_bad_arguments(store, arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        store.list(**arguments)


def test_a_token_belongs_to_its_filters(store, stream, active):
    for _ in range(2):
        start(store, stream(active))
    token = store.list(page_size=1, state="open").next_page_token
    with pytest.raises(ValueError, match=r"^page_token is not of a list with these filters$"):
        store.list(page_size=1, page_token=token)


def test_cancel_ends_it_for_everybody(store, stream, creating, working):
    client = stream(creating)
    operation, other = start(store, client), start(store, client)
    seen = store.get(operation.path)
    working(store, client)
    while not other.metadata["attempts"]:
        time.sleep(0.02)
    assert store.cancel(operation.path)
    assert not store.cancel(operation.path)
    with pytest.raises(concurrent.futures.CancelledError):
        seen.result(10)
    assert seen.cancelled()
    assert other.cancel()
    end = time.monotonic() + 10
    while time.monotonic() < end:
        calls = len(client.answers.requests)
        time.sleep(0.3)
        if len(client.answers.requests) == calls:
            break
    else:
        pytest.fail("the worker still polls")
    assert operation.to_json()["error"]["code"] == "cancelled"


def test_resume_goes_on_from_the_stored_state(store, stream, creating, active):
    client = stream(creating, creating, active)
    operation = start(store, client, max_attempts=2)
    work(store, client)
    assert isinstance(operation.exception(10), bwp.WaiterAttemptsError)
    with pytest.raises(ValueError, match="no attempts left: give max_attempts"):
        store.resume(operation.path, max_wait=60)
    resumed = store.resume(operation.path, max_wait=60, max_attempts=2)
    assert not resumed.done()
    assert resumed.metadata["attempts"] == 2
    work(store, client)
    assert resumed.result(10).attempts == 3
    with pytest.raises(ValueError, match="has the state succeeded: only one with an error"):
        store.resume(operation.path)


@pytest.mark.parametrize("max_wait", [0, -3])
def test_time_that_is_over_makes_no_request(store, stream, active, max_wait):
    client = stream(active)
    operation = start(store, client, max_wait=max_wait)
    work(store, client)
    assert isinstance(operation.exception(10), bwp.WaiterTimeoutError)
    assert not client.answers.requests


def test_resume_needs_time(store, stream, creating):
    client = stream(creating)
    operation = start(store, client, max_wait=0.2)
    work(store, client)
    assert operation.exception(10)
    cancelled = start(store, client)
    cancelled.cancel()
    assert store.resume(cancelled.path).metadata["deadline"]
    with pytest.raises(ValueError, match="has the state open: only one with an error is resumed"):
        store.resume(cancelled.path)


def test_expired_operations_are_gone(store, stream, active):
    client = stream(active)
    done = start(store, client)
    work(store, client)
    still_open = start(store, client)
    assert store.expire(3600) == 0
    assert store.expire(dt.timedelta(0)) == 1
    with pytest.raises(LookupError, match=r"or it has expired$"):
        store.get(done.path)
    assert not store.get(still_open.path).done()
    work(store, client)
    assert store.get(still_open.path).result(10)


def test_an_operation_whose_row_is_gone_ends(store, stream, active, monkeypatch):
    monkeypatch.setattr(stored_operation, "COMPARE_INTERVAL", 0.5)
    operation = start(store, stream(active))
    if store.backend.name == ":memory:":
        pytest.skip("nobody else can delete a row")
    with store.backend.database.writing() as connection:
        connection.exec_driver_sql("delete from boto_waiters_operations")
    error = operation.exception(10)
    assert (error.code, "is no longer in the store" in str(error)) == ("not_found", True)


@tabled("path", "words", ids=["operations/0", "", "x", "operations/" + "0" * 32])
def test_unknown_paths_are_named(store, path, words):
    for call in (store.get, store.cancel, store.resume):
        with pytest.raises(LookupError, match=f"there is no .*{words}"):
            call(path)


def test_the_name_of_a_worker_is_checked(store):
    with pytest.raises(ValueError, match="worker_name"):
        store.work(worker_name="a\0b", until_idle=True)


def test_only_one_operation_of_an_exclusive_key(store, stream, active):
    client = stream(active)
    first = start(store, client, exclusive_key="deploy")
    start(store, client, exclusive_key="other")
    with pytest.raises(
        operations.OperationError, match=r"with this exclusive_key is open \(conflict\)"
    ):
        start(store, client, exclusive_key="deploy")
    work(store, client)
    assert first.result(10)
    start(store, client, exclusive_key="deploy")


def test_sensitive_parameters_are_refused(store, answers):
    s3 = boto3.client("s3")
    key = {"SSECustomerKey": "hidden-word", "SSECustomerAlgorithm": "AES256"}
    with pytest.raises(ValueError, match="SSECustomerKey is sensitive") as caught:
        store.start(s3, "object_exists", max_wait=5, Bucket="b", Key="k", **key)
    assert "hidden-word" not in str(caught.value)
    assert not store.list().operations


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("on_attempt", print),
        ("cancel_event", threading.Event()),
        ("wake_signal", threading.Event()),
        ("delay_pace", lambda attempt: 1),
    ],
)
def test_what_belongs_to_the_process_is_refused(store, stream, active, option, value):
    with pytest.raises(TypeError, match=f"{option} cannot be stored"):
        start(store, stream(active), **{option: value})


def swapped(data):
    """Encrypts and decrypts."""
    return bytes(255 - byte for byte in data)


def test_parameters_may_be_encrypted(open_store, stream, active, tmp_path):
    store = open_store(encrypt=swapped, decrypt=swapped)
    client = stream(active)
    hidden = {"StreamName": "hidden-word", "show_parameters": False}
    operation = start(store, client, **hidden)
    failed = start(store, client, waiter="stream_not_exists", max_wait=0.2, **hidden)
    work(store, client)
    assert operation.result(10)
    assert failed.exception(10)
    for file in tmp_path.glob("waits.db*"):
        assert b"hidden-word" not in file.read_bytes()
    assert client.answers.requests[0]["body"] == b'{"StreamName": "hidden-word"}'


def test_an_encrypted_wait_has_a_plain_label_unless_it_is_hidden(open_store, stream):
    store, client = open_store(encrypt=swapped, decrypt=swapped), stream()
    plain = start(store, client, StreamName="orders")
    hidden = start(store, client, StreamName="orders", show_parameters=False)
    wait = bwp.Wait(client, "stream_exists", {"StreamName": "orders"}, max_wait=9, label="mine")
    (given,) = store.start_all([wait])
    (row,) = store.backend.get([plain.path.partition("/")[2]])
    assert row["label"] == "kinesis StreamName=orders"
    assert "orders" not in row["parameters"]
    assert plain.metadata["label"] == "kinesis StreamName=orders"
    assert "orders" not in hidden.metadata["label"]
    assert store.get(given).metadata["label"] == "mine"


def test_a_worker_without_the_key_says_so(open_store, stream, active, store_url):
    store = open_store(encrypt=lambda data: data[::-1])
    operation = start(store, stream(active), max_wait=1)
    work(store, stream(active))
    assert operation.metadata["worker"] is None
    time.sleep(1)
    work(store, stream(active))
    assert operation.exception(10).code == "unreadable"
    assert "decrypt=" in operation.to_json()["error"]["detail"]


def wrong_length(data):
    raise ValueError("Fernet key must be 32 url-safe base64-encoded bytes.")


@ON_FILE
@pytest.mark.parametrize("wrong", [wrong_length, lambda data: data, lambda data: b"1" + data])
def test_a_worker_with_another_key_leaves_the_wait(open_store, stream, active, wrong):
    store = open_store(encrypt=swapped, decrypt=swapped)
    operation = start(store, stream(active))
    work(open_store(encrypt=swapped, decrypt=wrong), stream())
    error = operation.metadata["last_error"]
    assert error["detail"].startswith("its parameters cannot be ")
    work(open_store(encrypt=swapped, decrypt=swapped), stream(active))
    assert operation.result(10).attempts == 1


def test_a_definition_of_the_user_travels(store, stream, definition, creating, active):
    client = stream(creating, active)
    (mine,) = bwp.load_definitions(definition("StreamIsMine", expected="CREATING"))
    operation = start(store, client, waiter=mine)
    work(store, client)
    assert operation.result(10).waiter == "StreamIsMine"
    assert operation.result().attempts == 1


def test_an_operation_that_botocore_lacks(store, stream, active, monkeypatch):
    client = stream(active)
    operation = start(store, client)
    newer = boto3.client("sqs")
    assert work(store, newer) == 0
    error = operation.metadata["last_error"]
    assert error["code"] == "unsupported"
    assert "StreamExists" in error["detail"]
    assert work(store, client) == 1
    assert operation.result(10).attempts == 1


def test_operations_are_pickled_by_path(store, stream, active):
    operation = start(store, stream(active))
    text = pickle.dumps(operation)
    assert b"hidden-password" not in text
    assert pickle.loads(text).path == operation.path
    if ":memory:" in repr(store):
        return
    script = (
        "import pickle, sys; "
        "print(pickle.loads(sys.stdin.buffer.read()).to_json()['metadata']['waiter'])"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, input=text, capture_output=True, check=True, timeout=60)
    assert done.stdout.strip() == b"StreamExists"


def test_a_callback_keeps_the_operation(store, stream, active):
    called = threading.Event()
    start(store, stream(active)).add_done_callback(lambda _: called.set())
    work(store, stream(active))
    assert called.wait(10)
