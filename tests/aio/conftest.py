"""A wait leaves nothing behind."""

import threading

import pytest
from faults.support import own_threads


@pytest.fixture(autouse=True)
def _nobody_left():
    before = threading.enumerate()
    yield
    # The watchdog and the cancel listeners serve all waits, and end after a second of idling.
    left = set(own_threads("watchdog", "cancel listener")).difference(before)
    for thread in left:
        # One whose call was abandoned ends with the call.
        thread.join(60)
    assert [thread.name for thread in left if thread.is_alive()] == []


@pytest.fixture(params=["aiobotocore", "boto3 in threads"])
def kind(request):
    """The kind of client whose waits are awaited."""
    return request.param
