"""A wait leaves nothing behind."""

import threading

import pytest


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
