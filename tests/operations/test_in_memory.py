"""Background waits in the memory of one process."""

import asyncio
import concurrent.futures
import contextvars
import copy
import json
import pickle
import threading
from unittest import mock

import boto3
import pytest
from botocore import exceptions as errors
from stored_waits import until  # beside this file

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.batch import background
from boto_waiters_plus.batch.schedule import Schedule
from boto_waiters_plus.batch.scheduler import ThreadExecutor
from boto_waiters_plus.calls.clock import start_timed_thread
from boto_waiters_plus.deadlines import deadline_left

NAME = {"StreamName": "orders"}


def start(client, max_wait=300, **keywords):
    return operations.start(client, "stream_exists", max_wait=max_wait, **NAME, **keywords)


def test_result_is_the_outcome(stream, creating, active, virtual_time):
    operation = start(stream(creating, active), delay_pace=lambda _: 2.34567)
    outcome = operation.result(10)
    assert isinstance(outcome, bwp.ResponseOutcome)
    assert (outcome.attempts, outcome.elapsed) == (2, pytest.approx(2.34567))
    assert operation.done()
    assert operation.exception() is None
    body = operation.to_json()
    assert (body["done"], "error" in body) == (True, False)
    assert body["response"]["kind"] == "response"
    assert body["response"]["elapsed"] == body["metadata"]["elapsed"] == 2.346
    assert body["response"]["acceptor"]["text"].startswith("success when")
    assert "StreamDescription" not in body["response"].get("response", {})
    assert body["metadata"]["next_attempt"] is None
    assert not operation.cancel()
    assert operation.to_json() == body


def test_the_progress_names_a_transient_error(stream, creating, error_answer):
    client = stream(creating, error_answer("Throttling"))
    operation = start(client, max_attempts=2, min_delay=0.01, max_delay=0.02)
    assert operation.exception(10).transient_errors == 1
    assert operation.metadata["state_seen"] == "transient error Throttling"


def test_json_of_an_open_operation(stream, creating, virtual_time):
    go_on = threading.Event()
    replies = iter([creating])
    operation = start(stream(lambda: next(replies, None) or (go_on.wait(10) and creating)))
    until(lambda: operation.metadata["attempts"])
    body = json.loads(json.dumps(operation.to_json()))
    metadata = body.pop("metadata")
    assert body == {"path": operation.path, "done": False}
    assert body["path"].startswith("operations/")
    expected = {"waiter": "StreamExists", "service": "kinesis", "region": "us-east-1"}
    expected |= {"attempts": 1, "worker": None, "label": "kinesis StreamName=orders"}
    assert metadata.items() >= expected.items()
    assert metadata["create_time"] < metadata["next_attempt"] < metadata["deadline"]
    assert operation.running()
    go_on.set()
    assert operation.cancel()


@pytest.mark.parametrize(("answer", "code", "kind"), [
    ({"StreamDescription": {"StreamStatus": "CREATING"}}, "timed_out", bwp.WaiterTimeoutError),
    ({"Error": {"Code": "AccessDenied", "Message": "no"}}, "failed", bwp.WaiterFailedError),
    (errors.NoCredentialsError(), "credentials", errors.NoCredentialsError),
    (errors.ParamValidationError(report="x"), "invalid_parameters", errors.ParamValidationError),
    (ZeroDivisionError("hidden-word"), "internal", ZeroDivisionError),
])  # fmt: skip
def test_errors_have_codes(stream, virtual_time, answer, code, kind):
    operation = start(stream(answer), max_wait=20)
    error = operation.exception(10)
    assert isinstance(error, kind)
    body = operation.to_json()
    assert body["done"] is True
    assert "response" not in body
    assert body["error"]["code"] == code in operations.CODES
    assert body["error"].keys() >= {"type", "status", "title", "detail"}
    assert "hidden-word" not in json.dumps(body["error"])
    with pytest.raises(type(error)):
        operation.result()


def test_cancel_ends_the_wait(stream, creating, virtual_time):
    client = stream(creating)
    operation = start(client)
    assert operation.cancel()
    assert operation.cancel()
    assert operation.cancelled()
    with pytest.raises(concurrent.futures.CancelledError):
        operation.result()
    assert operation.to_json()["error"]["code"] == "cancelled"
    # What the thread of the waits does after it has heard of the end.
    start(stream(creating), max_wait=30).exception(10)
    calls = len(client.answers.requests)
    start(stream(creating), max_wait=30).exception(10)
    assert len(client.answers.requests) == calls


