"""The calls that stop what was begun: who makes them, whom they hold up, and what is told."""

import asyncio
import concurrent.futures
import contextlib
import functools
import json
import logging
import os
import signal
import threading
import time
from pathlib import Path
from unittest import mock

import pytest
from botocore import exceptions as errors
from botocore.exceptions import ClientError
from case_tables import CASES
from stored_waits import IN_MEMORY, Key, KilledError, row_id, start, swapped, until, work
from test_begin import StaleService, http, named
from test_begin import begin as begin_of

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.changes import stops
from boto_waiters_plus.changes.answers import refused_and_accepted
from boto_waiters_plus.definitions.changes import RefusedItems
from boto_waiters_plus.idempotency import CallTimeoutError
from boto_waiters_plus.operations import begun
from boto_waiters_plus.operations.stored_row import ENDED

RUNNING = {"polls": [[0, {"JobRun": {"JobRunState": "RUNNING"}}]]}
TRAINING = {"polls": [[0, {"TrainingJobStatus": "InProgress"}]]}
TRAINED = {"polls": [[0, {"TrainingJobStatus": "Completed"}]]}
ROOT = Path(__file__).parents[2]
POLLS = ("GetJobRun", "DescribeTrainingJob")
SLOW = {"min_delay": 1e6, "max_delay": 1e6}
DENIED = {"Error": {"Code": "AccessDeniedException", "Message": "not allowed to stop."}}
LONG = {"Error": {"Code": "AccessDenied", "Message": "x" * 600}}
REFUSED = {
    "Errors": [{"JobRunId": "jr", "ErrorDetail": {"ErrorCode": "Late", "ErrorMessage": "it ended"}}]
}


class Service(StaleService):
    """A service that answers its stop with `stopping`, an answer or a function."""

    stopping = None

    def _answer(self, model, **_):
        if model.name != self.row["stop"]:
            return super()._answer(model)
        return http(self.stopping() if callable(self.stopping) else self.stopping or {})

    @property
    def stopped(self):
        """The parameters of each stop."""
        calls = zip(self.operations, self.requests, strict=True)
        return [params for name, params in calls if name == self.row["stop"]]


@pytest.fixture
def service(virtual_time):
    """`service(**members)`: the service of a job run that goes on for ever."""

    def make(part="glue: a job run", stop="BatchStopJobRun", stopping=None, **members):
        made = Service({**named(part), **RUNNING, "stop": stop, **members}, virtual_time)
        made.stopping = stopping
        return made

    return make


@pytest.fixture
def job(service):
    return service()


@pytest.fixture
def training(service):
    """`training(**members)`: that of a job whose stop has only its name."""
    return lambda **row: service("sagemaker: a training job", "StopTrainingJob", **TRAINING, **row)


begin = functools.partial(begin_of, max_wait=60)


def told(operation, state):
    """Check that the error of an operation tells the state of the stop everywhere."""
    error = operation.exception(30)
    assert error.stop.state == state
    assert error.stop.text in str(error)
    body = operation.to_json()["error"]
    assert body["stop"] == error.stop.to_json()
    assert error.stop.text in body["detail"]
    return error


# --- what is told --------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [{"max_wait": 60}, {"max_attempts": 2}])
@pytest.mark.parametrize(("answer", "state", "words"), [
    ({}, "made", ["BatchStopJobRun was called"]),
    (DENIED, "refused", ["it could not be stopped: AccessDenied", "not allowed", "still run"]),
    (REFUSED, "refused", ["it could not be stopped: Late: it ended", "still run"]),
    (LONG, "refused", [f"stopped: AccessDenied: {'x' * 150} [...] {'x' * 350}; it may"]),
])  # fmt: skip
def test_the_end_tells_of_the_stop(service, caplog, limit, answer, state, words):
    made = service(stopping=answer)
    operation = begin(made, stop_on_timeout=True, **limit)
    error = told(operation, state)
    assert isinstance(error, (bwp.WaiterTimeoutError, bwp.WaiterAttemptsError))
    assert all(each in str(error) for each in words)
    assert error.stop.operation == "BatchStopJobRun"
    assert [r for r in caplog.records if r.levelname == "WARNING" and words[0] in r.message]
    assert made.stopped == [{"JobName": "j", "JobRunIds": ["jr"]}]
    if state == "refused":
        with pytest.raises(ClientError, match=error.stop.reason.partition(":")[0]) as caught:
            operation.stop()
        assert caught.value.operation_name == "BatchStopJobRun"


