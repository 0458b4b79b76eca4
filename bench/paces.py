"""When each pace sees a change, at what number of calls, and what each last look misses.

    python bench/paces.py                          # the two tables
    python bench/paces.py --plot docs/paces.svg    # the picture (needs matplotlib)

Simulated with the package's own machine: 0.1 s a call, ready times lognormal around the median.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections.abc import Iterator

from boto_waiters_plus.engine.machine import (
    Begin,
    Facts,
    LastAttempt,
    Machine,
    Pace,
    Pause,
    Policy,
    Poll,
    Responded,
    Succeeded,
    Woken,
)
from boto_waiters_plus.engine.model import AcceptorState

ROUND_TRIP = 0.1
SPREAD = 0.7
CELLS = [(5, 10), (5, 60), (15, 60), (15, 300), (30, 300), (30, 1800)]


def wait(policy: Policy, ready_at: float, draw: random.Random) -> tuple[float | None, int]:
    """When one wait saw the change (None: never) and how many calls it made."""
    machine = Machine((AcceptorState.SUCCESS,), policy)
    now = 0.0
    decision = machine.step(Begin(), now, draw)
    while True:
        match decision:
            case Poll():
                seen = 0 if now >= ready_at else None
                now += ROUND_TRIP
                facts = Facts(acceptor=seen, seconds=ROUND_TRIP)
                decision = machine.step(Responded(facts), now, draw)
            case Pause(seconds=seconds):
                now += seconds
                decision = machine.step(Woken(), now, draw)
            case Succeeded():
                return now, machine.attempts
            case _:
                return None, machine.attempts


def policies(delay: int) -> Iterator[tuple[str, Policy]]:
    """The paces of a waiter whose botocore delay is `delay`, without a bound that matters."""
    for name, pace in (("fixed", Pace.FIXED), ("eager", Pace.EAGER), ("spec", Pace.SPEC)):
        yield (
            name,
            Policy(min_delay=delay, max_delay=max(120, delay), max_wait=1e6, pace=pace),
        )


def detection(delay: int, median: float, waits: int) -> dict[str, tuple[float, float]]:
    """By pace: mean seconds from ready to seen, mean calls."""
    result = {}
    for name, policy in policies(delay):
        draw = random.Random(delay * 1000 + median)
        late, calls = [], []
        for _ in range(waits):
            ready_at = draw.lognormvariate(math.log(median), SPREAD)
            seen_at, looks = wait(policy, ready_at, draw)
            assert seen_at is not None
            late.append(seen_at - ready_at)
            calls.append(looks)
        result[name] = statistics.fmean(late), statistics.fmean(calls)
    return result


def missed(max_wait: float, delay: int, waits: int) -> dict[str, float]:
    """By last-attempt rule: the share ready in time (uniformly) but reported as timed out."""
    result = {}
    for rule in (LastAttempt.SPEC, LastAttempt.LATE):
        policy = Policy(min_delay=delay, max_delay=120, max_wait=max_wait, last_attempt=rule)
        draw = random.Random(7)
        lost = 0
        for _ in range(waits):
            # What becomes ready while the last answer is under way can be seen by nobody.
            ready_at = draw.uniform(0, max_wait - ROUND_TRIP)
            lost += wait(policy, ready_at, draw)[0] is None
        result[rule.value] = lost / waits
    return result


def print_tables(waits: int) -> None:
    heads = ["delay, median", "fixed: extra wait / calls", "eager", "spec", "eager to fixed"]
    print("| " + " | ".join([*heads, "spec to fixed"]) + " |")
    print("|---" * 6 + "|")
    for delay, median in CELLS:
        seen = detection(delay, median, waits)
        texts = [f"{seen[name][0]:.1f} s / {seen[name][1]:.1f}" for name in seen]
        ratios = [
            f"{seen[name][0] / seen['fixed'][0]:.2f} / {seen[name][1] / seen['fixed'][1]:.2f}"
            for name in ("eager", "spec")
        ]
        print(f"| {delay} s, {median} s | " + " | ".join([*texts, *ratios]) + " |")
    print()
    print("| max_wait, min_delay | the text's last look misses | the late one |")
    print("|---|---|---|")
    for max_wait, delay in [(300, 15), (300, 30), (300, 60), (60, 15), (60, 30), (20, 15)]:
        lost = missed(max_wait, delay, waits)
        print(f"| {max_wait} s, {delay} s | {lost['spec']:.1%} | {lost['late']:.1%} |")


def plot(path: str, waits: int) -> None:
    # Wanted for the picture alone.
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "paces"
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4))
    medians = [5, 10, 20, 40, 80, 160, 320, 640]
    seen = [detection(15, median, waits) for median in medians]
    for name, style in (("fixed", "k--"), ("eager", "C2-"), ("spec", "C0-")):
        for axis, which in zip(axes, (0, 1), strict=True):
            axis.plot(medians, [cell[name][which] for cell in seen], style, label=name)
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
    arguments = parser.parse_args()
    if arguments.plot:
        plot(arguments.plot, arguments.waits)
    else:
        print_tables(arguments.waits)


if __name__ == "__main__":
    main()
