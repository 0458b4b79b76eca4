"""`boto-wait check`: print the problems of waiter definitions, as text, for GitHub or as SARIF.

With `--installed`, print what a newer botocore has that the shipped definitions do not know.

Exit codes: 0 if no event is as bad as `--fail-on`, 1 if one is, 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Any

from botocore.exceptions import UnknownServiceError

from ..check.installed import check_installed
from ..service.places import botocore_is_older
from ..validation import ValidationEvent, check
from .exit_codes import PROBLEMS, SUCCEEDED, UsageError, refuse_missing
from .output import print_events

SEVERITIES = ("NOTE", "WARNING", "DANGER", "ERROR")


def add_parser(subparsers: Any) -> None:
    """Add the parser of the command."""
    parser = subparsers.add_parser(
        "check",
        description="Check waiter definitions by Smithy's rules, and some more. Print one event a "
        "line; exit with 1 if an event is an ERROR (see --fail-on).",
    )
    checked = parser.add_mutually_exclusive_group(required=True)
    checked.add_argument(
        "files",
        nargs="*",
        default=[],
        metavar="FILE",
        help="a Smithy model (.json in AST form, or .smithy), a waiters-2 document, or a folder of "
        "such files",
    )
    checked.add_argument(
        "--installed",
        action="store_true",
        help="instead of files: print what the installed botocore has that the definitions of this "
        "package do not know, such as new states",
    )
    parser.add_argument(
        "--service",
        metavar="NAME",
        help="the botocore name of the service, where neither a namespace nor a path names it; "
        "with --installed, the only one",
    )
    parser.add_argument(
        "--severity",
        choices=SEVERITIES,
        default="NOTE",
        help="print no event below this severity (default: NOTE); the last line counts all events",
    )
    parser.add_argument(
        "--fail-on",
        choices=SEVERITIES,
        default="ERROR",
        help="exit with 1 if an event has this severity or a worse one (default: ERROR)",
    )
    parser.add_argument(
        "--output",
        choices=("text", "github", "sarif"),
        default="text",
        help="text, annotations for GitHub Actions, or a SARIF document (default: text)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Check the files, or the installed botocore; return the exit code."""
    refuse_missing(arguments.files)
    try:
        events = (
            check_installed(arguments.service)
            if arguments.installed
            else check(arguments.files, arguments.service)
        )
    except UnknownServiceError:
        raise UsageError(f"botocore has no service {arguments.service!r}") from None
    # As they stand in the files.
    events.sort(key=lambda each: (each.source or "", each.line or 0, each.column or 0))
    shown = [each for each in events if each.severity >= arguments.severity]
    print_events(shown, arguments.output, "check", _line)
    if arguments.installed and botocore_is_older():
        text = "the installed botocore is older than the definitions: nothing is reported"
        print(f"boto-wait check: {text}", file=sys.stderr)
    counts = Counter(event.severity for event in events)
    parts = [f"{counts[severity]} {severity}" for severity in sorted(counts, reverse=True)]
    print(f"boto-wait check: {', '.join(parts) or 'no events'}", file=sys.stderr)
    return PROBLEMS if any(each.severity >= arguments.fail_on for each in events) else SUCCEEDED


def _line(event: ValidationEvent) -> str:
    # The location comes first, as in compilers' output: editors find it there.
    place = f"{event.location}: " if event.location else ""
    return f"{place}{event}"
