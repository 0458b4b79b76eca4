"""`wait_any`: the first success is returned, and the other waits are cancelled."""

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.many import wait_any


def test_first_success_comes_with_its_wait(exists, s3, virtual_time):
    virtual_time.call_at(11, lambda: s3.create_bucket(Bucket="sooner"))
    virtual_time.call_at(50, lambda: s3.create_bucket(Bucket="later"))
    waits = [
        exists(s3, "later", delay_pace=lambda _: 10),
        exists(s3, "sooner", delay_pace=lambda _: 10),
        exists(s3, "never", max_wait=15),
    ]
    wait, outcome = wait_any(waits)
    assert wait is waits[1]
    assert outcome.elapsed == 20
    assert virtual_time.now == 20


def test_failures_do_not_end_wait_any(exists, s3, virtual_time):
    virtual_time.call_at(60, lambda: s3.create_bucket(Bucket="later"))
    wait, _ = wait_any([exists(s3, "never", max_attempts=1), exists(s3, "later")])
    assert wait.parameters == {"Bucket": "later"}


def test_observers_see_that_the_rest_is_cancelled(exists, s3, virtual_time):
    endings = []
    bwp.install(on_event=lambda event: endings.append(event.kind))
    wait_any([exists(s3, "never"), exists(s3, "first"), exists(s3, "never")])
    assert sorted(set(endings) - {"start", "attempt"}) == ["cancel", "success"]


def test_no_success_raises_an_error_naming_all(exists, s3, virtual_time):
    with pytest.raises(bwp.WaitersError) as raised:
        wait_any([exists(s3, "never", max_wait=20), exists(s3, "never", max_attempts=1)])
    assert [type(error) for error in raised.value.errors.values()] == [
        bwp.WaiterTimeoutError,
        bwp.WaiterAttemptsError,
    ]
    assert raised.value.waiter == "wait_any"


def test_no_waits_are_refused():
    with pytest.raises(ValueError, match="wait_any needs at least one wait"):
        wait_any([])
