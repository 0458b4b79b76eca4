"""Waits on clocks that stand still, jump or go back, and on sleeps that do not sleep."""

import asyncio
import itertools
import threading
import time

import freezegun
import pytest

from boto_waiters_plus import WaiterCancelledError, WaiterTimeoutError
from boto_waiters_plus.conditions import poll, poll_async

NEVER = {"acceptors": [{"state": "success", "matcher": {"errorType": "Never"}}]}
ATTEMPTS = 41
"""Attempts of a fixed delay of 15 s in 600 s: at 0, 15, ... 585, and once near the end."""
YEARS = 1e8
"""Seconds, more than system calls take."""


def attempts_of_a_wait(on_call=lambda _number: None, **events):
    """Return the attempts of a wait of 600 s with a fixed delay of 15 s that times out."""
    numbers = itertools.count(1)

    def call():
        on_call(next(numbers))

    with pytest.raises(WaiterTimeoutError) as caught:
        poll(call, NEVER, max_wait=600, delay_pace=lambda _attempt: 15, **events)
    assert next(numbers) == caught.value.attempts + 1
    return caught.value.attempts


@pytest.mark.parametrize(("starts", "stops"), [(0, 99), (3, 99), (0, 3)])
def test_freezing_and_unfreezing_do_not_change_the_attempts(sleeps, starts, stops):
    freeze = freezegun.freeze_time("2024-01-01")

    def on_call(number):
        if number == starts:
            freeze.start()
        elif number == stops:
            freeze.stop()

    on_call(0)
    try:
        assert attempts_of_a_wait(on_call) == ATTEMPTS
    finally:
        if stops > ATTEMPTS:
            freeze.stop()


def test_clock_that_jumps_past_the_deadline_ends_the_wait(sleeps, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def on_call(number):
        if number == 3:
            now[0] += 10_000

    assert attempts_of_a_wait(on_call) == 3


def test_sleep_is_looked_up_when_it_is_called(monkeypatch):
    """A test may patch it while the wait runs."""
    asked = []

    def on_call(_number):
        monkeypatch.setattr(time, "sleep", asked.append)

    assert attempts_of_a_wait(on_call) == ATTEMPTS
    assert len(asked) == ATTEMPTS - 1


# --- long sleeps, and sleeps that take longer than asked ------------------------------------------


class SluggishTime:
    """A clock on which a sleep takes 2 ms longer than asked, as on a busy machine."""

    def __init__(self, monkeypatch):
        self.now, self.asked = 0.0, []
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)
        monkeypatch.setattr(asyncio, "sleep", self.sleep_async)

    def sleep(self, seconds):
        self.asked.append(seconds)
        self.now += seconds + 0.002

    async def sleep_async(self, seconds):
        self.sleep(seconds)

    def event(self, set_at=float("inf")):
        """An event that is set at this time."""
        event = threading.Event()
        event.is_set = lambda: self.now >= set_at
        event.wait = lambda timeout: self.sleep(timeout) or event.is_set()
        return event


@pytest.fixture
def sluggish(monkeypatch):
    return SluggishTime(monkeypatch)


@pytest.mark.parametrize(
    "names", [["cancel_event"], ["wake_signal"], ["cancel_event", "wake_signal"]]
)
def test_late_sleeps_do_not_add_up(sluggish, names):
    events = {name: sluggish.event() for name in names}
    assert attempts_of_a_wait(**events) == ATTEMPTS
    assert sluggish.now == pytest.approx(600, abs=0.3)
    sluggish.now, attempts = 0, []

    async def call():
        attempts.append(sluggish.now)

    pace = {"max_wait": 600, "delay_pace": lambda _attempt: 15}
    with pytest.raises(WaiterTimeoutError):
        asyncio.run(poll_async(call, NEVER, **pace, **events))
    assert attempts[-1] == pytest.approx(599.75, abs=0.1)


async def nothing():
    """Return nothing."""


@pytest.mark.parametrize("sleep", [
    lambda time, pace: poll(int, NEVER, **pace),
    lambda time, pace: poll(int, NEVER, cancel_event=time.event(), **pace),
    lambda time, pace: asyncio.run(poll_async(nothing, NEVER, **pace)),
], ids=["blocking", "on an event", "awaited"])  # fmt: skip
def test_sleep_of_years_is_made_in_pieces(sluggish, sleep):
    with pytest.raises(WaiterTimeoutError):
        sleep(sluggish, {"max_wait": YEARS, "delay_pace": lambda _attempt: YEARS})
    assert sum(sluggish.asked) == pytest.approx(YEARS, abs=1)
    # More milliseconds than that are too many for Windows.
    assert max(sluggish.asked) * 1000 < 2**32 < YEARS * 1000


def test_an_event_ends_a_sleep_of_years(sluggish):
    event = sluggish.event(set_at=YEARS / 3)
    with pytest.raises(WaiterCancelledError):
        poll(int, NEVER, max_wait=YEARS, delay_pace=lambda _attempt: YEARS, cancel_event=event)
    assert sluggish.now < YEARS / 2
