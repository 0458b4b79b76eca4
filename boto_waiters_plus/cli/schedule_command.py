"""`boto-wait schedule`: when a waiter polls, beside botocore's own waiter."""

from __future__ import annotations

import argparse
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from botocore import xform_name
from botocore.exceptions import BotoCoreError
from botocore.session import Session

from ..engine.delays import EARLY_SHARE, FEWEST_ENDS, KnownTime, LearnedTimes
from ..engine.model import WaiterDefinition
from .exit_codes import UsageError
from .history_command import FILE_HELP, kept
from .options import duration
from .output import delays_text, span
from .service_lookup import add_waiter_arguments, definition_named
from .show import attempt_times

SAMPLES = 200
"""Schedules that an average is taken over."""

DRAWN = 1
"""The seed of the schedule that is drawn: the same picture each time."""

NAME_WIDTH = 12
"""Characters in front of a line of the drawing."""


@dataclass(frozen=True)
class DrawnSchedule:
    """When a waiter polls within `max_wait`, if every call is answered at once.

    Attributes:
        name: what the drawing calls it.
        times: of each attempt, in seconds.
        facts: the numbers, in words.
    """

    name: str
    times: Sequence[float]
    facts: str


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "schedule",
        description="Draw when a waiter would poll, beside botocore's waiter of that name. The "
        "delays have jitter: the drawing is one example, the numbers are averages.",
    )
    add_waiter_arguments(parser)
    parser.add_argument("--max-wait", type=duration, required=True, metavar="TIME")
    parser.add_argument("--min-delay", type=duration, metavar="TIME")
    parser.add_argument("--max-delay", type=duration, metavar="TIME")
    parser.add_argument("--history", action="store_true", help="draw learned delays, too")
    parser.add_argument("--file", type=Path, metavar="FILE", help=FILE_HELP)


def run(arguments: argparse.Namespace) -> int:
    """Draw the schedules; return the exit code."""
    service, definition = definition_named(arguments)
    low = definition.min_delay if arguments.min_delay is None else arguments.min_delay
    high = max(low, definition.max_delay) if arguments.max_delay is None else arguments.max_delay
    if not 0 < low <= high or arguments.max_wait <= 0:
        raise UsageError(
            "--max-wait and --min-delay must be above 0, and --max-delay at least --min-delay"
        )
    definition = replace(definition, min_delay=low, max_delay=high)
    schedules = drawn_schedules(service, definition, arguments.max_wait)
    if arguments.history:
        schedules += _learned(service, definition, arguments)
    title = f"{service} {xform_name(definition.name, '-')}, {span(arguments.max_wait)}"
    width = min(shutil.get_terminal_size().columns, 120) - NAME_WIDTH
    print("\n".join([title, *_drawing(schedules, arguments.max_wait, max(20, width))]))
    return 0


def drawn_schedules(
    service: str, definition: WaiterDefinition, max_wait: float
) -> list[DrawnSchedule]:
    """Return the schedules of botocore's waiter of this name, if any, and of the definition."""
    return [*_stock(service, definition.name, max_wait), _ours(definition, max_wait)]


def seconds_late(times: Sequence[float], end: float) -> float | None:
    """Return how late, on average, a change at a random time before the last attempt is seen.

    None: there is a single attempt.
    """
    gaps = [second - first for first, second in pairwise(time for time in times if time <= end)]
    return sum(gap * gap for gap in gaps) / 2 / sum(gaps) if gaps else None


def _learned(
    service: str, definition: WaiterDefinition, arguments: argparse.Namespace
) -> Iterator[DrawnSchedule]:
    """Yield the schedule of each key of the history that has enough times."""
    _, found = kept(arguments.file, service, definition.name)
    share = EARLY_SHARE if arguments.max_delay is None else 1
    for key, entries in found.items():
        times = tuple(KnownTime(seconds, end != "timeout") for seconds, end in entries)
        learned = LearnedTimes(times, share * definition.max_delay)
        if sum(each.is_end for each in learned.times) >= FEWEST_ENDS:
            name = ", ".join(filter(None, (key.region, key.kind)))
            yield _ours(definition, arguments.max_wait, learned, f"{name}: ")


def _ours(
    definition: WaiterDefinition,
    max_wait: float,
    learned: LearnedTimes | None = None,
    key: str = "",
) -> DrawnSchedule:
    samples = [
        attempt_times(definition, max_wait, random.Random(seed).uniform, learned)  # noqa: S311 - a drawing
        for seed in range(SAMPLES)
    ]
    facts = f"{key}{sum(map(len, samples)) / SAMPLES:.0f} attempts"
    if learned is not None:
        facts += f", delays by {len(learned.times)} earlier waits"
        return DrawnSchedule("history", samples[DRAWN], facts)
    late = sum(seconds_late(times, max_wait) or 0 for times in samples) / SAMPLES
    facts += f", delays of {delays_text(definition)}, a change is seen {late:.1f} s late"
    return DrawnSchedule("wait_until", samples[DRAWN], facts)


def _stock(service: str, name: str, max_wait: float) -> Iterator[DrawnSchedule]:
    """Yield the schedule of botocore's waiter, if it has one of this name."""
    try:
        config = Session().get_waiter_model(service).get_waiter(name)
    except (BotoCoreError, ValueError):
        return
    times = [float(config.delay * number) for number in range(config.max_attempts)]
    seen = [time for time in times if time <= max_wait]
    late = seconds_late(times, max_wait)
    facts = f"{len(seen)} attempts, delay of {config.delay} s"
    facts += "" if late is None else f", a change is seen {late:.1f} s late"
    goes_on = len(seen) < len(times)
    facts += f", goes on until {span(times[-1])}" if goes_on else f", ends at {span(times[-1])}"
    yield DrawnSchedule("botocore", seen, facts)


def _drawing(schedules: Sequence[DrawnSchedule], max_wait: float, width: int) -> Iterator[str]:
    for schedule in schedules:
        counts = [0] * width
        for time in schedule.times:
            counts[min(width - 1, int(time / max_wait * width))] += 1
        line = "".join("·" if not n else "|" if n == 1 else str(min(n, 9)) for n in counts)
        yield f"{schedule.name:{NAME_WIDTH}}{line}"
        yield " " * NAME_WIDTH + schedule.facts
    end = span(max_wait)
    yield " " * NAME_WIDTH + "0 s" + end.rjust(width - 3)
    yield " " * NAME_WIDTH + "| an attempt, 2 to 9 several"
