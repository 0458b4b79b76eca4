"""Virtual time in threads: their sleeps overlap, and whatever runs stops time."""

import asyncio
import concurrent.futures
import multiprocessing
import queue
import socket
import threading
import time

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import ConditionWait, wait_for
from boto_waiters_plus.operations import start
from boto_waiters_plus.testing import time as virtual_sleeps
from boto_waiters_plus.testing import virtual_time as open_virtual_time

SAFETY = 60
"""Real seconds in which all of this ends on any machine."""


def run_in_threads(*calls):
    """Call functions in threads; return their results, or raise what the first one raised."""
    barrier = threading.Barrier(len(calls))

    def run(call):
        # All use virtual time before the first of them sleeps.
        time.sleep(0)
        barrier.wait(SAFETY)
        return call()

    with concurrent.futures.ThreadPoolExecutor(len(calls)) as threads:
        futures = [threads.submit(run, call) for call in calls]
        return [future.result(SAFETY) for future in futures]


def be_busy(turns=300_000):
    """Compute for some real time."""
    return sum(range(turns))


@pytest.fixture
def bucket(virtual_time, answers, missing):
    """A client whose bucket exists from second 50 on."""
    client = boto3.client("s3", region_name="us-east-1")
    answers(client, lambda: {} if virtual_time.now >= 50 else missing)
    return client


# --- sleeps overlap ---


def test_thirty_waits_in_threads_overlap(virtual_time, bucket):
    def condition():
        wait_for(lambda: virtual_time.now >= 50, max_wait=300, interval=7)
        return virtual_time.now

    def wait():
        return bwp.wait_until(bucket, "bucket_exists", Bucket="b", max_wait=300).elapsed

    assert set(run_in_threads(*[condition] * 30)) == {56}
    assert max(run_in_threads(*[wait] * 30)) <= 60


def test_sleeps_end_in_the_order_of_their_times(virtual_time):
    ended = []

    def sleep(*lengths):
        for length in lengths:
            time.sleep(length)
            ended.append(virtual_time.now)

    run_in_threads(lambda: sleep(3, 3), lambda: sleep(4, 4), lambda: sleep(5))
    assert ended == [3, 4, 5, 6, 8]


def test_an_event_of_another_thread_ends_a_sleep(virtual_time):
    event = threading.Event()

    def set_event():
        time.sleep(10)
        event.set()

    def poll():
        with pytest.raises(bwp.WaiterCancelledError) as caught:
            wait_for(dict, max_wait=300, interval=60, cancel_event=event)
        return caught.value.elapsed

    assert run_in_threads(poll, set_event)[0] == pytest.approx(10, abs=0.1)


def test_tasks_and_threads_sleep_together(virtual_time):
    async def main():
        # The thread is known before the tasks sleep.
        await asyncio.to_thread(time.sleep, 0)
        thread = asyncio.to_thread(time.sleep, 50)
        await asyncio.gather(asyncio.sleep(40), thread)
        return virtual_time.now

    assert 50 <= asyncio.run(main()) <= 90


# --- threads that wait for others ---


def by_queue():
    items = queue.Queue()
    return items.put, items.get


def by_condition():
    """Of the threads that wait, the first is woken."""
    changed, items = threading.Condition(), []

    def give(item):
        with changed:
            items.append(item)
            changed.notify()

    def take():
        with changed:
            changed.wait_for(lambda: items)
            return items.pop()

    return give, take


def by_future():
    futures = [concurrent.futures.Future() for _ in range(20)]
    results = map(concurrent.futures.Future.result, futures)
    return lambda item: futures[item].set_result(item), results.__next__


def by_loop():
    """Taken in an event loop that has nothing else to do."""
    loop, items = asyncio.new_event_loop(), asyncio.Queue()

    def take():
        item = loop.run_until_complete(items.get())
        if item == 19:
            loop.close()
        return item

    return lambda item: loop.call_soon_threadsafe(items.put_nowait, item), take


@pytest.mark.parametrize("make", [by_queue, by_condition, by_future, by_loop])
def test_a_thread_that_was_woken_stops_time(virtual_time, make):
    """Also if the system lets it run late, and the thread that woke it sleeps already."""
    (give, take), rounds = make(), range(20)

    def give_all():
        for number in rounds:
            time.sleep(1)
            give(number)

    def take_all():
        return [(take(), virtual_time.now) for _ in rounds]

    assert run_in_threads(take_all, give_all)[0] == [(number, number + 1) for number in rounds]


