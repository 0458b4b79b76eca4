"""The delay algorithm of the specification (section "Waiter retries"), and its parameters."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from typing import Protocol

from .model import DEFAULT_MAX_DELAY


class RandomSource(Protocol):
    """The two methods of `random.Random` that the algorithm draws with."""

    def randint(self, a: int, b: int, /) -> int:
        """Return a whole number in [a, b], both ends included."""
        ...

    def uniform(self, a: float, b: float, /) -> float:
        """Return a number in [a, b]."""
        ...


Random = RandomSource | Callable[[float, float], float]
"""A source of draws, or the specification's `random(low, high)`."""


def draw(random: Random, low: float, high: float) -> float:
    """Return a draw from [low, high], a whole number if both ends are whole numbers."""
    if callable(random):
        return random(low, high)
    if isinstance(low, int) and isinstance(high, int):
        return random.randint(low, high)
    return random.uniform(low, high)


def delay_range(delay: float) -> tuple[float, float]:
    """Return the min_delay and max_delay that stand for a fixed delay of botocore's.

    A wait between them is not later than one with the fixed delay on average, at 1.2 to 1.7 times
    its calls (docs/delays.md). A delay below 1 second stays as it is.
    """
    return min(delay, max(1, math.ceil(delay / 4))), delay


def aws_delay_range(delay: float) -> tuple[float, float]:
    """Return the min_delay and max_delay that AWS's Smithy models have for the same waiter."""
    return delay, max(delay, DEFAULT_MAX_DELAY)


@functools.lru_cache(maxsize=256)
def attempt_ceiling(min_delay: float, max_delay: float) -> float:
    """Return the number of attempts after which exponential growth would pass `max_delay`.

    Growth stops there, so that a large attempt number never overflows.
    """
    return (math.log(max_delay) - math.log(min_delay)) / math.log(2) + 1


def jittered_delay(attempt: int, *, min_delay: float, max_delay: float, random: Random) -> float:
    """Return the delay before retry number `attempt`, without regard to the time left.

    The result lies in [min_delay, max_delay].
    """
    whole = isinstance(min_delay, int) and isinstance(max_delay, int)
    least = min_delay if whole else float(min_delay)
    upper = max_delay
    if attempt <= attempt_ceiling(min_delay, max_delay):
        # The ceiling is a rounded logarithm: its last doubling may pass max_delay by a hair, and
        # the largest float with it.
        with contextlib.suppress(OverflowError):
            upper = min(least * 2 ** (attempt - 1), max_delay)
    return draw(random, least, upper)


def is_last(delay: float, *, min_delay: float, remaining: float) -> bool:
    """Return whether no further retry fits after one that waits `delay`."""
    return remaining - delay <= min_delay


def last_delay(remaining: float, reserve: float) -> float:
    """Return the delay before the last retry: all that is left but `reserve`, never negative."""
    return max(0, remaining - reserve)
