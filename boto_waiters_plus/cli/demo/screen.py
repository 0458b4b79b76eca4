"""The demo's display: progress on stderr, the errors and the table on stdout."""

from __future__ import annotations

import shutil
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, TextIO

from ..text import columns, printable
from .comparison import Comparison, TimedWait
from .highlights import Highlight
from .scenarios import MAX_WAIT, DeadlinePasses

HEAD = ("wait", "way", "result", "attempts", "calls", "seconds", "late")

NOTES = f"""\
stock       client.get_waiter(...).wait(...) with botocore alone
get_waiter  the same line after enable(client)
wait_until  client.wait_until_<name>(..., max_wait={MAX_WAIT:g})
result      the class of what was returned or raised
calls       HTTP requests, including the SDK's own retries
late        seconds from the change of the resource, which comes at a random time,
            or from the deadline of {DeadlinePasses.deadline:g} s, to the end of the wait
"""

WIDTH = 100
"""Characters in a line of an error message."""


@contextmanager
def progress(stream: TextIO, *, plain: bool) -> Iterator[Callable[[Comparison], None]]:
    """Display progress: a table that is redrawn on a terminal with rich, else a line per event.

    Args:
        stream: where to write.
        plain: whether to print lines in any case.

    Yields:
        The function to call with the comparison at every update.
    """
    rich = None if plain or not stream.isatty() else _rich()
    if rich is None or (console := rich.Console(file=stream)).is_dumb_terminal:
        yield lambda comparison: _print_news(comparison, stream)
        return
    with rich.Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda comparison: live.update(
            rich.Text(table(comparison), no_wrap=True, overflow="crop"), refresh=True
        )


def _rich() -> Any:
    """Return what is used of rich, which is an extra; None if it is not installed."""
    try:
        from rich.console import Console  # noqa: PLC0415 - see above
        from rich.live import Live  # noqa: PLC0415 - see above
        from rich.text import Text  # noqa: PLC0415 - see above
    except ImportError:
        return None
    return SimpleNamespace(Console=Console, Live=Live, Text=Text)


def report(comparison: Comparison, stream: TextIO) -> None:
    """Print the errors, the notes, the table and the verdict of a comparison that has ended."""
    for scenario in comparison.scenarios:
        failed = [w for w in comparison.waits if w.scenario is scenario and w.error is not None]
        if failed:
            print(f"{scenario.title}, the errors:", file=stream)
        for wait in failed:
            print(_error(wait), file=stream)
    print("", NOTES, table(comparison), "", _verdict(comparison), sep="\n", file=stream)


def report_highlight(highlight: Highlight, stream: TextIO) -> None:
    """Print one part of the short demo, in at most ten lines."""
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 40)).columns)
    print(f"\n{highlight.title}\n  {highlight.code}", file=stream)
    for way, text in (("botocore", highlight.stock), ("this package", highlight.ours)):
        lines = textwrap.wrap(
            printable(text),
            width,
            initial_indent=f"  {way:14}",
            subsequent_indent=" " * 16,
            break_on_hyphens=False,
            max_lines=4,
            placeholder=" ...",
        )
        print("\n".join(lines), file=stream)
    if not highlight.as_expected:
        print("  NOT as expected", file=stream)
    stream.flush()


def table(comparison: Comparison) -> str:
    """Return the table of all waits, as of now."""
    return columns([HEAD, *map(_row, comparison.waits)])


def _row(wait: TimedWait) -> tuple[str | float, ...]:
    result = wait.result
    if wait.ended_at is None:
        due = wait.next_attempt_at
        result = "waiting" if due is None else f"next in {max(0, due - time.monotonic()):.1f} s"
    # The width of the longest result: columns must not move while they are read.
    result = result.ljust(len("WaiterAttemptsError"))
    # Adding 0.0 turns -0.0 into 0.0.
    late = "    -" if wait.late is None else round(wait.late, 2) + 0.0
    calls = wait.calls
    return (
        *(wait.scenario.title, wait.way.value, result),
        *(calls.attempts, calls.requests, wait.seconds, late),
    )


def _error(wait: TimedWait) -> str:
    return textwrap.fill(
        str(wait.error) or wait.result,
        WIDTH,
        initial_indent=f"  {wait.way.value:12}",
        subsequent_indent=" " * 14,
        break_on_hyphens=False,
    )


def _verdict(comparison: Comparison) -> str:
    complaints = [
        f"{wait.scenario.title}, {wait.way.value}: {wait.complaint}"
        for wait in comparison.waits
        if wait.complaint
    ]
    if complaints:
        return "\n".join(["NOT as expected:", *complaints])
    return f"All {len(comparison.waits)} waits ended as expected."


def _print_news(comparison: Comparison, stream: TextIO) -> None:
    # Only this function takes news, so `get` never blocks.
    while not comparison.news.empty():
        print(comparison.news.get(), file=stream, flush=True)
