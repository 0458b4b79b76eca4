"""A wait leaves nothing behind."""

import threading

import pytest


@pytest.fixture(autouse=True)
def _nobody_left():
    before = threading.enumerate()
    yield
    # The watchdog and the cancel listeners serve all waits, and end after a second of idling.
    shared = ("watchdog", "cancel listener")
    left = [thread.name for thread in threading.enumerate() if thread not in before]
    assert [x for x in left if x.startswith("boto_waiters_plus") and not x.endswith(shared)] == []
