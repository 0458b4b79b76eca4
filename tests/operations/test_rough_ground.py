"""What one wait, one worker, one clock or one process does wrong, and the others never notice."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import botocore.exceptions
import pytest
import sqlalchemy
from black_hole import BlackHole  # beside this file
from stored_waits import BY_SIGNALS, ON_FILE, ON_SERVER, SHARED, start, until, work  # beside this

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.cli import main
from boto_waiters_plus.operations import operation as operation_module
from boto_waiters_plus.operations import stored_operation
from boto_waiters_plus.operations.sql import SqlBackend, time_limit

# --- workers that cannot --------------------------------------------------------------------------


class RoleError(Exception):
    """What a caller's `make_client` raises."""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RoleError("hidden-word"), "internal"),
        (
            botocore.exceptions.ClientError({"Error": {"Code": "AccessDenied"}}, "AssumeRole"),
            "credentials",
        ),
        (botocore.exceptions.ProfileNotFound(profile="there"), "credentials"),
        (operations.OperationError("unsupported", "not here"), "unsupported"),
    ],
)
def test_a_worker_without_a_client_leaves_waits_to_others(store, stream, active, error, code):
    started = [start(store, stream(active)) for _ in range(5)]
    made = []

    def make(description):
        made.append(description)
        raise error

    assert store.work(until_idle=True, make_client=make) == 0
    assert len(made) == 1
    assert {each.metadata["last_error"]["code"] for each in started} == {code}
    assert "hidden-word" not in json.dumps(started[0].to_json())
    assert work(store, stream(active)) == 5
    assert all(each.result(10) for each in started)


def test_a_worker_without_credentials_ends_no_wait(store, stream, active):
    started = [start(store, stream(active)) for _ in range(20)]
    assert work(store, stream(botocore.exceptions.NoCredentialsError())) == 0
    assert not any(each.to_json()["done"] for each in started)
    assert work(store, stream(active)) == 20
    assert all(each.result(10) for each in started)


def test_what_nobody_could_ends_with_that_error(store, stream, active, working):
    operation = start(store, stream(active), max_wait=1)
    working(store, stream(botocore.exceptions.NoCredentialsError()))
    error = operation.exception(10)
    assert error.code == "credentials"
    assert operation.metadata["elapsed"] < 10


def test_what_others_drove_times_out(store, stream, creating, working):
    operation = start(store, stream(creating), max_wait=4)
    stop = working(store, stream(creating))
    until(lambda: operation.metadata["attempts"] > 1)
    stop()

    def make(_):
        raise RoleError

    working(store, None, make_client=make)
    error = operation.exception(10)
    assert operation.to_json()["error"]["code"] == "timed_out"
    assert "no worker could drive it" in str(error)


@SHARED
@pytest.mark.parametrize("value", ["[" * 10_000, "5", "{}", "no json"])
@pytest.mark.parametrize("column", ["response", "error"])
def test_an_unreadable_end_is_an_error_of_its_own(store, stream, active, column, value):
    held, other = start(store, stream(active)), start(store, stream(active))
    state = "succeeded" if column == "response" else "failed"
    end = {"id": held.path.partition("/")[2], "state": state, "ended": 0.0, column: value}
    store.backend.write(None, [end])
    assert held.exception(10)
    assert len(store.list().operations) == 2
    work(store, stream(active))
    assert other.result(10)


# --- clocks ---------------------------------------------------------------------------------------

SHIFTED = """if True:
    import sys, time
    real, shift = time.time, float(sys.argv[2])
    time.time = lambda: real() + shift
    import boto3
    from types import SimpleNamespace
    from boto_waiters_plus import operations

    def make(description):
        client = boto3.client("kinesis", region_name="us-east-1")
        answer = {"StreamDescription": {"StreamStatus": sys.argv[3]}, "ResponseMetadata": {}}
        reply = SimpleNamespace(status_code=200), answer
        client.meta.events.register("before-call", lambda **_: reply)
        return client

    operations.Store(sys.argv[1]).work(make_client=make, lease=0.5)
"""


@pytest.fixture
def shifted(store_url):
    """`shifted(seconds, state)`: a worker process whose wall clock is off by that."""
    processes = []

    def run(seconds, state="ACTIVE"):
        command = [sys.executable, "-c", SHIFTED, store_url, str(seconds), state]
        processes.append(subprocess.Popen(command))
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        process.wait()


@ON_FILE
@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="needs CLOCK_BOOTTIME")
@pytest.mark.parametrize("hours", [1, -1])
def test_a_set_clock_neither_ends_nor_keeps_a_wait(store, stream, creating, shifted, hours):
    operation = start(store, stream(creating), max_wait=100)
    first = shifted(0, "CREATING")
    until(lambda: operation.metadata["attempts"] > 2)
    first.kill()
    first.wait()
    shifted(hours * 3600)
    outcome = operation.result(20)
    assert outcome.elapsed < 60


