"""The delay algorithm, against the published table and by its laws."""

import math
import random
import sys
from collections import Counter
from unittest import mock

import pytest
from case_tables import cases
from engine.delays import next_delay
from hypothesis import example, given
from hypothesis import strategies as st

from boto_waiters_plus.engine import delays
from boto_waiters_plus.engine import machine as m
from boto_waiters_plus.engine.acceptors import AcceptorState

CASES = cases("backoff")
DRAWS = {"low": min, "high": max}


@pytest.mark.parametrize(("column", "reserve"), [("spec", None), ("spec", 2), ("deadline", 0)])
def test_published_table_row_by_row(column, reserve):
    table, elapsed = CASES["published_table"], 0
    bounds = {name: table[name] for name in ("min_delay", "max_delay")}
    for row in table["rows"]:
        drawn = mock.Mock(return_value=row["draw"])
        left = {"remaining": table["max_wait"] - elapsed, "reserve": reserve}
        assert row["remaining"] == left["remaining"]
        delay = next_delay(row["attempt"], **bounds, **left, random=drawn)
        drawn.assert_called_once_with(table["min_delay"], row["upper"])
        assert delay == row[column]
        elapsed += delay


@pytest.mark.parametrize("case", CASES["delays"], ids=lambda case: case["name"])
def test_delay(case):
    members = {k: v for k, v in case.items() if k not in ("name", "attempt", "draw", "delay")}
    delay = next_delay(case["attempt"], random=DRAWS[case["draw"]], **members)
    assert delay == case["delay"]


@pytest.mark.parametrize(("delay", "low"), [(4, 1), (6, 2), (0, 0), (0.5, 0.5), (1.5, 1), (7.5, 2)])
def test_range_of_a_fixed_delay(delay, low):
    """Others are in `cases/conversion.json`."""
    assert delays.delay_range(delay) == (low, delay)


def test_whole_numbers_are_drawn_with_both_ends():
    source = random.Random(7)
    seen = Counter(delays.draw(source, 2, 5) for _ in range(10_000))
    assert set(seen) == {2, 3, 4, 5}
    assert all(abs(count - 2500) < 300 for count in seen.values())
    for ends in ((2.0, 5), (2, 5.0), (2, 5.5)):
        assert any(not float(delays.draw(source, *ends)).is_integer() for _ in range(10))


whole = st.integers(1, 10**9)
fractional = st.floats(1e-3, 1e9)


@given(
    attempt=st.one_of(st.integers(1, 200), st.integers(1, 10**18)),
    both=st.tuples(whole, whole) | st.tuples(fractional, fractional),
    remaining=st.floats(-1e6, 1e12),
    reserve=st.none() | st.floats(0, 1e6),
    seed=st.integers(0, 2**32),
)
def test_delay_lies_within_its_bounds(attempt, both, remaining, reserve, seed):
    low, high = sorted(both)
    bounds = {"min_delay": low, "max_delay": high, "random": random.Random(seed)}
    delay = next_delay(attempt, **bounds, remaining=remaining, reserve=reserve)
    last = max(0, remaining - (low if reserve is None else reserve))
    assert delay >= 0
    assert low <= delay <= high or delay == last
    # Any but the last retry leaves room for another one.
    assert delay == last or remaining - delay > low


# --- delays from the times of earlier waits; `bench/paces.py` has what they lead to ---------------

MIN_DELAY, MAX_DELAY = 4, 15
LONGEST = delays.EARLY_SHARE * MAX_DELAY

times = st.builds(delays.KnownTime, st.floats(0, 1e6), st.booleans())


def delay(known, elapsed, draw=lambda low, high: (low + high) / 2, longest=LONGEST):
    own = {"min_delay": MIN_DELAY, "max_delay": MAX_DELAY, "random": draw}
    return delays.learned_delay(delays.LearnedTimes(tuple(known), longest), elapsed, **own)


def ends(*seconds):
    return [delays.KnownTime(each, is_end=True) for each in seconds]


@given(st.lists(times, max_size=64), st.floats(0, 1e6), st.integers())
def test_delays_keep_their_bounds(known, elapsed, seed):
    found = delay(known, elapsed, random.Random(seed))
    last = [each.seconds for each in known if each.is_end]
    if len(last) < delays.FEWEST_ENDS or elapsed > max(*last, 0.001):
        assert found is None
    if found is not None:
        assert MIN_DELAY <= found <= LONGEST
        assert found <= delay(known, elapsed, max)
        assert LONGEST <= 3 * MAX_DELAY


HUGE = st.floats(0, math.inf, exclude_min=True, exclude_max=True)
EXTREME = st.sampled_from([5e-324, 1e-3, 300.0, 1e308, sys.float_info.max])


@given(
    st.lists(HUGE | EXTREME, min_size=delays.FEWEST_ENDS, max_size=64),
    HUGE.filter(lambda x: x < 1e15),
)
@example([sys.float_info.max] * delays.FEWEST_ENDS, 0.0)
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
    timed_out = [delays.KnownTime(400.0, is_end=False)] * 10
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
    learned = delays.LearnedTimes(tuple(ends(*range(280, 320, 2))), LONGEST)
    policy = m.Policy.of(**bounds, learned=learned, retry_transient=True)
    machine = m.Machine((AcceptorState.SUCCESS,), policy)
    machine.step(m.Begin(), 0, max)
    throttled = m.Raised(m.Facts(acceptor=None, transient=True, throttled=True))
    assert machine.step(throttled, 0.1, max).seconds == MAX_DELAY
