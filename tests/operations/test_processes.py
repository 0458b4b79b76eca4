"""Stores in processes of their own: forks, signals, servers, and processes that are killed."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import boto3
import httpx2 as httpx
import pytest
from changes.token_service import ACCOUNT, serving
from stored_waits import ON_FILE, POSTGRESQL, SHARED, start, until  # beside this file

from boto_waiters_plus import operations

pytestmark = pytest.mark.nightly(subject="stores")

BENCH = Path(__file__).parents[2] / "bench" / "operations_kill.py"
TOKEN = {"Authorization": "Bearer word"}

# Where nohup started the tests, the processes that they start ignore SIGHUP, and have to.
HAS_SIGHUP = hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
SIGHUP = pytest.param(
    "SIGHUP", marks=pytest.mark.skipif(not HAS_SIGHUP, reason="no SIGHUP comes through")
)

FORKS = """if True:
    import os, sys, warnings, boto3
    from types import SimpleNamespace
    warnings.simplefilter("ignore")
    from boto_waiters_plus import operations

    client = boto3.client("kinesis", region_name="us-east-1")
    answer = {"StreamDescription": {"StreamStatus": "ACTIVE"}, "ResponseMetadata": {}}
    reply = SimpleNamespace(status_code=200), answer
    client.meta.events.register("before-call", lambda **_: reply)
    store = operations.Store(sys.argv[1])

    def start(**options):
        return operations.start(
            client, "stream_exists", max_wait=60, StreamName="orders", **options
        )

    held, in_memory = start(in_store=store), start(initial_delay=30)
    children = []
    for _ in range(4):
        child = os.fork()
        if not child:
            try:
                in_memory.result()
            except RuntimeError as error:
                assert "the process that this one was forked from" in str(error)
            own = start(in_store=store)
            store.work(until_idle=True, make_client=lambda _: client)
            assert own.result(20) and held.result(20) and start().result(20)
            os._exit(7)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [7] * 4, codes
    assert held.result(20) and len(store.list().operations) == 5
    assert start().result(20) and not in_memory.done()
"""

FORKED_IN_MEMORY = (
    FORKS.partition("    children = []")[0]
    + """
    child = os.fork()
    if not child:
        for use in (
            lambda: held.result(20),
            store.list,
            lambda: start(in_store=store),
            lambda: store.work(until_idle=True, make_client=lambda _: client),
        ):
            try:
                use()
            except operations.StoreError as error:
                assert "the process that this one was forked from" in str(error)
            else:
                os._exit(1)
        own = operations.Store(":memory:")
        assert start(in_store=own) and len(own.list().operations) == 1
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    store.work(until_idle=True, make_client=lambda _: client)
    assert held.result(20)
