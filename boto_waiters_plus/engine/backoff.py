"""The delay algorithm of the specification (section "Waiter retries")."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Protocol


class RandomSource(Protocol):
    """The two draws that are needed; `random.Random` has both."""

    def randint(self, a: int, b: int, /) -> int:
        """A whole number in [a, b], both ends included."""
        ...

    def uniform(self, a: float, b: float, /) -> float:
        """A number in [a, b]."""
        ...


Random = RandomSource | Callable[[float, float], float]
"""A source of draws, or the specification's `random(low, high)`."""


def draw(random: Random, low: float, high: float) -> float:
    """Draw from [low, high]: whole numbers inclusively where both ends are whole numbers."""
    if callable(random):
        return random(low, high)
    if isinstance(low, int) and isinstance(high, int):
        return random.randint(low, high)
    return random.uniform(low, high)


def attempt_ceiling(min_delay: float, max_delay: float) -> float:
    """The number of attempts after which exponential growth would pass `max_delay`.

    Growth stops there, so that a large attempt number never overflows.
    """
    return (math.log(max_delay) - math.log(min_delay)) / math.log(2) + 1


def jittered_delay(attempt: int, *, min_delay: float, max_delay: float, random: Random) -> float:
    """The delay before retry number `attempt`, before the end of the wait is looked at.

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
    """Whether no further retry would fit behind one that waits `delay`."""
    return remaining - delay <= min_delay


def last_delay(remaining: float, reserve: float) -> float:
    """The delay before the one last retry: all that is left but `reserve`, never negative."""
    return max(0, remaining - reserve)


def next_delay(
    attempt: int,
    *,
    min_delay: float,
    max_delay: float,
    remaining: float,
    random: Random,
    reserve: float | None = None,
) -> float:
    """The seconds to wait before retry number `attempt`.

    Section "Waiter retries" of the specification, its last-retry rule generalised: what is left
    free behind the last retry is `reserve` (the specification's own is `min_delay`; its 2024
    revision says 0). A result is never negative.

    Args:
        attempt: the number of attempts made so far, from 1 on.
        min_delay: the least delay in seconds.
        max_delay: the largest delay in seconds.
        remaining: the seconds left of the wait.
        random: a `random.Random`, or a function of the two inclusive bounds.
        reserve: seconds kept free behind the last retry; `min_delay` if not given.

    Raises:
        ValueError: if the attempt is below 1, a delay is not positive, or min is over max.
    """
    if attempt < 1:
        raise ValueError(f"attempt must be at least 1, not {attempt}")
    if not min_delay > 0:
        raise ValueError(f"min_delay must be greater than zero, not {min_delay}")
    if not max_delay >= min_delay:
        raise ValueError(f"max_delay ({max_delay}) must not be less than min_delay ({min_delay})")
    delay = jittered_delay(attempt, min_delay=min_delay, max_delay=max_delay, random=random)
    if is_last(delay, min_delay=min_delay, remaining=remaining):
        return last_delay(remaining, min_delay if reserve is None else reserve)
    return delay
