"""Frozen clocks and patched sleeps: a wait ends after its schedule's attempts, as in stock."""

from contextlib import ExitStack
from unittest import mock

import boto3
import pytest
from botocore.exceptions import WaiterError
from freezegun import freeze_time

import boto_waiters_plus as bwp

NOON = "2024-01-01 12:00:00"


@pytest.fixture
def s3(answers, missing):
    bwp.install()
    client = boto3.client("s3")
    client.answers = answers(client, missing)
    return client


def attempts(client):
    return len(client.answers.requests)


PATCHES = {
    "time.sleep": lambda: [mock.patch("time.sleep")],
    "botocore.waiter.time.sleep": lambda: [mock.patch("botocore.waiter.time.sleep")],
    "botocore.waiter.time": lambda: [mock.patch("botocore.waiter.time")],
    "frozen, time.sleep": lambda: [freeze_time(NOON), mock.patch("time.sleep")],
    "frozen, botocore.waiter.time": lambda: [freeze_time(NOON), mock.patch("botocore.waiter.time")],
    "frozen but ticking": lambda: [freeze_time(NOON, tick=True), mock.patch("time.sleep")],
    "monotonic mocked": lambda: [
        mock.patch("time.monotonic", return_value=1e9),
        mock.patch("time.sleep"),
    ],
    "monotonic going back": lambda: [
        mock.patch("time.monotonic", side_effect=iter(range(10**6, 0, -1))),
        mock.patch("time.sleep"),
    ],
}


@pytest.fixture(params=PATCHES)
def patched(request):
    with ExitStack() as stack:
        for patch in PATCHES[request.param]():
            stack.enter_context(patch)
        yield request.param


@pytest.mark.parametrize("is_stock", [False, True])
def test_chosen_schedule_makes_its_attempts(s3, patched, is_stock):
    if is_stock:
        bwp.uninstall()
    with pytest.raises(WaiterError, match="Max attempts exceeded"):
        s3.get_waiter("bucket_exists").wait(Bucket="b", WaiterConfig={"MaxAttempts": 7})
    assert attempts(s3) == 7


def test_untouched_waiter_ends(s3, patched):
    with pytest.raises(WaiterError, match="Max attempts exceeded"):
        s3.get_waiter("bucket_exists").wait(Bucket="b")
    assert 20 <= attempts(s3) <= 40


def test_wait_bounded_by_time_ends_after_its_schedules_attempts(s3, patched):
    with pytest.raises(bwp.WaiterTimeoutError):
        s3.get_waiter("bucket_exists").wait(Bucket="b", WaiterConfig={"MaxWait": 600, "Delay": 15})
    assert 40 <= attempts(s3) <= 42


@pytest.mark.parametrize("path", ["time.sleep", "botocore.waiter.time.sleep"])
def test_what_a_patched_sleep_raises_comes_out_raw(s3, path):
    class Enough(Exception):  # noqa: N818 - it is no error
        pass

    with mock.patch(path, side_effect=[None, None, Enough]), pytest.raises(Enough):
        s3.get_waiter("bucket_exists").wait(Bucket="b")
    assert attempts(s3) == 3
