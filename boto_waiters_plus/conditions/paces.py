"""Ready-made paces: seconds until the next look by the number of looks so far.

Each is a function of the attempt number (from 1 on), for `delay_pace=` of any wait.
"""

from __future__ import annotations

import random
import sys
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta
from typing import Any, Final, Literal, get_args

from ..engine.backoff import Random, draw
from ..options import seconds, unknown

Jitter = Literal["none", "full", "equal"]

# Not `random.Random`: after a fork all children would draw the same jitter.
RANDOM: Final = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same pause each time."""

    seconds: float

    def __call__(self, attempt: int) -> float:  # noqa: ARG002 - every pace is asked by attempt
        return self.seconds


@dataclass(frozen=True, slots=True)
class Linear:
    """Each pause longer than the one before by the same step."""

    first: float
    _: KW_ONLY
    step: float
    limit: float

    def __call__(self, attempt: int) -> float:
        return min(self.first + self.step * (attempt - 1), self.limit)


@dataclass(frozen=True, slots=True)
class Exponential:
    """Each pause a multiple of the one before; of that, what the jitter leaves."""

    first: float
    _: KW_ONLY
    factor: float
    limit: float
    jitter: Jitter
    random: Random | None = field(repr=False, compare=False)

    def __call__(self, attempt: int) -> float:
        whole = self._whole(attempt)
        least = {"none": whole, "full": 0.0, "equal": whole / 2}[self.jitter]
        return draw(self.random or RANDOM, least, whole)

    def _whole(self, attempt: int) -> float:
        try:
            return min(self.first * self.factor ** (attempt - 1), self.limit)
        except OverflowError:
            return self.limit


def fixed(every: float | timedelta, /) -> Fixed:
    """The same pause each time.

    Args:
        every: seconds.

    Raises:
        TypeError, ValueError: not a number greater than 0.
    """
    return Fixed(_seconds("every", every))


def linear(
    first: float | timedelta,
    /,
    *,
    step: float | timedelta | None = None,
    limit: float | timedelta | None = None,
) -> Linear:
    """Pauses that grow by the same step: `first`, `first + step`, `first + 2 * step`, ...

    Args:
        first: seconds of the first pause.
        step: seconds by which each is longer than the one before; `first` if not given.
        limit: the largest pause in seconds; without it they grow as long as the wait lasts.

    Raises:
        TypeError, ValueError: not a number in range, or `first` is over `limit`.
    """
    start = _seconds("first", first)
    return Linear(
        start,
        step=start if step is None else float(seconds("step", step, zero=True)),
        limit=_limit(start, limit),
    )


def exponential(
    first: float | timedelta,
    /,
    *,
    factor: float = 2,
    limit: float | timedelta | None = None,
    jitter: Jitter = "none",
    random: Random | None = None,
) -> Exponential:
    """Pauses that are multiplied: `first`, `first * factor`, `first * factor ** 2`, ...

    Args:
        first: seconds of the first pause.
        factor: what each is multiplied by, at least 1.
        limit: the largest pause in seconds; without it they grow as long as the wait lasts.
        jitter: `"none"`; `"full"` draws each from 0 to its length; `"equal"` from half of it.
        random: a `random.Random`, or a function of two bounds.

    Raises:
        TypeError, ValueError: not a number in range, `first` is over `limit`, no such jitter.
    """
    start = _seconds("first", first)
    multiplier = _seconds("factor", factor)
    if multiplier < 1:
        raise ValueError(f"factor must be at least 1, not {factor}")
    kinds = get_args(Jitter)
    if jitter not in kinds:
        raise ValueError(unknown(jitter, kinds, "jitter"))
    return Exponential(
        start, factor=multiplier, limit=_limit(start, limit), jitter=jitter, random=random
    )


def _limit(first: float, limit: Any) -> float:
    if limit is None:
        return sys.float_info.max
    most = _seconds("limit", limit)
    if first > most:
        raise ValueError(f"first ({first}) is more than limit ({most})")
    return most


def _seconds(name: str, value: Any) -> float:
    return float(seconds(name, value))
