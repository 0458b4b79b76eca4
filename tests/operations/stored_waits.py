"""How the tests of stores start waits on a stream, drive them and wait for what happens."""

import signal
import time

import pytest

QUICK = {"min_delay": 0.01, "max_delay": 0.02}

NIGHTLY = pytest.mark.nightly(subject="stores")
POSTGRESQL = pytest.param("postgresql", marks=NIGHTLY)

ON_FILE = pytest.mark.parametrize("store_url", ["file"], indirect=True)
ON_SERVER = pytest.mark.parametrize("store_url", [POSTGRESQL], indirect=True)
SHARED = pytest.mark.parametrize("store_url", ["file", POSTGRESQL], indirect=True)

# Where nohup started the tests, the processes that they start ignore SIGHUP, and have to.
HAS_SIGHUP = hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
SIGHUP = pytest.param(
    "SIGHUP", marks=pytest.mark.skipif(not HAS_SIGHUP, reason="no SIGHUP comes through")
)
BY_SIGNALS = pytest.mark.parametrize("name", ["SIGTERM", SIGHUP])


def start(store, client, max_wait=60, **keywords):
    parameters = {"StreamName": "orders", **QUICK, **keywords}
    return store.start(client, "stream_exists", max_wait=max_wait, **parameters)


def work(store, client, **arguments):
    return store.work(until_idle=True, make_client=lambda _: client, **arguments)


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
