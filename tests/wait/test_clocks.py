"""Waits on clocks that stand still, jump or go back, and on sleeps that do not sleep."""

import asyncio
import itertools
import threading
import time

import freezegun
import pytest

from boto_waiters_plus import WaiterTimeoutError
from boto_waiters_plus.calls.clock import LONGEST_SLEEP, SYSTEM_TIME, current_time, set_time
from boto_waiters_plus.conditions import poll, poll_async
from boto_waiters_plus.engine.machine import Cancelled, Woken
from boto_waiters_plus.wait.pauses import pause, pause_async

NEVER = {"acceptors": [{"state": "success", "matcher": {"errorType": "Never"}}]}
ATTEMPTS = 41
"""Attempts of a fixed delay of 15 s in 600 s: at 0, 15, ... 585, and once near the end."""


@pytest.fixture
def sleeps(monkeypatch):
    """The seconds that `time.sleep` got; it does not sleep."""
    asked = []
    monkeypatch.setattr(time, "sleep", asked.append)
    return asked


def attempts_of_a_wait(on_call=lambda _number: None):
    """Return the attempts of a wait of 600 s with a fixed delay of 15 s that times out."""
    numbers = itertools.count(1)

    def call():
        on_call(next(numbers))

    with pytest.raises(WaiterTimeoutError) as caught:
        poll(call, NEVER, max_wait=600, delay_pace=lambda _attempt: 15)
    assert next(numbers) == caught.value.attempts + 1
    return caught.value.attempts


def test_patched_sleep_does_not_change_the_attempts(sleeps):
    assert attempts_of_a_wait() == ATTEMPTS
    assert sleeps[:-1] == [15] * (ATTEMPTS - 2)
    assert sum(sleeps) == pytest.approx(600, abs=1)


def test_frozen_clock_does_not_change_the_attempts(sleeps):
    with freezegun.freeze_time("2024-01-01"):
        assert attempts_of_a_wait() == ATTEMPTS


def test_ticking_frozen_clock_does_not_change_the_attempts(monkeypatch):
    with freezegun.freeze_time("2024-01-01") as frozen:
        monkeypatch.setattr(time, "sleep", frozen.tick)
        assert attempts_of_a_wait() == ATTEMPTS


def test_freezing_during_the_wait_does_not_change_it(sleeps):
    freeze = freezegun.freeze_time("2024-01-01")

    def on_call(number):
        if number == 3:
            freeze.start()

    try:
        assert attempts_of_a_wait(on_call) == ATTEMPTS
    finally:
        freeze.stop()


def test_unfreezing_during_the_wait_does_not_change_it(sleeps):
    freeze = freezegun.freeze_time("2024-01-01")
    freeze.start()

    def on_call(number):
        if number == 3:
            freeze.stop()

    assert attempts_of_a_wait(on_call) == ATTEMPTS


def test_clock_going_back_does_not_change_the_attempts(sleeps, monkeypatch):
    readings = itertools.count(0, -3600)
    monkeypatch.setattr(time, "monotonic", lambda: next(readings))
    assert attempts_of_a_wait() == ATTEMPTS


def test_clock_that_jumps_past_the_deadline_ends_the_wait(sleeps, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def on_call(number):
        if number == 3:
            now[0] += 10_000

    assert attempts_of_a_wait(on_call) == 3


def test_wall_clock_does_not_matter(sleeps, monkeypatch):
    wall = itertools.cycle([0.0, 1e12, -5.0])
    monkeypatch.setattr(time, "time", lambda: next(wall))
    assert attempts_of_a_wait() == ATTEMPTS


def test_sleep_is_looked_up_when_it_is_called(monkeypatch):
    """A test may patch it while the wait runs."""
    asked = []

    def on_call(_number):
        monkeypatch.setattr(time, "sleep", asked.append)

    assert attempts_of_a_wait(on_call) == ATTEMPTS
    assert len(asked) == ATTEMPTS - 1


def test_sleep_of_the_caller_is_used(sleeps):
    given = []
    assert pause(5, sleep=given.append) == Woken()
    assert (given, sleeps) == ([5], [])


# --- long sleeps ---


def test_sleep_of_years_is_made_in_pieces(sleeps):
    pause(2.5 * LONGEST_SLEEP)
    assert sleeps == [LONGEST_SLEEP, LONGEST_SLEEP, 0.5 * LONGEST_SLEEP]


def test_sleep_of_years_in_a_task_is_made_in_pieces(monkeypatch):
    asked = []

    async def sleep(seconds):
        asked.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    asyncio.run(pause_async(2.5 * LONGEST_SLEEP))
    assert asked == [LONGEST_SLEEP, LONGEST_SLEEP, 0.5 * LONGEST_SLEEP]


class Event:
    """A cancel event that is set at the n-th wait."""

    def __init__(self, set_at):
        self.waits = []
        self._set_at = set_at

    def is_set(self):
        return len(self.waits) >= self._set_at

    def wait(self, timeout):
        self.waits.append(timeout)
        return self.is_set()


def test_pause_on_an_event_is_made_in_pieces():
    never, soon = Event(99), Event(2)
    assert pause(2.5 * LONGEST_SLEEP, cancel=never) == Woken()
    assert never.waits == [LONGEST_SLEEP, LONGEST_SLEEP, 0.5 * LONGEST_SLEEP]
    assert pause(2.5 * LONGEST_SLEEP, cancel=soon) == Cancelled()
    assert len(soon.waits) == 2


# --- sleeps that take longer than asked ---


class Sluggish:
    """Time in which every sleep takes two milliseconds longer than asked, as on a busy machine."""

    def __init__(self):
        self.now = 0.0

    def clock(self):
        return lambda: self.now

    def sleep(self, seconds, sleep=None):
        self.now += seconds + 0.002

    def sleep_on(self, seconds, event):
        if not event.is_set():
            self.sleep(seconds)
        return event.is_set()

    async def sleep_async(self, seconds):
        self.sleep(seconds)


@pytest.fixture
def sluggish():
    time_source = Sluggish()
    set_time(time_source)
    yield time_source
    set_time(SYSTEM_TIME)


SIGNALS = [
    {"cancel": threading.Event()},
    {"wake": threading.Event()},
    {"cancel": threading.Event(), "wake": threading.Event()},
]


@pytest.mark.parametrize("signals", SIGNALS, ids="+".join)
def test_late_sleeps_do_not_add_up(signals, sluggish):
    pause(120, **signals)
    assert sluggish.now == pytest.approx(120, abs=0.06)
    asyncio.run(pause_async(120, **signals))
    assert sluggish.now == pytest.approx(240, abs=0.12)


def test_late_sleeps_do_not_cost_the_last_attempt(sluggish):
    attempts = []

    async def call():
        attempts.append(sluggish.now)

    wait = poll_async(
        call,
        NEVER,
        max_wait=600,
        delay_pace=lambda _attempt: 15,
        cancel_event=threading.Event(),
        wake_signal=threading.Event(),
    )
    with pytest.raises(WaiterTimeoutError):
        asyncio.run(wait)
    assert attempts[-1] == pytest.approx(599.75, abs=0.1)


def test_system_time_is_in_force():
    assert current_time() is SYSTEM_TIME
    assert SYSTEM_TIME.clock() is time.monotonic
