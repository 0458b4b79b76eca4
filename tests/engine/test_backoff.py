"""The delay algorithm, against the published table and by its laws."""

import json
import math
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from engine.delays import next_delay
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus.engine.delays import delay_range, draw, jittered_delay

CASES = json.loads((Path(__file__).parents[1] / "cases" / "backoff.json").read_text())
DRAWS = {"low": min, "high": max}


@pytest.mark.parametrize(("column", "reserve"), [("spec", None), ("spec", 2), ("deadline", 0)])
def test_published_table_row_by_row(column, reserve):
    table, elapsed = CASES["published_table"], 0
    bounds = {name: table[name] for name in ("min_delay", "max_delay")}
    for row in table["rows"]:
        asked = []

        def drawn(*both, row=row, asked=asked):
            asked.append(both)
            return row["draw"]

        remaining = table["max_wait"] - elapsed
        assert row["remaining"] == remaining
        delay = next_delay(
            row["attempt"], **bounds, remaining=remaining, random=drawn, reserve=reserve
        )
        assert asked == [(table["min_delay"], row["upper"])]
        assert delay == row[column]
        elapsed += delay


@pytest.mark.parametrize("case", CASES["delays"], ids=lambda case: case["name"])
def test_delay(case):
    members = {k: v for k, v in case.items() if k not in ("name", "attempt", "draw", "delay")}
    delay = next_delay(case["attempt"], random=DRAWS[case["draw"]], **members)
    assert delay == case["delay"]


@pytest.mark.parametrize(("delay", "bounds"), [
    (1, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (1, 4)), (5, (2, 5)), (6, (2, 6)), (10, (3, 10)),
    (15, (4, 15)), (20, (5, 20)), (30, (8, 30)), (300, (75, 300)), (0, (0, 0)), (0.5, (0.5, 0.5)),
    (1.5, (1, 1.5)), (7.5, (2, 7.5)),
])  # fmt: skip
def test_range_of_a_fixed_delay(delay, bounds):
    assert delay_range(delay) == bounds


def test_whole_numbers_are_drawn_with_both_ends():
    source = random.Random(7)
    seen = Counter(draw(source, 2, 5) for _ in range(10_000))
    assert set(seen) == {2, 3, 4, 5}
    assert all(abs(count - 2500) < 300 for count in seen.values())
    for ends in ((2.0, 5), (2, 5.0), (2, 5.5)):
        assert any(not float(draw(source, *ends)).is_integer() for _ in range(10))


def test_largest_float_delay_does_not_overflow():
    largest = sys.float_info.max
    delay = next_delay(1025, min_delay=1.0, max_delay=largest, remaining=math.inf, random=max)
    assert delay == largest


def test_longest_delays_double_and_each_wait_draws_its_own():
    def drawn(source):
        bounds = {"min_delay": 2, "max_delay": 120}
        return [jittered_delay(n, **bounds, random=source) for n in range(1, 9)]

    assert drawn(min) == [2] * 8
    assert drawn(max) == [2, 4, 8, 16, 32, 64, 120, 120]
    assert drawn(random.Random(1)) != drawn(random.Random(2))


whole = st.integers(1, 10**9)
fractional = st.floats(1e-3, 1e9)


@given(
    attempt=st.one_of(st.integers(1, 200), st.integers(1, 10**18)),
    delays=st.tuples(whole, whole) | st.tuples(fractional, fractional),
    remaining=st.floats(-1e6, 1e12),
    reserve=st.none() | st.floats(0, 1e6),
    seed=st.integers(0, 2**32),
)
def test_delay_lies_within_its_bounds(attempt, delays, remaining, reserve, seed):
    low, high = sorted(delays)
    bounds = {"min_delay": low, "max_delay": high, "random": random.Random(seed)}
    delay = next_delay(attempt, **bounds, remaining=remaining, reserve=reserve)
    last = max(0, remaining - (low if reserve is None else reserve))
    assert delay >= 0
    assert low <= delay <= high or delay == last
    # Any but the last retry leaves room for another one.
    assert delay == last or remaining - delay > low
