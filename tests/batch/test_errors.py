"""`WaitersError`: its message, its attributes, pickling and copying."""

import copy
import pickle
import sys
import threading

import botocore.exceptions
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import WaitersError
from boto_waiters_plus.batch.failures import MOST_DESCRIBED
from boto_waiters_plus.many import Wait, wait_all


@pytest.fixture
def error(s3, virtual_time):
    waits = [
        Wait(s3, "bucket_exists", {"Bucket": "never"}, max_wait=20),
        Wait(s3, "bucket_exists", {"Bucket": "first"}, max_wait=20),
        Wait(s3, "bucket_not_exists", {"Bucket": "first"}, max_wait=30, max_attempts=2),
    ]
    with pytest.raises(WaitersError) as raised:
        wait_all(waits, max_wait=25)
    return raised.value


def test_waiters_error_is_botocores_waiter_error(error):
    assert isinstance(error, bwp.WaiterError)
    assert isinstance(error, botocore.exceptions.WaiterError)
    assert error.kwargs["name"] == error.waiter == "wait_all"
    assert error.last_response == {}


def test_waiters_error_has_the_facts_of_all(error):
    assert error.max_wait == 25
    assert error.attempts == sum(e.attempts for e in error.errors.values()) + 1
    assert error.elapsed == max(e.elapsed for e in error.errors.values())


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no exception groups")
def test_cause_is_a_group_of_the_errors(error):
    assert isinstance(error.__cause__, ExceptionGroup)  # noqa: F821 - see the line above
    assert error.__cause__.exceptions == tuple(error.errors.values())
    assert [type(e) for e in error.__cause__.exceptions] == [
        bwp.WaiterTimeoutError,
        bwp.WaiterAttemptsError,
    ]


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="there are exception groups")
def test_cause_is_the_first_error(error):
    assert error.__cause__ is error.errors[0]


@pytest.mark.parametrize("twin", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_waiters_error_can_be_copied_and_pickled(error, twin):
    other = twin(error)
    assert type(other) is WaitersError
    assert str(other) == str(error)
    assert {i: (type(e), str(e)) for i, e in other.errors.items()} == {
        i: (type(e), str(e)) for i, e in error.errors.items()
    }
    assert [type(outcome) for outcome in other.outcomes] == [
        type(None),
        bwp.ResponseOutcome,
        type(None),
    ]


def test_waiters_error_pickles_with_unpicklable_errors():
    class UnpicklableError(Exception):
        def __init__(self):
            super().__init__("holds a lock")
            self.lock = threading.Lock()

    error = WaitersError("wait_all", "why", errors={3: UnpicklableError()}, outcomes=[None] * 4)
    other = pickle.loads(pickle.dumps(error))
    assert str(other) == str(error)
    assert list(other.errors) == [3]
    assert isinstance(other.errors[3], Exception)
    assert "UnpicklableError" in str(other.errors[3])


def test_message_describes_a_few_failures_and_names_others(s3, virtual_time):
    waits = [
        Wait(s3, "bucket_exists", {"Bucket": "never"}, max_wait=20, max_attempts=1)
        for _ in range(MOST_DESCRIBED + 5)
    ]
    waits += [
        Wait(s3, "bucket_exists", {"Bucket": "first"}, max_wait=20),
        Wait(s3, "bucket_not_exists", {"Bucket": "first"}, max_wait=20, max_attempts=1),
        Wait(s3, "bucket_exists", {"Bucket": "never"}, max_wait=20, max_attempts=1),
    ]
    with pytest.raises(WaitersError) as raised:
        wait_all(waits)
    text = str(raised.value)
    assert f"[{MOST_DESCRIBED - 1}]" in text
    assert f"[{MOST_DESCRIBED}]" not in text
    n = MOST_DESCRIBED
    assert text.endswith(
        f"\n  [{n}-{n + 4}, {n + 7}] BucketExists: WaiterAttemptsError"
        f"\n  [{n + 6}] BucketNotExists: WaiterAttemptsError"
    )
    assert len(raised.value.errors) == MOST_DESCRIBED + 7


def test_message_stays_readable(s3, virtual_time):
    waits = [
        Wait(
            s3,
            "bucket_exists",
            {"Bucket": "never" if index % 2 else "first"},
            max_wait=20,
            max_attempts=1,
        )
        for index in range(1000)
    ]
    with pytest.raises(WaitersError) as raised:
        wait_all(waits)
    text = str(raised.value)
    assert "500 of 1000 waits did not succeed" in text
    assert f"{500 - MOST_DESCRIBED} more, see errors" in text
    assert len(text) < 10_000
