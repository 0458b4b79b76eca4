"""Batches under interrupts, without threads, abandoned, forked, and inside each other."""

import asyncio
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from faults.server import BEFORE_HEADERS, FaultServer, hang

import boto_waiters_plus as bwp
from boto_waiters_plus.many import Wait, as_completed, wait_all, wait_any


def exists(s3, bucket, max_wait=100, **options):
    return Wait(s3, "bucket_exists", {"Bucket": bucket}, max_wait=max_wait, **options)


def threads_of_ours():
    names = tuple(f"boto_waiters_plus {name}" for name in ("call", "schedule", "callbacks"))
    return [thread for thread in threading.enumerate() if thread.name.startswith(names)]


def gone(threads, seconds=30):
    end = time.perf_counter() + seconds
    for thread in threads:
        thread.join(max(0, end - time.perf_counter()))
    return not any(thread.is_alive() for thread in threads)


@pytest.fixture
def hung_service():
    """A server that never answers, and a client of it."""
    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        client = boto3.client(
            "s3",
            region_name="us-east-1",
            endpoint_url=server.url,
            config=Config(s3={"addressing_style": "path"}),
        )
        yield server, client


# --- cancelling -------------------------------------------------------------------------------


@pytest.mark.parametrize("whose", ["its own", "that of all"])
def test_set_cancel_event_makes_no_request(s3, virtual_time, whose):
    requests = []
    s3.meta.events.register("before-call.s3", lambda **_: requests.append(1))
    stop = threading.Event()
    stop.set()
    own = {"cancel_event": stop} if whose == "its own" else {}
    of_all = {} if own else {"cancel_event": stop}
    results = wait_all(
        [exists(s3, "first", **own) for _ in range(3)], on_failure="collect", **of_all
    )
    assert [type(result) for result in results] == [bwp.WaiterCancelledError] * 3
    assert [result.attempts for result in results] == [0] * 3
    assert requests == []


@pytest.mark.parametrize("count", [1, 40])
def test_cancelled_wait_counts_the_attempts_made(s3, virtual_time, count):
    def stopped(run):
        stop = threading.Event()
        virtual_time.call_at(virtual_time.now + 25, stop.set)
        results = run(stop)
        return {(type(result), result.attempts) for result in results}

    def alone(stop):
        with pytest.raises(bwp.WaiterCancelledError) as raised:
            bwp.wait_until(
                s3,
                "bucket_exists",
                Bucket="never",
                max_wait=100,
                delay_pace=lambda _: 10,
                cancel_event=stop,
            )
        return [raised.value]

    def together(stop):
        waits = [exists(s3, "never", delay_pace=lambda _: 10) for _ in range(count)]
        return wait_all(waits, on_failure="collect", cancel_event=stop)

    assert stopped(alone) == stopped(together) == {(bwp.WaiterCancelledError, 3)}


@pytest.mark.timing
def test_hung_calls_end_at_the_deadline_together(hung_service):
    _, client = hung_service
    waits = [exists(client, "never", max_wait=0.5) for _ in range(10)]
    errors = wait_all(waits, on_failure="collect")
    assert all(isinstance(error, bwp.WaiterTimeoutError) for error in errors)
    # A few milliseconds late on an idle machine; the read timeout of the client is a minute.
    assert max(error.elapsed for error in errors) < 10
    assert {error.attempts for error in errors} == {1}


def test_wait_any_ends_calls_in_flight(s3, hung_service):
    server, hung = hung_service
    waits = [exists(hung, "b") for _ in range(8)]
    quick = boto3.client("dynamodb", region_name="us-east-1")

    def send(request, **_):
        server.wait_for_request(8, 30)

        class Raw:
            def stream(self, *_, **__):
                yield json.dumps({"Table": {"TableStatus": "ACTIVE"}}).encode()

        return AWSResponse(request.url, 200, {}, Raw())

    quick.meta.events.register("before-send.dynamodb", send)
    waits.append(Wait(quick, "table_exists", {"TableName": "table"}, max_wait=30))
    wait, _ = wait_any(waits)
    assert wait is waits[-1]
    assert gone(threads_of_ours())
    assert server.wait_until_closed(30)