"""
)

UNPICKLE = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).done())"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def run(*words, code=0, **options):
    """Run Python with these words; return what it has written."""
    options = {"env": ENVIRONMENT, "timeout": 170, "text": True, **options}
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, capture_output=True, check=False, **options)
    assert done.returncode == code, (done.stdout, done.stderr[-2000:])
    return done


@SHARED
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_connections_and_waits_of_its_own(store_url):
    run("-c", FORKS, store_url)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_cannot_use_the_memory_of_its_parent():
    run("-c", FORKED_IN_MEMORY, ":memory:")


def test_a_pickled_operation_means_one_file(tmp_path, stream, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with contextlib.closing(operations.Store("waits.db")) as store:
        text = pickle.dumps(start(store, stream()))
    assert run("-c", UNPICKLE, input=text, cwd="/", text=False).stdout.strip() == b"False"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_operations_pass_between_started_processes(method, tmp_path):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("no such start method here")
    script = Path(__file__).with_name("started_processes.py")
    assert run(script, method, tmp_path / "waits.db").stderr == ""


def test_an_idle_worker_uses_no_cpu(working, stream):
    store = operations.Store(":memory:")
    working(store, stream({}))
    until(store.database.leases)
    before = time.process_time()
    time.sleep(2)
    # 0.01 on an idle machine, 2 for a loop that does not sleep.
    assert time.process_time() - before < 1


# --- commands and signals -------------------------------------------------------------------------


@pytest.fixture
def worker(store_url):
    """A process that drives the waits of the store, killed after the test."""
    code = "import sys; from boto_waiters_plus.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "operations", "work", "--store", store_url]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        yield process
        process.kill()


@ON_FILE
@pytest.mark.parametrize("name", ["SIGTERM", SIGHUP])
@pytest.mark.parametrize("broken", [None, "boto_waiters_leases", "boto_waiters_operations"])
def test_signals_hand_back(store, store_url, worker, name, broken):
    operation = start(store, boto3.client("kinesis", endpoint_url="http://127.0.0.1:9"))
    until(lambda: operation.metadata["attempts"])
    if broken is not None:
        with contextlib.closing(sqlite3.connect(store_url, isolation_level=None)) as connection:
            connection.execute(f"alter table {broken} rename to gone")
    worker.send_signal(getattr(signal, name))
    assert worker.wait(60) == (0 if broken is None else 255)
    if broken is None:
        assert (operation.metadata["worker"], store.database.leases()) == (None, set())


@pytest.mark.parametrize("name", ["SIGTERM", SIGHUP])
def test_signals_end_serve_with_143(tmp_path, serve, name):
    process, address = serve("--store", str(tmp_path / "waits.db"))
    assert httpx.get(address.partition("#")[0]).status_code == 200
    process.send_signal(getattr(signal, name))
    assert process.communicate(timeout=60)[1] == "boto-wait: terminated\n"
    assert process.returncode == 143


@ON_FILE
@pytest.mark.parametrize("token", [None, "word"])
def test_serve_answers_until_it_is_interrupted(store, store_url, stream, serve, tmp_path, token):
    path = start(store, stream()).path
    words = ["--store", store_url]
    if token is not None:
        (tmp_path / "token").write_text(f"{token}\n")
        words += ["--token-file", str(tmp_path / "token")]
    process, address = serve(*words)
    url, _, generated = address.partition("#token=")
    token = token or generated
    assert len(token) > 30 if generated else "#" not in address
    assert httpx.get(f"{url}{path}").status_code == 401
    headers = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{url}{path}", headers=headers).json()["path"] == path
    # A page that is open does not keep it from ending.
    with httpx.stream("GET", f"{url}operations:events", headers=headers) as events:
        assert path in next(events.iter_lines())
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == "boto-wait: interrupted\n"
    assert process.returncode == 130


def test_many_streams_and_slow_bodies_hold_up_no_request(tmp_path, serve, stream):
    (tmp_path / "token").write_text("word")
    store = operations.Store(tmp_path / "waits.db")
    path = start(store, stream()).path
    store.close()
    words = ["--store", str(tmp_path / "waits.db"), "--token-file", str(tmp_path / "token")]
    _, address = serve(*words)
    head = "Host: here\r\nAuthorization: Bearer word\r\n"
    events = f"GET /operations:events HTTP/1.1\r\n{head}\r\n"
    # One byte of the body is sent.
    slow = f"POST /operations HTTP/1.1\r\n{head}Content-Length: 99\r\n\r\n{{"
    place = ("127.0.0.1", int(address.rstrip("/").rpartition(":")[2]))
    with contextlib.ExitStack() as opened:
        for request in [events, slow] * 100:
            connection = opened.enter_context(socket.create_connection(place, timeout=60))
            connection.sendall(request.encode())
            if request is events:
                assert connection.recv(100).startswith(b"HTTP/1.1 200")
        assert not httpx.get(f"{address}{path}", headers=TOKEN, timeout=60).json()["done"]


# --- kill -9 --------------------------------------------------------------------------------------


@pytest.mark.skipif(not BENCH.exists(), reason="bench/ is not part of a wheel")
@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process")
@pytest.mark.parametrize("database", ["sqlite", POSTGRESQL])
def test_every_wait_ends_exactly_once(database, request):
    """The short form of bench/operations_kill.py: one round of each fault."""
    faults = 5 if database == "sqlite" else 6
    words = ["--rounds", faults, "--waits", 10]
    if database == "postgresql":
        request.getfixturevalue("server")
        words.append("--postgresql")
    assert run(BENCH, *words, env=None, timeout=None).stderr.count("round ") == faults


def run_beginner(url, store, method, point, code=0):
    script = Path(__file__).with_name("killed_beginner.py")
    return run(script, url, store, method, point, code=code, env=ENVIRONMENT | ACCOUNT).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9 here")
@pytest.mark.parametrize("method", ["run_instances", "terminate_instances"])
@pytest.mark.parametrize(("point", "ends"), [
    ("before the row", []), ("before the request", ["identity", "outcome_unknown"]),
    ("before the answer is kept", ["identity", "outcome_unknown"]),
    ("after the answer is kept", ["identity", "goal"]), ("in the wait", ["identity", "goal"]),
])  # fmt: skip
def test_a_killed_process_leaves_one_change(tmp_path, method, point, ends):
    path = tmp_path / "begun.db"
    has_token = method == "run_instances"
    with serving() as service:
        if not has_token:
            service.instances["i-1"] = {"token": "t", "state": "running", "gone": None}
        run_beginner(service.url, path, method, point, code=-9)
        end = ""
        while ends and not end.strip().replace("None", ""):
            end = run_beginner(service.url, path, method, "none")
        assert end.split() == ends[not has_token : 1 + (not has_token)]
        assert len(service.instances) == (not has_token or bool(ends))
        # What may have been executed is repeated under its token, or never.
        made = service.actions.count("RunInstances" if has_token else "TerminateInstances")
        assert made <= 1 + (has_token and point == "before the answer is kept")
