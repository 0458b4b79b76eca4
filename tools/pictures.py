"""Draw the pictures of the documentation, as SVG.

python tools/pictures.py OUTPUT_FOLDER

docs/conf.py calls it with docs/pictures. Each picture comes from the package's own code: the states
from its machine, the times from a wait in virtual time, the schedule from `boto-wait schedule`.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import random
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import boto3
from botocore import UNSIGNED
from botocore.awsrequest import AWSResponse
from botocore.config import Config

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import main as boto_wait
from boto_waiters_plus.cli.svg_picture import svg_picture, svg_text
from boto_waiters_plus.engine import machine
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.backoff import jittered_delay
from boto_waiters_plus.testing import virtual_time

WIDTH = 760


def main(arguments: Sequence[str] | None = None) -> None:
    """Write every picture whose file differs."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the documentation.")
    parser.add_argument("folder", type=Path, help="where to write")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in (("states.svg", states()), ("times.svg", times())):
        file = folder / name
        if not file.is_file() or file.read_text(encoding="utf-8") != picture:
            file.write_text(picture, encoding="utf-8", newline="\n")
    words = ["schedule", "ec2", "instance-running", "--max-wait", "5m"]
    with contextlib.redirect_stdout(io.StringIO()):
        boto_wait([*words, "--svg", str(folder / "schedule.svg")])


# --- the states of a wait -----------------------------------------------------------------------

DEPTH = 5
"""Events in a row that show every transition."""

Facts = machine.Facts
EVENTS: Sequence[machine.Event] = (
    machine.Begin(),
    *(machine.Responded(Facts(acceptor=index)) for index in (0, 1, 2)),
    *(machine.Raised(Facts(acceptor=index)) for index in (0, 1, None)),
    machine.CallTimedOut(),
    machine.Woken(),
    machine.Woken(early=True),
    machine.Cancelled(),
)
ACCEPTORS = (AcceptorState.SUCCESS, AcceptorState.RETRY, AcceptorState.FAILURE)
BOUNDS = {"min_delay": 2, "max_delay": 2, "max_wait": 60}
POLICIES = (
    machine.Policy(**BOUNDS, retry_transient=True),
    machine.Policy(**BOUNDS, initial_delay=5),
    machine.Policy(**BOUNDS, max_attempts=1),
    machine.Policy(**BOUNDS, deadline=0),
)

TIP = (
    '<marker id="tip" orient="auto" markerWidth="7" markerHeight="8" refX="1" refY="4">'
    '<path class="tip" d="M0 0L7 4L0 8z"/></marker>'
)

Transitions = dict[tuple[str, str], list[str]]
"""The events that lead from a phase to a phase or an ending."""


def transitions() -> Transitions:
    """Return every transition that the machine makes, found by stepping it."""
    found: Transitions = {}
    draws = random.Random(1)  # noqa: S311 - a drawing

    def explore(before: machine.Machine, now: float, depth: int) -> None:
        for event in EVENTS:
            for passed in (0.25, 100):
                after = copy.deepcopy(before)
                try:
                    decision = after.step(event, now + passed, draws)
                except machine.MachineMisuseError:
                    continue
                has_ended = after.state.phase is machine.Phase.ENDED
                end = type(decision).__name__ if has_ended else after.state.phase.value
                events = found.setdefault((before.state.phase.value, end), [])
                if type(event).__name__ not in events:
                    events.append(type(event).__name__)
                if depth and not has_ended:
                    explore(after, now + passed, depth - 1)

    for policy in POLICIES:
        explore(machine.Machine(ACCEPTORS, policy), 0, DEPTH - 1)
    return found


PHASES = {
    "new": (20, 150, "before the first step"),
    "polling": (270, 470, "a call is in flight"),
    "pausing": (590, 740, "a delay runs"),
}
"""Left and right edge of each phase's box, and its meaning."""

