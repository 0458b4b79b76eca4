"""`deadline`: one budget for every wait inside."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import boto3
import pytest
from moto import mock_aws

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import ConditionWait, poll, wait_for

IS_READY = {"path": "@", "expected": "ready", "comparator": "stringEquals"}
IS_SET = threading.Event()
IS_SET.set()
NEVER = {"acceptors": [{"state": "success", "matcher": {"output": IS_READY}}]}


def seconds_left():
    """The time that a wait would have here; None: it would have to be given."""
    try:
        wait_for(dict, cancel_event=IS_SET)
    except bwp.WaiterCancelledError as error:
        return error.max_wait
    except TypeError:
        return None


@pytest.fixture
def s3():
    bwp.install()
    with mock_aws():
        yield boto3.client("s3")


MISSING = {"Bucket": "missing-bucket"}
CHOSEN = {"WaiterConfig": {"Delay": 7, "MaxAttempts": 90}}


def wait_of_a_resource(_):
    boto3.resource("s3").Bucket("missing-bucket").wait_until_exists()


def in_a_batch(*waits, **options):
    [error] = bwp.wait_all(waits, max_wait=300, on_failure="collect", **options)
    raise error


def of_a_batch(max_wait):
    return lambda s3: in_a_batch(bwp.Wait(s3, "BucketExists", MISSING, max_wait=max_wait))


def of_service(**options):
    return lambda s3: s3.wait_until_bucket_exists(**MISSING, **options)


def of_stock(**options):
    return lambda s3: s3.get_waiter("bucket_exists").wait(**MISSING, **options)


WAITS = {
    "attached": of_service(),
    "attached, longer max_wait": of_service(max_wait=999),
    "by name": lambda s3: bwp.wait_until(s3, "BucketExists", **MISSING),
    "get_waiter": of_stock(),
    "get_waiter, chosen": of_stock(**CHOSEN),
    "get_waiter, longer max_wait": of_stock(max_wait=99),
    "resource": wait_of_a_resource,
    "batch": of_a_batch(500),
    "batch of its own": of_a_batch(None),
    "awaited": lambda s3: asyncio.run(bwp.wait_until_async(s3, "BucketExists", **MISSING)),
    "condition": lambda _: wait_for(lambda: None, max_wait=99),
    "callable": lambda _: poll(lambda: "pending", NEVER),
    "condition of a batch": lambda _: in_a_batch(ConditionWait(lambda: 0)),
}
ONE_ATTEMPT = {
    "one attempt": lambda _: wait_for(lambda: time.sleep(99), max_wait=0),
    "one attempt of a batch": lambda _: in_a_batch(
        ConditionWait(lambda: time.sleep(99), max_wait=0)
    ),
}
SHORTER = {
    "attached": of_service(max_wait=9),
    "get_waiter": of_stock(max_wait=9),
    "batch": of_a_batch(9),
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_wait_without_time_left_makes_no_request(s3, virtual_time, wait):
    requests = []
    s3.meta.events.register("before-call.s3", lambda **_: requests.append(1))
    with bwp.deadline(10):
        virtual_time.advance(11)
        with pytest.raises(bwp.WaiterTimeoutError) as raised:
            wait(s3)
    assert (raised.value.attempts, requests) == (0, [])


@pytest.mark.parametrize("wait", (WAITS | ONE_ATTEMPT).values(), ids=WAITS | ONE_ATTEMPT)
def test_the_deadline_that_ended_a_wait_is_named(s3, virtual_time, wait):
    """Of several the one that passed, by what was written, and the time of this wait."""
    with bwp.deadline(999), bwp.deadline(45), bwp.deadline(timedelta(minutes=3)):
        virtual_time.advance(5.8)
        with pytest.raises(bwp.WaiterTimeoutError) as raised:
            wait(s3)
    assert wait in ONE_ATTEMPT.values() or 44 <= virtual_time.now <= 45
    assert "timed out at the end of deadline(45), 39.2 s into this wait" in str(raised.value)


@pytest.mark.parametrize("wait", SHORTER.values(), ids=SHORTER)
def test_a_max_wait_in_a_longer_deadline_is_named(s3, virtual_time, wait):
    with bwp.deadline(15), pytest.raises(bwp.WaiterTimeoutError) as raised:
        wait(s3)
    assert raised.value.max_wait == 9
    assert virtual_time.now <= 9
    assert "timed out after 9 s" in str(raised.value)
    assert "deadline(" not in str(raised.value)


def test_shorter_stock_schedule_ends_the_wait(s3, virtual_time):
    with bwp.deadline(1000), pytest.raises(bwp.WaiterError):
        of_stock(WaiterConfig={"Delay": 5, "MaxAttempts": 3})(s3)
    assert virtual_time.now == 10


def test_nearest_of_nested_deadlines_holds(virtual_time):
    with bwp.deadline(100):
        with bwp.deadline(10):
            assert seconds_left() == 10
            with bwp.deadline(50):
                assert seconds_left() == 10
        assert seconds_left() == 100
    assert seconds_left() is None


def test_deadline_goes_on_from_block_to_block(virtual_time):
    budget = bwp.deadline(30)
    assert budget.remaining == 30
    with budget:
        virtual_time.advance(12)
    virtual_time.advance(8)
    with budget:
        assert seconds_left() == 10
    virtual_time.advance(99)
    assert budget.remaining == 0


def test_tasks_inherit_the_deadline_and_threads_run_in_it(virtual_time):
    async def inside():
        return await asyncio.create_task(asyncio.to_thread(seconds_left))

    with bwp.deadline(30) as budget, ThreadPoolExecutor() as pool:
        assert asyncio.run(inside()) == 30
        assert pool.submit(seconds_left).result(60) is None
        assert pool.submit(budget.run, seconds_left).result(60) == 30


@pytest.mark.parametrize("name", ["timeout", "max_wait", "maxwait", "MaxWait"])
def test_other_keywords_are_answered(name):
    with pytest.raises(TypeError, match=name):
        bwp.deadline(**{name: 5})
