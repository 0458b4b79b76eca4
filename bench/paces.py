"""Simulate how late each schedule sees a change, with how many calls, and what it misses.

    python bench/paces.py                          # two tables, or one with --table
    python bench/paces.py --history                # with the times of earlier waits
    python bench/paces.py --plot docs/paces.svg    # the picture

The package's own machine runs, at 0.1 s a call; ready times are lognormal around the median.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.delays import EARLY_SHARE, KnownTime, LearnedTimes, delay_range
from boto_waiters_plus.engine.machine import (
    Begin,
    Facts,
    LastAttempt,
    Machine,
    Pause,
    Policy,
    Poll,
    Responded,
    Succeeded,
    Woken,
)

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

from schedule_picture import svg_picture, svg_text  # noqa: E402 - found by the line above

CALL_TIME = 0.1
SPREAD = 0.7
SPREAD_OF_PICTURE = 0.25
CELLS = [
    *[(1, 10), (1, 60), (2, 10), (2, 60), (5, 10), (5, 60), (15, 10), (15, 60), (15, 300)],
    *[(30, 20), (30, 300), (30, 1800), (120, 600), (300, 1800)],
]
"""The delay of botocore's waiter and the median time until the resource is ready, in seconds."""
MEDIANS = [5, 10, 20, 40, 80, 160, 320, 640]
MAX_ATTEMPTS = 40
"""botocore's most common number."""
LONGEST = 4
"""Medians. Later ready times are drawn again, so that every schedule sees all of them."""

STOCK, DEFINITION, GET_WAITER, AWS = "stock", "wait_until", "get_waiter", "AWS's numbers"
HISTORY = "with a history"

DELAY = 15
"""Of botocore's waiter, where the figures are relative to it."""
KNOWN = [5, 20, 64]
"""Earlier waits."""
WAITS_OF_A_HISTORY = 10

Draw = Callable[[random.Random], float]
"""Draws a ready time."""


def wait(policy: Policy, ready_at: float, draw: random.Random) -> tuple[float, int, float]:
    """When one wait saw the change (infinity: never), its calls, and when the last but one was."""
    machine = Machine((AcceptorState.SUCCESS,), policy)
    now = open_at = 0.0
    decision = machine.step(Begin(), now, draw)
    while True:
        match decision:
            case Poll():
                acceptor = 0 if now >= ready_at else None
                now += CALL_TIME
                decision = machine.step(Responded(Facts(acceptor=acceptor)), now, draw)
            case Pause(seconds=seconds):
                open_at = now
                now += seconds
                decision = machine.step(Woken(), now, draw)
            case Succeeded():
                return now, machine.state.attempts, open_at
            case _:
                return math.inf, machine.state.attempts, open_at


def policies(delay: int, median: float) -> dict[str, Policy]:
    """The schedules of a waiter whose botocore delay is `delay`, by name."""
    least, most = delay_range(delay)
    attempts = max(MAX_ATTEMPTS, math.ceil(LONGEST * median / delay) + 1)
    return {
        STOCK: Policy.of(min_delay=delay, max_delay=delay, max_wait=1e9, pace="fixed"),
        DEFINITION: Policy.of(min_delay=least, max_delay=most, max_wait=1e9),
        GET_WAITER: Policy.of(
            min_delay=least,
            max_delay=most,
            max_wait=delay * (attempts - 1),
            max_attempts=2 * attempts,
            last_attempt=LastAttempt.DEADLINE,
            count_requests=False,
            spread=True,
        ),
        AWS: Policy.of(min_delay=delay, max_delay=max(120, delay), max_wait=1e9),
    }


def detection(
    delay: int, median: float, waits: int, spread: float = SPREAD
) -> dict[str, tuple[float, float]]:
    """By schedule: the mean seconds from ready to seen, and the mean calls."""
    result = {}
    for name, policy in policies(delay, median).items():
        ready, draw = random.Random(delay * 1000 + median), random.Random(7)
        late, calls = [], []
        while len(late) < waits:
            ready_at = ready.lognormvariate(math.log(median), spread)
            if ready_at > LONGEST * median:
                continue
            seen_at, attempts, _ = wait(policy, ready_at, draw)
            late.append(seen_at - ready_at)
            calls.append(attempts)
        result[name] = statistics.fmean(late), statistics.fmean(calls)
    return result


