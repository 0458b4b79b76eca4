"""Virtual time in blocking code: nothing takes real time, everything happens in order."""

import asyncio
import contextlib
import threading
import time

import freezegun
import pytest

from boto_waiters_plus import WaiterCancelledError, WaiterTimeoutError
from boto_waiters_plus.conditions import wait_for
from boto_waiters_plus.testing import virtual_time as open_virtual_time


def real_names():
    return (
        time.monotonic,
        time.sleep,
        asyncio.sleep,
        asyncio.base_events.time,
        threading.Condition.wait,
    )


def test_everything_is_restored_after_an_error():
    before = real_names()
    with open_virtual_time() as clock:
        during = real_names()
        with pytest.raises(RuntimeError, match="nest"), open_virtual_time():
            pytest.fail("opened twice")
        assert (real_names(), clock.now) == (during, 0)
    assert all(one is not other for one, other in zip(before, during, strict=True))
    with pytest.raises(KeyboardInterrupt), open_virtual_time():
        raise KeyboardInterrupt
    assert real_names() == before
    with open_virtual_time():
        pass


def test_sleep_passes_time_at_once(virtual_time):
    assert time.monotonic() == 0
    time.sleep(5)
    time.sleep(0.5)
    assert (virtual_time.now, time.monotonic()) == (5.5, 5.5)


def test_time_does_not_go_back(virtual_time):
    with pytest.raises(ValueError):
        virtual_time.advance(-1)
    with pytest.raises(ValueError):
        time.sleep(-1)
    assert virtual_time.now == 0


def test_timers_of_event_loops_stay_real_after_freezegun():
    """It leaves a copy of the method that tells the time on the class of the loop."""
    with freezegun.freeze_time("2024-01-01", real_asyncio=True):
        pass
    with contextlib.closing(asyncio.new_event_loop()) as loop, open_virtual_time() as clock:
        before = loop.time()
        clock.advance(1_000_000)
        assert 0 <= loop.time() - before < 50_000


def test_wall_clock_stays_real(virtual_time):
    before = time.time()
    time.sleep(100_000)
    assert time.time() - before < 50_000


def test_a_wait_takes_virtual_time_only(virtual_time):
    with pytest.raises(WaiterTimeoutError) as caught:
        wait_for(dict, max_wait=86_400, interval=5)
    assert caught.value.elapsed == virtual_time.now == 86_399.75
    assert caught.value.attempts == 17_281


def test_planned_actions_happen_in_order(virtual_time):
    happened = []

    def note(word):
        return lambda: happened.append((word, virtual_time.now))

    def first():
        time.sleep(2)
        virtual_time.call_at(6, note("planned by an action"))

    virtual_time.call_at(7, note("later"))
    virtual_time.call_at(3, note("sooner"))
    virtual_time.call_at(3, first)
    virtual_time.call_at(50, note("not yet"))
    virtual_time.advance(10)
    virtual_time.call_at(3, note("in the past"))
    virtual_time.advance(0)
    words = ["sooner", "planned by an action", "later", "in the past"]
    assert happened == list(zip(words, [3, 6, 7, 10], strict=True))
    assert virtual_time.now == 10


def test_an_action_ends_a_delay_by_an_event(virtual_time):
    cancel = threading.Event()
    virtual_time.call_at(4, cancel.set)
    with pytest.raises(WaiterCancelledError):
        wait_for(dict, max_wait=60, interval=10, cancel_event=cancel)
    assert virtual_time.now == 4


def test_an_error_of_an_action_reaches_the_sleeper(virtual_time):
    virtual_time.call_at(3, [].pop)
    with pytest.raises(IndexError):
        time.sleep(10)


def test_timeouts_of_locks_and_events_stay_real(virtual_time):
    assert not threading.Event().wait(0.001)
    assert virtual_time.now == 0