# --- processes and connections --------------------------------------------------------------------


@SHARED
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_uses_the_store(store_url, store, stream, active):
    script = """if True:
    import os, sys, warnings, boto3
    from types import SimpleNamespace
    warnings.simplefilter("ignore")
    from boto_waiters_plus import operations

    client = boto3.client("kinesis", region_name="us-east-1")
    answer = {"StreamDescription": {"StreamStatus": "ACTIVE"}, "ResponseMetadata": {}}
    reply = SimpleNamespace(status_code=200), answer
    client.meta.events.register("before-call", lambda **_: reply)
    store = operations.Store(sys.argv[1])

    def start():
        return store.start(client, "stream_exists", max_wait=60, StreamName="orders")

    held = start()
    children = []
    for _ in range(4):
        child = os.fork()
        if not child:
            own = start()
            store.work(until_idle=True, make_client=lambda _: client)
            assert own.result(20) and held.result(20)
            os._exit(7)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [7] * 4, codes
    assert held.result(20) and len(store.list().operations) == 5
    """
    subprocess.run([sys.executable, "-c", script, store_url], check=True, timeout=60)


def test_a_closed_store_says_so_at_once(store, stream, active):
    held = start(store, stream(active))
    errors = []

    def wait():
        try:
            held.result()
        except operations.StoreError as error:
            errors.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    store.close()
    waiting.join(10)
    assert len(errors) == 1
    with pytest.raises(operations.StoreError, match="is closed"):
        held.result()
    with pytest.raises(operations.StoreError, match="is closed"):
        start(store, stream(active))


def test_a_pickled_operation_means_one_file(tmp_path, stream, active, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = operations.Store("waits.db")
    text = pickle.dumps(start(store, stream(active)))
    store.close()
    script = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).done())"
    command = [sys.executable, "-c", script]
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        check=True,
        cwd="/",
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.strip() == b"False"


def test_an_interrupt_before_a_write_loses_no_attempt(store, stream, creating, monkeypatch):
    client = stream(creating)
    operation = start(store, client)
    write, interrupted = store.backend.write, []

    def once(lease, changes):
        if not interrupted:
            interrupted.append(changes)
            raise KeyboardInterrupt
        return write(lease, changes)

    monkeypatch.setattr(store.backend, "write", once)
    with pytest.raises(KeyboardInterrupt):
        store.work(make_client=lambda _: client)
    made = len(client.answers.requests)
    assert operation.metadata["attempts"] == made > 0


@SHARED
@BY_SIGNALS
def test_signals_hand_back(store, store_url, stream, creating, shifted, name):
    operation = start(store, stream(creating))
    process = shifted(0, "CREATING")
    until(lambda: operation.metadata["attempts"] > 3)
    process.send_signal(getattr(signal, name))
    assert process.wait(10) == 0
    assert operation.metadata["worker"] is None


@ON_SERVER
def test_a_connection_that_swallows_everything(
    store_url, open_store, stream, creating, active, working, monkeypatch, caplog
):
    monkeypatch.setattr(time_limit, "TRANSACTION_LIMIT", 0.5)
    url = sqlalchemy.make_url(store_url)
    hole = BlackHole(url.port)
    through = url.set(port=hole.port).update_query_dict({"connect_timeout": "2"})
    store = open_store(through.render_as_string(hide_password=False))
    operation = start(store, stream(creating))
    direct = open_store(store_url)
    stop = working(store, stream(creating), lease=1.5)
    until(lambda: direct.get_json(operation.path)["metadata"]["attempts"] > 1)
    hole.is_open.clear()
    until(lambda: "trying again" in caplog.text)
    working(direct, stream(active), lease=30)
    assert direct.get(operation.path).result(10).attempts > 1
    began = time.monotonic()
    stop()
    assert time.monotonic() - began < 10
    hole.close()


# --- waits that nobody drives ---------------------------------------------------------------------


def test_result_says_that_no_worker_drives_it(store, stream, active, monkeypatch):
    monkeypatch.setattr(operation_module, "UNDRIVEN_GRACE", 0.1)
    operation = start(store, stream(active))
    since = r"no worker drives it, nothing was written for [\d.]+ s: call work"
    with (
        pytest.warns(RuntimeWarning, match=since),
        pytest.raises(operation_module.FutureTimeoutError, match=since),
    ):
        operation.result(0.5)


def kill_worker(store):
    """Leave the waits to a worker that is gone, and whose lease lives."""
    store.backend.claim(store.backend.acquire("there:1", 30), 30, 10)


