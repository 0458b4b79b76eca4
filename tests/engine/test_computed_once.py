"""Attributes that are computed at first use."""

import contextlib
import threading

from boto_waiters_plus.engine.computed_once import computed_once

SECONDS = 20


class Thing:
    def __init__(self, compute):
        self._compute = compute

    @computed_once
    def value(self):
        """The value."""
        return self._compute()


def test_the_value_is_computed_once():
    calls = []
    thing = Thing(lambda: calls.append(1) or object())
    assert thing.value is thing.value
    assert calls == [1]


def test_an_error_is_not_kept():
    results = [ZeroDivisionError, 5]

    def compute():
        result = results.pop(0)
        if result is ZeroDivisionError:
            raise result
        return result

    thing = Thing(compute)
    with contextlib.suppress(ZeroDivisionError):
        thing.value  # noqa: B018 - it raises
    assert thing.value == 5


def test_the_first_stored_value_wins():
    both = threading.Barrier(2)
    values, found = iter("ab"), []

    def compute():
        both.wait(SECONDS)
        return next(values)

    thing = Thing(compute)
    threads = [threading.Thread(target=lambda: found.append(thing.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [thing.value] * 2