def lognormal(median: float, spread: float) -> Draw:
    """Return what draws ready times around a median."""
    return lambda source: source.lognormvariate(math.log(median), spread)


def uniform(end: float) -> Draw:
    """Return what draws times evenly before an end."""
    return lambda source: source.uniform(0, end)


def mixed(median: float) -> Draw:
    """Return what draws the times of two kinds under one key, one four times as fast."""
    kinds = lognormal(median, 0.15), lognormal(median / 4, 0.15)
    return lambda source: source.choice(kinds)(source)


Means = dict[str, tuple[float, float]]
"""By schedule: the mean calls, and the mean seconds from ready to seen."""


def learned(history: list[KnownTime]) -> Policy:
    """The policy of a wait with a history, the newest first."""
    least, most = delay_range(DELAY)
    times = LearnedTimes(tuple(history), EARLY_SHARE * most)
    return Policy.of(min_delay=least, max_delay=most, max_wait=1e9, learned=times)


def with_history(
    waits: int, old: Draw, new: Draw, *, known: int = 20, known_new: int = 0, goes_on: bool = False
) -> Means:
    """The means of three schedules, where ready times were drawn before and are drawn now.

    Args:
        waits: their number; each ten have another history, of waits that learned as they do.
        old, new: the ready times of earlier waits, and those of the waits.
        known: the number of earlier waits with the old times.
        known_new: the number of later ones, as the waits are.
        goes_on: whether each of the ten learns from those before it.
    """
    source, draw = random.Random(11), random.Random(7)
    plain = {name: policies(DELAY, 1)[name] for name in (STOCK, DEFINITION)}
    sums: dict[str, list[tuple[int, float]]] = {}
    for _ in range(0, waits, WAITS_OF_A_HISTORY):
        history: list[KnownTime] = []
        for number in range(known + known_new + WAITS_OF_A_HISTORY):
            ready_at = (old if number < known else new)(source)
            seen_at, calls, open_at = wait(learned(history), ready_at, draw)
            is_measured = number >= known + known_new
            if calls > 1 and (goes_on or not is_measured):
                # As the package keeps it.
                history.insert(0, KnownTime((open_at + seen_at) / 2, is_end=True))
            if is_measured:
                sums.setdefault(HISTORY, []).append((calls, seen_at - ready_at))
                for name, policy in plain.items():
                    seen_at, calls, _ = wait(policy, ready_at, draw)
                    sums.setdefault(name, []).append((calls, seen_at - ready_at))
    return {
        name: (statistics.fmean(calls for calls, _ in each), statistics.fmean(s for _, s in each))
        for name, each in sums.items()
    }


def relative(means: Means, name: str) -> tuple[float, float]:
    """Calls and extra wait with a history, relative to another schedule."""
    (calls, late), (other_calls, other_late) = means[HISTORY], means[name]
    return calls / other_calls, late / other_late


def history_table(waits: int) -> Iterator[str]:
    yield "| times, median | waits before | calls, extra wait / stock | product | / `wait_until` |"
    yield "|---" * 5 + "|"
    for delays in (6, 20):
        median = delays * DELAY
        kinds = {f"spread {each}": lognormal(median, each) for each in (0.15, 0.25, 0.4)}
        for kind, draw in {**kinds, "two kinds": mixed(median)}.items():
            for known in KNOWN:
                means = with_history(waits, draw, draw, known=known)
                (calls, late), ours = relative(means, STOCK), relative(means, DEFINITION)
                cells = (
                    f"{calls:.2f}, {late:.2f} | {calls * late:.2f} | {ours[0]:.2f}, {ours[1]:.2f}"
                )
                yield f"| {kind}, {delays} delays | {known} | {cells} |"