@pytest.fixture
def _ctrl_c_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_ctrl_c_interrupts")
@pytest.mark.parametrize("progress", [False, True])
def test_ctrl_c_ends_every_call_in_flight(hung_service, progress):
    server, hung = hung_service
    kinds = []
    bwp.install(on_event=lambda event: kinds.append(event.kind))

    def interrupt():
        server.wait_for_request(5, 30)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        wait_all([exists(hung, "b") for _ in range(5)], progress=progress)
    interrupting.join(30)
    assert kinds == ["start"] * 5 + ["cancel"] * 5
    assert gone(threads_of_ours())
    assert server.wait_until_closed(30)


@pytest.mark.usefixtures("_ctrl_c_interrupts")
def test_ctrl_c_during_a_delay_ends_the_batch(s3):
    polled = threading.Event()

    def interrupt():
        assert polled.wait(30)
        # A process signal just before a system sleep does not end that sleep, in any program.
        threading.Event().wait(0.3)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        wait_all([exists(s3, "never", on_attempt=lambda _: polled.set())])
    interrupting.join(30)
    assert gone(threads_of_ours())


# --- abandoned batches ------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["forgotten", "in a cycle"])
def test_abandoned_iterator_stops_its_waits(collect_garbage, s3, how):
    results = as_completed([exists(s3, "first"), exists(s3, "never")])
    next(results)
    threads = threads_of_ours()
    assert threads
    if how == "in a cycle":
        cycle = [results]
        cycle.append(cycle)
        del cycle
    del results
    collect_garbage()
    assert gone(threads)


def test_iterator_may_be_closed_by_its_callback(s3):
    closed = []

    def close(event):
        if event.waiter == "BucketNotExists" and asked.is_set() and not closed:
            results.close()
            closed.append(1)

    asked = threading.Event()
    waits = [
        exists(s3, "first"),
        Wait(
            s3,
            "bucket_not_exists",
            {"Bucket": "first"},
            max_wait=50,
            delay_pace=lambda _: 0.05,
            on_attempt=close,
        ),
    ]
    results = as_completed(waits)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next(results)
        threads = threads_of_ours()
        asked.set()
        assert gone(threads)
    assert closed == [1]


def test_failed_callback_is_warned_of_on_early_exit(s3):
    def broken(_):
        raise ZeroDivisionError

    results = as_completed([exists(s3, "first", on_attempt=broken), exists(s3, "never")])
    next(results)
    with pytest.warns(RuntimeWarning, match="on_attempt raised ZeroDivisionError"):
        results.close()


# --- batches inside and beside each other -----------------------------------------------------


def test_callback_may_wait_for_others(s3, virtual_time):
    inner = []

    def poll(event):
        inner.append(wait_all([exists(s3, "second")])[0].attempts)

    outcomes = wait_all([exists(s3, "first", on_attempt=poll) for _ in range(3)])
    assert inner == [1, 1, 1]
    assert [outcome.attempts for outcome in outcomes] == [1, 1, 1]


def test_batches_in_several_threads_are_independent(s3):
    results = {}

    def run(index):
        waits = [exists(s3, name) for name in ("first", "second")]
        waits.append(Wait(s3, "bucket_not_exists", {"Bucket": f"never-{index}"}, max_wait=10))
        results[index] = [outcome.waiter for outcome in wait_all(waits)]

    threads = [threading.Thread(target=run, args=[index]) for index in range(8)]
    for thread in threads:
        thread.start()
    assert gone(threads)
    assert results == {i: ["BucketExists", "BucketExists", "BucketNotExists"] for i in range(8)}
    assert gone(threads_of_ours())


