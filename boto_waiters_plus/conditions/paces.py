"""Ready-made values of `delay_pace`: delays that stay the same, or grow.

Each is a function of the attempt number, from 1 on, for any wait.
"""

from __future__ import annotations

import sys
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta
from typing import Any, Literal, get_args

from ..common.arguments import seconds, seconds_or_zero, unknown
from ..common.wrong_arguments import WrongValueError, wrong_type
from ..engine.delays import Random, draw
from ..wait.wait_run import RANDOM

Jitter = Literal["none", "full", "equal"]


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same delay each time."""

    seconds: float

    def __call__(self, attempt: int) -> float:  # noqa: ARG002 - called as every pace is
        return self.seconds


@dataclass(frozen=True, slots=True)
class Linear:
    """Delays that grow by the same step."""

    first: float
    _: KW_ONLY
    step: float
    limit: float

    def __call__(self, attempt: int) -> float:
        return min(self.first + self.step * (attempt - 1), self.limit)


@dataclass(frozen=True, slots=True)
class Exponential:
    """Delays that grow by the same factor, with or without jitter."""

    first: float
    _: KW_ONLY
    factor: float
    limit: float
    jitter: Jitter
    random: Random | None = field(repr=False, compare=False)

    def __call__(self, attempt: int) -> float:
        try:
            whole = min(self.first * self.factor ** (attempt - 1), self.limit)
        except OverflowError:
            whole = self.limit
        least = {"none": whole, "full": 0.0, "equal": whole / 2}[self.jitter]
        return draw(self.random or RANDOM, least, whole)


def fixed(every: float | timedelta, /) -> Fixed:
    """Return a pace of the same delay each time.

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
    """Return a pace that grows by the same step: `first`, `first + step`, `first + 2 * step`, ...

    Args:
        first: seconds of the first delay.
        step: seconds by which each delay is longer than the one before; default: `first`.
        limit: seconds of the longest delay; default: no limit.

    Raises:
        TypeError, ValueError: a number is out of range, or `first` is more than `limit`.
    """
    start = _seconds("first", first)
    return Linear(
        start,
        step=start if step is None else float(seconds_or_zero("step", step)),
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
    """Return a pace that grows by a factor: `first`, `first * factor`, `first * factor ** 2`, ...

    Args:
        first: seconds of the first delay.
        factor: the ratio of each delay to the one before, at least 1.
        limit: seconds of the longest delay; default: no limit.
        jitter: `"none"`; `"full"` draws each delay from 0 to its length, `"equal"` from half of it.
        random: a `random.Random`, or a function of two bounds.

    Raises:
        TypeError, ValueError: a number is out of range, `first` is more than `limit`, or there is
            no such jitter.
    """
    start = _seconds("first", first)
    multiplier = _seconds("factor", factor)
    if multiplier < 1:
        raise WrongValueError.of("factor", factor, f" must be at least 1, not {factor}")
    kinds = get_args(Jitter)
    if jitter not in kinds:
        raise WrongValueError(unknown(jitter, kinds, "jitter"), argument="jitter", value=jitter)
    if not (random is None or callable(random) or hasattr(random, "uniform")):
        raise wrong_type("random", random, "a random.Random or a function of two bounds")
    return Exponential(
        start, factor=multiplier, limit=_limit(start, limit), jitter=jitter, random=random
    )


def _limit(first: float, limit: Any) -> float:
    if limit is None:
        return sys.float_info.max
    longest = _seconds("limit", limit)
    if first > longest:
        problem = f"first ({first}) is more than limit ({longest})"
        raise WrongValueError(problem, argument="limit", value=limit)
    return longest


def _seconds(name: str, value: Any) -> float:
    return float(seconds(name, value))
