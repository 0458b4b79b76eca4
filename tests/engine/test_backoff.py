"""The delay algorithm, against the published table and by its laws."""

import json
import math
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from case_tables import tabled
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus.engine.backoff import (
    attempt_ceiling,
    delay_range,
    draw,
    is_last,
    jittered_delay,
    last_delay,
)

CASES = json.loads((Path(__file__).parents[1] / "cases" / "backoff.json").read_text())
DRAWS = {"low": min, "high": max}


def next_delay(attempt, *, min_delay, max_delay, remaining, random, reserve=None):
    """Return a delay of the specification; `reserve` is min_delay if not given."""
    delay = jittered_delay(attempt, min_delay=min_delay, max_delay=max_delay, random=random)
    if is_last(delay, min_delay=min_delay, remaining=remaining):
        return last_delay(remaining, min_delay if reserve is None else reserve)
    return delay


def named(case):
    return case["name"]


@pytest.mark.parametrize(("column", "reserve"), [("spec", None), ("spec", 2), ("deadline", 0)])
def test_published_table_row_by_row(column, reserve):
    table = CASES["published_table"]
    elapsed = 0
    for row in table["rows"]:
        asked = []

        def drawn(low, high, row=row, asked=asked):
            asked.append((low, high))
            return row["draw"]

        assert row["remaining"] == table["max_wait"] - elapsed
        delay = next_delay(
            row["attempt"],
            min_delay=table["min_delay"],
            max_delay=table["max_delay"],
            remaining=row["remaining"],
            random=drawn,
            reserve=reserve,
        )
        assert asked == [(table["min_delay"], row["upper"])]
        assert delay == row[column]
        elapsed += delay


@pytest.mark.parametrize("case", CASES["delays"], ids=named)
def test_delay(case):
    given_members = {k: v for k, v in case.items() if k not in ("name", "attempt", "draw", "delay")}
    delay = next_delay(case["attempt"], random=DRAWS[case["draw"]], **given_members)
    assert delay == case["delay"]


@tabled("delay", "bounds")
def test_range_of_a_fixed_delay(delay, bounds):
    assert delay_range(delay) == bounds


def test_ceiling_is_the_specifications_formula():
    assert attempt_ceiling(2, 120) == pytest.approx(math.log(120 / 2) / math.log(2) + 1)
    assert attempt_ceiling(5, 5) == 1


def test_whole_numbers_are_drawn_with_both_ends():
    source = random.Random(7)
    seen = Counter(draw(source, 2, 5) for _ in range(10_000))
    assert set(seen) == {2, 3, 4, 5}
    assert all(abs(count - 2500) < 300 for count in seen.values())


@pytest.mark.parametrize(("low", "high"), [(2.0, 5), (2, 5.0), (2, 5.5)])
def test_one_fractional_end_makes_it_a_fractional_draw(low, high):
    source = random.Random(7)
    assert any(not float(draw(source, low, high)).is_integer() for _ in range(10))


def test_largest_float_delay_does_not_overflow():
    largest = sys.float_info.max
    delay = next_delay(1025, min_delay=1.0, max_delay=largest, remaining=math.inf, random=max)
    assert delay == largest


def test_longest_delays_grow_from_the_least():
    """Each delay is drawn between min_delay and twice the longest before it."""

    def drawn(end):
        delays = range(1, 9)
        return [
            jittered_delay(n, min_delay=2, max_delay=120, random=lambda *both: both[end])
            for n in delays
        ]

    assert drawn(0) == [2] * 8
    assert drawn(1) == [2, 4, 8, 16, 32, 64, 120, 120]


def test_two_waits_draw_other_delays():
    def drawn(seed):
        source = random.Random(seed)
        return [jittered_delay(n, min_delay=2, max_delay=120, random=source) for n in range(1, 9)]

    assert drawn(1) != drawn(2)


whole = st.integers(1, 10**9)
fractional = st.floats(1e-3, 1e9)
attempts = st.one_of(st.integers(1, 200), st.integers(1, 10**18))


@given(
    attempt=attempts,
    delays=st.tuples(whole, whole) | st.tuples(fractional, fractional),
    remaining=st.floats(-1e6, 1e12),
    reserve=st.none() | st.floats(0, 1e6),
    seed=st.integers(0, 2**32),
)
def test_delay_lies_within_its_bounds(attempt, delays, remaining, reserve, seed):
    low, high = sorted(delays)
    delay = next_delay(
        attempt,
        min_delay=low,
        max_delay=high,
        remaining=remaining,
        random=random.Random(seed),
        reserve=reserve,
    )
    assert delay >= 0
    kept_free = low if reserve is None else reserve
    assert low <= delay <= high or delay == max(0, remaining - kept_free)
    # Any but the last retry leaves room for another one.
    assert delay == max(0, remaining - kept_free) or remaining - delay > low
