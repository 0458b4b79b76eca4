"""`boto-wait show`: one waiter in words, or as a state diagram."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator
from typing import Any

from botocore import xform_name

from ..definitions.documentation import documentation_text
from ..engine.backoff import Random, is_last, jittered_delay, last_delay
from ..engine.model import AcceptorState, WaiterDefinition
from .diagrams import dot, mermaid
from .service_lookup import add_waiter_arguments, confidence, definition_named
from .text import acceptor_rows, columns, delays_text, printable, reason_paths

DIAGRAMS = {"mermaid": mermaid, "dot": dot}

MAX_WAITS = {"5 min": 300, "10 min": 600, "30 min": 1800}
"""The values of `max_wait` that attempts are counted for, in seconds."""

ANSWER_TIME = 0.25
"""The seconds that the last attempt is given for its answer if no slower answer has been seen."""

MOST_TIMES = 8


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "show",
        description="Explain one waiter, as a client has it here.",
    )
    add_waiter_arguments(parser)
    parser.add_argument(
        "--diagram", choices=DIAGRAMS, help="print the state diagram and nothing else"
    )
    parser.add_argument("--output", choices=("text", "json"), default="text")


def run(arguments: argparse.Namespace) -> int:
    """Print the waiter; return the exit code."""
    service, definition = definition_named(arguments)
    if arguments.diagram:
        print(DIAGRAMS[arguments.diagram](definition))
    elif arguments.output == "json":
        print(json.dumps(_facts(service, definition), indent=2, ensure_ascii=False))
    else:
        print("\n".join(_lines(service, definition)))
    return 0


def attempt_times(definition: WaiterDefinition, max_wait: float, random: Random) -> list[float]:
    """Return when attempts are made, in seconds, if every call is answered at once.

    Args:
        definition: the waiter whose delays are used.
        max_wait: the seconds that the wait may take.
        random: the source of the jitter.
    """
    times: list[float] = [0]
    low, high = definition.min_delay, definition.max_delay
    while True:
        remaining = max_wait - times[-1]
        delay = jittered_delay(len(times), min_delay=low, max_delay=high, random=random)
        if is_last(delay, min_delay=low, remaining=remaining):
            return [*times, times[-1] + last_delay(remaining, min(ANSWER_TIME, low))]
        times.append(times[-1] + delay)


def _facts(service: str, definition: WaiterDefinition) -> dict[str, Any]:
    return {
        "service": service,
        "waiter": definition.name,
        "method": f"wait_until_{xform_name(definition.name)}",
        "operation": definition.operation,
        "confidence": confidence(definition),
        "source": definition.source,
        "min_delay": definition.min_delay,
        "max_delay": definition.max_delay,
        "deprecated": definition.deprecated,
        "tags": list(definition.tags),
        "documentation": definition.documentation,
        "acceptors": [acceptor.to_json() for acceptor in definition.acceptors],
    }


def _lines(service: str, definition: WaiterDefinition) -> Iterator[str]:
    deprecated = " (deprecated)" if definition.deprecated else ""
    yield f"{definition.name} of {service}, polls {definition.operation}{deprecated}"
    for line in documentation_text(definition.documentation).splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        yield from textwrap.wrap(printable(line), 88, subsequent_indent=indent) or [""]
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
    yield textwrap.indent(columns(acceptor_rows(definition)), "  ")
    for path in reason_paths(definition):
        yield f"The error of a failure includes the service's reason: {printable(path)}."
    if AcceptorState.FAILURE not in definition.states:
        yield "No acceptor detects failure: only an unexpected error ends the wait before max_wait."
    yield ""
    yield f"Attempts, with jittered delays of {delays_text(definition)}:"
    rows = [_schedule_row(definition, text, max_wait) for text, max_wait in MAX_WAITS.items()]
    yield textwrap.indent(columns([("MAX_WAIT", "ATTEMPTS", "TYPICAL TIMES"), *rows]), "  ")
    yield ""
    yield "For a state diagram, add --diagram mermaid or --diagram dot."


def _schedule_row(definition: WaiterDefinition, text: str, max_wait: float) -> tuple[str, str, str]:
    most = len(attempt_times(definition, max_wait, lambda low, _: low))
    fewest = len(attempt_times(definition, max_wait, lambda _, high: high))
    typical = attempt_times(definition, max_wait, lambda low, high: (low + high) / 2)
    times = [f"{time:.0f}" for time in typical]
    if len(times) > MOST_TIMES:
        times[MOST_TIMES - 2 : -1] = ["..."]
    counts = str(most) if most == fewest else f"{fewest} to {most}"
    return text, counts, ", ".join(times) + " s"