def test_nothing_is_stopped_unasked(service):
    made = service()
    operation = begin(made, max_attempts=2)
    assert operation.exception(30).stop is None
    assert "stop" not in operation.to_json()["error"]
    assert begin(service(), stop_on_timeout=True, max_wait=1e6).cancel()
    assert made.stopped == []
    # The time-out leaves something to stop.
    assert operation.stop() is not None


# --- several, and what has ended -----------------------------------------------------------------


def test_all_of_several_are_stopped_before_a_refusal(service):
    made = service("ecs: one of three tasks is never known", "StopTask")
    operation = begin(made, then_wait="TasksStopped")
    arns = [each["taskArn"] for each in made.row["answer"]["tasks"]]
    made.stopping = lambda: {"task": {"taskArn": made.requests[-1]["task"]}}
    assert [each["task"]["taskArn"] for each in operation.stop()] == arns
    answers = [DENIED, REFUSED, DENIED]
    made.stopping = lambda: answers.pop(0)
    with pytest.raises(ClientError, match="AccessDenied"):
        operation.stop()
    assert [each["task"] for each in made.stopped] == arns * 2
    operation.cancel()


REFUSING = json.loads((CASES / "refused-stops.json").read_text("utf-8"))
"""By the operation of a stop: an answer that refuses it, and one that does not."""
STOPS = [
    pytest.param(stop, id=stop["operation"])
    for shape in json.loads((ROOT / "data/effects.json").read_text("utf-8"))["shapes"].values()
    for effect in shape["traits"]["boto.waiters#effect"].values()
    if (stop := effect.get("stop")) is not None
]


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_is_told_by_its_answer_and_its_ids(stop):
    answers = REFUSING[stop["operation"]] if "refused" in stop else ()
    for answer, is_refused in zip(answers, (True, False), strict=False):
        call = {"input": {}, "output": answer}
        found = refused_and_accepted(RefusedItems(**stop["refused"]), call)["refused"]
        assert bool(found) is is_refused
    # By an id of the answer it can stop nothing that others have begun.
    paths = " ".join([stop.get("each", ""), *stop["parameters"].values()])
    assert "call.output" in paths or stop["resource"]


@pytest.mark.parametrize("in_store", [False, True])
@pytest.mark.parametrize("state", ["SUCCEEDED", "FAILED"])
def test_what_has_ended_is_not_stopped(service, store, caplog, state, in_store):
    caplog.set_level(logging.INFO)
    made = service(polls=[[0, {"JobRun": {"JobRunState": state}}]])
    operation = begin(made, in_store=store if in_store else None)
    work(store, made.client)
    operation.exception(30)
    assert operation.stop() is None
    assert made.stopped == []
    assert "nothing is stopped" in caplog.text


@pytest.mark.parametrize("by_hand", [True, False])
@pytest.mark.parametrize("last", ["running", "ended", "no answer"])
def test_a_stop_by_name_polls_once_more(training, by_hand, last):
    made, events = training(), []

    def answer(**_):
        # After the last poll of the wait.
        if made.operations.count("DescribeTrainingJob") > 1:
            made.row.update(TRAINED if last == "ended" else {})
            if last == "no answer":
                raise errors.EndpointConnectionError(endpoint_url="https://sagemaker")

    made.client.meta.events.register_first("before-call.sagemaker.DescribeTrainingJob", answer)
    bwp.enable(made.client, on_event=events.append)
    operation = begin(made, max_attempts=1, stop_on_timeout=not by_hand)
    if not by_hand:
        error = told(operation, "made" if last == "running" else "not made")
        assert ("StopTrainingJob was called" in str(error)) is (last == "running")
    elif last == "no answer":
        operation.exception(30)
        with pytest.raises(bwp.WaiterError):
            operation.stop()
    else:
        operation.exception(30)
        assert (operation.stop() is None) is (last == "ended")
    assert made.operations.count("DescribeTrainingJob") == 2
    # Observers are told of the wait alone, in a thread of their own.
    until(lambda: "timeout" in (each.kind for each in events))
    polls = [each for each in events if each.operation == "DescribeTrainingJob"]
    assert [each.kind for each in polls] == ["start", "attempt", "timeout"]
    assert len(made.stopped) == (last == "running")


