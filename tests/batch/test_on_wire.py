"""Batches whose calls hang on a real server, under Ctrl-C, abandoned, and beside forks."""

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import time
import warnings
from types import SimpleNamespace

import boto3
import freezegun
import pytest
from botocore.config import Config
from faults.server import BEFORE_HEADERS, FaultServer, hang

import boto_waiters_plus as bwp
from boto_waiters_plus import Wait, as_completed, wait_all, wait_any
from boto_waiters_plus.conditions import ConditionWait

pytestmark = pytest.mark.nightly(subject="wire")

PATIENCE = 60


def threads_of_ours():
    names = tuple(f"boto_waiters_plus {name}" for name in ("call", "schedule", "callbacks"))
    return [thread for thread in threading.enumerate() if thread.name.startswith(names)]


def gone(threads):
    for thread in threads:
        thread.join(PATIENCE)
    return not any(thread.is_alive() for thread in threads)


@pytest.fixture
def hung_service():
    """A server that never answers, and a client of it."""
    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        config = Config(s3={"addressing_style": "path"})
        yield server, boto3.client("s3", endpoint_url=server.url, config=config)


def test_hung_calls_end_at_the_deadline_together(all_of, exists, hung_service):
    _, client = hung_service
    waits = [exists(client, "never", max_wait=0.5) for _ in range(10)]
    errors = all_of(waits, on_failure="collect")
    assert {type(error) for error in errors} == {bwp.WaiterTimeoutError}
    # The read timeout of the client is a minute.
    assert max(error.elapsed for error in errors) < 30
    assert {error.attempts for error in errors} == {1}


@contextlib.contextmanager
def meanwhile(wait, act):
    """Act in another thread after waiting for something."""
    thread = threading.Thread(target=lambda: (wait(), act()))
    thread.start()
    yield
    thread.join(PATIENCE)


@pytest.mark.parametrize("is_of_all", [False, True], ids=["its own", "that of all"])
def test_cancel_event_ends_calls_in_flight(all_of, exists, hung_service, is_of_all):
    server, hung = hung_service
    stop = threading.Event()
    own, of_all = ({}, {"cancel_event": stop}) if is_of_all else ({"cancel_event": stop}, {})
    with meanwhile(lambda: server.wait_for_request(5, 30), stop.set):
        waits = [exists(hung, "b", **own) for _ in range(5)]
        errors = all_of(waits, on_failure="collect", **of_all)
    assert {type(error) for error in errors} == {bwp.WaiterCancelledError}
    assert server.wait_until_closed(30)


def test_wait_any_ends_calls_in_flight(exists, hung_service):
    server, hung = hung_service
    quick = boto3.client("dynamodb", region_name="us-east-1")

    def answer(**_):
        server.wait_for_request(8, 30)
        return SimpleNamespace(status_code=200), {"Table": {"TableStatus": "ACTIVE"}}

    quick.meta.events.register("before-call.dynamodb", answer)
    waits = [exists(hung, "b") for _ in range(8)]
    waits.append(Wait(quick, "table_exists", {"TableName": "table"}, max_wait=PATIENCE))
    assert wait_any(waits)[0] is waits[-1]
    assert gone(threads_of_ours())
    assert server.wait_until_closed(30)


@pytest.fixture
def _ctrl_c_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_ctrl_c():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.usefixtures("_ctrl_c_interrupts")
@pytest.mark.parametrize("progress", [False, True])
def test_ctrl_c_ends_every_call_in_flight(exists, hung_service, kinds_told, progress):
    server, hung = hung_service
    with (
        meanwhile(lambda: server.wait_for_request(5, 30), press_ctrl_c),
        pytest.raises(KeyboardInterrupt),
    ):
        wait_all([exists(hung, "b") for _ in range(5)], progress=progress)
    assert kinds_told == ["start"] * 5 + ["cancel"] * 5
    assert gone(threads_of_ours())
    assert server.wait_until_closed(30)


