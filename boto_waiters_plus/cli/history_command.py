"""`boto-wait history`: the times of earlier waits, listed or deleted."""

from __future__ import annotations

import argparse
import contextlib
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from botocore import xform_name

from ..history import ENDS, History, HistoryKey
from ..service.catalog import squashed
from .exit_codes import CannotRunError
from .output import columns, span
from .service_lookup import find_service

FILE_HELP = "the file of the history (default: the user's)"
HEAD = ("service", "waiter", "region", "kind", "from", *ENDS, "median")


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "history", description="List the times that waits with delay_history took, or delete them."
    )
    parser.add_argument("service", nargs="?", metavar="SERVICE")
    parser.add_argument("waiter", nargs="?", metavar="WAITER")
    parser.add_argument("--clear", action="store_true", help="delete what would be listed")
    parser.add_argument("--file", type=Path, metavar="FILE", help=FILE_HELP)


def run(arguments: argparse.Namespace) -> int:
    """List or delete; return the exit code."""
    service = arguments.service and find_service(arguments.service)
    history, found = kept(arguments.file, service, arguments.waiter)
    if not found:
        print(f"boto-wait history: nothing is kept in {history.path}", file=sys.stderr)
    elif arguments.clear:
        name = next(iter(found)).waiter if arguments.waiter else None
        with _usable(history.path):
            number = history.clear(service, name)
        print(f"boto-wait history: {number} times deleted", file=sys.stderr)
    else:
        print(columns([HEAD, *map(_row, found, found.values())]))
    return 0


def kept(
    path: Path | None, service: str | None, waiter: str | None
) -> tuple[History, dict[HistoryKey, list[tuple[float, str]]]]:
    """Return a history and what is kept there; the waiter's name may be spelled in any way."""
    with _usable(path):
        history = History(path)
        times = history.entries()
    name = squashed(waiter or "")
    keys = [each for each in times if service in (None, each.service)]
    return history, {each: times[each] for each in keys if name in ("", squashed(each.waiter))}


@contextlib.contextmanager
def _usable(path: Path | None) -> Iterator[None]:
    try:
        yield
    except (ImportError, OSError, sqlite3.Error) as error:
        raise CannotRunError(f"{path or 'the history'} cannot be used: {error}") from None


def _row(key: HistoryKey, times: list[tuple[float, str]]) -> tuple[str, ...]:
    ends = [seconds for seconds, end in times if end != "timeout"]
    counts = [str(sum(kind == end for _, end in times)) for kind in ENDS]
    names = (key.service, xform_name(key.waiter, "-"), key.region, key.kind)
    counted = [*counts, span(round(median(ends))) if ends else ""]
    return (*names, "call" if key.from_call else "wait", *counted)
