"""`boto-wait scan`: find loops that poll AWS by hand, and print the line to write instead.

Files are parsed, never imported or run. Exit codes: 0, 1 for a loop with `--fail-on FOUND`, 2 for
wrong arguments.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import gc
import io
import json
import os
import re
import stat
import sys
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..check.events import Location
from ..engine.redaction import printable
from ..scan.calls import may_read
from ..scan.loops import polling_loops
from ..scan.names import NotReadError
from ..scan.replacement import replacements
from ..validation import Severity, ValidationEvent
from .exit_codes import PROBLEMS, SUCCEEDED, UsageError, refuse_missing
from .output import json_text, print_events

RULE = "PollingLoop"
"""The id of a finding in annotations and SARIF."""

_NOTEBOOK = ".ipynb"
_KEEP = re.compile(rb"#\s*boto-wait:\s*keep\b")
_WAITS = re.compile(
    rb"sleep\(|\.wait\(|tenacity|backoff|retrying|polling|waiting|wait_(?:for|until)|poll\("
)
_METHODS = re.compile(rb"\.(\w+)(?=\()")
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


class _Finding(NamedTuple):
    """A loop, and where it is if it is one statement that does nothing but wait."""

    loop: FoundLoop
    statement: tuple[int, int] | None
    """Its first and last line."""


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
        "--diff",
        action="store_true",
        help="print a patch for `git apply` instead: the loops that are one statement and do "
        "nothing but wait",
    )
    parser.add_argument(
        "--output",
        choices=("text", "json", "github", "sarif"),
        default="text",
        help="text, JSON, annotations for GitHub Actions, or a SARIF document (default: text)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Scan the files; return the exit code."""
    refuse_missing(arguments.paths)
    if arguments.diff and arguments.output != "text":
        raise UsageError("--diff prints a patch: leave out --output")
    files = [file for name in arguments.paths for file in _files(Path(name))]
    was_enabled = gc.isenabled()
    gc.disable()  # The trees of a thousand files have no cycles to look for.
    try:
        known = [each for file in files for each in _findings(file)]
    finally:
        if was_enabled:
            gc.enable()
    lines = [each for each in known if each.loop.replacement]
    found = known if arguments.all else lines
    events = [_event(each.loop) for each in found]
    if arguments.diff:
        for file in dict.fromkeys(each.loop.file for each in lines):
            print(_patch(file, [each for each in lines if each.loop.file == file]), end="")
    elif arguments.output == "json":
        print(json_text([each.loop._asdict() for each in found], indent=2))
    else:
        print_events(events, arguments.output, "scan", lambda one: f"{one.location}: {one.message}")
    unclear = len(known) - len(lines)
    counts = [f"files: {len(files)}", f"loops: {len(lines)}"]
    counts += [f"unclear: {unclear}" + " (--all)" * (not arguments.all)] if unclear else []
    print(f"boto-wait scan: {', '.join(counts)}", file=sys.stderr)
    if lines and arguments.output == "text":
        print(f"boto-wait scan: {_NEEDED}", file=sys.stderr)
    return PROBLEMS if found and arguments.fail_on else SUCCEEDED


_NEEDED = (
    "the lines need `import boto_waiters_plus as bwp`, and `bwp.install()` where the program starts"
)


def _event(loop: FoundLoop) -> ValidationEvent:
    place = f"cell {loop.cell}, line {loop.line}: " if loop.cell else ""
    location = Location(loop.file, *((None, None) if place else (loop.line, loop.column)))
    what = loop.operation or loop.waiter or "an unknown operation"
    end = f"; write: {loop.replacement}" if loop.replacement else ", until something unknown"
    polled = " ".join(filter(None, [loop.service, what]))
    message = f"{place}{polled} is polled by hand{end}"
    return ValidationEvent(Severity.NOTE, RULE, None, message, location)


def _patch(file: str, found: list[_Finding]) -> str:
    """Return a patch for a file, as `git diff` prints one; empty if nothing is replaced."""
    whole = [each for each in found if each.statement is not None and each.loop.cell is None]
    if not whole:
        return ""
    content = _content(Path(file))
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    # The lines of the parser, and a byte order mark stays.
    text = content.decode(encoding.removesuffix("-sig"))
    before = io.StringIO(text, newline="").readlines()
    after = list(before)
    for each in reversed(whole):
        first, last = each.statement or (0, 0)
        ending = before[last - 1][len(before[last - 1].rstrip("\r\n")) :]
        indent = before[first - 1][: each.loop.column - 1]
        after[first - 1 : last] = [f"{indent}{each.loop.replacement}{ending}"]
    name = Path(os.path.relpath(file)).as_posix()
    lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


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


def _findings(file: Path) -> list[_Finding]:
    """Return the loops of a file; say so if it cannot be read."""
    try:
        content = _content(file)
        source: str | bytes = content
        cells, is_read = None, _may_poll(content)
        if file.suffix == _NOTEBOOK:
            source, cells = _of_notebook(json.loads(content), is_read=is_read)
        # To parse takes most of the time.
        loops = polling_loops(_parsed(source)) if is_read else []
        lines = (source if isinstance(source, bytes) else source.encode()).splitlines()
        kept = [each for each in loops if not _is_kept(lines, each.source.head)]
        found = list(zip(kept, replacements(kept) if kept else [], strict=True))
    except Exception as error:  # whatever reading, JSON and the parser raise for what is no source
        _say_not_read(file, error)
        return []
    findings = []
    for loop, instead in found:
        if instead is not None:
            place: tuple[int | None, int]
            place = cells[loop.line - 1] if cells else (None, loop.line)
            cell, line = place
            known = FoundLoop(str(file), cell, line, loop.column, *instead)
            findings.append(_Finding(known, loop.source.lines))
    return findings


def _may_poll(content: bytes) -> bool:
    """Return whether a file has words that each polling loop has."""
    names = {*_METHODS.findall(content)} if _WAITS.search(content) else set()
    return any(may_read(each.decode(), is_client=b"boto" in content) for each in names)


def _is_kept(lines: list[bytes], head: range) -> bool:
    """Return whether a comment says that a loop stays: in its first lines, or alone above them."""
    above = lines[head.start - 2 : head.start - 1] if head.start > 1 else []
    own = [each for each in above if each.strip().startswith(b"#")]
    return any(_KEEP.search(each) for each in (*own, *(lines[i - 1] for i in head)))


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
        most = _MOST_BYTES * (4 if file.suffix == _NOTEBOOK else 1)
        content = opened.read(most + 1)
    if len(content) > most:
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


def _of_notebook(document: Any, *, is_read: bool) -> tuple[str, list[tuple[int, int]]]:
    """Return the source of all cells that are Python, and the cell and line of each line."""
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    for number, cell in enumerate(document["cells"], start=1):
        text = "".join(cell["source"]) if cell["cell_type"] == "code" and is_read else ""
        own = ["" if each.lstrip()[:1] in ("%", "!", "?") else each for each in text.splitlines()]
        # What IPython alone understands is left out with its cell.
        with contextlib.suppress(SyntaxError, ValueError):
            _parsed("\n".join(own))
            lines += own
            places += [(number, line) for line in range(1, len(own) + 1)]
    return "\n".join(lines), places
