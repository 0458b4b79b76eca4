"""Draw a change of a database, and what a waiter and `begin` see of it: `docs/pictures/change.svg`.

    python tools/change_picture.py

States and times are those of a run in virtual time, on a client whose service answers the state
from before the change for three minutes.
"""

from __future__ import annotations

import logging
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import boto3
from schedule_picture import svg_picture, svg_text

import boto_waiters_plus as bwp
from boto_waiters_plus.engine.delays import jittered_delay
from boto_waiters_plus.testing import virtual_time

FILE = "docs/pictures/change.svg"
OLD, NEW = "db.m5.large", "db.m6g.large"
STATES = ((0, "available", OLD), (180, "modifying", OLD), (900, "available", NEW))
"""What the service answers: since how many seconds after the call, the state and the class."""
END, WIDTH, LEFT = 1080, 760, 20
SHOWN = ("DBInstanceStatus", "DBInstanceClass")
DATABASE = {"DBInstanceIdentifier": "orders"}
CHANGE = {**DATABASE, "DBInstanceClass": NEW, "ApplyImmediately": True}


class Run(NamedTuple):
    """What one way to wait for the change has done."""

    attempts: list[float]
    """The seconds after the call."""
    said: list[tuple[float, str]]
    """The lines of the log."""
    end: float
    database: Any
    """The last answer."""


def client_of(time: Any) -> Any:
    """Return a client of the service, whose change begins at once."""
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
    client = boto3.client("rds", region_name="us-east-1", **keys)
    began = time.now

    def answer(model: Any, **_: Any) -> Any:
        _, state, kind = [each for each in STATES if each[0] <= time.now - began][-1]
        pending = {} if kind == NEW else {"DBInstanceClass": NEW}
        found = {**DATABASE, "DBInstanceStatus": state, "DBInstanceClass": kind}
        found["PendingModifiedValues"] = pending if state == "modifying" else {}
        is_read = model.name == "DescribeDBInstances"
        body: Any = {"DBInstances": [found]} if is_read else {"DBInstance": found}
        return SimpleNamespace(status_code=200), {**body, "ResponseMetadata": {}}

    client.meta.events.register("before-call.rds", answer)
    return bwp.enable(client)


class Lines(logging.Handler):
    """Keeps what a log says of each state, with the seconds."""

    def __init__(self, time: Any) -> None:
        super().__init__(logging.INFO)
        self.lines: list[tuple[float, str]] = []
        self._time, self._start = time, time.now

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line that has news of a state."""
        text = record.getMessage().partition("=orders ")[2].partition(" (attempt")[0]
        # The end is told of after the result.
        if ": " in text and "still" not in text and not text.startswith("succeeded"):
            self.lines.append((self._time.now - self._start, text))


def run(*, by_begin: bool) -> Run:
    """Change the database, and wait for it."""
    logger, draw = logging.getLogger("boto_waiters_plus"), random.Random(1)  # noqa: S311 - jitter, the same each time
    logger.setLevel(logging.INFO)
    attempts: list[float] = []

    def pace(attempt: int) -> float:
        return jittered_delay(attempt, min_delay=8, max_delay=30, random=draw)

    with virtual_time() as time:
        client, handler = client_of(time), Lines(time)
        logger.addHandler(handler)
        options: Any = {"max_wait": 3600, "delay_pace": pace}
        options["on_attempt"] = lambda event: attempts.append(event.elapsed)
        if by_begin:
            outcome = bwp.begin(client.modify_db_instance, **options, **CHANGE).result()
        else:
            client.modify_db_instance(**CHANGE)
            outcome = client.wait_until_db_instance_available(**options, **DATABASE)
        logger.removeHandler(handler)
        if not by_begin:
            stock = client.get_waiter("db_instance_available").wait(**DATABASE)
            assert stock.elapsed == outcome.elapsed, "both return at once"
    return Run(attempts, handler.lines, outcome.elapsed, outcome.response["DBInstances"][0])


def place(seconds: float) -> float:
    """Return where a moment is."""
    return LEFT + 6 + seconds * (WIDTH - 2 * LEFT - 12) / END


def row(run: Run, top: int, calls: str, returns: str) -> list[str]:
    """Return the parts of one way to wait: its calls, its attempts, what it says, its end."""
    end, last = place(run.end), ", ".join(run.database[name] for name in SHOWN)
    attempts = sorted({*run.attempts, run.end})
    strokes = "".join(f"M{place(each):.1f} {top + 24}v20" for each in attempts)
    parts = [
        svg_text(LEFT, top + 12, calls, "name"),
        f'<path class="axis" d="M{LEFT} {top + 34}H{WIDTH - LEFT}"/>',
        f'<path class="attempt" d="{strokes}"/>',
        f'<circle class="call" cx="{end:.1f}" cy="{top + 34}" r="6"/>',
    ]
    parts += [svg_text(place(when), top + 62, line, "small") for when, line in run.said]
    text, anchor = f"{returns}: {last}", "end" if run.end else "start"
    below = top + (80 if run.said else 62)
    parts.append(svg_text(end, below, text, "small", anchor))
    return parts


def picture() -> str:
    """Return the picture."""
    parts = [svg_text(LEFT, 56, "what the service answers", "name")]
    ends = [*(since for since, *_ in STATES[1:]), END]
    for (since, *texts), end in zip(STATES, ends, strict=True):
        left, width = place(since), place(end) - place(since)
        size = f'x="{left:.1f}" y="66" width="{width:.1f}" height="40"'
        parts.append(f'<rect class="box" {size}/>')
        for line, text in enumerate(texts):
            parts.append(svg_text(left + width / 2, 82 + 16 * line, text, "small", "middle"))
    changed = place(STATES[-1][0])
    parts.append(f'<path class="ready" fill="none" d="M{changed:.1f} 106V324"/>')
    before, begun = run(by_begin=False), run(by_begin=True)
    calls = "modify_db_instance(...), then wait_until_db_instance_available(...)"
    parts += row(before, 130, calls, "returns at once, as the waiter of get_waiter does")
    minutes = f"returns after {begun.end / 60:.0f} minutes"
    parts += row(begun, 220, "begin(modify_db_instance, ...).result()", minutes)
    for since in (0, *ends[:-1]):
        parts.append(
            svg_text(
                place(since), 338, f"{since / 60:.0f} min", "small", "middle" if since else "start"
            )
        )
    title = "A change of a database: what is answered, and when each wait returns"
    return svg_picture(WIDTH, 350, title, parts)


if __name__ == "__main__":
    Path(FILE).write_text(picture(), encoding="utf-8")
