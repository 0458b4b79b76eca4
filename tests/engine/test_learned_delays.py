"""Delays from the times of earlier waits, one by one; `bench/paces.py` has what they lead to."""

import math
import random
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.delays import (
    EARLY_SHARE,
    FEWEST_ENDS,
    KnownTime,
    LearnedTimes,
    learned_delay,
)
from boto_waiters_plus.engine.machine import Begin, Facts, Machine, Policy, Raised

MIN_DELAY, MAX_DELAY = 4, 15
LONGEST = EARLY_SHARE * MAX_DELAY

times = st.builds(KnownTime, st.floats(0, 1e6), st.booleans())


def delay(known, elapsed, draw=lambda low, high: (low + high) / 2, longest=LONGEST):
    own = {"min_delay": MIN_DELAY, "max_delay": MAX_DELAY, "random": draw}
    return learned_delay(LearnedTimes(tuple(known), longest), elapsed, **own)


def ends(*seconds):
    return [KnownTime(each, is_end=True) for each in seconds]


@given(st.lists(times, max_size=64), st.floats(0, 1e6), st.integers())
def test_delays_keep_their_bounds(known, elapsed, seed):
    found = delay(known, elapsed, random.Random(seed))
    last = [each.seconds for each in known if each.is_end]
    if len(last) < FEWEST_ENDS or elapsed > max(*last, 0.001):
        assert found is None
    if found is not None:
        assert MIN_DELAY <= found <= LONGEST
        assert found <= delay(known, elapsed, max)
        assert LONGEST <= 3 * MAX_DELAY


HUGE = st.floats(0, math.inf, exclude_min=True, exclude_max=True)
EXTREME = st.sampled_from([5e-324, 1e-3, 300.0, 1e308, sys.float_info.max])


@given(st.lists(HUGE | EXTREME, min_size=FEWEST_ENDS, max_size=64), HUGE.filter(lambda x: x < 1e15))
@example([sys.float_info.max] * FEWEST_ENDS, 0.0)
@example([300.0] * 20_000 + [1e308], 0.0)
def test_no_time_is_too_long_or_short(seconds, elapsed):
    found = delay(ends(*seconds), elapsed)
    assert found is None or MIN_DELAY <= found <= LONGEST


def test_attempts_are_rare_before_the_usual_time():
    known = ends(*range(280, 320, 2))
    assert delay(known, 0) == LONGEST
    assert delay(known, 290) < MAX_DELAY
    assert delay(known, 0, longest=MAX_DELAY) == MAX_DELAY
    assert delay(known, 319) is None


def test_new_times_outweigh_others_and_timed_out_waits_are_open():
    known = ends(*[600 + 2 * n for n in range(10)], *[300 + 2 * n for n in range(54)])
    assert delay(known, 600) < delay(known, 340)
    assert delay(known[10:] + known[:10], 340) < delay(known, 340)
    known = ends(*range(100, 200, 10))
    timed_out = [KnownTime(400.0, is_end=False)] * 10
    assert delay([*timed_out, *known], 150) > delay(known, 150)


def cost(next_delay, ends_at):
    """Return the product of calls and extra wait, which a fixed delay leaves about as it is."""
    calls = extra = 0
    for end in ends_at:
        now = 0.0
        while now < end:
            now += next_delay(now)
            calls += 1
        extra += now - end
    return calls * extra


@pytest.mark.parametrize(
    "known",
    [range(280, 320, 2), range(200, 400, 10), [60 * 1.15**n for n in range(20)], range(40, 60)],
    ids=["alike", "near", "far apart", "short"],
)
def test_known_times_save_calls_or_extra_wait(known):
    ends_at = [each + 0.7 for each in known]
    learned = cost(lambda now: delay(ends(*known), now) or MAX_DELAY, ends_at)
    assert 0 < learned < 0.7 * cost(lambda _: MAX_DELAY, ends_at)


def test_a_throttle_is_followed_by_max_delay():
    bounds = {"min_delay": MIN_DELAY, "max_delay": MAX_DELAY, "max_wait": 900}
    learned = LearnedTimes(tuple(ends(*range(280, 320, 2))), LONGEST)
    policy = Policy.of(**bounds, learned=learned, retry_transient=True)
    machine = Machine((AcceptorState.SUCCESS,), policy)
    machine.step(Begin(), 0, max)
    throttled = Raised(Facts(acceptor=None, transient=True, throttled=True))
    assert machine.step(throttled, 0.1, max).seconds == MAX_DELAY
