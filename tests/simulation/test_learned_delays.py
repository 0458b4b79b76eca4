"""The short form of `bench/paces.py --history`: what learned delays promise."""

from script_modules import script

WAITS = 150
ERROR = 1.2 / WAITS**0.5
"""Twice the share by which a mean of so many waits misses the true one."""


def test_every_promise_is_kept():
    with script("bench/paces.py") as module:
        found = list(module.promises(WAITS))
    assert len(found) == 18
    assert [each for each in found if each[1] > each[2] * (1 + ERROR)] == []
