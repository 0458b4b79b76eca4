"""Makes `aio` and `faults` importable, and sees that a wait leaves nothing behind."""

import sys
import threading
from pathlib import Path

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.aws import connections

FOLDER = str(Path(__file__).absolute().parents[1])
if FOLDER not in sys.path:
    sys.path.append(FOLDER)


@pytest.fixture(autouse=True)
def _stock():
    bwp.uninstall()
    yield
    bwp.uninstall()
    # The first bounded call put them there, installed or not.
    connections.unhook_connections()


@pytest.fixture(autouse=True)
def _nobody_left():
    yield
    # The watchdog serves all waits, and ends by itself when it has been idle for a second.
    left = [
        thread.name
        for thread in threading.enumerate()
        if thread.name.startswith("boto_waiters_plus") and "watchdog" not in thread.name
    ]
    assert left == []