def promises(waits: int) -> Iterator[tuple[str, float, float]]:
    """Yield what learned delays promise: a figure relative to another, and the most it may be."""
    for delays in (6, 20):
        median = delays * DELAY
        usual, two_kinds = lognormal(median, 0.25), mixed(median)
        early = with_history(waits, usual, uniform(median))
        yield f"failures before the median, {delays} delays: late", relative(early, STOCK)[1], 1.5
        for word, factor in (("halved", 0.5), ("doubled", 2)):
            changed = lognormal(factor * median, 0.25)
            first = with_history(waits, usual, changed, goes_on=True)
            after = relative(with_history(waits, usual, changed, known_new=10), STOCK)
            name = f"times {word}, {delays} delays"
            yield f"{name}, the first ten waits: late", relative(first, STOCK)[1], 1.2
            yield f"{name}, the first ten waits: calls", relative(first, STOCK)[0], 1.7
            yield f"{name}, after ten waits: product", after[0] * after[1], 0.85
        ours = relative(with_history(waits, two_kinds, two_kinds), DEFINITION)
        for word, figure in zip(("calls", "late"), ours, strict=True):
            yield f"two kinds, {delays} delays: {word} / wait_until", figure, 1.1


def promises_table(waits: int) -> Iterator[str]:
    yield "| after 20 waits with spread 0.25; relative to stock | is | at most |"
    yield "|---|---|---|"
    for name, figure, most in promises(waits):
        yield f"| {name} | {figure:.2f}{'' if figure <= most else ' (BROKEN)'} | {most} |"


def missed(max_wait: float, delays: tuple[float, float], rule: LastAttempt, waits: int) -> float:
    """The share of resources ready in time (uniformly) whose wait timed out."""
    least, most = delays
    policy = Policy.of(min_delay=least, max_delay=most, max_wait=max_wait, last_attempt=rule)
    draw = random.Random(7)
    lost = 0
    for _ in range(waits):
        # Nothing can see what becomes ready during the last call.
        ready_at = draw.uniform(0, max_wait - CALL_TIME)
        lost += wait(policy, ready_at, draw)[0] == math.inf
    return lost / waits


def detection_table(waits: int) -> list[str]:
    names = [STOCK, DEFINITION, GET_WAITER, AWS]
    head = " | ".join(["delay, median", *names, *(f"{name} / stock" for name in names[1:])])
    lines = [f"| {head} |", "|---" * 8 + "|"]
    later, more = [], []
    for delay, median in CELLS:
        seen = detection(delay, median, waits)
        texts = [f"{seen[name][0]:.1f} s / {seen[name][1]:.1f}" for name in names]
        (late, calls) = seen[STOCK]
        texts += [f"{seen[name][0] / late:.2f} / {seen[name][1] / calls:.2f}" for name in names[1:]]
        lines.append(f"| {delay} s, {median} s | " + " | ".join(texts) + " |")
        if delay > 1:
            later.append(seen[DEFINITION][0] / late)
            more.append(seen[DEFINITION][1] / calls)
    # As other pages quote it.
    late_range = f"{min(later):.2f} to {max(later):.2f} of botocore's"
    text = f"{late_range}, with {min(more):.2f} to {max(more):.2f} times its calls"
    return [*lines, "", f"`wait_until`, where botocore's delay is more than 1 s: {text}."]


def last_attempt_table(waits: int) -> list[str]:
    lines = [
        '| `max_wait`, delay | AWS: `"spec"` | `"late"` | shipped: `"spec"` | `"late"` |',
        "|---" * 5 + "|",
    ]
    for max_wait, delay in [(300, 15), (300, 30), (300, 60), (60, 15), (60, 30), (20, 15)]:
        texts = [
            f"{100 * missed(max_wait, delays, rule, waits):.1f} %"
            for delays in ((delay, 120), delay_range(delay))
            for rule in (LastAttempt.SPEC, LastAttempt.LATE)
        ]
        lines.append(f"| {max_wait} s, {delay} s | " + " | ".join(texts) + " |")
    return lines


TABLES = {"seen": detection_table, "missed": last_attempt_table}


def seen_by_median(waits: int) -> list[dict[str, tuple[float, float]]]:
    """For each of `MEDIANS`: what `detection` returns, and the same with a history."""
    seen = [detection(DELAY, median, waits, SPREAD_OF_PICTURE) for median in MEDIANS]
    for median, cell in zip(MEDIANS, seen, strict=True):
        times = lognormal(median, SPREAD_OF_PICTURE)
        calls, late = with_history(waits, times, times)[HISTORY]
        cell[HISTORY] = late, calls
    return seen


