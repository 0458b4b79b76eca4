"""`boto-wait scan`: find loops that poll AWS by hand, and print the line to write instead.

Files are parsed, never imported or run. Exit codes: 0, 1 for a loop with `--fail-on FOUND`, 2 for
wrong arguments.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import stat
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..check.events import Location
from ..engine.redaction import printable
from ..scan.loops import polling_loops
from ..scan.names import NotReadError
from ..scan.replacement import replacements
from ..validation import Severity, ValidationEvent
from .exit_codes import PROBLEMS, SUCCEEDED, refuse_missing
from .output import json_text, print_events

RULE = "PollingLoop"
"""The id of a finding in annotations and SARIF."""

_NOTEBOOK = ".ipynb"
_SKIPPED = ("__pycache__", "node_modules", "site-packages", "venv")
"""Folders that are not searched, beside those whose names begin with a dot."""
_MOST_BYTES = 5_000_000
"""Of Python: the parser takes up to a thousand times as much memory. A notebook has pictures, too,
and may have four times as many."""


class FoundLoop(NamedTuple):
    """A loop in a file, in the members that `--output json` prints."""

    file: str
    cell: int | None
    """The number of the cell, of a notebook; `line` is a line of the cell then."""
    line: int
    column: int
    service: str | None
    operation: str | None
    waiter: str | None
    replacement: str | None
    """The line to write instead, as `replacement.Replacement.line`."""


def add_parser(subparsers: Any) -> None:
    """Add the parser of the command."""
    parser = subparsers.add_parser(
        "scan",
        description="Find loops in Python files and notebooks that poll AWS by hand, and print the "
        "line to write instead. Files are parsed, never imported or run.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, or a folder of files")
    parser.add_argument(
        "--all", action="store_true", help="print also loops whose operation or end is unclear"
    )
    parser.add_argument("--fail-on", choices=("FOUND",), help="exit with 1 if a loop is printed")
    parser.add_argument(
        "--output",
        choices=("text", "json", "github", "sarif"),
        default="text",
        help="text, JSON, annotations for GitHub Actions, or a SARIF document (default: text)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Scan the files; return the exit code."""
    refuse_missing(arguments.paths)
    files = [file for name in arguments.paths for file in _files(Path(name))]
    known = [each for file in files for each in _findings(file)]
    found = [each for each in known if arguments.all or each.replacement]
    events = []
    for each in found:
        place = f"cell {each.cell}, line {each.line}: " if each.cell else ""
        location = Location(each.file, *((None, None) if place else (each.line, each.column)))
        what = each.operation or each.waiter or "an unknown operation"
        end = f"; write: {each.replacement}" if each.replacement else ", until something unknown"
        polled = " ".join(filter(None, [each.service, what]))
        message = f"{place}{polled} is polled by hand{end}"
        events.append(ValidationEvent(Severity.NOTE, RULE, None, message, location))
    if arguments.output == "json":
        print(json_text([each._asdict() for each in found], indent=2))
    else:
        print_events(events, arguments.output, "scan", lambda one: f"{one.location}: {one.message}")
    print(f"boto-wait scan: files: {len(files)}, loops: {len(found)}", file=sys.stderr)
    return PROBLEMS if found and arguments.fail_on else SUCCEEDED


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the Python files and notebooks in a folder; follow no link in it."""
    waiting = [path]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as entries:
                below = sorted(path / each.name for each in entries if _is_wanted(each))
            waiting += reversed(below)
        except NotADirectoryError:
            yield path
        except OSError as error:
            _say_not_read(path, error)


def _is_wanted(entry: os.DirEntry[str]) -> bool:
    is_file = entry.is_file(follow_symlinks=False) and entry.name.endswith((".py", _NOTEBOOK))
    is_hidden = entry.name.startswith(".") or entry.name in _SKIPPED
    return (is_file or entry.is_dir(follow_symlinks=False)) and not is_hidden


def _findings(file: Path) -> list[FoundLoop]:
    """Return the loops of a file; say so if it cannot be read."""
    try:
        source: str | bytes = _content(file)
        cells = None
        if file.suffix == _NOTEBOOK:
            source, cells = _of_notebook(json.loads(source))
        loops = polling_loops(_parsed(source))
        found = list(zip(loops, replacements(loops), strict=True))
    except Exception as error:  # whatever reading, JSON and the parser raise for what is no source
        _say_not_read(file, error)
        return []
    places: list[tuple[int | None, int]]
    places = [cells[loop.line - 1] if cells else (None, loop.line) for loop, _ in found]
    return [
        FoundLoop(str(file), *place, loop.column, *instead)
        for place, (loop, instead) in zip(places, found, strict=True)
        if instead is not None
    ]


def _say_not_read(path: Path, error: Exception) -> None:
    why = f"{error}" if isinstance(error, NotReadError) else f"{type(error).__name__}: {error}"
    print(printable(f"boto-wait scan: {path} was not read: {why}"), file=sys.stderr)


def _content(file: Path) -> bytes:
    """Return what is in a regular file."""
    # To open a pipe would block until somebody writes to it.
    more = getattr(os, "O_NONBLOCK", 0)
    with open(file, "rb", opener=lambda name, flags: os.open(name, flags | more)) as opened:
        # Another file may have the name by now than when the folder was listed.
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise NotReadError("not a regular file")
        content = opened.read(4 * _MOST_BYTES + 1)
    if len(content) > 4 * _MOST_BYTES:
        raise NotReadError("too large")
    return content


def _parsed(source: str | bytes) -> ast.Module:
    if len(source) > _MOST_BYTES:
        raise NotReadError("too large")
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with warnings.catch_warnings():
        # They are about the file, such as an invalid escape sequence.
        warnings.simplefilter("ignore")
        tree: ast.Module = compile(source, "<source>", "exec", flags, dont_inherit=True)
    return tree


def _of_notebook(document: Any) -> tuple[str, list[tuple[int, int]]]:
    """Return the source of all cells that are Python, and the cell and line of each line."""
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    for number, cell in enumerate(document["cells"], start=1):
        text = "".join(cell["source"]) if cell["cell_type"] == "code" else ""
        own = ["" if each.lstrip()[:1] in ("%", "!", "?") else each for each in text.splitlines()]
        # What IPython alone understands is left out with its cell.
        with contextlib.suppress(SyntaxError, ValueError):
            _parsed("\n".join(own))
            lines += own
            places += [(number, line) for line in range(1, len(own) + 1)]
    return "\n".join(lines), places
