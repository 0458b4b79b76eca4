"""`as_completed` yields each wait when it ends."""

import contextlib
import threading

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.many import Wait, as_completed


def test_each_wait_is_yielded_with_its_result(exists, s3, virtual_time):
    virtual_time.call_at(11, lambda: s3.create_bucket(Bucket="late"))
    waits = [
        exists(s3, "late", delay_pace=lambda _: 10),
        exists(s3, "never", max_wait=15),
        exists(s3, "first"),
    ]
    seen = [(wait, type(result), virtual_time.now) for wait, result in as_completed(waits)]
    assert seen == [
        (waits[2], bwp.ResponseOutcome, 0),
        (waits[1], bwp.WaiterTimeoutError, pytest.approx(14.75, abs=0.3)),
        (waits[0], bwp.ResponseOutcome, 20),
    ]


def test_no_waits_yield_nothing():
    assert list(as_completed([])) == []


def test_polling_goes_on_while_the_caller_is_busy(exists, s3):
    busy, polled = threading.Event(), threading.Event()

    def poll(params, **_):
        if "second" in params["url"]:
            assert busy.wait(30)
            polled.set()

    s3.meta.events.register("before-call.s3", poll)
    waits = [exists(s3, "first"), exists(s3, "second")]
    results = as_completed(waits)
    assert next(results)[0] is waits[0]
    # The next result has not been asked for.
    busy.set()
    assert polled.wait(30)
    assert [wait for wait, _ in results] == [waits[1]]


def test_leaving_the_loop_cancels_the_rest(exists, s3):
    endings = []
    bwp.install(on_event=lambda event: endings.append(event.kind))
    with contextlib.closing(as_completed([exists(s3, "never"), exists(s3, "first")])) as results:
        for _, result in results:
            assert isinstance(result, bwp.ResponseOutcome)
            break
    assert sorted(set(endings) - {"start", "attempt"}) == ["cancel", "success"]
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("boto_waiters_plus call")]
    assert not [name for name in names if name.startswith("boto_waiters_plus schedule")]


def test_bad_arguments_are_refused_at_the_call(s3):
    with pytest.raises(TypeError, match="must be a Wait"):
        as_completed([{}])
    with pytest.raises(TypeError, match="needs max_wait"):
        as_completed([Wait(s3, "bucket_exists", {"Bucket": "first"})])


def test_unused_iterator_makes_no_request(exists, s3):
    seen = []
    s3.meta.events.register("before-call.s3", lambda **_: seen.append(1))
    as_completed([exists(s3, "first")]).close()
    assert seen == []
