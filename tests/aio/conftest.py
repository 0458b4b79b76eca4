"""Makes `aio` and `faults` importable, and sees that a wait leaves nothing behind."""

import sys
import threading
from pathlib import Path

import pytest

import boto_waiters_plus as bwp

FOLDER = str(Path(__file__).absolute().parents[1])
if FOLDER not in sys.path:
    sys.path.append(FOLDER)


@pytest.fixture(autouse=True)
def _stock():
    bwp.uninstall()
    yield
    bwp.uninstall()


@pytest.fixture(autouse=True)
def _nobody_left():
    yield
    # The watchdog and the cancel listeners serve all waits, and end after a second of idling.
    left = [
        thread.name
        for thread in threading.enumerate()
        if thread.name.startswith("boto_waiters_plus")
        and not thread.name.endswith(("watchdog", "cancel listener"))
    ]
    assert left == []