ENDINGS = ("WaitCancelled", "Succeeded", "Failed", "AttemptsUsedUp", "TimedOut")
PHASE_TOP, PHASE_HEIGHT, ENDING_TOP, ENDING_WIDTH = 104, 46, 282, 138
ROUTES = {
    ("new", "polling"): ("M150 127H264", 207, 121),
    ("new", "pausing"): ("M85 104V58H665V98", 375, 52),
    ("polling", "polling"): ("M340 104V80H400V98", 370, 74),
    ("polling", "pausing"): ("M470 119H584", 530, 113),
    ("pausing", "polling"): ("M590 137H476", 530, 153),
    ("pausing", "pausing"): ("M690 104V80H725V98", 707, 74),
}
"""How the arrows between phases run, and where their events stand."""

BUSES = {"WaitCancelled": 196, "TimedOut": 222}
"""Height of the line that collects the arrows from all phases."""

PORTS = {"WaitCancelled": 0.1, "Succeeded": 0.3, "Failed": 0.55, "AttemptsUsedUp": 0.7}
"""Where an arrow leaves a phase's box, as a share of its width; the last is TimedOut."""


def states() -> str:
    """Return the picture of the phases and endings of a wait."""
    found = transitions()
    parts = [TIP]
    parts += [part for pair in ROUTES for part in _arrow(*ROUTES[pair], found.pop(pair))]
    for index, ending in enumerate(ENDINGS):
        middle = 84 + 148 * index
        sources = {
            phase: found.pop((phase, ending)) for phase in PHASES if (phase, ending) in found
        }
        parts += _ending(ending, middle, sources)
    if found:
        raise ValueError(f"transitions that the picture has no place for: {sorted(found)}")
    for name, (left, right, meaning) in PHASES.items():
        middle = (left + right) / 2
        parts.append(
            f'<rect class="box" x="{left}" y="{PHASE_TOP}" width="{right - left}" '
            f'height="{PHASE_HEIGHT}" rx="8"/>'
        )
        parts.append(svg_text(middle, PHASE_TOP + 20, name, "name", "middle"))
        parts.append(svg_text(middle, PHASE_TOP + 36, meaning, "small", "middle"))
    return svg_picture(WIDTH, 392, "The phases of a wait, its endings, and the events", parts)


def _arrow(path: str, x: float, y: float, events: Sequence[str]) -> Iterator[str]:
    yield f'<path class="line" d="{path}" marker-end="url(#tip)"/>'
    yield svg_text(x, y, ", ".join(events), "small", "middle")


def _ending(name: str, middle: float, sources: dict[str, list[str]]) -> Iterator[str]:
    bus = BUSES.get(name, 248)
    for phase in sources:
        left, right, _ = PHASES[phase]
        x = left + (right - left) * PORTS.get(name, 0.9)
        path = f"M{x:g} {PHASE_TOP + PHASE_HEIGHT}V{bus}H{middle:g}V{ENDING_TOP - 6}"
        yield f'<path class="line" d="{path}" marker-end="url(#tip)"/>'
    yield (
        f'<rect class="box" x="{middle - ENDING_WIDTH / 2:g}" y="{ENDING_TOP}" '
        f'width="{ENDING_WIDTH}" height="96" rx="8"/>'
    )
    yield svg_text(middle, ENDING_TOP + 20, name, "name", "middle")
    texts = [f"{phase}: {', '.join(events)}" for phase, events in sources.items()]
    lines = [line for text in texts for line in textwrap.wrap(text, 25)]
    for number, line in enumerate(lines):
        yield svg_text(middle, ENDING_TOP + 36 + 13 * number, line, "small", "middle")


# --- where the time of a wait goes --------------------------------------------------------------

READY_AT = 38
"""Seconds after which the table of the example is active."""

CALL_TIME = 0.4
"""Seconds that each call of the example takes; longer than usual, to be visible."""