# --- whom they hold up ---------------------------------------------------------------------------


def test_stops_hold_up_their_own_operations_alone(service, hang):
    options = {"stop_on_timeout": True, "max_attempts": 1}
    slow = [begin(service(stopping=hang), **options) for _ in range(4)]
    assert all(hang.begun.acquire(timeout=30) for _ in slow)
    innocent = begin(service(), max_attempts=1)
    assert told(begin(service(), **options), "made")
    assert innocent.exception(30).stop is None
    assert not any(each.done() for each in slow)


def test_a_stop_holds_its_end_for_a_time(service, hang, monkeypatch):
    monkeypatch.setattr(stops, "STOP_TIME", 0.2)
    error = told(begin(service(stopping=hang), stop_on_timeout=True, max_attempts=1), "refused")
    assert "no answer" in str(error)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, ZeroDivisionError])
def test_what_a_hook_raises_ends_the_stop_alone(job, error):
    def fail():
        raise error

    job.stopping = fail
    assert error.__name__ in str(told(begin(job, stop_on_timeout=True, max_attempts=1), "refused"))


def test_without_a_place_no_stop_is_made(service, hang, monkeypatch):
    monkeypatch.setattr(stops.STOPS, "_places", threading.Semaphore(1))
    first = begin(service(stopping=hang), stop_on_timeout=True, max_attempts=1)
    assert hang.begun.acquire(timeout=30)
    monkeypatch.setattr(stops, "STOP_TIME", 0.2)
    late = [begin(service(), stop_on_timeout=True, max_attempts=1) for _ in range(3)]
    assert all("took longer" in str(told(each, "not made")) for each in late)
    assert not first.done()


# --- after a cancellation ------------------------------------------------------------------------


def interrupted_in_result(operation):
    threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        operation.result(30)


def cancelled_in_a_task(operation):
    async def main():
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(operation, 0.1)

    asyncio.run(main())


CANCELLATIONS = {
    "cancel": lambda operation: operation.cancel() and operation.cancel(),
    "await": cancelled_in_a_task,
    "Ctrl-C": interrupted_in_result,
}


@pytest.mark.parametrize("cancel", CANCELLATIONS.values(), ids=CANCELLATIONS)
def test_a_cancellation_stops_if_asked_for(job, cancel):
    operation = begin(job, stop_on_cancel=True, max_wait=1e7, **SLOW)
    with job._clock.hold():
        cancel(operation)
    concurrent.futures.wait([operation], 30)
    assert operation.cancelled()
    assert job.stopped == [{"JobName": "j", "JobRunIds": ["jr"]}]
    body = operation.to_json()["error"]
    assert (body["code"], body["stop"]["state"]) == ("cancelled", "made")


def test_a_cancel_event_stops_if_asked_for(service):
    made, event = service(), threading.Event()
    operation = begin(made, stop_on_cancel=True, cancel_event=event, max_wait=1e6)
    event.set()
    assert isinstance(told(operation, "made"), bwp.WaiterCancelledError)
    assert len(made.stopped) == 1


def test_cancel_returns_before_its_stop(service, hang):
    operation = begin(service(stopping=hang), stop_on_cancel=True, max_wait=1e7, **SLOW)
    assert operation.cancel()
    assert operation.cancel()
    assert hang.begun.acquire(timeout=30)
    assert not operation.done()


