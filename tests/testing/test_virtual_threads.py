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
from boto_waiters_plus.conditions import wait_for
from boto_waiters_plus.testing import sleepers
from boto_waiters_plus.testing import virtual_time as open_virtual_time

MANY_SECONDS = 30
"""Real seconds in which all of this ends on any machine."""


def run_in_threads(*calls):
    """Call functions in threads; return their results, or raise what the first one raised."""
    barrier = threading.Barrier(len(calls))

    def run(call):
        # All use virtual time before the first of them sleeps.
        time.sleep(0)
        barrier.wait(MANY_SECONDS)
        return call()

    with concurrent.futures.ThreadPoolExecutor(len(calls)) as threads:
        futures = [threads.submit(run, call) for call in calls]
        return [future.result(MANY_SECONDS) for future in futures]


# --- sleeps overlap ---


def test_thirty_waits_in_threads_overlap(virtual_time):
    things = {}
    virtual_time.call_at(50, lambda: things.update(up=True))

    def wait():
        wait_for(lambda: things, max_wait=300, interval=7)
        return virtual_time.now

    assert set(run_in_threads(*[wait] * 30)) == {56}


def test_threads_that_begin_one_by_one_do_not_time_out(virtual_time):
    things = {}
    virtual_time.call_at(50, lambda: things.update(up=True))

    def wait():
        wait_for(lambda: things, max_wait=300, interval=7)

    threads = [threading.Thread(target=wait) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(MANY_SECONDS)
    assert virtual_time.now <= 50 + 7


def test_thirty_waits_on_a_client_overlap(virtual_time):
    client = boto3.client("s3", region_name="us-east-1")
    ready = []
    virtual_time.call_at(50, lambda: ready.append(1))

    def answer(**_):
        status = 200 if ready else 404
        parsed = {"ResponseMetadata": {"HTTPStatusCode": status}}
        parsed |= {} if ready else {"Error": {"Code": "404"}}
        return type("Response", (), {"status_code": status}), parsed

    client.meta.events.register("before-call.s3.HeadBucket", answer)

    def wait():
        return bwp.wait_until(client, "bucket_exists", Bucket="b", max_wait=300).elapsed

    assert max(run_in_threads(*[wait] * 30)) <= 60


def test_sleeps_end_in_the_order_of_their_times(virtual_time):
    ended = []

    def sleep(*lengths):
        for length in lengths:
            time.sleep(length)
            ended.append(virtual_time.now)

    run_in_threads(lambda: sleep(3, 3), lambda: sleep(4, 4), lambda: sleep(5))
    assert ended == [3, 4, 5, 6, 8]


def test_the_opener_may_wait_for_threads_that_sleep(virtual_time):
    time.sleep(1)
    done = queue.Queue()
    thread = threading.Thread(target=lambda: (time.sleep(100), done.put(virtual_time.now)))
    thread.start()
    thread.join(MANY_SECONDS)
    assert done.get(timeout=MANY_SECONDS) == 101


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
        assert began.wait(MANY_SECONDS)
        threading.Timer(0.2, lambda: other.send(b"x")).start()
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
        assert held.wait(MANY_SECONDS)
        time.sleep(3600)

    run_in_threads(hold, sleep)
    assert (seen, virtual_time.now) == ([0], 3600)


def test_a_lock_held_by_a_sleeper_is_no_deadlock(virtual_time, monkeypatch):
    monkeypatch.setattr(sleepers, "STUCK_AFTER", 0.1)
    lock, has_lock = threading.Lock(), threading.Event()

    def sleep_with_lock():
        with lock:
            has_lock.set()
            time.sleep(1)

    def wait_for_lock():
        assert has_lock.wait(MANY_SECONDS)
        with lock:
            return virtual_time.now

    with pytest.warns(RuntimeWarning, match=r"test_virtual_threads, line \d+, for 0\.1 s"):
        assert run_in_threads(sleep_with_lock, wait_for_lock)[1] == 1


def test_tasks_and_threads_sleep_together(virtual_time):
    async def main():
        thread = asyncio.to_thread(time.sleep, 50)
        await asyncio.gather(asyncio.sleep(40), thread)
        return virtual_time.now

    assert 50 <= asyncio.run(main()) <= 90


# --- actions that fail ---


class ActionError(Exception):
    """Raised by a planned action."""


def fail():
    raise ActionError


@pytest.mark.parametrize("swallowed", [False, True])
def test_an_error_of_an_action_reaches_sleeping_tasks(swallowed):
    async def main():
        results = await asyncio.gather(*map(asyncio.sleep, (5, 9)), return_exceptions=True)
        return [type(result) for result in results]

    with open_virtual_time() as clock:
        clock.call_at(3, fail)
        if swallowed:
            assert asyncio.run(main()) == [ActionError, ActionError]
        else:
            with pytest.raises(ActionError):
                asyncio.run(asyncio.sleep(10))
        assert clock.now == 3


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


def test_an_error_of_an_action_ends_waits_of_tasks(virtual_time):
    client = boto3.client("s3", region_name="us-east-1")
    parsed = {"Error": {"Code": "404"}, "ResponseMetadata": {"HTTPStatusCode": 404}}
    response = type("Response", (), {"status_code": 404})
    client.meta.events.register("before-call.s3.HeadBucket", lambda **_: (response, parsed))
    virtual_time.call_at(30, fail)
    waits = [bwp.Wait(client, "bucket_exists", {"Bucket": "b"}, max_wait=300)]
    for run in (lambda: asyncio.run(bwp.wait_all_async(waits)), lambda: bwp.wait_all(waits)):
        virtual_time.call_at(virtual_time.now + 30, fail)
        with pytest.raises(ActionError):
            run()


# --- what virtual time cannot serve ---


def test_as_completed_with_a_timeout_is_refused(virtual_time):
    pending = [concurrent.futures.Future()]
    with pytest.raises(RuntimeError, match=r"as_completed with a timeout .* virtual time"):
        list(concurrent.futures.as_completed(pending, timeout=5))
    pending[0].set_result(1)
    assert list(concurrent.futures.as_completed(pending)) == pending


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_waits_of_multiprocessing_are_refused(virtual_time):
    refused = pytest.raises(RuntimeError, match=r"multiprocessing\..* virtual time")
    receiver, sender = multiprocessing.Pipe(duplex=False)
    with receiver, sender, refused:
        receiver.poll(5)
    waiting = multiprocessing.Queue()
    with refused:
        waiting.get(timeout=5)
    waiting.close()
