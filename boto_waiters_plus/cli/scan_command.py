"""`boto-wait scan`: find loops that poll AWS by hand, and print the line to write instead.

Files are parsed, never imported or run. Exit codes: 0, 1 for a loop with `--fail-on FOUND`, 2 for
wrong arguments.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..engine.redaction import printable
from .exit_codes import PROBLEMS, SUCCEEDED, refuse_missing
from .text import json_text

RULE = "PollingLoop"
"""The id of a finding in annotations and SARIF."""

_NOTEBOOK = ".ipynb"
_SKIPPED = ("__pycache__", "node_modules", "site-packages", "venv")
"""Folders that are not searched, beside those whose names begin with a dot."""


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
    """The line to write instead, as `loop_replacement.Replacement.line`."""


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
    # Imported late: `--help` needs none of them.
    from ..check.events import Location  # noqa: PLC0415
    from ..validation import Severity, ValidationEvent  # noqa: PLC0415
    from .annotations import github_line, sarif  # noqa: PLC0415

    refuse_missing(arguments.paths)
    files = [file for name in arguments.paths for file in _files(Path(name))]
    known = (each for file in files for each in _findings(file))
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
    elif arguments.output == "sarif":
        print(json.dumps(sarif(events, "scan"), indent=2))
    else:
        for event in events:
            text = f"{event.location}: {event.message}"
            print(printable(text) if arguments.output == "text" else github_line(event))
    print(f"boto-wait scan: files: {len(files)}, loops: {len(found)}", file=sys.stderr)
    return PROBLEMS if found and arguments.fail_on else SUCCEEDED


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the Python files and notebooks in a folder."""
    if not path.is_dir():
        yield path
        return
    for each in sorted(path.iterdir()):
        is_wanted = each.is_dir() or each.suffix in (".py", _NOTEBOOK)
        if is_wanted and not each.name.startswith(".") and each.name not in _SKIPPED:
            yield from _files(each)


def _findings(file: Path) -> Iterator[FoundLoop]:
    """Yield the loops of a file; say so if it cannot be read."""
    from .loop_replacement import replacement  # noqa: PLC0415 - as in `run`
    from .polling_loops import polling_loops  # noqa: PLC0415

    try:
        source: str | bytes = file.read_bytes()
        cells = None
        if file.suffix == _NOTEBOOK:
            source, cells = _of_notebook(json.loads(source))
        loops = polling_loops(_parsed(source))
    except Exception as error:  # whatever reading, JSON and the parser raise for what is no source
        text = f"boto-wait scan: {file} was not read: {type(error).__name__}: {error}"
        print(printable(text), file=sys.stderr)
        return
    for loop in loops:
        instead = replacement(loop)
        if instead is not None:
            cell, line = cells[loop.line - 1] if cells else (None, loop.line)
            yield FoundLoop(str(file), cell, line, loop.column, *instead)


def _parsed(source: str | bytes) -> ast.Module:
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
