"""The asyncio twins, with blocking clients called in threads."""

import asyncio
import threading

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.many import (
    Wait,
    as_completed_async,
    wait_all,
    wait_all_async,
    wait_any_async,
)


def exists(s3, bucket, max_wait=100, **options):
    return Wait(s3, "bucket_exists", {"Bucket": bucket}, max_wait=max_wait, **options)


def test_results_are_those_of_the_blocking_twin(s3, virtual_time):
    def waits():
        return [
            exists(s3, "first"),
            exists(s3, "never", max_wait=20, delay_pace=lambda _: 6),
            Wait(s3, "bucket_not_exists", {"Bucket": "never"}, max_wait=30),
        ]

    def facts(results):
        return [(type(r), r.attempts, round(r.elapsed, 6)) for r in results]

    blocking = wait_all(waits(), on_failure="collect")
    awaited = asyncio.run(wait_all_async(waits(), on_failure="collect"))
    assert facts(awaited) == facts(blocking)


def test_failures_are_raised_together(s3, virtual_time):
    waits = [exists(s3, "first"), exists(s3, "never", max_wait=20)]
    with pytest.raises(bwp.WaitersError) as raised:
        asyncio.run(wait_all_async(waits))
    assert list(raised.value.errors) == [1]
    assert raised.value.waiter == "wait_all_async"


def test_first_failure_cancels_the_rest(s3, virtual_time):
    waits = [exists(s3, "never"), exists(s3, "never", max_attempts=1)]
    with pytest.raises(bwp.WaitersError) as raised:
        asyncio.run(wait_all_async(waits, on_failure="cancel"))
    assert isinstance(raised.value.errors[0], bwp.WaiterCancelledError)
    assert virtual_time.now == 0


def test_wait_any_returns_the_first_success(s3, virtual_time):
    virtual_time.call_at(25, lambda: s3.create_bucket(Bucket="late"))
    waits = [exists(s3, "never"), exists(s3, "late", delay_pace=lambda _: 10)]
    wait, outcome = asyncio.run(wait_any_async(waits))
    assert wait is waits[1]
    assert outcome.elapsed == 30


def test_wait_any_of_no_waits_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        asyncio.run(wait_any_async([]))


def test_each_wait_is_yielded_when_it_ends(s3, virtual_time):
    virtual_time.call_at(15, lambda: s3.create_bucket(Bucket="late"))
    waits = [exists(s3, "late", delay_pace=lambda _: 10), exists(s3, "first")]

    async def run():
        return [(wait, virtual_time.now) async for wait, _ in as_completed_async(waits)]

    assert asyncio.run(run()) == [(waits[1], 0), (waits[0], 20)]


def test_blocking_calls_run_in_threads(s3):
    names = set()
    s3.meta.events.register(
        "before-call.s3", lambda **_: names.add(threading.current_thread().name)
    )

    async def run():
        await wait_all_async([exists(s3, "first"), exists(s3, "second")])

    asyncio.run(run())
    assert names
    assert threading.main_thread().name not in names
    for thread in threading.enumerate():
        if thread.name in names:
            thread.join(30)
            assert not thread.is_alive()


def test_batches_in_one_loop_run_side_by_side(s3, virtual_time):
    virtual_time.call_at(15, lambda: s3.create_bucket(Bucket="late"))

    async def one(bucket):
        await wait_all_async([exists(s3, bucket, delay_pace=lambda _: 10)])
        return virtual_time.now

    async def run():
        return await asyncio.gather(one("late"), one("first"))

    assert asyncio.run(run()) == [20, 0]


def test_asyncio_timeout_ends_the_batch(s3):
    async def run():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(wait_all_async([exists(s3, "never")]), 0.05)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


def test_bad_arguments_are_refused(s3):
    with pytest.raises(TypeError, match="must be a Wait"):
        asyncio.run(wait_all_async([{}]))
    with pytest.raises(TypeError, match="must be a Wait"):
        as_completed_async([{}])
    with pytest.raises(ValueError, match='on_failure must be "raise", "collect" or "cancel", not'):
        asyncio.run(wait_all_async([], on_failure="what"))
