"""What the demo shows: progress on stderr, the table on stdout; by rich on a terminal."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from .performance import Performance, Side
from .scenarios import MAX_WAIT, DeadlinePasses, Way

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WORDS = ("wait", "how", "outcome")
NUMBERS = ("attempts", "calls", "seconds", "late")

NOTES = f"""\
stock       client.get_waiter(...).wait(...), botocore alone; it returns None
get_waiter  the same line after enable(client): polls more often at first
wait_until  client.wait_until_<name>(..., max_wait={MAX_WAIT:g}): delays from a quarter
            of botocore's delay to all of it
outcome     the class of what was returned or raised
attempts    operation calls; calls: HTTP requests, the SDK's retries included
late        seconds from when it really happened (at a random time) to the end
            of the wait; where the deadline passes, from the {DeadlinePasses.deadline:g} s asked for
"""

MAX_WIDTH = 100
"""Characters of a line of text."""

LIVE_WIDTHS = (15, 9, 15, 18, 18)
"""Characters of the columns of the live table; together they fit a terminal of 80."""


def rich_console(stream: TextIO) -> Console | None:
    """A console where rich has something to offer: a real terminal, and rich installed."""
    if not stream.isatty():
        return None
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    console = Console(file=stream, highlight=False)
    return None if console.is_dumb_terminal else console


@contextmanager
def progress(stream: TextIO, *, plain: bool) -> Iterator[Callable[[Performance], None]]:
    """Show progress while open: a table that changes on a terminal, else a line for each event.

    Args:
        stream: where to.
        plain: lines in any case.

    Yields:
        What to call again and again with the performance.
    """
    console = None if plain else rich_console(stream)
    if console is None:
        yield lambda performance: _print_news(performance, stream)
        return
    from rich.live import Live  # noqa: PLC0415 - an extra

    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda performance: live.update(_live_table(performance), refresh=True)


def report(performance: Performance, stream: TextIO, *, plain: bool) -> None:
    """Show what came of it.

    Args:
        performance: one that is over.
        stream: where to.
        plain: without colours in any case.
    """
    console = None if plain else rich_console(stream)
    width = MAX_WIDTH if console is None else min(MAX_WIDTH, console.width)
    for scenario in performance.scenarios:
        for line in _reasons(performance.of(scenario), width):
            print(line, file=stream)
    print(NOTES, file=stream)
    if console is None:
        print(_plain_table(performance), file=stream)
    else:
        console.print(_rich_table(performance), "")
    print(_verdict(performance), file=stream)


# --- words ------------------------------------------------------------------------------------


def _cells(side: Side) -> tuple[str, ...]:
    return (
        side.scenario.title,
        side.way.value,
        side.kind,
        str(side.traffic.attempts),
        str(side.traffic.requests),
        f"{side.seconds:.2f}",
        # Plus 0.0: no "-0.00".
        "-" if side.late is None else f"{round(side.late, 2) + 0.0:.2f}",
    )


def _reasons(sides: Sequence[Side], width: int) -> Iterator[str]:
    failed = [side for side in sides if side.error is not None]
    if not failed:
        return
    yield f"{failed[0].scenario.title}, in the words of the error:"
    for side in failed:
        yield textwrap.fill(
            str(side.error) or side.kind,
            width,
            initial_indent=f"  {side.way.value:12}",
            subsequent_indent=" " * 14,
            break_on_hyphens=False,
        )
    yield ""


def _verdict(performance: Performance) -> str:
    if performance.trouble is not None:
        trouble = performance.trouble
        return f"The demo itself went wrong: {type(trouble).__name__}: {trouble}"
    wrong = [
        f"{side.scenario.title}, {side.way.value}: {side.complaint}"
        for side in performance.sides
        if side.complaint
    ]
    if wrong:
        return "\n".join(["NOT as expected:", *wrong])
    return f"All {len(performance.sides)} waits ended as expected."


def _print_news(performance: Performance, stream: TextIO) -> None:
    # Nobody else takes news, so that what is not empty stays so.
    while not performance.news.empty():
        print(performance.news.get(), file=stream, flush=True)


def _plain_table(performance: Performance) -> str:
    heading = (*WORDS, *NUMBERS)
    groups = [[_cells(side) for side in performance.of(s)] for s in performance.scenarios]
    columns = zip(heading, *(row for rows in groups for row in rows), strict=True)
    widths = [max(map(len, column)) for column in columns]

    def line(row: tuple[str, ...]) -> str:
        cells = list(zip(row, widths, strict=True))
        words = [f"{cell:<{width}}" for cell, width in cells[: len(WORDS)]]
        numbers = [f"{cell:>{width}}" for cell, width in cells[len(WORDS) :]]
        return f"{'  '.join(words)} {' '.join(numbers)}"

    lines = [line(heading), ""]
    for rows in groups:
        lines += [*map(line, rows), ""]
    return "\n".join(lines)


# --- by rich ----------------------------------------------------------------------------------


def _style(side: Side) -> str:
    if side.ended is None:
        return "dim"
    if side.kind != side.scenario.expected(side.way):
        return "bold red"
    return "green" if side.error is None else "yellow"


def _rich_table(performance: Performance) -> Table:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - an extra
    from rich.table import Table  # noqa: PLC0415 - an extra
    from rich.text import Text  # noqa: PLC0415 - an extra

    table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
    for name in WORDS:
        table.add_column(name, no_wrap=True)
    for name in NUMBERS:
        table.add_column(name, no_wrap=True, justify="right")
    for scenario in performance.scenarios:
        sides = performance.of(scenario)
        for side in sides:
            title, way, kind, *numbers = _cells(side)
            first, last = side is sides[0], side is sides[-1]
            table.add_row(
                Text(title if first else "", "bold"),
                way,
                Text(kind, _style(side)),
                *numbers,
                end_section=last,
            )
    return table


def _live_table(performance: Performance) -> Table:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - an extra
    from rich.table import Table  # noqa: PLC0415 - an extra
    from rich.text import Text  # noqa: PLC0415 - an extra

    now = time.monotonic()
    table = Table(
        box=SIMPLE_HEAD,
        padding=0,
        show_edge=False,
        title=f"{performance.seconds:.1f} s",
        title_justify="left",
    )
    # As wide as they get: columns that grow while one reads them are a nuisance.
    for name, width in zip(("wait", "happens", *(w.value for w in Way)), LIVE_WIDTHS, strict=True):
        table.add_column(name, no_wrap=True, min_width=width)
    for scenario in performance.scenarios:
        left = performance.began + scenario.after - now
        table.add_row(
            Text(scenario.title, "bold"),
            f"in {left:.1f} s" if left > 0 else f"at {scenario.after:.1f} s",
            *(Text(_doing(side, now), _style(side)) for side in performance.of(scenario)),
        )
    return table


def _doing(side: Side, now: float) -> str:
    calls = f"{side.traffic.requests} call{'' if side.traffic.requests == 1 else 's'}"
    if side.ended is not None:
        return f"{side.seconds:.1f} s, {calls}"
    if side.next_look is None:
        return calls
    return f"{calls}, next {max(0.0, side.next_look - now):.1f}"
