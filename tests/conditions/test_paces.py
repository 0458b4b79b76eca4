"""The ready-made values of `delay_pace`."""

import math
import pickle
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus.conditions import exponential, fixed, linear

amounts = st.floats(0.001, 1000)
attempts = st.integers(1, 5000)
jitters = st.sampled_from(["none", "full", "equal"])


def first(pace, n=6):
    return [pace(attempt) for attempt in range(1, n + 1)]


@pytest.mark.parametrize(("pace", "seconds"), [
    (fixed(2), [2, 2, 2, 2, 2, 2]),
    (fixed(timedelta(minutes=1)), [60] * 6),
    (linear(2), [2, 4, 6, 8, 10, 12]),
    (linear(1, step=0.5), [1, 1.5, 2, 2.5, 3, 3.5]),
    (linear(1, step=0), [1] * 6),
    (linear(2, limit=5), [2, 4, 5, 5, 5, 5]),
    (exponential(1), [1, 2, 4, 8, 16, 32]),
    (exponential(1, factor=3, limit=20), [1, 3, 9, 20, 20, 20]),
    (exponential(1, factor=1), [1] * 6),
    (exponential(4, jitter="full", random=min), [0] * 6),
    (exponential(4, jitter="full", random=max), [4, 8, 16, 32, 64, 128]),
    (exponential(4, jitter="equal", random=min), [2, 4, 8, 16, 32, 64]),
    (exponential(4, jitter="equal", random=max), [4, 8, 16, 32, 64, 128]),
], ids=repr)  # fmt: skip
def test_a_pace_follows_its_formula(pace, seconds):
    assert first(pace) == seconds


@given(amounts, st.floats(1, 10), st.floats(1, 1000), jitters, attempts)
def test_a_delay_stays_between_jitter_and_limit(start, factor, more, jitter, n):
    limit, endless = start * more, exponential(start, factor=factor)
    whole = exponential(start, factor=factor, limit=limit)(n)
    least = {"none": 1, "full": 0, "equal": 0.5}[jitter]
    delay = exponential(start, factor=factor, limit=limit, jitter=jitter)(n)
    assert whole * least <= delay <= whole <= limit
    assert whole <= endless(n) <= endless(n + 1) < math.inf


@pytest.mark.parametrize("pace", [fixed(2), linear(1, limit=4), exponential(1, jitter="equal")])
def test_a_pace_can_be_pickled_and_compared(pace):
    copy = pickle.loads(pickle.dumps(pace))
    assert (copy, hash(copy)) == (pace, hash(pace))
    assert repr(pace).startswith(type(pace).__name__)


@pytest.mark.parametrize(("make", "start", "options"), [
    (fixed, 0, {}), (linear, -1, {}), (linear, 1, {"step": -1}), (linear, 5, {"limit": 4}),
    (exponential, 1, {"factor": 0.5}), (exponential, 1, {"factor": math.inf}),
    (exponential, 5, {"limit": 4}), (exponential, 1, {"jitter": "half"}),
])  # fmt: skip
def test_a_bad_pace_is_refused(make, start, options):
    with pytest.raises(ValueError):
        make(start, **options)
