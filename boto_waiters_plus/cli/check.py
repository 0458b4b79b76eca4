"""`boto-wait check`: print the problems of waiter definitions, one event a line.

Exit codes: 0 if no event is a DANGER or an ERROR, 1 if one is, 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..validation import ValidationEvent

CLEAN, PROBLEMS, USAGE = 0, 1, 2


def add_parser(subparsers: Any) -> None:
    """Add the parser of the command."""
    parser = subparsers.add_parser(
        "check",
        help="check waiter definitions against the shapes of their operations",
        description="Check waiter definitions by Smithy's rules, and some more. Print one event a "
        "line; exit with 1 if an event is a DANGER or an ERROR.",
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a Smithy model (.json in AST form, or .smithy), a waiters-2 document, or a folder of "
        "such files",
    )
    parser.add_argument(
        "--service",
        metavar="NAME",
        help="the botocore name of the service, where neither a namespace nor a path names it",
    )
    parser.add_argument(
        "--severity",
        choices=("NOTE", "WARNING", "DANGER", "ERROR"),
        default="NOTE",
        help="print no event below this severity (default: NOTE); the last line counts all events",
    )


def run(arguments: argparse.Namespace) -> int:
    """Check the files; return the exit code."""
    # Imported late: this module is imported for every command, and botocore is slow to import.
    from botocore.exceptions import UnknownServiceError  # noqa: PLC0415

    from ..validation import Severity, check  # noqa: PLC0415

    missing = [name for name in arguments.files if not Path(name).exists()]
    if missing:
        return _usage(f"no such file: {', '.join(missing)}")
    try:
        events = check(arguments.files, arguments.service)
    except UnknownServiceError:
        return _usage(f"botocore has no service {arguments.service!r}")
    for event in sorted(events, key=_place):
        if event.severity >= arguments.severity:
            print(_line(event))
    print(_summary(events), file=sys.stderr)
    return PROBLEMS if any(event.severity >= Severity.DANGER for event in events) else CLEAN


def _usage(problem: str) -> int:
    print(f"boto-wait check: {problem}", file=sys.stderr)
    return USAGE


def _place(event: ValidationEvent) -> tuple[str, int, int]:
    """Return the key that sorts events as they stand in the files."""
    return event.source or "", event.line or 0, event.column or 0


def _line(event: ValidationEvent) -> str:
    # The location comes first, as in compilers' output: editors find it there.
    place = f"{event.location}: " if event.location else ""
    # Messages quote the file, which must not break the line or send the terminal escape codes.
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in f"{place}{event}"
    )


def _summary(events: Iterable[ValidationEvent]) -> str:
    counts = Counter(event.severity for event in events)
    parts = [f"{counts[severity]} {severity}" for severity in sorted(counts, reverse=True)]
    return "boto-wait check: " + (", ".join(parts) or "no events")