class Trace:
    """A wait for a DynamoDB table in virtual time: its calls and its events."""

    def __init__(self) -> None:
        self.calls: list[float] = []
        """When each call began."""
        self.events: list[bwp.WaitEvent] = []
        draws = random.Random(13)  # noqa: S311 - a drawing
        client = boto3.client("dynamodb", "us-east-1", config=Config(signature_version=UNSIGNED))
        client.meta.events.register("before-send.dynamodb.DescribeTable", self._answer)
        bwp.enable(client, on_event=self.events.append)
        waiter = client.wait_until_table_exists.definition

        def delay(attempt: int) -> float:
            """The waiter's own delays; the package draws them from a source without a seed."""
            bounds = {"min_delay": waiter.min_delay, "max_delay": waiter.max_delay}
            return jittered_delay(attempt, **bounds, random=draws)

        with virtual_time() as self._clock:
            client.wait_until_table_exists(TableName="orders", max_wait=90, delay_pace=delay)

    def _answer(self, **_: Any) -> AWSResponse:
        self.calls.append(self._clock.now)
        status = "ACTIVE" if self._clock.now >= READY_AT else "CREATING"
        self._clock.advance(CALL_TIME)
        body = io.BytesIO(json.dumps({"Table": {"TableStatus": status}}).encode())
        body.stream = lambda **_: iter([body.read()])
        return AWSResponse("https://dynamodb", 200, {"Content-Type": "application/json"}, body)


LEFT, RIGHT = 76, WIDTH - 20
LANE, EVENT_LANE, AXIS = 74, 128, 176


def times() -> str:
    """Return the picture of the calls, delays and events of one wait."""
    trace = Trace()
    attempts = [event for event in trace.events if event.kind == "attempt"]
    end = trace.events[-1].elapsed
    scale = (RIGHT - LEFT) / end
    parts = [svg_text(20, LANE + 18, "time"), svg_text(20, EVENT_LANE + 5, "events")]
    for began, event in zip(trace.calls, attempts, strict=True):
        parts.append(_bar("call", LEFT + began * scale, (event.elapsed - began) * scale))
        if event.next_delay is not None:
            start, width = LEFT + event.elapsed * scale, event.next_delay * scale
            parts.append(_bar("delay", start, width))
            text = f"{event.next_delay:g} s"
            parts.append(svg_text(start + width / 2, LANE + 17, text, "small", "middle"))
    parts += _events(trace.events, scale)
    ready = LEFT + READY_AT * scale
    parts.append(f'<path class="ready" d="M{ready:.1f} {LANE - 16}V{AXIS}"/>')
    parts.append(svg_text(ready, LANE - 20, "the table becomes active", "small", "middle"))
    parts.append(f'<path class="axis" d="M{LEFT} {AXIS}H{RIGHT}"/>')
    parts += [
        svg_text(LEFT + second * scale, AXIS + 15, f"{second} s", "small", "middle")
        for second in range(0, int(end) + 1, 5)
    ]
    delays = sum(event.next_delay or 0 for event in attempts)
    facts = (
        f"{len(attempts)} calls: {end - delays:.1f} s. {len(attempts) - 1} delays: {delays:.1f} s. "
        f"Success {end - READY_AT:.1f} s after the table was active."
    )
    parts.append(svg_text(20, AXIS + 42, facts))
    return svg_picture(WIDTH, AXIS + 56, f"dynamodb table-exists: where {end:.1f} s go", parts)


def _bar(name: str, x: float, width: float) -> str:
    return f'<rect class="{name}" x="{x:.1f}" y="{LANE}" width="{width:.1f}" height="26"/>'


def _events(events: Sequence[bwp.WaitEvent], scale: float) -> Iterator[str]:
    for event in events:
        x = LEFT + event.elapsed * scale
        yield f'<circle class="call" cx="{x:.1f}" cy="{EVENT_LANE}" r="4"/>'
        # The names that are the same in a row of attempts stand once.
        if event.kind == "attempt":
            yield svg_text(x, EVENT_LANE - 9, str(event.attempt), "small", "middle")
        else:
            anchor = "start" if event.kind == "start" else "end"
            yield svg_text(x, EVENT_LANE + 20, event.kind, "small", anchor)
    states = [event.state or "" for event in events if event.kind == "attempt"]
    text = f"attempts 1 to {len(states) - 1}: {states[0]}, attempt {len(states)}: {states[-1]}"
    yield svg_text(LEFT + (RIGHT - LEFT) / 2, EVENT_LANE + 20, text, "small", "middle")


if __name__ == "__main__":
    main()
