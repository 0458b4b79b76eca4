"""Attributes that are computed at first use."""

import pytest

from boto_waiters_plus.engine.computed_once import computed_once


class Thing:
    def __init__(self, *results):
        self.results = list(results)

    @computed_once
    def value(self):
        """The value."""
        return 5 // self.results.pop()


def test_the_value_is_computed_once_and_an_error_is_not_kept():
    thing = Thing(1, 2, 0)
    with pytest.raises(ZeroDivisionError):
        thing.value  # noqa: B018 - it raises
    assert (thing.value, thing.value, thing.results) == (2, 2, [1])
