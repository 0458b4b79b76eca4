"""Simulate how late each schedule sees a change, with how many calls, and what it misses.

    python bench/paces.py                          # both tables, or one with --table
    python bench/paces.py --plot docs/paces.svg    # the picture (needs matplotlib)

The package's own machine runs, at 0.1 s a call; ready times are lognormal around the median.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics

from boto_waiters_plus.engine.backoff import delay_range
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
from boto_waiters_plus.engine.model import AcceptorState

CALL_TIME = 0.1
SPREAD = 0.7
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


def wait(policy: Policy, ready_at: float, draw: random.Random) -> tuple[float | None, int]:
    """When one wait saw the change (None: never), and its calls."""
    machine = Machine((AcceptorState.SUCCESS,), policy)
    now = 0.0
    decision = machine.step(Begin(), now, draw)
    while True:
        match decision:
            case Poll():
                acceptor = 0 if now >= ready_at else None
                now += CALL_TIME
                decision = machine.step(Responded(Facts(acceptor=acceptor)), now, draw)
            case Pause(seconds=seconds):
                now += seconds
                decision = machine.step(Woken(), now, draw)
            case Succeeded():
                return now, machine.state.attempts
            case _:
                return None, machine.state.attempts


def policies(delay: int, median: float) -> dict[str, Policy]:
    """The schedules of a waiter whose botocore delay is `delay`, by name."""
    least, most = delay_range(delay)
    attempts = max(MAX_ATTEMPTS, math.ceil(LONGEST * median / delay) + 1)
    return {
        STOCK: Policy(min_delay=delay, max_delay=delay, max_wait=1e9, pace="fixed"),
        DEFINITION: Policy(min_delay=least, max_delay=most, max_wait=1e9),
        GET_WAITER: Policy(
            min_delay=least,
            max_delay=most,
            max_wait=delay * (attempts - 1),
            max_attempts=2 * attempts,
            last_attempt=LastAttempt.DEADLINE,
            count_requests=False,
        ),
        AWS: Policy(min_delay=delay, max_delay=max(120, delay), max_wait=1e9),
    }


def detection(delay: int, median: float, waits: int) -> dict[str, tuple[float, float]]:
    """By schedule: the mean seconds from ready to seen, and the mean calls."""
    result = {}
    for name, policy in policies(delay, median).items():
        ready, draw = random.Random(delay * 1000 + median), random.Random(7)
        late, calls = [], []
        while len(late) < waits:
            ready_at = ready.lognormvariate(math.log(median), SPREAD)
            if ready_at > LONGEST * median:
                continue
            seen_at, attempts = wait(policy, ready_at, draw)
            assert seen_at is not None
            late.append(seen_at - ready_at)
            calls.append(attempts)
        result[name] = statistics.fmean(late), statistics.fmean(calls)
    return result


def missed(max_wait: float, delays: tuple[float, float], rule: LastAttempt, waits: int) -> float:
    """The share of resources ready in time (uniformly) whose wait timed out."""
    least, most = delays
    policy = Policy(min_delay=least, max_delay=most, max_wait=max_wait, last_attempt=rule)
    draw = random.Random(7)
    lost = 0
    for _ in range(waits):
        # Nothing can see what becomes ready during the last call.
        ready_at = draw.uniform(0, max_wait - CALL_TIME)
        lost += wait(policy, ready_at, draw)[0] is None
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


def plot(path: str, waits: int) -> None:
    # Only the picture needs it.
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "paces"
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4))
    seen = [detection(15, median, waits) for median in MEDIANS]
    for name, style in ((STOCK, "k--"), (DEFINITION, "C2-"), (GET_WAITER, "C1-"), (AWS, "C0-")):
        for axis, which in zip(axes, (0, 1), strict=True):
            axis.plot(MEDIANS, [cell[name][which] for cell in seen], style, label=name)
    axes[0].set_ylabel("seconds from ready to seen")
    axes[1].set_ylabel("calls")
    axes[1].set_yscale("log")
    for axis in axes:
        axis.set_xscale("log")
        axis.set_xlabel("median time to ready (s), delay 15 s")
        axis.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waits", type=int, default=5000, help="simulated waits a cell")
    parser.add_argument("--plot", metavar="FILE", help="draw the picture instead")
    parser.add_argument("--table", choices=TABLES, help="one of the tables; default: both")
    arguments = parser.parse_args()
    if arguments.plot:
        plot(arguments.plot, arguments.waits)
        return
    for name in [arguments.table] if arguments.table else TABLES:
        print("\n".join(TABLES[name](arguments.waits)) + "\n")


if __name__ == "__main__":
    main()