def test_the_thread_of_a_job_stops_time_between_two_jobs():
    """Also in a pool that is older than virtual time."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, 0).result(SAFETY)
        with open_virtual_time() as clock:

            def job():
                began = clock.now
                be_busy()
                assert clock.now == began
                time.sleep(1)

            def work():
                with clock.hold():
                    # Time stands still until it knows the thread.
                    pool.submit(time.sleep, 0).result(SAFETY)
                for _ in range(20):
                    jobs = [pool.submit(job) for _ in range(2)]
                    concurrent.futures.wait(jobs, SAFETY)
                return clock.now

            assert run_in_threads(work, lambda: time.sleep(1000))[0] == 40
            assert clock.now == 1000


def test_a_thread_may_wait_for_the_end_of_another(virtual_time):
    time.sleep(1)
    thread = threading.Thread(target=time.sleep, args=[100])
    thread.start()
    thread.join(SAFETY)
    assert virtual_time.now == 101


def test_the_calls_of_a_batch_sleep_in_threads(virtual_time):
    def slow(seconds):
        time.sleep(seconds)
        return virtual_time.now

    waits = [ConditionWait(lambda n=n: slow(n), max_wait=60) for n in (2, 3)]
    outcomes, _ = run_in_threads(lambda: bwp.wait_all(waits), lambda: time.sleep(1000))
    assert [outcome.response for outcome in outcomes] == [2, 3]


def test_a_background_wait_sleeps_beside_a_thread(virtual_time, bucket):
    def wait():
        return start(bucket, "bucket_exists", Bucket="b", max_wait=300).result(SAFETY)

    outcome, _ = run_in_threads(wait, lambda: time.sleep(1000))
    assert 50 <= outcome.elapsed <= 60


# --- what stops time ---


def test_an_action_ends_before_the_sleeps_that_end_then(virtual_time):
    happened = []
    virtual_time.call_at(10, lambda: happened.append(be_busy(5_000_000)))

    def sleep():
        time.sleep(10)
        return len(happened)

    assert run_in_threads(*[sleep] * 4) == [1] * 4


def test_a_blocking_call_stops_time_for_other_threads(virtual_time):
    """The reply comes after real time, in which another thread sleeps."""
    one, other = socket.socketpair()
    began = threading.Event()

    def call():
        time.sleep(1)
        began.set()
        before = virtual_time.now
        one.recv(1)
        return virtual_time.now - before

    def sleep():
        assert began.wait(SAFETY)
        threading.Timer(0.1, lambda: other.send(b"x")).start()
        time.sleep(3600)

    with one, other:
        assert run_in_threads(call, sleep)[0] == 0


def test_a_held_thread_stops_time_for_others(virtual_time):
    held, seen = threading.Event(), []

    def hold():
        with virtual_time.hold():
            held.set()
            threading.Event().wait(0.1)
            seen.append(virtual_time.now)

    def sleep():
        assert held.wait(SAFETY)
        time.sleep(3600)

    run_in_threads(hold, sleep)
    assert (seen, virtual_time.now) == ([0], 3600)


def test_a_lock_held_by_a_sleeper_is_no_deadlock(virtual_time, monkeypatch):
    monkeypatch.setattr(virtual_sleeps, "STUCK_AFTER", 0.1)
    lock, has_lock = threading.Lock(), threading.Event()

    def sleep_with_lock():
        with lock:
            has_lock.set()
            time.sleep(1)

    def wait_for_lock():
        assert has_lock.wait(SAFETY)
        with lock:
            return virtual_time.now

    with pytest.warns(RuntimeWarning, match="virtual time"):
        assert run_in_threads(sleep_with_lock, wait_for_lock)[1] == 1


# --- actions that fail ---


class ActionError(Exception):
    """Raised by a planned action."""


def fail():
    raise ActionError


def test_an_error_of_an_action_reaches_all_tasks(virtual_time):
    async def main():
        results = await asyncio.gather(*map(asyncio.sleep, (5, 9)), return_exceptions=True)
        return [type(result) for result in results]

    virtual_time.call_at(3, fail)
    assert asyncio.run(main()) == [ActionError, ActionError]
    assert virtual_time.now == 3


def wait_in_batch(client):
    bwp.wait_all([bwp.Wait(client, "bucket_exists", {"Bucket": "b"})], max_wait=99)


def wait_in_task(client):
    asyncio.run(bwp.wait_until_async(client, "bucket_exists", Bucket="b", max_wait=99))


@pytest.mark.parametrize("wait", [wait_in_batch, wait_in_task])
def test_an_error_of_an_action_ends_waits(virtual_time, bucket, wait):
    virtual_time.call_at(30, fail)
    with pytest.raises(ActionError):
        wait(bucket)


def test_an_error_of_an_action_leaves_the_block():
    seen = []

    def sleep():
        with pytest.raises(ActionError):
            time.sleep(10)
        seen.append(1)

    def run():
        with open_virtual_time() as clock:
            clock.call_at(3, fail)
            run_in_threads(sleep, sleep)

    with pytest.raises(ActionError):
        run()
    assert seen == [1, 1]


# --- what virtual time cannot serve ---


def test_waits_that_would_not_end_are_refused(virtual_time):
    refused = pytest.raises(RuntimeError, match="virtual time")
    pending = [concurrent.futures.Future()]
    with refused:
        list(concurrent.futures.as_completed(pending, timeout=5))
    pending[0].set_result(1)
    assert list(concurrent.futures.as_completed(pending)) == pending
    receiver, sender = multiprocessing.Pipe(duplex=False)
    with receiver, sender, refused:
        receiver.poll(5)


def test_a_thread_that_goes_on_after_the_block_has_the_time_to_itself():
    asleep = threading.Event()

    def sleep():
        asleep.set()
        time.sleep(30)

    with open_virtual_time():
        time.sleep(0)
        thread = threading.Thread(target=sleep)
        thread.start()
        assert asleep.wait(60)
    thread.join(50)
    assert not thread.is_alive()
