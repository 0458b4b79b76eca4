"""Workers: take-over, fencing, handing back; on SQLite and on PostgreSQL."""

import contextlib
import gc
import json
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from types import SimpleNamespace

import boto3
import botocore.exceptions
import pytest
import sqlalchemy
from stored_waits import ON_FILE, start, until  # beside this file

from boto_waiters_plus import operations


def test_many_workers_end_each_operation_once(store, stream, creating, active):
    clients = [stream(*[creating] * 60, active) for _ in range(3)]
    started = [start(store, clients[0]) for _ in range(60)]
    ended = []

    def work(client):
        ended.append(
            store.work(until_idle=True, batch_size=5, max_open=20, make_client=lambda _: client)
        )

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(operation.result(10) for operation in started)
    assert sum(ended) == 60


def test_handed_back_operations_go_on_elsewhere(store, stream, creating, active, working):
    client = stream(creating)
    operation = start(store, client)
    stop = working(store, client, worker_name="first")
    until(lambda: operation.metadata["attempts"] > 3)
    assert operation.metadata["worker"] == "first"
    stop()
    body = operation.to_json()
    assert not body["done"]
    assert body["metadata"]["worker"] is None
    attempts, elapsed = body["metadata"]["attempts"], body["metadata"]["elapsed"]
    time.sleep(0.3)
    store.work(until_idle=True, make_client=lambda _: stream(active))
    assert operation.result(10).attempts == attempts + 1
    assert operation.result().elapsed > elapsed + 0.3


def unreachable():
    return botocore.exceptions.EndpointConnectionError(endpoint_url="https://example.com")


def test_a_worker_that_cannot_connect_gives_the_wait_back(store, stream, active, working):
    """Another worker of the store may reach the service."""
    operation = start(store, stream(active), max_wait=60)
    stop = working(store, stream(unreachable()), worker_name="without a route")
    until(lambda: operation.metadata["attempts"] > 0 and operation.metadata["worker"] is None)
    assert not operation.done()
    stop()
    store.work(until_idle=True, make_client=lambda _: stream(active))
    assert operation.result(10).attempts > 1


@ON_FILE
def test_a_worker_that_cannot_connect_at_first_goes_on_itself(store, stream, active):
    """All of its attempts count, those between a write and the giving back too."""
    client = stream(*[unreachable()] * 60, active)
    slow = {"max_wait": 60, "min_delay": 2, "max_delay": 2}
    waits = [start(store, client, StreamName=f"s{number}", **slow) for number in range(60)]
    store.work(until_idle=True, make_client=lambda _: client)
    assert sum(operation.result(10).attempts for operation in waits) == 120


@ON_FILE
def test_a_wait_that_connects_after_all_is_not_given_back(
    store, store_url, stream, creating, active, working
):
    lock = sqlite3.connect(store_url, check_same_thread=False, isolation_level=None)

    def lost():
        # What the worker writes of this attempt waits for the lock.
        lock.execute("BEGIN IMMEDIATE")
        return unreachable()

    def connected():
        time.sleep(0.3)
        lock.execute("COMMIT")
        return creating

    is_over = threading.Event()
    client = stream(lost, creating, connected, lambda: active if is_over.is_set() else creating)
    operation = start(store, client, max_wait=60)
    working(store, client, worker_name="first")
    until(lambda: operation.metadata["attempts"] > 3)
    assert {operation.metadata["worker"] for _ in range(100)} == {"first"}
    is_over.set()
    assert operation.result(30).attempts == len(client.answers.requests)
    lock.close()


def test_a_wait_to_the_letter_ends_without_a_connection(store, stream, active):
    operation = start(store, stream(active), retry_transient=False)
    store.work(until_idle=True, make_client=lambda _: stream(unreachable()))
    assert "EndpointConnectionError" in str(operation.exception(10))


def test_the_time_without_a_worker_counts(store, stream, creating):
    operation = start(store, stream(creating), max_wait=0.1)
    time.sleep(0.2)
    store.work(until_idle=True, make_client=lambda _: stream(creating))
    assert operation.to_json()["error"]["code"] == "timed_out" or operation.result(10)


