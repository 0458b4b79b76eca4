"""Draw what `boto-wait` shows on a terminal while it waits: `docs/pictures/terminal.svg`.

    python tools/terminal_picture.py

The table is the command's own, of waits that go on in virtual time, on a client with scripted
answers.
"""

from __future__ import annotations

import io
import random
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock
from xml.sax.saxutils import escape

import boto3
from rich.segment import Segment
from schedule_picture import svg_picture

import boto_waiters_plus as bwp
from boto_waiters_plus.cli.live_progress import LiveProgress
from boto_waiters_plus.engine.delays import jittered_delay
from boto_waiters_plus.engine.model import WaitDescription
from boto_waiters_plus.service.catalog import definitions_of
from boto_waiters_plus.testing import virtual_time

WAITER = "DBInstanceAvailable"
FILE = "docs/pictures/terminal.svg"
STATES = {"orders": "modifying", "customers": "backing-up", "reports": "creating"}
COMMAND = (
    "$ boto-wait rds db-instance-available --max-wait 30m \\",
    f"      --each db-instance-identifier {' '.join(STATES)}",
)
DELAYS = {"min_delay": 8, "max_delay": 30}
MAX_WAIT, SEEN_AFTER = 1800, 200
COLUMNS, LINE, LEFT = 88, 20, 20
STYLE = """\
.mono { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre }
.dim { opacity: 0.75 } .bold { font-weight: bold }"""


class Terminal(io.StringIO):
    """Takes the place of a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


def client() -> Any:
    """Return a client of the service, on which each database has a state that lasts."""
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
    made = boto3.client("rds", region_name="us-east-1", **keys)

    def answer(params: Any, **_: Any) -> Any:
        name = params["body"]["DBInstanceIdentifier"]
        found = {"DBInstanceIdentifier": name, "DBInstanceStatus": STATES[name]}
        return SimpleNamespace(status_code=200), {"DBInstances": [found], "ResponseMetadata": {}}

    made.meta.events.register("before-call.rds", answer)
    return bwp.enable(made)


def lines() -> list[list[Any]]:
    """Return the lines of the table as it is after `SEEN_AFTER` seconds, in segments of rich's."""
    seen: list[list[Any]] = []
    (definition,) = (each for each in definitions_of("rds") if each.name == WAITER)
    description = WaitDescription.of(definition)
    described = [(description, f"rds DBInstanceIdentifier={name}") for name in STATES]
    size = {"COLUMNS": str(COLUMNS), "LINES": "24", "TERM": "xterm"}
    with mock.patch.dict("os.environ", size), virtual_time() as time:
        progress = LiveProgress(described, MAX_WAIT, Terminal())

        def see() -> None:
            seen.extend(progress.console.render_lines(progress.render(), pad=False))
            STATES.update(dict.fromkeys(STATES, "available"))

        time.call_at(SEEN_AFTER, see)
        draws = [random.Random(seed) for seed in range(len(STATES))]  # noqa: S311 - jitter, the same each time
        waits = [
            bwp.Wait(
                client(),
                WAITER,
                {"DBInstanceIdentifier": name},
                on_attempt=partial(progress.attempted, index),
                delay_pace=partial(jittered_delay, **DELAYS, random=draw),
            )
            for index, (name, draw) in enumerate(zip(STATES, draws, strict=True))
        ]
        list(bwp.as_completed(waits, max_wait=MAX_WAIT))
    return seen


def picture() -> str:
    """Return the picture."""
    texts = [[(line, "")] for line in COMMAND]
    shown = map(Segment.simplify, lines())
    texts += [[(each.text, _class_of(each.style)) for each in line] for line in shown]
    parts = [f"<style>\n{STYLE}\n</style>"]
    for number, line in enumerate(texts):
        spans = "".join(f'<tspan class="{name}">{escape(text)}</tspan>' for text, name in line)
        parts.append(f'<text class="mono" x="{LEFT}" y="{60 + LINE * number}">{spans}</text>')
    title = "Three waits on a terminal, after 200 seconds"
    return svg_picture(760, 60 + LINE * len(texts), title, parts)


def _class_of(style: Any) -> str:
    return " ".join(name for name in ("bold", "dim") if getattr(style, name, None))


if __name__ == "__main__":
    Path(FILE).write_text(picture(), encoding="utf-8")
