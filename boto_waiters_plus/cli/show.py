"""`boto-wait show`: one waiter in words, what follows an operation, or what a service has."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from botocore import xform_name
from botocore.model import OperationModel

from ..changes.known_effects import effects_after, effects_beside, why_nothing_follows
from ..definitions.words import documentation_text
from ..engine.acceptors import AcceptorState
from ..engine.delays import LearnedTimes, Random, is_last, jittered_delay, last_delay, learned_delay
from ..engine.model import WaiterDefinition
from ..engine.redaction import printable
from ..service.catalog import model_of
from ..service.places import default_loader
from ..service.reasons import quoted_reasons
from ..service.service_waiters import ServiceWaiters
from . import listing
from .output import acceptor_rows, columns, delays_text, json_text
from .service_lookup import (
    UnknownNameError,
    add_waiter_arguments,
    confidence,
    definition_facts,
    definition_named,
    find_service,
    operation_named,
)

BASES: dict[str | None, str] = {
    "identity": "the answer of the call names the change",
    "goal": "what was asked for is read back",
    "version": "the revision of the answer, or a later one",
    "transition": "another state was seen first",
    "held": "the state has held",
}

MAX_WAITS = {"5 min": 300, "10 min": 600, "30 min": 1800}
"""The values of `max_wait` that attempts are counted for, in seconds."""

ANSWER_TIME = 0.25
"""The seconds that the last attempt is given for its answer if no slower answer has been seen."""

MOST_TIMES = 8


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "show",
        description="Explain one waiter, as a client has it here; or, given an operation such as "
        "modify-db-instance, what `begin` waits for after it. Without WAITER, list what the "
        "service has.",
    )
    add_waiter_arguments(parser, may_be_other=True)
    parser.add_argument("--output", choices=("text", "json"), default="text")
    parser.set_defaults(tag=None, changes=False)


def run(arguments: argparse.Namespace) -> int:
    """Print the waiter; return the exit code."""
    as_json = arguments.output == "json"
    if arguments.waiter is None:
        arguments.words = [find_service(arguments.service)]
        return listing.run(arguments)
    try:
        service, definition = definition_named(arguments)
    except UnknownNameError:
        from ..service.on_the_spot import only_reads  # noqa: PLC0415 - slow, and not for `begin`

        operation = _mutation(arguments)
        if operation is None or only_reads(operation):
            raise
        model = operation.service_model
        waiters = ServiceWaiters(model, default_loader())
        about = {"kind": "effect", "service": model.service_name, "after": operation.name}
        if as_json:
            effects = effects_after(waiters, operation)
            print(json_text([about | asdict(each) for each in effects], indent=2))
        else:
            print("\n".join(effect_lines(waiters, operation)))
        return 0
    if as_json:
        print(json_text(_facts(service, definition), indent=2))
    else:
        print("\n".join(_lines(service, definition)))
    return 0


def attempt_times(
    definition: WaiterDefinition,
    max_wait: float,
    random: Random,
    learned: LearnedTimes | None = None,
) -> list[float]:
    """Return when attempts are made, in seconds, if every call is answered at once.

    Args:
        definition: the waiter whose delays are used.
        max_wait: the seconds that the wait may take.
        random: the source of the jitter.
        learned: the times of earlier waits.
    """
    times: list[float] = [0]
    low, high = definition.min_delay, definition.max_delay
    while True:
        remaining = max_wait - times[-1]
        own: Any = {"min_delay": low, "max_delay": high, "random": random}
        delay = None if learned is None else learned_delay(learned, times[-1], **own)
        if delay is None:
            delay = jittered_delay(len(times), **own)
        if is_last(delay, min_delay=low, remaining=remaining):
            return [*times, times[-1] + last_delay(remaining, min(ANSWER_TIME, low))]
        times.append(times[-1] + delay)


def _mutation(arguments: argparse.Namespace) -> OperationModel | None:
    """Return the operation that is named."""
    try:
        model = model_of(find_service(arguments.service))
        return None if model is None else operation_named(model, arguments.waiter)
    except UnknownNameError:
        return None


def effect_lines(waiters: ServiceWaiters, operation: OperationModel) -> Iterator[str]:
    """Yield what `begin` waits for after an operation, and what else its effects are."""
    effects = [*effects_after(waiters, operation)]
    if not effects:
        why = why_nothing_follows(operation)
        text = f"there is nothing to wait for: {why}" if why else "it is not known what to wait for"
        yield from textwrap.wrap(f"After {operation.name} {text}.", 88)
        return
    yield f"After {operation.name}, `begin` waits for {effects[0].name}."
    for effect in effects:
        yield ""
        yield f"{effect.name}, polls {effect.operation}"
        # A sentence or two: what renders Markdown takes 30 ms to import.
        yield from textwrap.wrap(printable(" ".join(effect.documentation.split())), 88)
        rows = [("option", f"--then {xform_name(effect.name, '-')}")]
        rows += [("basis", f"{effect.basis}: {BASES[effect.basis]}")]
        if effect.settle_for:
            held = f"a state counts once it has held for up to {effect.settle_for:g} s"
            rows.append(("settles", held))
        rows += [("stop", effect.stop or "nothing is known that stops it")]
        rows += [("needs", ", ".join(effect.actions))]
        yield columns(rows)
    beside = [xform_name(each.name, "-") for each in effects_beside(waiters, operation)]
    if beside:
        text = f"--then also takes other waiters of {effects[0].operation}: {', '.join(beside)}."
        yield from ("", *textwrap.wrap(text, 88, break_on_hyphens=False))


def _facts(service: str, definition: WaiterDefinition) -> dict[str, Any]:
    return {
        **definition_facts(service, definition),
        "method": f"wait_until_{xform_name(definition.name)}",
        "source": definition.source,
        "acceptors": [acceptor.to_json() for acceptor in definition.acceptors],
        "reasons": list(_reasons(service, definition)),
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
    for path, is_hidden in _reasons(service, definition).items():
        whose = "place of the service's sensitive" if is_hidden else "service's"
        yield f"The error of a failure includes the {whose} reason: {printable(path)}."
    if AcceptorState.FAILURE not in definition.states:
        yield "No acceptor detects failure: only an unexpected error ends the wait before max_wait."
    yield ""
    yield f"Attempts, with jittered delays of {delays_text(definition)}:"
    rows = [_schedule_row(definition, text, max_wait) for text, max_wait in MAX_WAITS.items()]
    yield textwrap.indent(columns([("MAX_WAIT", "ATTEMPTS", "TYPICAL TIMES"), *rows]), "  ")


def _reasons(service: str, definition: WaiterDefinition) -> Mapping[str, bool]:
    model, name = model_of(service), definition.operation
    operation = model.operation_model(name) if model and name in model.operation_names else None
    return quoted_reasons(definition, operation)


def _schedule_row(definition: WaiterDefinition, text: str, max_wait: float) -> tuple[str, str, str]:
    most = len(attempt_times(definition, max_wait, lambda low, _: low))
    fewest = len(attempt_times(definition, max_wait, lambda _, high: high))
    typical = attempt_times(definition, max_wait, lambda low, high: (low + high) / 2)
    times = [f"{time:.0f}" for time in typical]
    if len(times) > MOST_TIMES:
        times[MOST_TIMES - 2 : -1] = ["..."]
    counts = str(most) if most == fewest else f"{fewest} to {most}"
    return text, counts, ", ".join(times) + " s"