def test_waits_of_one_kind_share_calls(store, answers, working):
    ec2 = boto3.client("ec2")
    ids = [f"i-{number:017x}" for number in range(40)]
    items = [{"InstanceId": each, "State": {"Name": "running"}} for each in ids]
    ec2.answers = answers(ec2, {"Reservations": [{"Instances": items}]})
    started = [
        store.start(ec2, "instance_running", max_wait=60, InstanceIds=[each]) for each in ids
    ]
    store.work(until_idle=True, make_client=lambda _: ec2)
    assert all(operation.result(10).attempts == 1 for operation in started)
    assert len(ec2.answers.requests) <= 4


def test_waits_for_many_jobs_are_screened(store):
    client = boto3.client("sagemaker", region_name="us-east-1")
    names = [f"job-{number}" for number in range(40)]
    calls, ok = Counter(), SimpleNamespace(status_code=200)

    def answer(model, **_):
        calls[model.name] += 1
        status = "InProgress" if calls["ListTrainingJobs"] < 3 else "Completed"
        if model.name == "DescribeTrainingJob":
            return ok, {"TrainingJobStatus": status}
        jobs = [{"TrainingJobName": name, "TrainingJobStatus": status} for name in names]
        return ok, {"TrainingJobSummaries": jobs}

    client.meta.events.register("before-call.sagemaker.*", answer)
    options = {"max_wait": 60, "min_delay": 0.5, "max_delay": 0.5}
    started = [
        store.start(client, "TrainingJobCompleted", TrainingJobName=name, **options)
        for name in names
    ]
    store.work(until_idle=True, make_client=lambda _: client)
    assert {operation.result(10).observed for operation in started} == {"Completed"}
    assert calls["ListTrainingJobs"] >= 3
    assert calls["DescribeTrainingJob"] <= 80


def test_workers_share_the_calls_per_second(store, stream, creating, working):
    clients = [stream(creating) for _ in range(2)]
    for number in range(20):
        start(store, clients[0], StreamName=f"stream-{number}")
    for client in clients:
        working(store, client, batch_size=10, max_open=10, calls_per_second={"kinesis": 20})
    until(lambda: all(client.answers.requests for client in clients))
    time.sleep(1.5)  # Both have counted both.
    before = [len(client.answers.requests) for client in clients]
    began = time.monotonic()
    time.sleep(2)
    calls = [len(each.answers.requests) - n for each, n in zip(clients, before, strict=True)]
    most = 20 * (time.monotonic() - began) + 4
    assert 4 <= sum(calls) <= most
    assert max(calls) <= most / 2 + 2


def test_errors_keep_what_responses_said(store, answers):
    ec2 = boto3.client("ec2")
    ids = ["i-00000000000000001", "i-00000000000000002"]
    states = zip(ids, ["running", "pending"], strict=True)
    items = [{"InstanceId": each, "State": {"Name": state}} for each, state in states]
    ec2.answers = answers(ec2, {"Reservations": [{"Instances": items}]})
    options = {"min_delay": 0.05, "max_delay": 0.05, "max_wait": 1.5}
    operation = store.start(ec2, "instance_running", InstanceIds=ids, **options)
    cloudformation = boto3.client("cloudformation")
    stack = {"StackName": "s", "StackStatus": "CREATE_IN_PROGRESS", "StackStatusReason": "slow"}
    cloudformation.answers = answers(cloudformation, {"Stacks": [stack]})
    other = store.start(cloudformation, "stack_create_complete", StackName="s", **options)
    clients = {"ec2": ec2, "cloudformation": cloudformation}
    store.work(until_idle=True, make_client=lambda wanted: clients[wanted.service])
    error = operation.exception(10)
    assert list(error.failed_ids) == [ids[1]]
    assert f"not reached by {ids[1]}" in str(error)
    assert "slow" in str(other.exception(10))


def test_an_end_that_was_not_written_is_reached_again(store, stream, active, working, caplog):
    if ".db" not in repr(store):
        pytest.skip("the trigger is written for SQLite")
    operation = start(store, stream(active))
    with store.backend.database.writing() as connection:
        connection.exec_driver_sql(
            "create trigger full before update of state on boto_waiters_operations "
            "when new.state != 'open' begin select raise(abort, 'no space left'); end"
        )
    stop = working(store, stream(active), lease=0.5)
    until(lambda: "no space left" in caplog.text)
    stop()
    with store.backend.database.writing() as connection:
        connection.exec_driver_sql("drop trigger full")
    working(store, stream(active), lease=0.5)
    assert operation.result(10).attempts == 1


