"""Frozen clocks and patched sleeps: a wait ends after its schedule's attempts, as in stock."""

import contextlib
import functools
import itertools
from unittest import mock

import boto3
import pytest
from botocore.exceptions import WaiterError
from freezegun import freeze_time

import boto_waiters_plus as bwp

NOON = "2024-01-01 12:00:00"
monotonic = functools.partial(mock.patch, "time.monotonic")


@pytest.fixture
def s3(answers, missing):
    bwp.install()
    client = boto3.client("s3")
    client.answers = answers(client, missing)
    return client


PATCHES = {
    "time.sleep": lambda: [mock.patch("time.sleep")],
    "botocore.waiter.time.sleep": lambda: [mock.patch("botocore.waiter.time.sleep")],
    "botocore.waiter.time": lambda: [mock.patch("botocore.waiter.time")],
    "frozen, time.sleep": lambda: [freeze_time(NOON), mock.patch("time.sleep")],
    "frozen, botocore.waiter.time": lambda: [freeze_time(NOON), mock.patch("botocore.waiter.time")],
    "frozen but ticking": lambda: [freeze_time(NOON, tick=True), mock.patch("time.sleep")],
    "monotonic mocked": lambda: [monotonic(return_value=1e9), mock.patch("time.sleep")],
    "monotonic going back": lambda: [
        monotonic(side_effect=itertools.count(10**6, -1)),
        mock.patch("time.sleep"),
    ],
}


@contextlib.contextmanager
def patched(how):
    """Within the test: pytest's own clock goes on."""
    with contextlib.ExitStack() as stack:
        for patch in PATCHES[how]():
            stack.enter_context(patch)
        yield


@pytest.mark.parametrize("is_stock", [False, True])
@pytest.mark.parametrize("how", PATCHES)
def test_chosen_schedule_makes_its_attempts(s3, how, is_stock):
    if is_stock:
        bwp.uninstall()
    with patched(how), pytest.raises(WaiterError):
        s3.get_waiter("bucket_exists").wait(Bucket="b", WaiterConfig={"MaxAttempts": 7})
    assert len(s3.answers.requests) == 7


@pytest.mark.parametrize("how", PATCHES)
@pytest.mark.parametrize(
    ("config", "error", "fewest", "most"),
    [({}, WaiterError, 20, 40), ({"MaxWait": 600, "Delay": 15}, bwp.WaiterTimeoutError, 40, 42)],
    ids=["untouched", "bounded by time"],
)
def test_wait_ends_after_its_schedules_attempts(s3, how, config, error, fewest, most):
    with patched(how), pytest.raises(error):
        s3.get_waiter("bucket_exists").wait(Bucket="b", WaiterConfig=config)
    assert fewest <= len(s3.answers.requests) <= most


@pytest.mark.parametrize("path", ["time.sleep", "botocore.waiter.time.sleep"])
def test_what_a_patched_sleep_raises_comes_out_raw(s3, path):
    with mock.patch(path, side_effect=[None, None, LookupError]), pytest.raises(LookupError):
        s3.get_waiter("bucket_exists").wait(Bucket="b")
    assert len(s3.answers.requests) == 3