def test_a_second_ctrl_c_gives_the_stop_up(service, hang):
    made = service(stopping=hang)
    operation = begin(made, stop_on_cancel=True, max_wait=1e7, **SLOW)

    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        hang.begun.acquire(timeout=30)
        os.kill(os.getpid(), signal.SIGINT)

    began = time.perf_counter()
    with made._clock.hold():
        threading.Timer(0.2, interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            operation.result()
    assert time.perf_counter() - began < stops.STOP_TIME
    assert not operation.done()


@pytest.mark.parametrize("stop_on_cancel", [True, False])
def test_a_task_that_ends_in_its_call_stops(service, stop_on_cancel):
    made, answered = service(), threading.Event()
    called = threading.Event()

    def wait(**_):
        called.set()
        answered.wait(30)

    made.client.meta.events.register_first("before-call.glue.StartJobRun", wait)

    async def main():
        options = {"max_wait": 1e7, "stop_on_cancel": stop_on_cancel, "JobName": "j"}
        task = asyncio.ensure_future(bwp.begin_async(made.client.start_job_run, **options))
        await asyncio.to_thread(called.wait, 30)
        task.cancel()
        asyncio.get_running_loop().call_later(0.1, answered.set)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert len(made.stopped) == stop_on_cancel


def test_what_nothing_stops_is_refused_before_the_call(service):
    made = service("acm")
    for option in ("stop_on_timeout", "stop_on_cancel"):
        for value, kind in ((True, ValueError), ("yes", TypeError)):
            with pytest.raises(kind, match=option):
                begin(made, **{option: value})
    assert made.operations == []
    operation = begin(made)
    with pytest.raises(NotImplementedError, match="request_certificate"):
        operation.stop()
    operation.cancel()


# --- in a store ----------------------------------------------------------------------------------


@pytest.fixture
def store(open_store, running_clock):
    return open_store(clock=running_clock)


def begin_in(store, service, **options):
    return begin(service, in_store=store, **options)


def before_the_answer(service, change):
    """Do this while the call of a job run is under way."""
    service.client.meta.events.register_first("before-call.glue.StartJobRun", lambda **_: change())


def cancel_all(store):
    for body in store.list().operations:
        store.cancel(body["path"])


@pytest.fixture
def begun_and_polled(working):
    """`begun_and_polled(store, service)`: an operation that is polled, and the worker's end."""

    def make(store, made, **options):
        polled = threading.Event()
        bwp.enable(made.client, on_event=lambda e: e.operation in POLLS and polled.set())
        options = {"stop_on_cancel": True, "max_wait": 1e7, **SLOW, **options}
        operation = begin_in(store, made, **options)
        end = working(store, made.client)
        assert polled.wait(30)
        return operation, end

    return make


@pytest.mark.parametrize(("options", "answer", "state", "kind"), [
    ({}, {}, "made", bwp.WaiterTimeoutError),
    ({"max_attempts": 2}, DENIED, "refused", bwp.WaiterAttemptsError),
])  # fmt: skip
def test_a_worker_tells_of_its_stop(store, service, options, answer, state, kind):
    made = service(stopping=answer)
    operation = begin_in(store, made, stop_on_timeout=True, **options)
    work(store, made.client)
    assert isinstance(told(operation, state), kind)
    assert told(store.get(operation.path), state).call.response["JobRunId"] == "jr"
    assert len(made.stopped) == 1


SEEN_BY = {
    "nobody": lambda store, path: None,
    "get": lambda store, path: store.get_json(path),
    "list": lambda store, path: store.list(),
    "another reader": lambda store, path: store.get(path).exception(60),
}


def overdue(store, made, see=SEEN_BY["get"], stop_on_timeout=True):
    """Return the path of a wait past its deadline that no process drives, once that was seen."""
    path = begin_in(store, made, stop_on_timeout=stop_on_timeout).path
    # Another process has made the call.
    store.watcher._open.clear()
    store.clock.now += 100
    see(store, path)
    return path


@pytest.mark.parametrize("see", [*SEEN_BY][1:])
def test_a_row_found_overdue_owes_its_stop(store, job, see):
    path = overdue(store, job, SEEN_BY[see])
    operation = store.get(path)
    assert "left to a worker" in str(told(operation, "owed"))
    assert job.stopped == []
    work(store, job.client)
    assert job.stopped == [{"JobName": "j", "JobRunIds": ["jr"]}]
    assert operation.exception().stop.state == "made"
    assert operation.to_json()["error"]["stop"]["state"] == "made"
    told(store.get(path), "made")
    work(store, job.client)
    assert len(job.stopped) == 1


@pytest.mark.parametrize("by_name", [False, True])
def test_a_debt_that_nobody_pays_ends(store, service, training, by_name):
    made = (training if by_name else service)()
    path = overdue(store, made)
    store.clock.now += 0 if by_name else begun.DEBT_TIME + 1
    why = "names the resource" if by_name else "10 minutes"
    assert why in str(told(store.get(path), "not made"))
    [listed] = store.list().operations
    assert listed["error"]["stop"]["state"] == "not made"
    work(store, made.client)
    assert made.stopped == []


def test_the_process_of_the_call_stops_what_is_overdue(store, training):
    made = training()
    operation = begin_in(store, made, stop_on_timeout=True)
    store.clock.now += 100
    told(operation, "made")
    assert made.operations[-2:] == ["DescribeTrainingJob", "StopTrainingJob"]


def test_a_call_without_an_answer_is_raised_and_not_stopped(store, job):

    def lose():
        job._clock.advance(100)
        raise errors.ReadTimeoutError(endpoint_url="https://glue")

    before_the_answer(job, lose)
    with pytest.raises(CallTimeoutError):
        begin_in(store, job, stop_on_timeout=True, stop_on_cancel=True)
    [body] = store.list().operations
    assert (body["error"]["code"], job.stopped) == ("outcome_unknown", [])
    assert "stop" not in body["error"]


def test_a_kill_during_a_stop_leaves_it_owed(store, service):
    made = service(takes=61)

    def die():
        raise KilledError

    made.stopping = die
    with pytest.raises(KilledError), mock.patch.object(store.database, "release"):
        begin_in(store, made, stop_on_timeout=True)
    [body] = store.list().operations
    assert body["error"]["stop"]["state"] == "owed"
    made.stopping = {}
    # Its lease lasts for a while.
    work(store, made.client)
    assert len(made.stopped) == 1
    store.clock.now += 31
    work(store, made.client)
    assert len(made.stopped) == 2
    told(store.get(body["path"]), "made")


@pytest.mark.parametrize("blindly", [False, True])
@pytest.mark.parametrize("by_name", [False, True])
def test_the_worker_of_a_cancelled_row_stops(
    sealed, blind, service, training, begun_and_polled, by_name, blindly
):
    made = (training if by_name else service)()
    operation, end = begun_and_polled(sealed, made)
    assert (blind if blindly else sealed).cancel(operation.path)
    with pytest.raises(concurrent.futures.CancelledError):
        operation.result(60)
    until(lambda: sealed.get_json(operation.path)["error"]["stop"]["state"] == "made")
    end()
    assert told_by(sealed, operation.path, "made")["code"] == "cancelled"
    assert len(made.stopped) == 1


@pytest.mark.parametrize("by_name", [False, True])
def test_a_cancelled_row_without_a_worker_owes(store, service, training, by_name):
    made = (training if by_name else service)()
    operation = begin_in(store, made, stop_on_cancel=True)
    assert store.cancel(operation.path)
    state = "not made" if by_name else "owed"
    assert store.get_json(operation.path)["error"]["stop"]["state"] == state
    work(store, made.client)
    assert len(made.stopped) == (0 if by_name else 1)


@IN_MEMORY
def test_a_worker_that_is_stopped_stops_nothing(store, job, begun_and_polled):
    operation, end = begun_and_polled(store, job, stop_on_timeout=True)
    end()
    assert not operation.done()
    assert job.stopped == []


@pytest.mark.parametrize("blindly", [False, True])
def test_a_row_cancelled_before_its_answer_is_stopped(sealed, blind, job, blindly):
    before_the_answer(job, lambda: cancel_all(blind if blindly else sealed))
    operation = begin_in(sealed, job, stop_on_cancel=True)
    assert operation.cancelled()
    told_by(sealed, operation.path, "made")
    work(sealed, job.client)
    assert len(job.stopped) == 1


@IN_MEMORY
def test_an_encrypt_that_fails_holds_no_end(open_store, running_clock, service):
    key = Key()
    store = open_store(**key.pair, clock=running_clock)
    made, others = service(), [service() for _ in range(2)]
    overdue(store, made)
    key.errors = [ZeroDivisionError()]
    work(store, made.client)
    assert len(made.stopped) == 1
    key.errors = []
    asked = {"stop_on_timeout": True, "stop_on_cancel": True}
    paths = [begin_in(store, each, **asked).path for each in others]
    store.watcher._open.clear()
    key.errors = [ZeroDivisionError()]
    assert store.cancel(paths[0])
    store.clock.now += 100
    assert all(each["done"] for each in store.list().operations)


DAMAGE = [
    *(("stop", value) for value in ({"x": 1}, {"operation": "o", "state": "?", "reason": None}, 5)),
    *(("trait", value) for value in ({"stop": {}}, {"stop": 5}, {})),
    ("trait", {"stop": {"operation": "StopTask", "parameters": {}}}),
    ("effect", None),
]


@IN_MEMORY
@pytest.mark.parametrize(("name", "value"), DAMAGE)
def test_a_damaged_stop_breaks_nothing(store, service, name, value):
    made, asked = service(), {"stop_on_cancel": True, "stop_on_timeout": True}
    path, other = (begin_in(store, each, **asked).path for each in (service(), made))
    store.watcher._open.clear()
    wait_id = path.partition("/")[2]
    body = json.loads(store.database.get([wait_id])[0]["parameters"])
    body["$call"].update({name: value})
    store.database.write(None, [{"id": wait_id, "parameters": json.dumps(body)}])
    store.clock.now += 100
    assert len(store.list().operations) == 2
    store.database.write(ENDED, [{"id": wait_id, "owes": 50.0}])
    work(store, made.client)
    assert store.get_json(path)["done"]
    told(store.get(other), "made")
    assert not store.cancel(path)


@IN_MEMORY
@pytest.mark.parametrize("when", ["claimed", "polled"])
def test_what_nobody_could_drive_owes_its_stop(store, service, when):
    made, other = service(), service()
    path = begin_in(store, made, stop_on_timeout=True).path
    # Another process has made the call.
    store.watcher._open.clear()

    def fail(*_, **__):
        store.clock.now += 100
        raise errors.NoCredentialsError

    other.client.meta.events.register_first("before-call.glue.GetJobRun", fail)
    store.work(until_idle=True, make_client=fail if when == "claimed" else lambda _: other.client)
    assert told_by(store, path, "owed")["code"] == "credentials"
    assert store.get(path).exception(0).stop.state == "owed"
    # Another that cannot leaves it to others.
    store.work(until_idle=True, make_client=fail)
    told_by(store, path, "owed")
    work(store, made.client)
    told_by(store, path, "made")
    assert len(made.stopped) == 1


# --- without the key -----------------------------------------------------------------------------


def garble(data):
    return b"not JSON"


def refuse_key(data):
    raise ValueError


@pytest.fixture
def sealed(open_store, running_clock):
    return open_store(encrypt=swapped, decrypt=swapped, clock=running_clock)


@pytest.fixture
def blind(request, sealed, open_store, running_clock):
    """The store, opened without its key, or with another one."""
    return open_store(sealed.database, decrypt=getattr(request, "param", None), clock=running_clock)


def told_by(store, path, state):
    """The error that a store tells of a wait, with this state of its stop."""
    error = store.get_json(path)["error"]
    assert error.get("stop", {}).get("state") == state
    return error


def is_unreadable(operation):
    for read in (lambda: operation.call, lambda: operation.effect, operation.stop):
        with pytest.raises(operations.OperationError) as caught:
            read()
        assert caught.value.code == "unreadable"
    body = operation.to_json()
    assert body["metadata"]["label"]
    return body


@pytest.mark.parametrize("blind", [None, refuse_key, garble], indirect=True)
@pytest.mark.parametrize("see", ["get", "list", "another reader"])
def test_a_reader_without_the_key_ends_no_row(sealed, blind, job, see):
    path = overdue(sealed, job, SEEN_BY["nobody"])
    if see == "another reader":
        with pytest.raises(concurrent.futures.TimeoutError):
            blind.get(path).result(0.1)
        blind.watcher._compare()
    else:
        SEEN_BY[see](blind, path)
    assert is_unreadable(blind.get(path))["done"] is False
    assert not blind.list(state="done").operations
    assert told_by(sealed, path, "owed")["code"] == "timed_out"
    # It tells that it has ended, and no more.
    assert is_unreadable(blind.get(path))["done"]
    assert told_by(blind, path, "unreadable")["code"] == "timed_out"
    assert blind.get(path).exception(0).stop.state == "unreadable"
    work(blind, job.client)
    assert job.stopped == []
    work(sealed, job.client)
    told_by(sealed, path, "made")


def test_a_reader_without_the_key_ends_what_is_plain(sealed, blind, stream):
    plain, other = start(blind, stream()), start(sealed, stream())
    for store in (sealed, blind):
        store.watcher._open.clear()
    sealed.clock.now += 100
    done = {each["path"]: each["done"] for each in blind.list().operations}
    assert done == {plain.path: True, other.path: False}
    # It might be of `begin`.
    is_unreadable(blind.get(other.path))
    assert sealed.get(other.path).call is None
    assert not sealed.get_json(plain.path)["error"].get("stop")


@IN_MEMORY
def test_a_result_that_is_plain_tells_of_an_unreadable_stop(sealed, blind, open_store, job):
    operation = begin_in(sealed, job)
    work(open_store(sealed.database, decrypt=swapped, clock=sealed.clock), job.client)
    assert sealed.get(operation.path).exception(0).stop is None
    error = blind.get(operation.path).exception(0)
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert error.stop.state == "unreadable"
    assert error.stop.text in str(error)


@pytest.mark.parametrize("asked", ["yes", "no", "by name", "no call"])
def test_a_cancel_without_the_key_loses_no_stop(sealed, blind, service, training, stream, asked):
    made = training() if asked == "by name" else service()
    if asked == "no call":
        path = start(sealed, stream()).path
    else:
        path = begin_in(sealed, made, stop_on_cancel=asked != "no").path
    assert blind.cancel(path)
    assert not blind.cancel(path)
    assert told_by(blind, path, "unreadable")["code"] == "cancelled"
    assert told_by(sealed, path, "owed" if asked in ("yes", "by name") else None)
    work(blind, made.client)
    assert made.stopped == []
    work(sealed, made.client)
    assert len(made.stopped) == (asked == "yes")
    told_by(sealed, path, {"yes": "made", "by name": "not made"}.get(asked))
    assert sealed.database.get([row_id(sealed.get(path))])[0]["owes"] is None
    assert sealed.get(path).cancelled()


def test_a_stop_that_nobody_read_is_not_made(sealed, blind, job):
    path = begin_in(sealed, job, stop_on_cancel=True).path
    assert blind.cancel(path)
    sealed.clock.now += begun.DEBT_TIME + 1
    work(sealed, job.client)
    assert "10 minutes" in told_by(sealed, path, "not made")["detail"]
    assert job.stopped == []


@pytest.mark.parametrize("asked", [True, False])
def test_a_worker_without_the_key_leaves_the_stop(sealed, blind, job, asked):
    path = overdue(sealed, job, SEEN_BY["nobody"], stop_on_timeout=asked)
    work(blind, job.client)
    assert told_by(sealed, path, "owed" if asked else None)["code"] == "unreadable"
    work(sealed, job.client)
    told_by(sealed, path, "made" if asked else None)
    assert len(job.stopped) == asked


@pytest.mark.parametrize("option", ["stop_on_timeout", "stop_on_cancel"])
def test_who_can_only_encrypt_begins_and_stops(open_store, running_clock, service, option):
    store = open_store(encrypt=swapped, clock=running_clock)
    made = service(takes=61 if option == "stop_on_timeout" else 0)
    if option == "stop_on_timeout":
        with pytest.raises(bwp.WaiterTimeoutError) as caught:
            begin_in(store, made, stop_on_timeout=True)
        assert caught.value.stop.state == "made"
    else:
        before_the_answer(made, lambda: cancel_all(store))
        assert begin_in(store, made, stop_on_cancel=True).call.response["JobRunId"] == "jr"
    keyed = open_store(store.database, encrypt=swapped, decrypt=swapped)
    work(keyed, made.client)
    assert len(made.stopped) == 1
    told_by(keyed, keyed.list().operations[0]["path"], "made")


def test_who_can_only_decrypt_writes_nothing_plain(sealed, open_store, running_clock, job):
    path = begin_in(sealed, job, stop_on_cancel=True).path
    reader = open_store(sealed.database, decrypt=swapped, clock=running_clock)
    assert reader.cancel(path)
    work(reader, job.client)
    [row] = sealed.database.get([row_id(sealed.get(path))])
    assert row["parameters"].startswith("encrypted:")
    assert job.stopped == []
    work(sealed, job.client)
    told_by(sealed, path, "made")
