"""Virtual time in blocking code: nothing takes real time, everything happens in order."""

import asyncio
import contextlib
import threading
import time

import freezegun
import pytest

from boto_waiters_plus import WaiterTimeoutError
from boto_waiters_plus.calls.clock import current_time
from boto_waiters_plus.conditions import wait_for
from boto_waiters_plus.engine.machine import Cancelled, Woken
from boto_waiters_plus.testing import VirtualClock
from boto_waiters_plus.testing import virtual_time as open_virtual_time
from boto_waiters_plus.wait.pauses import pause


def real_names():
    return (time.monotonic, time.sleep, asyncio.sleep, asyncio.base_events.time, current_time())


def test_everything_is_restored_after_an_error():
    before = real_names()
    with open_virtual_time():
        during = real_names()
    assert all(one is not other for one, other in zip(before, during, strict=True))
    with pytest.raises(KeyboardInterrupt), open_virtual_time():
        raise KeyboardInterrupt
    assert real_names() == before
    assert not isinstance(current_time(), VirtualClock)
    with open_virtual_time():
        pass


def test_it_does_not_nest(virtual_time):
    during = real_names()
    with pytest.raises(RuntimeError, match="does not nest"), open_virtual_time():
        pytest.fail("opened twice")
    assert real_names() == during
    assert virtual_time.now == 0


def test_sleep_passes_time_at_once(virtual_time):
    assert time.monotonic() == 0
    time.sleep(5)
    time.sleep(0.5)
    assert (virtual_time.now, time.monotonic()) == (5.5, 5.5)


def test_time_does_not_go_back(virtual_time):
    with pytest.raises(ValueError, match="time does not go back"):
        virtual_time.advance(-1)
    with pytest.raises(ValueError, match="time does not go back"):
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

    virtual_time.call_at(7, note("later"))
    virtual_time.call_at(3, note("sooner"))
    virtual_time.call_at(3, note("sooner, planned second"))
    virtual_time.call_at(50, note("not yet"))
    virtual_time.advance(10)
    assert happened == [("sooner", 3), ("sooner, planned second", 3), ("later", 7)]
    assert virtual_time.now == 10


def test_an_action_in_the_past_happens_next(virtual_time):
    happened = []
    virtual_time.advance(10)
    virtual_time.call_at(3, lambda: happened.append(virtual_time.now))
    virtual_time.advance(0)
    assert (happened, virtual_time.now) == ([10], 10)


def test_an_action_may_plan_and_sleep(virtual_time):
    happened = []

    def first():
        time.sleep(2)
        virtual_time.call_at(6, lambda: happened.append(virtual_time.now))

    virtual_time.call_at(3, first)
    virtual_time.advance(10)
    assert (happened, virtual_time.now) == ([6], 10)


def test_an_error_of_an_action_reaches_the_sleeper(virtual_time):
    def fail():
        raise LookupError

    virtual_time.call_at(3, fail)
    with pytest.raises(LookupError):
        time.sleep(10)


def test_a_pause_ends_when_an_action_sets_its_event(virtual_time):
    cancel = threading.Event()
    virtual_time.call_at(4, cancel.set)
    assert pause(10, cancel=cancel) == Cancelled()
    assert virtual_time.now == 4
    assert pause(10, cancel=threading.Event()) == Woken()
    assert virtual_time.now == 14


def test_the_callers_sleep_is_called_and_time_passes(virtual_time):
    slept = []
    pause(5, sleep=slept.append)
    assert (slept, virtual_time.now) == ([5], 5)


def test_the_callers_virtual_sleep_counts_once(virtual_time):
    pause(5, sleep=time.sleep)
    assert virtual_time.now == 5