def test_a_lost_lease_is_replaced(store, stream, creating, active, working, caplog):
    client = stream(creating)
    operation = start(store, client)
    working(store, client, lease=0.3, worker_name="first")
    until(lambda: operation.metadata["attempts"])
    if store.backend.name == ":memory:":
        pytest.skip("nobody else can change a lease")
    thief = store.backend.acquire("thief", 60)

    def steal():
        with store.backend.database.writing() as connection:
            connection.exec_driver_sql(
                "update boto_waiters_leases set expires = 0 where worker='first'"
            )
        # The worker may have renewed its lease meanwhile.
        rows, _ = store.backend.claim(thief, 60, 10)
        return rows

    until(steal)
    until(lambda: "the lease was lost" in caplog.text)
    store.backend.release(thief)
    until(lambda: operation.metadata["worker"] == "first")
    assert not operation.done()


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_a_server_that_goes_away_and_comes_back(
    server, store_url, store, stream, creating, active, working, caplog
):
    client = stream(*[creating] * 20, active)
    operation = start(store, client)
    working(store, client)
    until(lambda: operation.metadata["attempts"])
    administrator = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
    name = sqlalchemy.make_url(store_url).username
    with administrator.connect() as connection:
        connection.exec_driver_sql(f"alter role {name} nologin")
        connection.exec_driver_sql(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = %s", (name,)
        )
        until(lambda: "trying again" in caplog.text)
        with pytest.raises(operations.StoreError, match="not permitted to log in"):
            store.list()
        connection.exec_driver_sql(f"alter role {name} login")
    administrator.dispose()
    assert operation.result(30).attempts == 21


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_a_connection_that_is_lost_in_a_transaction_leaves_no_socket(store):
    def sockets():
        return {s for s in gc.get_objects() if type(s) is socket.socket and s.fileno() != -1}

    before = sockets()
    with pytest.raises(operations.StoreError), store.backend.database.writing() as connection:
        connection.exec_driver_sql("select pg_terminate_backend(pg_backend_pid())")
    assert sockets() <= before


@pytest.mark.parametrize("store_url", ["file"], indirect=True)
def test_a_file_that_is_locked_for_a_while(
    store_url, open_store, stream, creating, active, working, caplog
):
    store = open_store(f"sqlite:///{store_url}?timeout=0.1")
    client = stream(*[creating] * 20, active)
    operation = start(store, client)
    working(store, client)
    until(lambda: operation.metadata["attempts"])
    with contextlib.closing(sqlite3.connect(store_url, isolation_level=None)) as other:
        until(lambda: begins(other))
        until(lambda: "database is locked; trying again" in caplog.text)
        other.execute("rollback")
    assert operation.result(30).attempts == 21


def begins(connection):
    with contextlib.suppress(sqlite3.OperationalError):
        return connection.execute("begin immediate")


@pytest.mark.parametrize("store_url", ["file"], indirect=True)
def test_a_disk_that_is_full_for_a_while(store, store_url, stream, active, working, caplog):
    active["StreamDescription"]["StreamARN"] = "x" * 1_000_000
    operation = start(store, stream(active), include_response=True)
    pages = sqlite_pages(store_url)
    # SQLite refuses to grow the file, as on a full disk.
    limits = [pages]

    def limit(connection):
        connection.exec_driver_sql(f"pragma max_page_count = {limits[-1]}")

    sqlalchemy.event.listen(sqlalchemy.Engine, "begin", limit)
    stop = working(store, stream(active))
    try:
        until(lambda: "full; trying again" in caplog.text)
        assert not store.get_json(operation.path)["done"]
        limits.append(10 * pages + 10_000)
        assert len(operation.result(30).response["StreamDescription"]["StreamARN"]) == 1_000_000
    finally:
        stop()
        store.close()
        sqlalchemy.event.remove(sqlalchemy.Engine, "begin", limit)


def sqlite_pages(file):
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return connection.execute("pragma page_count").fetchone()[0]