def test_same_waits_may_run_in_several_threads(s3):
    waits = [exists(s3, "first"), exists(s3, "second")]
    attempts = []
    threads = [
        threading.Thread(
            target=lambda: attempts.extend(outcome.attempts for outcome in wait_all(waits))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert gone(threads)
    assert attempts == [1] * 8


def test_wait_all_blocks_inside_a_running_loop(s3):
    async def run():
        return wait_all([exists(s3, "first")])

    assert asyncio.run(run())[0].attempts == 1


# --- thousands of waits, throttles ------------------------------------------------------------


def test_thousands_of_waits_end_as_one_does(s3, virtual_time):
    virtual_time.call_at(12, lambda: s3.create_bucket(Bucket="late"))
    config = Config(max_pool_connections=1)
    narrow = boto3.client("s3", region_name="us-east-1", config=config)
    waits = [exists(s3, "late", delay_pace=lambda _: 10) for _ in range(600)]
    waits += [exists(narrow, "late", delay_pace=lambda _: 10) for _ in range(20)]
    outcomes = wait_all(waits)
    assert {(outcome.attempts, outcome.elapsed) for outcome in outcomes} == {(3, 20)}


def test_throttled_service_gets_fewer_calls_than_others(s3, virtual_time):
    polls = []
    throttled = boto3.client(
        "dynamodb",
        region_name="us-east-1",
        config=Config(retries={"total_max_attempts": 1, "mode": "standard"}),
    )

    def send(request, **_):
        class Raw:
            def stream(self, *_, **__):
                yield json.dumps({"__type": "x#ThrottlingException"}).encode()

        return AWSResponse(request.url, 400, {}, Raw())

    throttled.meta.events.register("before-send.dynamodb", send)
    s3.meta.events.register("before-call.s3", lambda **_: polls.append(virtual_time.now))
    waits = [
        Wait(
            throttled,
            "table_exists",
            {"TableName": f"table-{index}"},
            max_wait=100,
            retry_transient=True,
            delay_pace=lambda _: 10,
        )
        for index in range(20)
    ]
    waits.append(exists(s3, "never", max_wait=100, delay_pace=lambda _: 10))
    results = wait_all(waits, on_failure="collect")
    assert polls[:9] == [10 * number for number in range(9)]
    assert max(result.attempts for result in results[:-1]) <= results[-1].attempts
    assert sum(result.attempts for result in results[:-1]) < 0.8 * 20 * results[-1].attempts


# --- threads and forks ------------------------------------------------------------------------


def test_calls_are_made_where_no_thread_can_start(s3, monkeypatch):
    # No watchdog is left of an earlier test: the warning, here an error, must not cost an answer.
    assert gone(threads_of_ours())

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    seen = []
    waits = [exists(s3, "first"), exists(s3, "second", on_attempt=seen.append)]
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert len(wait_all(waits)) == 2
    assert {wait for wait, _ in as_completed(waits)} == set(waits)
    assert len(seen) == 2


def test_single_thread_makes_all_calls_if_need_be(s3, monkeypatch):
    real = threading.Thread.start

    def refuse(thread):
        if thread.name.startswith("boto_waiters_plus call") and not thread.name.endswith(" 1"):
            raise RuntimeError("can't start new thread")
        real(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert len(wait_all([exists(s3, "first") for _ in range(20)])) == 20


def in_child(work):
    """Return the exit code of a forked child that does the work; fail if it hangs."""
    with warnings.catch_warnings():
        # This tests forking with threads.
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        try:
            work()
        except RuntimeError as error:
            os._exit(7 if "fork" in str(error) else 8)
        except BaseException:
            os._exit(9)
        os._exit(0)
    end = time.perf_counter() + 60
    while time.perf_counter() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        threading.Event().wait(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hung"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_batch_taken_into_a_forked_child_raises(s3):
    results = as_completed([exists(s3, "first"), exists(s3, "never")])
    next(results)
    assert in_child(lambda: list(results)) == 7
    results.close()
    assert gone(threads_of_ours())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_forked_child_can_run_its_own_batch(s3):
    wait_all([exists(s3, "first")])
    assert in_child(lambda: wait_all([exists(s3, "first") for _ in range(5)])) == 0


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork"
)
def test_fork_in_a_callback_leaves_the_batch_alone(s3):
    codes = []

    def fork(_):
        codes.append(in_child(lambda: None))

    assert wait_all([exists(s3, "first", on_attempt=fork)])[0].attempts == 1
    assert codes == [0]


# --- errors of thousands ----------------------------------------------------------------------


def test_error_of_thousands_pickles_in_linear_time(s3, virtual_time):
    def pickled(count):
        waits = [exists(s3, "never", max_wait=20, max_attempts=1) for _ in range(count)]
        with pytest.raises(bwp.WaitersError) as raised:
            wait_all(waits)
        return len(pickle.dumps(raised.value))

    assert pickled(200) < 30 * pickled(10)


IMPORTED_IN_VIRTUAL_TIME = """
import boto3
from botocore.stub import Stubber
import boto_waiters_plus as bwp
from boto_waiters_plus.testing import virtual_time

client = boto3.client("s3", "us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
with virtual_time():
    wait = bwp.Wait(client, "bucket_exists", {"Bucket": "b"}, max_wait=5)
with Stubber(client) as stubber:
    stubber.add_response("head_bucket", {}, {"Bucket": "b"})
    print(bwp.wait_all([wait])[0].attempts)
"""


def test_virtual_time_during_the_import_is_over_with_it():
    command = [sys.executable, "-c", IMPORTED_IN_VIRTUAL_TIME]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout == "1\n"
