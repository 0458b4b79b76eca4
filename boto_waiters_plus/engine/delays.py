"""The delays between attempts: the specification's, and those from the times of earlier waits.

With a known time, calls and extra wait together are least where the spacing of the attempts is in
proportion to one over the root of the hazard rate: the density of ends over the share of waits that
are still open. Both are estimated from the times, each spread over its neighbourhood by a normal
curve on the logarithmic scale. Waits that timed out count as open until then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from .model import DEFAULT_MAX_DELAY

# --- the delay algorithm of the specification (section "Waiter retries"), and its parameters


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


@lru_cache(maxsize=256)
def attempt_ceiling(min_delay: float, max_delay: float) -> float:
    """Return the number of attempts after which exponential growth would pass `max_delay`.

    Growth stops there, so that a large attempt number never overflows.
    """
    return (math.log(max_delay) - math.log(min_delay)) / math.log(2) + 1


def jittered_delay(attempt: int, *, min_delay: float, max_delay: float, random: Random) -> float:
    """Return the delay before retry number `attempt`, without regard to the time left.

    The result lies in [min_delay, max_delay].
    """
    if min_delay == max_delay:
        return min_delay
    whole = isinstance(min_delay, int) and isinstance(max_delay, int)
    least = min_delay if whole else float(min_delay)
    upper = max_delay
    if attempt <= attempt_ceiling(min_delay, max_delay):
        # The ceiling is a rounded logarithm: its last doubling may pass max_delay by a hair, and
        # the largest float with it.
        try:  # noqa: SIM105 - each poll draws a delay
            upper = min(least * 2 ** (attempt - 1), max_delay)
        except OverflowError:
            pass
    return draw(random, least, upper)


def is_last(delay: float, *, min_delay: float, remaining: float) -> bool:
    """Return whether no further retry fits after one that waits `delay`."""
    return remaining - delay <= min_delay


def last_delay(remaining: float, reserve: float) -> float:
    """Return the delay before the last retry: all that is left but `reserve`, never negative."""
    return max(0, remaining - reserve)


# --- learned: rare before the usual time, frequent around it -------------------------------------

FEWEST_ENDS: Final = 5
"""With fewer ends, nothing is known."""

EARLY_SHARE: Final = 1.75
"""Of max_delay: the longest delay. A resource that fails before its usual time is seen after 1.5
times the extra wait of a fixed max_delay then; with 3 it would be 2.1 times."""

FADING: Final = 0.93
"""The weight of a time, relative to that of the next newer one: the newest ten of any number
outweigh the rest."""

LEAST_WIDTH: Final = 0.08
"""Of the normal curve around each time, as a share of the time."""

LEAST_OPEN: Final = 0.02
"""The share of waits that counts as open beyond nearly all times."""

JITTER: Final = 0.1
"""The share by which a delay is shorter or longer at most."""

SHORTEST: Final = 1e-3
"""Seconds. Shorter times count as this."""

LONGEST: Final = 1e8
"""Seconds, three years: no wait takes longer."""

LEAST_WEIGHT: Final = 1e-9
"""Of a time, however many are newer."""

STEPS: Final = 8
"""Of the integral over the longest delay."""


class KnownTime(NamedTuple):
    """How long an earlier wait took."""

    seconds: float
    is_end: bool
    """False: it timed out, and the end was to come."""


def is_sound_time(value: Any) -> bool:
    """Return whether what is stored may be the time of a wait; else it is damaged."""
    return isinstance(value, (int, float)) and SHORTEST <= value <= LONGEST


class LearnedTimes(NamedTuple):
    """The times of earlier waits, the newest first, and the longest delay that they may lead to."""

    times: tuple[KnownTime, ...]
    longest_delay: float


def learned_delay(
    learned: LearnedTimes, elapsed: float, *, min_delay: float, max_delay: float, random: Random
) -> float | None:
    """Return the delay before the next attempt; None: the times say nothing about it.

    They say nothing if there are fewer than five ends, and after the last of them. The delay is
    never below min_delay and never above `learned.longest_delay`.

    Args:
        learned: the times.
        elapsed: seconds since the start, from which the times count too.
        min_delay, max_delay: those of the wait, in seconds.
        random: draws the jitter.
    """
    hazard = _hazard(learned.times)
    if hazard is None or elapsed >= hazard.last:
        return None
    longest, now, passed = learned.longest_delay, elapsed, 0.0
    step = longest / STEPS
    cell = int(elapsed / step)
    while now < elapsed + longest:
        rate = hazard.root((cell + 0.5) * step) / (hazard.level * max_delay)
        cell += 1
        part = rate * (cell * step - now)
        if passed + part >= 1:
            now += (1 - passed) / rate
            break
        passed += part
        now = cell * step
    seconds = (now - elapsed) * float(draw(random, 1 - JITTER, 1 + JITTER))
    return max(float(min_delay), min(seconds, longest))


class _Hazard:
    """The hazard rate by the times of earlier waits.

    Attributes:
        last: the last known end, in seconds.
        level: the spacing of attempts, as a share of max_delay, where the root of the rate is 1.
    """

    def __init__(self, times: tuple[KnownTime, ...]) -> None:
        self._times = [
            (max(FADING**index, LEAST_WEIGHT), math.log(max(seconds, SHORTEST)), is_end)
            for index, (seconds, is_end) in enumerate(times)
        ]
        self._roots: dict[float, float] = {}
        ends = [(weight, log) for weight, log, is_end in self._times if is_end]
        total = sum(weight for weight, _ in ends)
        mean = sum(weight * log for weight, log in ends) / total
        spread = math.sqrt(sum(weight * (log - mean) ** 2 for weight, log in ends) / total)
        count = total**2 / sum(weight**2 for weight, _ in ends)
        self._width = max(LEAST_WIDTH, spread * count**-0.2)
        self.last = math.exp(max(log for _, log in ends))
        # The less the times tell, the more of the gain goes into seeing the end early.
        share = max(0.5, 0.93 - 0.45 * spread)
        self.level = share * total / sum(w / self.root(math.exp(log)) for w, log in ends)

    def root(self, seconds: float) -> float:
        """Return the root of the hazard rate at a time."""
        if seconds not in self._roots:
            now, width = math.log(max(seconds, SHORTEST)), self._width
            density = still_open = total = 0.0
            for weight, log, is_end in self._times:
                distance = (now - log) / width
                total += weight
                still_open += weight * math.erfc(distance / math.sqrt(2)) / 2
                density += weight * math.exp(-(distance**2) / 2) * is_end
            # One by one: their product may be above the largest number.
            density = density / (width * math.sqrt(2 * math.pi)) / max(seconds, SHORTEST)
            self._roots[seconds] = math.sqrt(density / max(still_open, LEAST_OPEN * total))
        return self._roots[seconds]


# A thousand waits of one kind share their times.
@lru_cache(maxsize=128)
def _hazard(times: tuple[KnownTime, ...]) -> _Hazard | None:
    return _Hazard(times) if sum(each.is_end for each in times) >= FEWEST_ENDS else None
