"""`boto-wait SERVICE WAITER`: wait for one resource, or for several at once."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore import xform_name
from botocore.exceptions import BotoCoreError
from botocore.model import ListShape, OperationModel, ServiceModel

from ..calls.credentials import asks_for_a_code
from ..definitions.files import load_definitions
from ..definitions.words import summary_of
from ..engine.model import WaitDescription, WaiterDefinition
from ..engine.redaction import printable
from ..hooks.enabling import enable
from ..service.bound_waiter import BoundWaiter
from ..service.catalog import service_names, spelled
from ..service.labels import told_apart
from ..service.on_the_spot import GONE, made_waiter
from ..service.service_waiters import ServiceWaiters
from ..service.shapes import members_of, state_members
from ..service.waits import wait_until
from .exit_codes import OF_A_WAIT, CannotRunError, UsageError, common_exit_code, exit_code
from .live_progress import PlainProgress, progress_on_stderr
from .operation_parameters import (
    add_operation_parameters,
    check_parameters,
    decoded,
    given_parameters,
    json_object,
    member_named,
    parsed,
)
from .operations import store_of
from .options import (
    AD_HOC,
    add_wait_options,
    client_of,
    one_line_warnings,
    options_of_one,
    peek,
    service_model,
    session_of,
)
from .outcome_report import OutcomeReport
from .output import acceptor_rows, columns, flag, one_a_line, refused
from .parser import Parser, complete_with
from .service_lookup import SERVICE_HELP, operation_named, operations_that, waiter_among

if TYPE_CHECKING:
    from ..batch.wait import Wait

USAGE = """boto-wait SERVICE WAITER [--parameter value ...] --max-wait TIME [options]
       boto-wait SERVICE OPERATION --until STATE [--parameter value ...] --max-wait TIME"""


def add_parser(subparsers: Any) -> None:
    """Add the options that do not depend on the service."""
    parser = subparsers.add_parser(
        "wait",
        prog="boto-wait",
        usage=USAGE,
        description="Wait until a resource is in a state. Progress and errors go to stderr, the "
        "outcome to stdout.",
        epilog=OF_A_WAIT,
    )
    add_wait_options(parser)


def add_parameters(parser: Parser, words: Sequence[str]) -> None:
    """Add the parameters of the operation that the words name, as far as they name one.

    Raises:
        UsageError: they name a service, a waiter or an operation that does not exist, or only a
            service.
    """
    arguments, others = peek(words)
    if others and others[0].startswith("-"):
        raise UsageError(f"SERVICE and WAITER come before {others[0]}")
    names = [word for word in others[:2] if not word.startswith("-")]
    first = parser.add_argument("service", metavar="SERVICE", help=SERVICE_HELP)
    complete_with(first, lambda _: service_names())
    second = parser.add_argument(
        "waiter", metavar="WAITER", help="such as bucket-exists; with --until an operation"
    )
    if not names:
        return
    session = session_of(arguments)
    parser.set_defaults(session=session)
    service = service_model(session, names[0], "command or service")
    definitions = load_definitions(arguments.definitions or ())
    waiters = ServiceWaiters(service, session.get_component("data_loader"), definitions)
    if len(names) == 1:
        known = sorted(name.replace("_", "-") for name in waiters)
        complete_with(second, lambda _: known, lambda: operations_that(service, only_read=True))
        _list_names(parser, service, known, arguments)
        return
    if spelled(names[1], waiters) is None:
        if names[1] == "wait":
            what = " ".join([names[0], *others[2:3]])
            raise UsageError(f"leave `wait` out: boto-wait {printable(what)} ...")
        if arguments.until is not None:
            _add_operation(parser, operation_named(service, names[1]))
            return
        if spelled(names[1], service.operation_names) is not None:
            raise UsageError(f"{names[1]} is an operation, not a waiter: give --until, the state")
    bound_waiter = waiter_among(waiters, names[1], service.service_name)
    parser.set_defaults(bound_waiter=lambda _: bound_waiter, is_made=False)
    parser.named = f" {service.service_name} {printable(names[1])}"
    if arguments.help:
        what = f"{service.service_name} {names[1]} [--parameter value ...]"
        parser.usage = f"boto-wait {what} --max-wait TIME [options]"
        parser.description = _described(bound_waiter.definition)
    add_operation_parameters(parser, bound_waiter.operation)


def _list_names(
    parser: Parser, service: ServiceModel, waiters: Sequence[str], arguments: argparse.Namespace
) -> None:
    """List what can follow the name of a service, in the help.

    Raises:
        UsageError: it has the list; neither the help nor a completion was asked for.
    """
    name, what = service.service_name, "WAITER"
    title, names = f"Waiters of {name}:", waiters
    if arguments.until is not None or not waiters:
        what = "OPERATION --until STATE"
        title = f"Operations of {name} that only read:"
        names = operations_that(service, only_read=True)
    listed = one_a_line(title, names)
    if not arguments.help and "_ARGCOMPLETE" not in os.environ:
        hint = f"Write `boto-wait {name} {what} --max-wait TIME`; --help lists its parameters."
        raise UsageError(f"{what.split()[0]} is missing. {listed}\n{hint}")
    parser.description = f"{parser.description}\n\n{listed}"


def _described(definition: WaiterDefinition) -> str:
    """Return what a waiter waits for, and its acceptors."""
    first, _, _ = definition.documentation.strip().partition("\n\n")
    sentence = printable(" ".join(first.split())) or summary_of(definition)
    table = textwrap.indent(columns(acceptor_rows(definition)), "  ")
    return f"{sentence}\n\nAcceptors on {definition.operation}; the first match decides:\n{table}"


def _add_operation(parser: Parser, operation: OperationModel) -> None:
    """Add the parameters of an operation, for whose states the waiter is made when it runs."""
    states = state_members(operation)
    known = [value for _, shape in states for value in shape.metadata.get("enum", ())]
    paths = [path for path, _ in states]
    parser.set_defaults(bound_waiter=partial(_waiter_until, operation), is_made=True)
    parser.set_defaults(known_states=[*known, GONE], known_paths=paths)
    parser.description = f"Poll {operation.name} until it shows a state of --until."
    if known:
        parser.description += f"\n\nStates of {', '.join(paths)}: {', '.join(known)}."
    add_operation_parameters(parser, operation)


def _waiter_until(operation: OperationModel, arguments: argparse.Namespace) -> BoundWaiter:
    """Return the waiter for the states of an operation that `--until` names.

    Raises:
        UsageError: the operation cannot be polled, or has no such state.
    """
    given = {name: value for name in AD_HOC if (value := getattr(arguments, name)) is not None}
    with refused(ValueError):
        definition = made_waiter(operation, arguments.until, arguments.state_path, **given)
        return ServiceWaiters(operation.service_model, None).bind(definition)


def run(arguments: argparse.Namespace) -> int:
    """Wait; return the exit code."""
    with one_line_warnings(arguments):
        waiter: BoundWaiter = arguments.bound_waiter(arguments)
    _refuse_strays(waiter.operation, arguments)
    if arguments.max_wait is None:
        raise UsageError("--max-wait is missing: the time to wait at most, such as 90, 45m, 1h30m")
    if arguments.background and arguments.query is not None:
        raise UsageError("--query is about the outcome, which --background does not wait for")
    each = []
    for where, parameters in _parameters(waiter.operation, arguments):
        check_parameters(waiter.operation, parameters, arguments.only_by_json, where)
        each.append(parameters)
    text = waiter.polling.resource_label.text
    labels = told_apart([(text(one), text(one, whole_arns=True)) for one in each])
    described = [(WaitDescription.of(waiter.definition), label) for label in labels]
    report = OutcomeReport(waiter.definition.name, waiter.operation, arguments)
    with one_line_warnings(arguments):
        client = client_of(arguments.session, waiter.service_name, arguments)
        # A table that is drawn anew all the time would hide the prompt.
        is_quiet = arguments.quiet or asks_for_a_code(client)
        progress = progress_on_stderr(described, arguments.max_wait, quiet=is_quiet)
        waits = _Waits(waiter.definition, client, arguments, progress)
        return waits.start(each, arguments) if arguments.background else waits.run(each, report)


def _refuse_strays(operation: OperationModel, arguments: argparse.Namespace) -> None:
    """Refuse options that go with an operation, where a waiter is named."""
    if arguments.is_made:
        return
    for name in ("until", "state_path", *AD_HOC):
        if getattr(arguments, name) is not None:
            raise UsageError(
                f"{flag(name)} goes with an operation, such as "
                f"{xform_name(operation.name, '-')}: {arguments.waiter} is a waiter"
            )


class _Waits:
    """The waits of one command.

    Args:
        definition: the waiter.
        client: the client that they share.
        arguments: the options.
        progress: the display.
    """

    def __init__(
        self, definition: WaiterDefinition, client: Any, arguments: Any, progress: PlainProgress
    ) -> None:
        # A waiter that `--until` makes has no name that a client knows.
        self._waiter = definition if arguments.is_made else definition.name
        self._client = client
        self._progress = progress
        self._options = options_of_one(arguments)
        self._max_wait: float = arguments.max_wait
        if not arguments.is_made and arguments.definitions:
            enable(client, definitions=arguments.definitions)

    def start(self, each: Sequence[dict[str, Any]], arguments: argparse.Namespace) -> int:
        """Store the waits and print the path of each; return the exit code.

        Raises:
            UsageError: something cannot be stored.
            CannotRunError: the store cannot be used.
        """
        store = store_of(arguments.store)
        from ..operations import OperationError, StoreError  # noqa: PLC0415 - not for `--help`

        waits = (self._wait(parameters, max_wait=self._max_wait) for parameters in each)
        options = {"profile_name": arguments.profile}
        options["include_response"] = arguments.include_response
        kinds = refused(ValueError, TypeError, BotoCoreError, OperationError)
        with contextlib.closing(store), refused(StoreError, instead=CannotRunError), kinds:
            print("\n".join(store.start_all(waits, **options)))
        return 0

    def run(self, each: Sequence[dict[str, Any]], report: OutcomeReport) -> int:
        """Run the waits, reporting each as it ends; return the exit code."""
        codes = []
        try:
            with self._progress:
                for index, result in self._results(each):
                    self._progress.ended(index, result)
                    with self._progress.cleared():
                        wait = self._progress.waits[index]
                        codes.append(report.ended(wait, each[index], result))
        except KeyboardInterrupt as interrupt:
            for wait in self._progress.interrupted():
                report.interrupted(wait, each[wait.index])
            return exit_code(interrupt)
        return common_exit_code(codes)

    def _results(self, each: Sequence[dict[str, Any]]) -> Iterator[tuple[int, Any]]:
        """Yield the place and the result of each wait as it ends.

        Raises:
            UsageError: an option does not fit the others.
        """
        with refused(TypeError, ValueError):
            if len(each) == 1:
                yield 0, self._one(each[0])
                return
            # 40 ms that one wait does not need.
            from ..many import as_completed  # noqa: PLC0415

            waits = [
                self._wait(parameters, on_attempt=partial(self._progress.attempted, index))
                for index, parameters in enumerate(each)
            ]
            run = as_completed(waits, max_wait=self._max_wait)
        places = {id(wait): index for index, wait in enumerate(waits)}
        with contextlib.closing(run):
            for wait, result in run:
                yield places[id(wait)], result

    def _wait(self, parameters: dict[str, Any], **options: Any) -> Wait:
        from ..batch.wait import Wait  # noqa: PLC0415 - one wait in the foreground needs none

        return Wait(self._client, self._waiter, parameters, **self._options, **options)

    def _one(self, parameters: dict[str, Any]) -> Any:
        try:
            return wait_until(
                self._client,
                self._waiter,
                max_wait=self._max_wait,
                on_attempt=partial(self._progress.attempted, 0),
                **self._options,
                **parameters,
            )
        # A WaiterError is one, and so is that of a lost connection.
        except BotoCoreError as error:
            return error


def _parameters(
    operation: OperationModel, arguments: argparse.Namespace
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield how a message about the parameters of each wait begins, and the parameters."""
    common = given_parameters(arguments, operation)
    if arguments.stdin and arguments.each:
        raise UsageError("--each and --stdin cannot be given together")
    if arguments.stdin:
        text = _read_stdin().split("\n")
        lines = [(number, line) for number, line in enumerate(text, 1) if line.strip()]
        if not lines:
            raise UsageError("stdin has no line: give one JSON object of parameters for each wait")
        for number, line in lines:
            where = f"line {number} of stdin"
            yield f"{where}: ", {**common, **json_object(line, where)}
    elif arguments.each:
        name, *values = arguments.each
        member = member_named(operation, name)
        if not values:
            raise UsageError(f"--each {name} needs at least one value")
        shape = members_of(operation.input_shape)[member]
        for number, value in enumerate(values, 1):
            given = [value] if isinstance(shape, ListShape) else value
            where = f"value {number} of --each {name}"
            yield f"{where}: ", {**common, member: parsed(shape, given, where)}
    else:
        yield "", common


def _read_stdin() -> str:
    """Return what is on stdin, in the encodings of files, whatever the locale is."""
    if sys.stdin is None:  # It was closed before the start.
        return ""
    data = getattr(sys.stdin, "buffer", sys.stdin).read()
    return decoded(data, "stdin") if isinstance(data, bytes) else str(data)