def test_result_says_that_the_worker_may_be_gone(store, stream, active, monkeypatch):
    for module in (operation_module, stored_operation):
        monkeypatch.setattr(module, "UNDRIVEN_GRACE", 0.1)
    operation = start(store, stream(active))
    kill_worker(store)
    gone = r"its worker there:1 may be gone, nothing was written for [\d.]+ s$"
    with (
        pytest.warns(RuntimeWarning, match=gone),
        pytest.raises(operation_module.FutureTimeoutError, match=gone),
    ):
        operation.result(0.5)


@pytest.mark.parametrize("is_claimed", [False, True])
def test_a_wait_that_nothing_drives_ends_past_its_max_wait(
    store, stream, active, monkeypatch, is_claimed
):
    monkeypatch.setattr(stored_operation, "UNDRIVEN_GRACE", 0.2)
    monkeypatch.setattr(stored_operation, "COMPARE_INTERVAL", 0.1)
    driven = start(store, stream(active), max_wait=0.3)
    kill_worker(store)
    operation = start(store, stream(active), max_wait=0.3)
    if is_claimed:
        # The lease has ended, and nothing has noticed that.
        store.backend.claim(store.backend.acquire("there:2", 0.05), 0.05, 10)
    with pytest.raises(bwp.WaiterTimeoutError, match=r"after 0\.3 s.*no worker could drive it"):
        operation.result(20)
    assert store.get_json(operation.path)["error"]["code"] == "timed_out"
    # The lease of the other lives: it is left to its worker.
    assert not driven.done()


def test_a_driven_wait_is_waited_for_in_silence(store, stream, creating, working, monkeypatch):
    monkeypatch.setattr(operation_module, "UNDRIVEN_GRACE", 0.1)
    operation = start(store, stream(creating))
    working(store, stream(creating))
    until(lambda: operation.metadata["attempts"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(operation_module.FutureTimeoutError, match=r"has not ended$"):
            operation.result(0.5)


# --- cost -----------------------------------------------------------------------------------------


def test_many_held_waits_are_rarely_compared(store, stream, active, monkeypatch):
    backend, compared, checked = store.backend, [], []
    open_ids, ended_ids = backend.open_ids, backend.ended_ids
    monkeypatch.setattr(backend, "open_ids", lambda ids: compared.append(len(ids)) or open_ids(ids))
    monkeypatch.setattr(backend, "ended_ids", lambda at: checked.append(at) or ended_ids(at))
    held = [start(store, stream(active)) for _ in range(20)]
    for number in range(20):
        until(lambda number=number: len(checked) > number)
        store.watcher.check()
    assert len(compared) <= 2
    assert backend.write(None, [{"id": held[7].path[-32:], "state": "cancelled", "ended": 0.0}])
    until(held[7].cancelled)
    assert len(compared) <= 2


def watched_for(store, client, number, monkeypatch):
    """Hold so many more open waits; return the CPU seconds of 40 checks that find nothing."""
    names = map(str, range(number))
    waits = [bwp.Wait(client, "stream_exists", {"StreamName": n}, max_wait=600) for n in names]
    held = [*map(store.get, store.start_all(waits))]
    checked, ended_ids = threading.Semaphore(0), store.backend.ended_ids

    def checking(since):
        checked.release()
        return ended_ids(since)

    with monkeypatch.context() as patch:
        patch.setattr(store.backend, "ended_ids", checking)
        # The first may compare all that is held.
        for check in range(43):
            if check == 3:
                began = time.process_time()
            store.watcher.check()
            assert checked.acquire(timeout=20)
    assert not any(each.done() for each in held)
    return time.process_time() - began


@ON_FILE
@pytest.mark.timing
def test_watching_thousands_costs_as_watching_a_few(store, stream, active, monkeypatch):
    few = watched_for(store, stream(active), 50, monkeypatch)
    thousands = watched_for(store, stream(active), 5000, monkeypatch)
    # Comparing all of them at each check takes 20 times as long.
    assert thousands < 10 * few, (thousands, few)


@ON_FILE
def test_watching_reads_ids_and_ended_rows_only(store, stream, active, monkeypatch):
    held = [start(store, stream(active)) for _ in range(20)]
    read = []
    get = store.backend.get
    monkeypatch.setattr(store.backend, "get", lambda ids: read.append(len(ids)) or get(ids))
    time.sleep(1.2)
    assert read == []
    held[0].cancel()
    until(held[0].cancelled)
    assert sum(read) <= 2


@ON_FILE
def test_many_background_waits_are_one_transaction(store_url, monkeypatch, capsys):
    added = []
    add = SqlBackend.add
    monkeypatch.setattr(SqlBackend, "add", lambda *words: added.append(words) or add(*words))
    names = [f"bucket-{number}" for number in range(30)]
    words = ["s3", "bucket-exists", "--each", "bucket", *names, "--max-wait", "60"]
    code = main([*words, "--region", "us-east-1", "--background", "--store", store_url])
    assert (code, len(added)) == (0, 1), capsys.readouterr().err
    assert len(set(capsys.readouterr().out.split())) == 30
