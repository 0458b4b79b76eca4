"""The delay algorithm, against the published table and by its laws."""

import json
import random
from collections import Counter
from pathlib import Path
from unittest import mock

import pytest
from engine.delays import next_delay
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus.engine.delays import delay_range, draw

CASES = json.loads((Path(__file__).parents[1] / "cases" / "backoff.json").read_text())
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
    assert delay_range(delay) == (low, delay)


def test_whole_numbers_are_drawn_with_both_ends():
    source = random.Random(7)
    seen = Counter(draw(source, 2, 5) for _ in range(10_000))
    assert set(seen) == {2, 3, 4, 5}
    assert all(abs(count - 2500) < 300 for count in seen.values())
    for ends in ((2.0, 5), (2, 5.0), (2, 5.5)):
        assert any(not float(draw(source, *ends)).is_integer() for _ in range(10))


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
