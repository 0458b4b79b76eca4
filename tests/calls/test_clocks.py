"""Frozen clocks and patched sleeps: a wait ends after its schedule's attempts, as in stock."""

import contextlib
import functools
from itertools import count
from unittest import mock

import pytest
from botocore.exceptions import WaiterError
from freezegun import freeze_time

import boto_waiters_plus as bwp

NOON = "2024-01-01 12:00:00"
monotonic = functools.partial(mock.patch, "time.monotonic")


@pytest.fixture
def s3(s3, answers, missing):
    s3.answers = answers(s3, missing)
    return s3


PATCHES = {
    "time.sleep": lambda: [mock.patch("time.sleep")],
    "botocore.waiter.time.sleep": lambda: [mock.patch("botocore.waiter.time.sleep")],
    "botocore.waiter.time": lambda: [mock.patch("botocore.waiter.time")],
    "frozen, time.sleep": lambda: [freeze_time(NOON), mock.patch("time.sleep")],
    "frozen, botocore.waiter.time": lambda: [freeze_time(NOON), mock.patch("botocore.waiter.time")],
    "frozen but ticking": lambda: [freeze_time(NOON, tick=True), mock.patch("time.sleep")],
    "monotonic mocked": lambda: [monotonic(return_value=1e9), mock.patch("time.sleep")],
    "going back": lambda: [monotonic(side_effect=count(10**6, -1)), mock.patch("time.sleep")],
}


@contextlib.contextmanager
def patched(how):
    """Within the test: pytest's own clock goes on."""
    with contextlib.ExitStack() as stack:
        for patch in PATCHES[how]():
            stack.enter_context(patch)
        yield


@pytest.mark.parametrize("how", PATCHES)
@pytest.mark.parametrize(("config", "error", "fewest", "most"), [
    ({"MaxAttempts": 7}, WaiterError, 7, 7), ({}, WaiterError, 20, 40),
    ({"MaxWait": 600, "Delay": 15}, bwp.WaiterTimeoutError, 40, 42),
])  # fmt: skip
def test_wait_ends_after_its_schedules_attempts(s3, how, config, error, fewest, most):
    with patched(how), pytest.raises(error):
        s3.get_waiter("bucket_exists").wait(Bucket="b", WaiterConfig=config)
    assert fewest <= len(s3.answers.requests) <= most


@pytest.mark.parametrize("path", ["time.sleep", "botocore.waiter.time.sleep"])
def test_what_a_patched_sleep_raises_comes_out_raw(s3, path):
    with mock.patch(path, side_effect=[None, None, LookupError]), pytest.raises(LookupError):
        s3.get_waiter("bucket_exists").wait(Bucket="b")
    assert len(s3.answers.requests) == 3
