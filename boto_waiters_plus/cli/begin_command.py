"""`boto-wait begin SERVICE OPERATION`: make a call, then wait for what it has done."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import Any

from botocore import xform_name
from botocore.model import OperationModel, ServiceModel

from ..changes.known_effects import effects_after, effects_beside
from ..service.catalog import effects_of, service_names
from ..service.service_waiters import ServiceWaiters
from .exit_codes import OF_A_WAIT, UsageError
from .operation_parameters import add_operation_parameters
from .options import add_client_options, add_options_of_one, service_model, session_of
from .output import add_output_options, one_a_line
from .parser import Parser, complete_with
from .service_lookup import SERVICE_HELP, operation_named, operations_that
from .show import effect_lines

USAGE = """boto-wait begin SERVICE OPERATION [--parameter value ...] --max-wait TIME
       [--then EFFECT | --no-wait] [--once] [--no-change-ok] [--missing-ok]
       [--stop-on-timeout] [--stop-on-cancel] [--store STORE] [options]
       boto-wait begin --resume PATH [--store STORE] [options]"""

FLAG_HELP = {
    "--once": "refuse an operation that cannot be repeated safely",
    "--no-change-ok": "treat a refusal because there is nothing to change as a success",
    "--missing-ok": "treat a refusal because what is to be deleted is gone as a success",
    "--stop-on-timeout": "after a time-out, make the call that stops what was begun",
    "--stop-on-cancel": "make that call after Ctrl-C and SIGTERM",
    "--allow-repeat": "repeat an operation that has no token",
    "--adopt-existing": "accept a resource that an attempt without an answer may have made",
}


def add_parser(subparsers: Any) -> None:
    """Add the options that do not depend on the operation."""
    parser = subparsers.add_parser(
        "begin",
        usage=USAGE,
        description="Call an operation, under one idempotency token if it has one; then wait for "
        "what it has done.",
        epilog=OF_A_WAIT,
    )
    add_options_of_one(parser)
    waits = parser.add_mutually_exclusive_group()
    then = waits.add_argument(
        "--then", metavar="EFFECT", help="wait for another effect or waiter: instance-running"
    )
    complete_with(then, lambda given: getattr(given, "effects", tuple)())
    waits.add_argument("--no-wait", action="store_true", help="make the call only")
    for name, text in FLAG_HELP.items():
        parser.add_argument(name, action="store_true", help=text)
    parser.add_argument(
        "--store", metavar="STORE", help="keep the call, to be resumed: a file or an SQLAlchemy URL"
    )
    parser.add_argument("--resume", metavar="PATH", help="go on with a call that a store keeps")
    add_output_options(parser)
    add_client_options(parser)


def add_parameters(parser: Parser, words: Sequence[str]) -> None:
    """Add the parameters of the operation that the words name, as far as they name one.

    Raises:
        UsageError: they name a service or an operation that does not exist, or only a service.
    """
    if any(word.partition("=")[0] == "--resume" for word in words):
        return
    names = [*takewhile(lambda word: not word.startswith("-"), words[:2])]
    is_help = bool({"-h", "--help"} & {*words})
    if len(names) < min(len(words), 2) and not is_help:
        raise UsageError("SERVICE and OPERATION come first")
    first = parser.add_argument("service", metavar="SERVICE", help=SERVICE_HELP)
    complete_with(first, lambda _: service_names())
    second = parser.add_argument("operation", metavar="OPERATION", help="such as run-instances")
    if not names:
        return
    session = session_of(argparse.Namespace(profile=None))
    service = service_model(session, names[0])
    if len(names) == 1:
        effects = _effects(service)
        rows = [f"{name}: {', '.join(found)}" for name, found in effects.items()]
        title = f"Operations of {service.service_name} with an effect, and their effects:"
        listed = one_a_line(title, rows or ["none"])
        if not is_help and "_ARGCOMPLETE" not in os.environ:
            raise UsageError(f"OPERATION is missing. {listed}")
        parser.description = f"{parser.description}\n\n{listed}"
        complete_with(second, lambda _: effects, lambda: operations_that(service, only_read=False))
        return
    operation = operation_named(service, names[1])
    name = xform_name(operation.name, "-")
    parser.named = f" {service.service_name} {name}"
    waiters = ServiceWaiters(service, session.get_component("data_loader"))
    parser.set_defaults(model=operation, effects=partial(_effect_names, waiters, operation))
    if is_help:
        lines = "\n".join(effect_lines(waiters, operation))
        parser.description = f"{parser.description}\n\n{lines}"
    add_operation_parameters(parser, operation)


def _effects(service: ServiceModel) -> dict[str, list[str]]:
    """Return the effects of the operations of a service, as a command line names both."""
    found: dict[str, list[str]] = {}
    for effect in effects_of(service.service_name):
        found.setdefault(xform_name(effect.after, "-"), []).append(xform_name(effect.name, "-"))
    return found


def _effect_names(waiters: ServiceWaiters, operation: OperationModel) -> list[str]:
    """Return what `--then` takes after an operation."""
    effects = (*effects_after(waiters, operation), *effects_beside(waiters, operation))
    return [xform_name(each.name, "-") for each in effects]


def run(arguments: argparse.Namespace) -> int:
    """Make the call and wait; return the exit code."""
    from .change import run_change  # noqa: PLC0415 - slow, and not for the help

    return run_change(arguments)
