"""A client whose stream becomes active, and stores in both databases."""

import functools
import signal
import subprocess
import sys
import threading
from pathlib import Path
from unittest import mock

import boto3
import botocore.exceptions
import pytest

from boto_waiters_plus import operations
from boto_waiters_plus.operations.sql import Database

sys.path.insert(0, str(Path(__file__).parent))
from database_fixtures import new_database, server  # noqa: F401 - fixtures, beside this file
from stored_waits import POSTGRESQL, Clock, RunningClock  # beside this file

SESSION = boto3.session.Session(region_name="us-east-1")


@pytest.fixture
def answered(answers):
    """`answered(service, *answers)`: a client that gives these answers, and has its requests."""

    def make(service, *replies):
        client = SESSION.client(service)
        client.answers = answers(client, *replies)
        return client

    return make


@pytest.fixture
def stream(answered):
    """`stream(*answers)`: a kinesis client that gives these answers."""
    return functools.partial(answered, "kinesis")


@pytest.fixture
def no_answer():
    """What a call ends with that was given no answer."""
    return botocore.exceptions.ReadTimeoutError(endpoint_url="https://example.com")


@pytest.fixture(params=["memory", "file", POSTGRESQL])
def store_url(request, tmp_path):
    """An empty database of each kind."""
    if request.param == "memory":
        return ":memory:"
    if request.param == "file":
        return str(tmp_path / "waits.db")
    return request.getfixturevalue("new_database")()


@pytest.fixture
def open_store(store_url):
    """`open_store(**arguments)`: the store, opened again; the databases in memory are one."""
    opened = []

    def make(url=store_url, **arguments):
        if url == ":memory:" and opened and not arguments:
            return opened[0]
        if isinstance(url, Database):
            # With other keys: one in memory cannot be opened by its URL.
            with mock.patch.object(operations.store, "_database", return_value=url):
                opened.append(operations.Store(**arguments))
        else:
            opened.append(operations.Store(url, **arguments))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store):
    return open_store()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def running_clock():
    return RunningClock()


@pytest.fixture
def hang():
    """`hang()` blocks until the end of the test, or until `hang.release()`."""
    released = threading.Event()

    def hang(*_):
        hang.begun.release()
        released.wait()
        return {}

    hang.begun, hang.release = threading.Semaphore(0), released.set
    yield hang
    released.set()


@pytest.fixture
def working():
    """`working(store, client, **arguments)`: a worker in a thread; returns what stops it."""
    stops = []

    def work(store, client, **arguments):
        stop = threading.Event()
        options = {"make_client": lambda _: client, "stop_event": stop, **arguments}
        thread = threading.Thread(target=store.work, kwargs=options)
        thread.start()

        def end():
            stop.set()
            thread.join(30)

        stops.append(end)
        return end

    yield work
    for end in stops:
        end()


@pytest.fixture
def serve():
    """`serve(*words)`: `boto-wait operations serve` on a free port; the process and its address."""
    processes = []

    def start(*words):
        command = [sys.executable, "-m", "boto_waiters_plus.cli", "operations", "serve"]
        pipes = {"stderr": subprocess.PIPE, "text": True}
        # A shell starts background jobs, and what they start, with Ctrl-C ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        processes.append(subprocess.Popen([*command, "--port", "0", *words], **pipes))
        signal.signal(signal.SIGINT, before)
        line = processes[-1].stderr.readline().strip()
        return processes[-1], line.removeprefix("boto-wait operations: serving ")

    yield start
    for process in processes:
        process.kill()
        process.communicate()