WORKER = """if True:
    import sys, boto3
    from types import SimpleNamespace
    from boto_waiters_plus import operations

    def make(description):
        client = boto3.client("kinesis", region_name="us-east-1")
        answer = {"StreamDescription": {"StreamStatus": "CREATING"}, "ResponseMetadata": {}}
        reply = SimpleNamespace(status_code=200), answer
        client.meta.events.register("before-call", lambda **_: reply)
        return client

    operations.Store(sys.argv[1]).work(make_client=make, lease=float(sys.argv[2]))
"""


@pytest.fixture
def worker_process(store_url):
    """`worker_process(lease)`: another process that works the store."""
    processes = []

    def run(lease=0.5):
        if store_url == ":memory:":
            pytest.skip("a store in memory has one process")
        command = [sys.executable, "-c", WORKER, store_url, str(lease)]
        processes.append(subprocess.Popen(command, stderr=subprocess.PIPE))
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_killed_worker_is_succeeded(store, stream, creating, active, working, worker_process):
    process = worker_process()
    operation = start(store, stream(creating))
    until(lambda: operation.metadata["attempts"] > 3)
    process.kill()
    process.wait()
    attempts = operation.metadata["attempts"]
    assert not operation.done()
    working(store, stream(active))
    outcome = operation.result(10)
    assert attempts < outcome.attempts <= attempts + 2


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
def test_a_frozen_worker_writes_nothing(store, stream, creating, active, worker_process):
    process = worker_process()
    operation = start(store, stream(creating))
    until(lambda: operation.metadata["attempts"] > 3)
    for _ in range(5):
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        rows = []
        with contextlib.suppress(operations.StoreError):
            rows, _ = store.backend.claim(store.backend.acquire("other", 30), 30, 10)
        if rows:
            break
        # It was frozen inside a transaction: the row, or all of SQLite's file, is locked.
        process.send_signal(signal.SIGCONT)
        time.sleep(0.1)
    assert len(rows) == 1
    before = json.dumps(operation.to_json())
    process.send_signal(signal.SIGCONT)
    time.sleep(1.0)
    assert json.dumps(operation.to_json()) == before


def test_an_idle_worker_uses_no_cpu(store, stream, working):
    working(store, stream({}))
    time.sleep(0.5)
    before = time.process_time()
    time.sleep(2)
    # 0.01 on an idle machine, 2 for a loop that does not sleep.
    assert time.process_time() - before < 0.5


def test_a_worker_without_its_extra_says_so(monkeypatch):
    command = (
        "import sys; sys.modules['sqlalchemy'] = None; "
        "from boto_waiters_plus import operations; operations.Store('waits.db')"
    )
    done = subprocess.run([sys.executable, "-c", command], check=False, capture_output=True)
    assert b"boto-waiters-plus[store]" in done.stderr


def test_virtual_time_moves_while_a_worker_has_nothing_to_do(stream, active, virtual_time, recwarn):
    client, store = stream(active), operations.Store(":memory:")
    # No news for the worker until then.
    start(store, client, initial_delay=30)
    assert store.work(until_idle=True, make_client=lambda _: client, lease=3600) == 1
    assert virtual_time.now >= 30
    # After five real seconds, or never, it would move with a warning about the worker's thread.
    assert [str(each.message) for each in recwarn if each.category is RuntimeWarning] == []
    store.close()


@pytest.mark.parametrize("text", ["A\0B", "A\ud800B", "A\nB"])
def test_any_text_of_a_service_is_stored(store, stream, creating, active, error_answer, text):
    creating["StreamDescription"]["StreamStatus"] = text
    client = stream(creating, error_answer(text, text))
    operation = start(store, client)
    assert store.work(until_idle=True, make_client=lambda _: client) == 1
    assert operation.exception(10).observed is None
    assert operation.metadata["state_seen"] == f"error {text!r}".replace("'", "")


def test_arguments_of_work_are_checked(store):
    with pytest.raises(ValueError, match="worker_name"):
        store.work(worker_name="a\0b")
    for name in ("lease", "batch_size", "max_open", "threads"):
        with pytest.raises(ValueError, match=name):
            store.work(**{name: -1})
    assert operations.Store is type(store)
