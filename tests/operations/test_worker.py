"""Workers: take-over, fencing, handing back; on SQLite and on PostgreSQL."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import boto3
import pytest
import sqlalchemy

from boto_waiters_plus import operations
from boto_waiters_plus.operations.lease import Lease, LeaseLostError

QUICK = {"min_delay": 0.01, "max_delay": 0.02}


def start(store, client, max_wait=60, **keywords):
    parameters = {"StreamName": "orders", **QUICK, **keywords}
    return store.start(client, "stream_exists", max_wait=max_wait, **parameters)


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def lease_of(store, seconds=30, name="test"):
    lease = Lease(store.database, name, seconds)
    lease.acquire()
    return lease


def test_a_stale_write_is_refused(store, stream, creating):
    operation = start(store, stream(creating))
    first, second = lease_of(store, 0.5, "first"), lease_of(store, 30, "second")
    ((row,), _) = first.claim(10)
    change = {"id": row["id"], "attempts": 5}
    assert first.write([change], [0.0]) == 1
    assert second.claim(10)[0] == []
    time.sleep(0.6)
    ((again,), _) = second.claim(10)
    assert again["id"] == row["id"]
    assert operation.metadata["worker"] == "second"
    assert first.write([{**change, "attempts": 6}], [0.0]) == 0
    assert first.renew() is None
    second.release()
    with pytest.raises(LeaseLostError):
        first.claim(10)
    second.acquire()
    assert len(second.claim(10)[0]) == 1
    assert operation.metadata["attempts"] == 5
    first.acquire()
    assert first.write([{**change, "attempts": 7}], [0.0]) == 0


def test_a_late_worker_keeps_what_nobody_took(store, stream, creating):
    start(store, stream(creating))
    lease = lease_of(store, 0.1)
    ((row,), _) = lease.claim(10)
    time.sleep(0.2)
    assert lease.renew() is not None
    assert lease.write([{"id": row["id"], "attempts": 5}], [0.0]) == 1


def test_each_operation_is_claimed_once(store, stream, creating):
    client = stream(creating)
    paths = {start(store, client).path for _ in range(20)}
    leases = [lease_of(store) for _ in range(4)]
    claimed = []

    def claim(lease):
        while rows := lease.claim(3)[0]:
            claimed.extend(f"operations/{row['id']}" for row in rows)

    threads = [threading.Thread(target=claim, args=(lease,)) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    until(lambda: claim(leases[0]) or len(claimed) == 20)
    assert set(claimed) == paths


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
    if "postgresql" in repr(store):
        pytest.skip("the trigger is written for SQLite")
    operation = start(store, stream(active))
    with store.database.writing() as connection:
        connection.exec_driver_sql(
            "create trigger full before update of state on boto_waiters_operations "
            "when new.state != 'open' begin select raise(abort, 'no space left'); end"
        )
    stop = working(store, stream(active), lease=0.5)
    until(lambda: "no space left" in caplog.text)
    stop()
    with store.database.writing() as connection:
        connection.exec_driver_sql("drop trigger full")
    working(store, stream(active), lease=0.5)
    assert operation.result(10).attempts == 1


def test_a_lost_lease_is_replaced(store, stream, creating, active, working, caplog):
    client = stream(creating)
    operation = start(store, client)
    working(store, client, lease=0.3, worker_name="first")
    until(lambda: operation.metadata["attempts"])
    thief = lease_of(store, 0.4, "thief")
    with store.database.writing() as connection:
        connection.exec_driver_sql(
            "update boto_waiters_leases set expires = 0 where worker='first'"
        )
    thief.claim(10)
    until(lambda: operation.metadata["worker"] == "thief" or "lost" in caplog.text)
    until(lambda: "the lease was lost" in caplog.text)
    until(lambda: operation.metadata["worker"] == "first")
    assert not operation.done()


def test_a_jump_of_the_clock_is_shown(open_store, stream, creating, working, monkeypatch, caplog):
    store = open_store()
    if "postgresql" in repr(store):
        pytest.skip("the time is the server's")
    client = stream(creating)
    operation = start(store, client)
    working(store, client, lease=0.6)
    until(lambda: operation.metadata["attempts"])
    time.sleep(0.5)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 100)
    until(lambda: "clock_jump" in operation.metadata)
    assert operation.metadata["clock_jump"] == pytest.approx(100, abs=1)
    assert "the wall clock jumped by 100" in caplog.text
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


def test_a_killed_worker_is_succeeded(store, stream, creating, active, worker_process):
    process = worker_process()
    operation = start(store, stream(creating))
    until(lambda: operation.metadata["attempts"] > 3)
    process.kill()
    process.wait()
    attempts = operation.metadata["attempts"]
    assert not operation.done()
    stop = threading.Event()
    options = {"make_client": lambda _: stream(active), "stop_event": stop}
    thread = threading.Thread(target=store.work, kwargs=options)
    thread.start()
    outcome = operation.result(10)
    stop.set()
    thread.join(10)
    assert attempts < outcome.attempts <= attempts + 2


def test_sigterm_hands_back_at_once(store, stream, creating, worker_process):
    process = worker_process(30)
    operation = start(store, stream(creating))
    until(lambda: operation.metadata["attempts"] > 3)
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    body = operation.to_json()
    assert not body["done"]
    assert body["metadata"]["worker"] is None


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
def test_a_frozen_worker_writes_nothing(store, stream, creating, active, worker_process):
    process = worker_process()
    operation = start(store, stream(creating))
    until(lambda: operation.metadata["attempts"] > 3)
    for _ in range(5):
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        try:
            lease = lease_of(store, 30, "other")
            break
        except operations.StoreError:
            # It was frozen inside a transaction, and SQLite lets nobody else write.
            process.send_signal(signal.SIGCONT)
            time.sleep(0.1)
    (rows, _) = lease.claim(10)
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
        "from boto_waiters_plus import operations; operations.Store(':memory:')"
    )
    done = subprocess.run([sys.executable, "-c", command], check=False, capture_output=True)
    assert b"boto-waiters-plus[store]" in done.stderr


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
