"""`boto-wait show`: one waiter in words, or as a diagram.

Exit codes: 0 done, 2 a name that does not exist.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..engine.model import WaiterDefinition

DONE, USAGE = 0, 2

WAITS = {"5 min": 300, "10 min": 600, "30 min": 1800}
"""The waits that the schedule is worked out for, in seconds."""

DRAWS: dict[str, Callable[[float, float], float]] = {
    "SHORTEST": lambda low, _: low,
    "MIDDLE": lambda low, high: (low + high) / 2,
    "LONGEST": lambda _, high: high,
}


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "show",
        help="explain a waiter: its acceptors, its schedule, what stands behind it",
        description="Explain one waiter, as a client has it here.",
    )
    parser.add_argument(
        "service",
        metavar="SERVICE",
        help="as boto3.client has it (logs), or the hyphenised service id (cloudwatch-logs)",
    )
    parser.add_argument(
        "waiter", metavar="WAITER", help="bucket-exists, bucket_exists or BucketExists"
    )
    parser.add_argument(
        "--diagram", choices=("mermaid", "dot"), help="print a state diagram and nothing else"
    )


def run(arguments: argparse.Namespace) -> int:
    """Show it; return the exit code."""
    # Not at the top: a command's module is imported to read the command line, botocore is slow.
    from ..exceptions import WaiterDefinitionError  # noqa: PLC0415
    from . import diagrams  # noqa: PLC0415
    from .services import UnknownNameError, find_service, find_waiter  # noqa: PLC0415
    from .text import printable  # noqa: PLC0415

    try:
        service = find_service(arguments.service)
        definition = find_waiter(service, arguments.waiter)
    except (UnknownNameError, WaiterDefinitionError) as error:
        print(f"boto-wait show: {printable(str(error))}", file=sys.stderr)
        return USAGE
    match arguments.diagram:
        case "mermaid":
            print(diagrams.mermaid(definition))
        case "dot":
            print(diagrams.dot(definition))
        case _:
            print("\n".join(_lines(service, definition)))
    return DONE


def _lines(service: str, definition: WaiterDefinition) -> Iterator[str]:
    from botocore import xform_name  # noqa: PLC0415

    from .services import confidence  # noqa: PLC0415
    from .text import columns, printable  # noqa: PLC0415
    from .wording import delays, reason_paths, verdicts  # noqa: PLC0415

    deprecated = " (deprecated)" if definition.deprecated else ""
    yield f"{definition.name} of {service}, by {definition.operation}{deprecated}"
    if definition.documentation:
        yield from textwrap.wrap(printable(" ".join(definition.documentation.split())), 88)
    yield ""
    yield columns(
        [
            ("method", f"client.wait_until_{xform_name(definition.name)}(max_wait=..., ...)"),
            ("confidence", confidence(definition)),
            ("source", definition.source),
            ("tags", ", ".join(definition.tags) or "none"),
        ]
    )
    yield ""
    yield "Acceptors: the first that matches decides."
    yield textwrap.indent(columns(verdicts(definition)), "  ")
    for path in reason_paths(definition):
        yield f"A failure quotes {printable(path)}."
    yield ""
    yield f"Schedule: pauses of {delays(definition)}, looks within a wait by the draws:"
    yield textwrap.indent(columns(list(_schedule(definition))), "  ")


def _schedule(definition: WaiterDefinition) -> Iterator[tuple[str | int, ...]]:
    from .wording import looks  # noqa: PLC0415

    yield ("MAX_WAIT", *DRAWS, "LOOKS BY MIDDLE DRAWS")
    for text, max_wait in WAITS.items():
        counts = [len(looks(definition, max_wait, draw)) for draw in DRAWS.values()]
        yield (text, *counts, _times(looks(definition, max_wait, DRAWS["MIDDLE"])))


def _times(times: list[float]) -> str:
    """The first looks and the last, in whole seconds."""
    shown = [f"{time:.0f}" for time in times]
    if len(shown) > 8:
        shown = [*shown[:6], "...", shown[-1]]
    return ", ".join(shown) + " s"
