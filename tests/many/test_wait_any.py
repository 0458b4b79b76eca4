"""`wait_any`: the first success is returned, and the other waits are cancelled."""

import threading

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.many import Wait, wait_any


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


def test_hung_call_does_not_hold_up_the_result(exists, s3, dynamodb):
    begun, released = threading.Event(), threading.Event()

    def hang(**_):
        begun.set()
        assert released.wait(30)

    def wait_for_it(**_):
        assert begun.wait(30)

    dynamodb.meta.events.register("before-call.dynamodb", hang)
    s3.meta.events.register("before-call.s3", wait_for_it)
    waits = [
        Wait(dynamodb, "table_exists", {"TableName": "table"}, max_wait=25),
        exists(s3, "first"),
    ]
    wait, _ = wait_any(waits)
    assert wait is waits[1]
    assert not released.is_set()
    released.set()
    for thread in threading.enumerate():
        if thread.name.startswith("boto_waiters_plus call"):
            thread.join(30)
            assert not thread.is_alive()