@pytest.mark.usefixtures("_ctrl_c_interrupts")
def test_ctrl_c_during_a_delay_ends_the_batch(exists, s3):
    polled = threading.Event()

    def wait():
        assert polled.wait(PATIENCE)
        # A process signal just before a system sleep does not end that sleep, in any program.
        time.sleep(0.3)

    with meanwhile(wait, press_ctrl_c), pytest.raises(KeyboardInterrupt):
        wait_all([exists(s3, "never", on_attempt=lambda _: polled.set())])
    assert gone(threads_of_ours())


def test_abandoned_iterator_stops_its_waits(exists, s3):
    results = as_completed([exists(s3, "first"), exists(s3, "never")])
    next(results)
    threads = threads_of_ours()
    assert threads
    del results
    assert gone(threads)


def test_iterator_may_be_closed_by_its_callback(s3, exists):
    asked = threading.Event()

    def close(_):
        if asked.is_set():
            results.close()

    options = {"max_wait": 50, "delay_pace": lambda _: 0.05, "on_attempt": close}
    other = Wait(s3, "bucket_not_exists", {"Bucket": "first"}, **options)
    results = as_completed([exists(s3, "first"), other])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next(results)
        threads = threads_of_ours()
        asked.set()
        assert gone(threads)


@pytest.mark.parametrize(
    ("seconds", "lists"),
    # A list that had little time, for the sake of one wait, is called again.
    [([8] * 10, 1), ([8] * 10 + [1], 2)],
)
def test_list_that_hangs_is_dropped_in_time(caplog, seconds, lists):
    caplog.set_level("INFO", "boto_waiters_plus")
    called = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        client = boto3.client("sagemaker", endpoint_url=url)

        def answer(model, **_):
            if model.name == "ListTrainingJobs":
                called.append(1)
                return None  # the server, which never does
            state = "Completed" if len(called) >= lists else "InProgress"
            return SimpleNamespace(status_code=200), {"TrainingJobStatus": state}

        client.meta.events.register("before-call.sagemaker.*", answer)
        delays, names = {"min_delay": 0.1, "max_delay": 0.1}, map("job-{}".format, range(11))
        waits = [
            Wait(client, "TrainingJobCompleted", {"TrainingJobName": n}, max_wait=each, **delays)
            for n, each in zip(names, seconds, strict=False)
        ]
        results = wait_all(waits, on_failure="collect")
    assert {type(each) for each in results[:10]} == {bwp.ResponseOutcome}
    assert len(called) >= lists
    dropped = [each for each in caplog.messages if each.endswith("failed: it took too long")]
    assert dropped or lists > 1


def test_frozen_clock_ends_the_wait_of_a_hung_call():
    released = threading.Event()
    waits = [
        ConditionWait(lambda: released.wait(PATIENCE), max_wait=0.05),
        ConditionWait(lambda: False, max_wait=0.05, interval=0.02),
    ]
    with freezegun.freeze_time("2024-01-01"):
        errors = wait_all(waits, on_failure="collect")
    released.set()
    assert [type(error) for error in errors] == [bwp.WaiterTimeoutError] * 2


# --- forks --------------------------------------------------------------------------------------


def in_child(work):
    """Return the exit code of a forked child that does the work; None if it hangs."""
    child = multiprocessing.get_context("fork").Process(target=work)
    with warnings.catch_warnings():
        # This tests forking with threads.
        warnings.simplefilter("ignore")
        child.start()
    child.join(PATIENCE)
    code = child.exitcode
    child.kill()
    return code


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_runs_its_own_batches_only(exists, s3):
    results = as_completed([exists(s3, "first"), exists(s3, "never")])
    next(results)

    def go_on():
        with pytest.raises(RuntimeError, match="fork"):
            list(results)

    assert in_child(go_on) == 0
    assert in_child(lambda: wait_all([exists(s3, "first") for _ in range(5)])) == 0
    results.close()
    assert gone(threads_of_ours())
