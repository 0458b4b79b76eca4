"""The options of `boto-wait wait` that do not depend on the service."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from typing import Any

from .client_options import add_client_options, duration
from .completion import complete_with
from .parser import Parser
from .query import add_output_options
from .text import RETRY_TRANSIENT, flag

DURATIONS = {
    "min_delay": "least delay between two attempts",
    "max_delay": "largest delay between two attempts",
    "initial_delay": "delay before the first attempt",
    "missing_ok_for": "time in which a resource that is not found may still appear",
    "success_for": "time that the state must have held",
    "settle_for": "time in which a state may be from before a change",
}

COUNTS = {
    "max_attempts": "number of attempts at which the wait ends",
    "success_count": "number of successes in a row that end the wait",
}

OPTIONS = (*DURATIONS, *COUNTS, "retry_errors_for", "explain_failure", "retry_transient")
"""The options of `WaitOptions` that a command line has."""

AD_HOC = ("failure", "success_on_error", "retry_on_error", "many")
"""The arguments of `WaiterDefinition.from_states` that a command line has."""


def _error_time(text: str) -> tuple[str, float]:
    """Return the code and the seconds of `CODE=TIME`."""
    code, _, time = text.rpartition("=")
    if not code:
        raise argparse.ArgumentTypeError(f"{text!r} is no CODE=TIME, such as AccessDenied=60")
    return code, duration(time)


def add_wait_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that do not depend on the service, to any parser."""
    group = parser.add_argument_group("the wait; TIME is 90, 45m or 1h30m")
    group.add_argument("--max-wait", type=duration, metavar="TIME", help="required")
    for name, text in DURATIONS.items():
        group.add_argument(flag(name), type=duration, metavar="TIME", help=text)
    for name, text in COUNTS.items():
        group.add_argument(flag(name), type=int, metavar="NUMBER", help=text)
    group.add_argument(
        "--retry-errors-for",
        nargs="+",
        action="extend",
        type=_error_time,
        metavar="CODE=TIME",
        help="errors that are no failure yet, and for how long: AccessDenied=60",
    )
    group.add_argument(
        "--retry-transient",
        choices=RETRY_TRANSIENT,
        help="after throttles, HTTP 5xx and lost connections: poll again (answered: a connection "
        "that cannot be made ends the wait until the service has answered; the default), poll "
        "again always, or never",
    )
    group.add_argument(
        "--explain-failure",
        action=argparse.BooleanOptionalAction,
        help="after a failure, make up to two reads that tell the cause (the default)",
    )
    group = parser.add_argument_group("several resources")
    group.add_argument(
        "--each",
        nargs="+",
        metavar=("PARAMETER", "VALUE"),
        help="one wait for each value: --each instance-ids i-1 i-2",
    )
    group.add_argument(
        "--stdin",
        "-",
        action="store_true",
        help="one wait for each line of stdin, a JSON object of parameters",
    )
    group = parser.add_argument_group("a waiter of your own")
    group.add_argument(
        "--definitions", action="append", metavar="FILE", help="file or folder of definitions"
    )
    _add_ad_hoc_options(group)
    _add_background_and_output(parser)
    add_client_options(parser)


def _add_background_and_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("background (see `boto-wait operations`)")
    group.add_argument(
        "--background",
        action="store_true",
        help="store the wait, print its path, and leave it to a worker",
    )
    group.add_argument("--store", metavar="URL", help="file or SQLAlchemy URL of the store")
    group = parser.add_argument_group("output")
    add_output_options(group)
    group.add_argument("--quiet", action="store_true", help="print errors only")
    group.add_argument("--include-response", action="store_true", help="print the response too")


def _add_ad_hoc_options(group: Any) -> None:
    until = group.add_argument(
        "--until", nargs="*", metavar="STATE", help="with an operation: states that are success"
    )
    path = group.add_argument(
        "--state-path", metavar="EXPRESSION", help="JMESPath to the state, if there are several"
    )
    complete_with(until, lambda given: getattr(given, "known_states", ()))
    complete_with(path, lambda given: getattr(given, "known_paths", ()))
    for name, text in (
        ("failure", "states that are failure, instead of a guess by their names"),
        ("success_on_error", "errors that end it with success"),
        ("retry_on_error", "errors that are no failure"),
    ):
        group.add_argument(flag(name), nargs="+", metavar="NAME", help=text)
    group.add_argument(
        "--many", choices=("all", "any"), help="for a list, how many items must succeed"
    )


def peek(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return the options among words, and the words that are none of these options.

    The last word may lack its value, which is being completed. If the words
    cannot be parsed for another reason, no option is returned: the real parser will say why.
    """
    parser = Parser(add_help=False, exit_on_error=False)
    add_wait_options(parser)
    parser.add_argument("-h", "--help", action="store_true")
    for known in (words, words[:-1]):
        with contextlib.suppress(argparse.ArgumentError):
            return parser.parse_known_args(known)
    return argparse.Namespace(until=None, profile=None, definitions=None), []
