"""A wait leaves nothing behind."""

import threading

import pytest


@pytest.fixture(autouse=True)
def _nobody_left():
    before = threading.enumerate()
    yield
    # The watchdog and the cancel listeners serve all waits, and end after a second of idling.
    shared = ("watchdog", "cancel listener")
    left = [thread for thread in threading.enumerate() if thread not in before]
    left = [x for x in left if x.name.startswith("boto_waiters_plus")]
    left = [thread for thread in left if not thread.name.endswith(shared)]
    for thread in left:
        # One whose call was abandoned ends with the call.
        thread.join(60)
    assert [thread.name for thread in left if thread.is_alive()] == []
