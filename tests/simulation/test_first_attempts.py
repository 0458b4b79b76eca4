"""The short form of `bench/first_attempts.py`."""

import pytest
from script_modules import script

WAITS = 3000


@pytest.fixture
def bench():
    with script("bench/first_attempts.py") as module:
        yield module


@pytest.mark.parametrize("per_second", [float("inf"), 500])
def test_attempts_of_many_waits_begin_when_planned(bench, per_second):
    found = bench.run(WAITS, 30, per_second)
    assert found.late <= bench.MOST_LATE
    assert found.last <= bench.LAST_PLANNED


def test_second_attempt_is_not_behind_all_first_ones(bench):
    # The first attempts alone take 1.9 seconds.
    assert bench.run(WAITS, 0.5).second_late < 0.1
