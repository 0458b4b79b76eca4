"""How the tests of stores start waits on a stream, drive them and wait for what happens."""

import contextlib
import sqlite3
import threading
from pathlib import Path
from time import monotonic

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

QUICK = {"min_delay": 0.01, "max_delay": 0.02}

NIGHTLY = pytest.mark.nightly(subject="stores")
POSTGRESQL = pytest.param("postgresql", marks=NIGHTLY)

IN_MEMORY = pytest.mark.parametrize("store_url", ["memory"], indirect=True)
ON_FILE = pytest.mark.parametrize("store_url", ["file"], indirect=True)
SHARED = pytest.mark.parametrize("store_url", ["file", POSTGRESQL], indirect=True)


class Clock:
    """A clock that stands still until a test moves it: `clock.now += 60`."""

    def __init__(self):
        self.now = 1e9

    def __call__(self):
        return self.now


class RunningClock(Clock):
    """A clock that a test moves, and that goes on by itself.

    What happens at intervals happens again, although it may have read the clock just after a move.
    """

    def __call__(self):
        return self.now + monotonic()


def start(store, client, max_wait=60, waiter="stream_exists", **keywords):
    parameters = {"StreamName": "orders", **QUICK, **keywords}
    return store.start(client, waiter, max_wait=max_wait, **parameters)


def work(store, client, **arguments):
    return store.work(until_idle=True, make_client=lambda _: client, **arguments)


def begin_in_store(method, begin=bwp.begin, **options):
    """Begin in a store; return the operation as it is read once a worker has driven it."""
    store = operations.Store(":memory:", clock=RunningClock())
    operation = begin(method, in_store=store, **options)
    work(store, method.__self__)
    return store.get(operation.path)


def changed(file, statement, *values):
    """Change a store behind its back; return the number of rows."""
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        return database.execute(statement, values).rowcount


def row_id(operation):
    return operation.path.partition("/")[2]


def swapped(data):
    """Encrypts and decrypts."""
    return bytes(255 - byte for byte in data)


def driven(store, client, **options):
    """Start a wait; return it once a worker has driven it."""
    operation = start(store, client, **options)
    work(store, client)
    return operation


class KilledError(BaseException):
    """A process ends here."""


class Key:
    """Encrypts and decrypts; to encrypt raises the first of `errors`, if there are any."""

    def __init__(self):
        self.errors = []
        self.pair = {"encrypt": self._encrypt, "decrypt": swapped}

    def _encrypt(self, data):
        if self.errors:
            raise self.errors[0]
        return swapped(data)


def is_in_files(word, store_url):
    """Whether a database in a file has a word anywhere."""
    files = Path(store_url).parent.glob(f"{Path(store_url).name}*")
    return any(word in file.read_bytes() for file in files)


def without_parameter(client, operation, name):
    """The client as of a botocore that does not know a parameter."""
    shape = client.meta.service_model.operation_model(operation).input_shape
    vars(shape)["required_members"] = [each for each in shape.required_members if each != name]
    del shape.members[name]
    return client


def until(condition, seconds=60):
    for _ in range(seconds * 50):
        if condition():
            return
        # A moment of real time, also where time is virtual.
        threading.Event().wait(0.02)
    raise AssertionError("it did not happen")