def test_a_client_is_free_after_cancelled_calls(stream, active):
    is_ready, begun = threading.Event(), threading.Semaphore(0)
    client = stream(lambda: begun.release() or (is_ready.wait(60) and active))
    cancelled = [start(client) for _ in range(20)]
    assert begun.acquire(timeout=60)
    assert all(operation.cancel() for operation in cancelled)
    operation = start(client)
    is_ready.set()
    assert operation.result(60)


def test_result_waits_no_longer_than_asked(stream, creating, virtual_time):
    late = start(stream(creating), initial_delay=100)
    with virtual_time.hold(), pytest.raises(concurrent.futures.TimeoutError):
        late.result(0.01)
    late.cancel()


def test_cancelling_the_awaiting_task_cancels_no_wait(stream, creating):
    async def main():
        operation = start(stream(creating))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(operation, 0.01)
        return operation

    operation = asyncio.run(main())
    assert not operation.done()
    assert operation.cancel()


def test_pickles_by_path(stream, creating):
    operation = start(stream(creating))
    assert pickle.loads(pickle.dumps(operation)) is operation
    assert copy.copy(operation) is operation
    assert operations.get(operation.path) is operation
    operation.cancel()
    with pytest.raises(LookupError, match="in_store="):
        operations.get("operations/0")


def test_hundreds_of_waits_share_threads(stream, creating, active):
    client = stream(*[creating] * 300, active)
    before = threading.active_count()
    started = [start(client, min_delay=0.01, max_delay=0.02) for _ in range(300)]
    assert threading.active_count() - before < 40
    assert all(operation.result(60) for operation in started)


def test_ctrl_c_while_the_thread_starts_leaves_one_thread(stream, creating, monkeypatch):
    def interrupted(*arguments):
        monkeypatch.undo()
        start_timed_thread(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(background, "start_timed_thread", interrupted)
    with pytest.raises(KeyboardInterrupt):
        start(stream(creating), max_wait=1)
    operation = start(stream(creating))
    until(lambda: operation.metadata["attempts"])
    assert [each.name for each in threading.enumerate()].count("boto_waiters_plus background") == 1
    assert operation.cancel()


def test_what_wakes_before_a_turn_ends_the_next_pause():
    run = Schedule()
    executor = ThreadExecutor(run.now, in_background=True)
    for _ in range(2):
        executor.wake()
        run.turn(executor, print)
        executor.wait(run)  # or it would sleep for an hour


# --- context variables --------------------------------------------------------------------------


VARIABLE = contextvars.ContextVar("variable", default="unset")


def test_context_variables_reach_whatever_a_background_wait_calls(answers, creating, active):
    bwp.install()
    seen = {}

    def note(place):
        def call(*_, **__):
            seen.setdefault(VARIABLE.get(), set()).add(place)
            return 0 if place == "pace" else None

        return call

    operation_of = {}
    for value in ("first", "second"):
        client = boto3.client("kinesis")
        bwp.enable(client, on_event=note("event"))
        answers(client, creating, active)
        client.meta.events.register_first("before-call", note("hook"))
        token = VARIABLE.set(value)
        cancels = mock.Mock(is_set=note("cancel"), wait=threading.Event().wait)
        hooks = {"delay_pace": note("pace"), "on_attempt": note("attempt")}
        operation = operation_of[value] = start(client, cancel_event=cancels, **hooks)
        operation.add_done_callback(note("done"))
        VARIABLE.reset(token)
    told = {"event", "hook", "pace", "attempt", "cancel", "done"}
    for operation in operation_of.values():
        assert operation.result().attempts == 2
    # The last event and the callbacks come in the thread for callbacks.
    until(lambda: all(seen.get(value) == told for value in operation_of))
    assert seen == {"first": told, "second": told}


def test_a_deadline_around_the_start_bounds_nothing(stream, creating, active, virtual_time):
    client, left = stream(creating, active), []
    client.meta.events.register_first("before-call", lambda **_: left.append(deadline_left()))
    with bwp.deadline(0.5):
        operation = start(client)
    assert operation.result(10).attempts == 2
    assert left == [None, None]
