"""`boto-wait check`: says what is wrong with waiter definitions, one line an event.

Exit codes: 0 nothing at DANGER or ERROR, 1 something, 2 arguments that make no sense.
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

CLEAN, FOUND, USAGE = 0, 1, 2


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "check",
        help="check waiter definitions against the shapes of their operations",
        description="Check waiter definitions: Smithy's rules, and some more. Prints an event a "
        "line; exits with 1 if one is a DANGER or an ERROR.",
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
        help="the botocore name of the service, where neither namespace nor path tells it",
    )
    parser.add_argument(
        "--severity",
        choices=("NOTE", "WARNING", "DANGER", "ERROR"),
        default="NOTE",
        help="print nothing below this (default: NOTE); the last line counts all",
    )


def run(arguments: argparse.Namespace) -> int:
    """Check the files; return the exit code."""
    # Not at the top: a command's module is imported to read the command line, botocore is slow.
    from botocore.exceptions import UnknownServiceError  # noqa: PLC0415

    from ..validation import Severity, check  # noqa: PLC0415

    missing = [name for name in arguments.files if not Path(name).exists()]
    if missing:
        return _usage(f"no such file: {', '.join(missing)}")
    try:
        events = check(arguments.files, arguments.service)
    except UnknownServiceError:
        return _usage(f"botocore knows no service {arguments.service!r}")
    for event in sorted(events, key=_place):
        if event.severity >= arguments.severity:
            print(_line(event))
    print(_summary(events), file=sys.stderr)
    return FOUND if any(event.severity >= Severity.DANGER for event in events) else CLEAN


def _usage(problem: str) -> int:
    print(f"boto-wait check: {problem}", file=sys.stderr)
    return USAGE


def _place(event: ValidationEvent) -> tuple[str, int, int]:
    """The order of lines: as the files have it, and the checker within a place."""
    return event.source or "", event.line or 0, event.column or 0


def _line(event: ValidationEvent) -> str:
    # The place comes first, as compilers have it: editors and terminals find it there.
    place = f"{event.location}: " if event.location else ""
    # Texts quote the file: nothing in it may break the line, or reach the terminal as a command.
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in f"{place}{event}"
    )


def _summary(events: Iterable[ValidationEvent]) -> str:
    counts = Counter(event.severity for event in events)
    parts = [f"{counts[severity]} {severity}" for severity in sorted(counts, reverse=True)]
    return "boto-wait check: " + (", ".join(parts) or "nothing to say")