LINES_STYLE = """\
.curve { fill: none; stroke-width: 2; stroke: #59636e; stroke-dasharray: 6 4 }
.c1 { stroke: #1a7f37; stroke-dasharray: none } .c2 { stroke: #9a6700; stroke-dasharray: 12 3 }
.c3 { stroke: #0550ae; stroke-dasharray: 2 3 } .c4 { stroke: #cf222e; stroke-dasharray: 10 3 2 3 }
@media (prefers-color-scheme: dark) {
  .curve { stroke: #9198a1 } .c1 { stroke: #4ac26b } .c2 { stroke: #d29922 }
  .c3 { stroke: #79b8ff } .c4 { stroke: #ff7b72 }
}"""
"""The curves in the order of `CURVES`; their dashes tell them apart without colours."""

CURVES = (STOCK, DEFINITION, GET_WAITER, AWS, HISTORY)
TOP, BOTTOM, PANEL = 66, 266, 312
"""Of the panels: their upper and lower edge, and their width."""


def panel(left: float, name: str, curves: list[list[float]], ticks: list[float]) -> list[str]:
    """The parts of one half of the picture: an axis with a tick for each number, and the curves.

    The ticks of the upward axis begin with 0, or it is logarithmic.
    """
    scale: Callable[[float], float] = float if ticks[0] == 0 else math.log
    low, high = scale(ticks[0]), scale(ticks[-1])
    step = PANEL / (len(MEDIANS) - 1)  # each median is twice the one before

    def height(figure: float) -> float:
        return BOTTOM - (scale(figure) - low) / (high - low) * (BOTTOM - TOP)

    parts = [svg_text(left, TOP - 12, name, "name")]
    for tick in ticks:
        parts.append(f'<path class="axis" d="M{left} {height(tick):.1f}h{PANEL}"/>')
        parts.append(svg_text(left - 6, round(height(tick) + 4, 1), f"{tick:g}", "small", "end"))
    for index, median in enumerate(MEDIANS):
        x = round(left + index * step, 1)
        parts.append(f'<path class="axis" d="M{x:g} {BOTTOM}v5"/>')
        parts.append(svg_text(x, BOTTOM + 18, f"{median:g}", "small", "middle"))
    text = f"median time to ready, in seconds; botocore's delay is {DELAY} s"
    parts.append(svg_text(left + PANEL / 2, BOTTOM + 36, text, "small", "middle"))
    for index, figures in enumerate(curves):
        points = " ".join(f"{left + i * step:.1f},{height(y):.1f}" for i, y in enumerate(figures))
        parts.append(f'<polyline class="curve c{index}" points="{points}"/>')
    return parts


def picture(seen: list[dict[str, tuple[float, float]]]) -> str:
    """Return the picture of what `seen_by_median` returned."""
    late, calls = ([[cell[name][i] for cell in seen] for name in CURVES] for i in (0, 1))
    most = 10 * math.ceil(max(map(max, late)) / 10)
    parts = [f"<style>\n{LINES_STYLE}\n</style>"]
    parts += panel(48, "seconds from ready to seen", late, [*range(0, most + 1, 10)])
    powers = [1.0, 2, 5, 10, 20, 50, 100]
    shown = next(end for end, tick in enumerate(powers) if tick >= max(map(max, calls)))
    parts += panel(424, "calls", calls, powers[: shown + 1])
    for index, name in enumerate(CURVES):
        x = 48 + 142 * index
        parts.append(f'<path class="curve c{index}" d="M{x} {BOTTOM + 64}h34"/>')
        parts.append(svg_text(x + 40, BOTTOM + 68, name))
    return svg_picture(
        760, BOTTOM + 84, "How late a change is seen, and with how many calls", parts
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waits", type=int, default=5000, help="simulated waits a cell")
    parser.add_argument("--plot", metavar="FILE", help="draw the picture instead")
    parser.add_argument("--table", choices=TABLES, help="one of the tables; default: both")
    parser.add_argument("--history", action="store_true", help="the tables with a history instead")
    arguments = parser.parse_args()
    if arguments.history:
        for lines in (history_table(arguments.waits), [""], promises_table(arguments.waits)):
            for line in lines:
                print(line, flush=True)
        return
    if arguments.plot:
        text = picture(seen_by_median(arguments.waits))
        Path(arguments.plot).write_text(text, encoding="utf-8")
        return
    for name in [arguments.table] if arguments.table else TABLES:
        print("\n".join(TABLES[name](arguments.waits)) + "\n")


if __name__ == "__main__":
    main()
