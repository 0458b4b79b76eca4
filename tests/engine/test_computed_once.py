"""Attributes that are computed at first use."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from boto_waiters_plus.engine.computed_once import computed_once


class Thing:
    def __init__(self, compute):
        self._compute = compute

    @computed_once
    def value(self):
        """The value."""
        return self._compute()


def test_the_value_is_computed_once_and_an_error_is_not_kept():
    results = [0, 1]
    thing = Thing(lambda: 5 // results.pop(0))
    with pytest.raises(ZeroDivisionError):
        thing.value  # noqa: B018 - it raises
    assert thing.value == thing.value == 5
    assert results == []


def test_the_first_stored_value_wins():
    both, values = threading.Barrier(2), iter("ab")
    thing = Thing(lambda: both.wait(60) is None or next(values))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: thing.value, range(2)))
    assert found == [thing.value] * 2
