"""`boto-wait begin SERVICE OPERATION`: make a call, then wait for what it has done."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from botocore import xform_name
from botocore.exceptions import BotoCoreError
from botocore.model import OperationModel, ServiceModel

from ..changes.call import resumed_call, run_blocking
from ..changes.effects import effects_after
from ..changes.prepared_call import CallOptions, PreparedCall
from ..changes.stops import StopsAfter, stop_in_time, told
from ..engine.redaction import printable
from ..exceptions import WaiterCancelledError, WaiterError, WaiterTimeoutError
from ..idempotency import CallOutcome
from ..outcome import WaiterOutcome, reported_json
from ..service.catalog import effects_of, service_names
from ..service.on_the_spot import only_reads
from ..service.service_waiters import ServiceWaiters
from ..service.tokens import new_token, token_member
from .exit_codes import FAILED, OF_A_WAIT, SUCCEEDED, UsageError, exit_code
from .operation_parameters import add_operation_parameters, check_parameters, given_parameters
from .operations import store_of
from .options import add_client_options, client_of, duration, service_model, session_of
from .outcome_report import error_json, redacted, safe_response
from .output import add_output_options, counted, flag, json_text, print_json, refused, span
from .parser import complete_with
from .service_lookup import SERVICE_HELP, operation_named, operations_of
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
    parser.add_argument("--max-wait", type=duration, metavar="TIME", help="required: 90, 45m, 1h")
    waits = parser.add_mutually_exclusive_group()
    then = waits.add_argument(
        "--then", metavar="EFFECT", help="wait for another effect: instance-running"
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


def add_parameters(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
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
        listed = "\n  ".join([title, *(rows or ["none"])])
        if not is_help and "_ARGCOMPLETE" not in os.environ:
            raise UsageError(f"OPERATION is missing. {listed}")
        parser.description = f"{parser.description}\n\n{listed}"
        complete_with(second, lambda _: effects, lambda: _that_change(service))
        return
    operation = operation_named(service, names[1])
    name = xform_name(operation.name, "-")
    parser.set_defaults(model=operation, effects=lambda: _effects(service).get(name, ()))
    if is_help:
        waiters = ServiceWaiters(service, session.get_component("data_loader"))
        lines = effect_lines(operation, [*effects_after(waiters, operation)])
        parser.description = f"{parser.description}\n\n" + "\n".join(lines)
    add_operation_parameters(parser, operation)


def _effects(service: ServiceModel) -> dict[str, list[str]]:
    """Return the effects of the operations of a service, as a command line names both."""
    found: dict[str, list[str]] = {}
    for effect in effects_of(service.service_name):
        if {effect.after, effect.operation} <= {*service.operation_names}:
            effects = found.setdefault(xform_name(effect.after, "-"), [])
            effects.append(xform_name(effect.name, "-"))
    return found


def _that_change(service: ServiceModel) -> list[str]:
    """Return the operations that may change something."""
    known = operations_of(service)
    return [name for name in known if not only_reads(service.operation_model(known[name]))]


def run(arguments: argparse.Namespace) -> int:
    """Make the call and wait; return the exit code."""
    with refused(ValueError):
        call = _resumed(arguments) if arguments.resume else _new(arguments)
    try:
        outcome = run_blocking(call)
    except KeyboardInterrupt as interrupt:
        made = getattr(interrupt, "call", None)
        if made is not None and arguments.stop_on_cancel:
            # A second Ctrl-C gives it up.
            interrupt.stop = stop_in_time(call.answered(made.response))  # type: ignore[attr-defined]  # as errors have it
        _report(arguments, call, made, interrupt)
        if made is not None and call.can_be_stopped and not arguments.stop_on_cancel:
            print(f"boto-wait begin: to stop it: {_stop_command(call, made)}", file=sys.stderr)
        raise
    except BotoCoreError as error:
        made = getattr(error, "call", None)
        told_error: Exception = error
        stops = StopsAfter(arguments.stop_on_timeout)
        if isinstance(error, WaiterError) and made is not None and stops.includes(error):
            told_error = told(error, stop_in_time(call.answered(made.response)))
        _report(arguments, call, made, told_error)
        return exit_code(error)
    return SUCCEEDED if _report(arguments, call, outcome, None) else FAILED


def _new(arguments: argparse.Namespace) -> PreparedCall:
    """Return the call of the arguments, after its token was printed."""
    operation: OperationModel = arguments.model
    if arguments.max_wait is None:
        raise UsageError("--max-wait is missing: the time for both at most, such as 90, 45m, 1h30m")
    parameters = given_parameters(arguments, operation)
    member = token_member(operation)
    token = None if member is None else member.value_in(parameters)
    complete = parameters
    if member is not None and token is None:
        # Some models require the token, which call_once makes.
        complete = member.put_into(parameters, new_token(member))
    check_parameters(operation, complete, arguments.only_by_json)
    client = client_of(session_of(arguments), operation.service_model.service_name, arguments)
    options = CallOptions(
        arguments.max_wait,
        None if arguments.no_wait else (arguments.then or "").replace("-", "_") or True,
        arguments.allow_repeat,
        arguments.adopt_existing,
        None if arguments.store is None else _AnnouncedStore(arguments),
        name="begin",
        once=not arguments.once,
        no_change_ok=arguments.no_change_ok,
        missing_ok=arguments.missing_ok,
    )
    call = PreparedCall(getattr(client, xform_name(operation.name)), options, parameters)
    for name in ("stop_on_timeout", "stop_on_cancel"):
        if getattr(arguments, name) and not call.can_be_stopped:
            raise UsageError(f"{flag(name)}: nothing is known that stops {operation.name}")
    if member is not None and token is None and not member.is_sensitive:
        name = f"--{xform_name(member.name, '-')}" if len(member.path) == 1 else member.name
        print(f"boto-wait begin: to repeat this call: {name} {call.token}", file=sys.stderr)
    return call


def _resumed(arguments: argparse.Namespace) -> PreparedCall:
    store = store_of(arguments.store)
    with refused(LookupError):
        kept = store.get_call(arguments.resume)
    record = kept["record"]
    arguments.region = arguments.region or record["target"]["region"]
    arguments.endpoint_url = arguments.endpoint_url or record["target"]["endpoint"]
    client = client_of(session_of(arguments), record["service"], arguments)
    return resumed_call(client, record, arguments.max_wait, store, arguments.resume)


class _AnnouncedStore:
    """A store that says how to go on with a call once it is kept."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._store = store_of(arguments.store)
        self._arguments = arguments
        self.note_call = self._store.note_call
        self.finish_call = self._store.finish_call

    def save_call(self, record: Mapping[str, Any], /) -> str:
        path = self._arguments.resume = self._store.save_call(record)
        print(f"boto-wait begin: to go on: {_resume_command(self._arguments)}", file=sys.stderr)
        return path


def _resume_command(arguments: argparse.Namespace) -> str:
    """Return the command that goes on with a call that a store keeps."""
    words = ["boto-wait", "begin", "--resume", arguments.resume]
    words += [] if arguments.store is None else ["--store", arguments.store]
    return printable(shlex.join(words))


def _stop_command(call: PreparedCall, made: CallOutcome) -> str:
    """Return the command that stops what a call has begun."""
    method, several = call.answered(made.response).stop_calls()
    service = call.target.operation.service_model.service_name
    commands = []
    for parameters in several:
        words = ["boto-wait", "begin", service, method.replace("_", "-")]
        for name, value in parameters.items():
            values = value if isinstance(value, list) else [value]
            words += [f"--{xform_name(name, '-')}", *map(str, values)]
        commands.append(printable(shlex.join([*words, "--no-wait", "--max-wait", "1m"])))
    return "; ".join(commands)


def _report(
    arguments: argparse.Namespace,
    prepared: PreparedCall,
    call: CallOutcome | None,
    error: BaseException | None,
) -> bool:
    """Print the end of a call; return False if `--query` cannot be evaluated.

    A success is printed on stdout, an error on stderr, JSON on stdout.
    """
    operation, member = prepared.target.operation, prepared.target.member
    with_response = arguments.include_response or arguments.query is not None or error is not None
    facts: dict[str, Any] = {
        "outcome": "succeeded" if error is None else "failed",
        "service": operation.service_model.service_name,
        "operation": operation.name,
        "parameters": redacted(operation.input_shape, prepared.parameters, is_answer=False),
        "token": None if member is None or member.is_sensitive else prepared.token,
        "attempts": getattr(call or error, "attempts", None),
    }
    if call is not None and call.outcome is not None:
        facts |= _outcome_json(call.outcome)
    if call is not None and with_response:
        facts["response"] = safe_response(operation, call.response)
    is_cut = isinstance(error, KeyboardInterrupt)
    if error is not None:
        facts |= reported_json(error) if isinstance(error, WaiterError) else {}
        facts["error"] = {"type": type(error).__name__, "message": str(error)}
        # A call that was cut off may have been executed.
        facts["outcome_unknown"] = getattr(error, "outcome_unknown", is_cut and call is None)
        is_open = is_cut or isinstance(error, (WaiterTimeoutError, WaiterCancelledError))
        if arguments.resume and (is_open or facts["outcome_unknown"]):
            facts["resume"] = _resume_command(arguments)
    stop = getattr(error, "stop", None)
    if stop is not None:
        facts["stop"] = stop.to_json()
    told_error = getattr(stop, "text", None) if is_cut else error
    if told_error is not None:
        print(f"boto-wait begin: {printable(str(told_error))}", file=sys.stderr)
    if arguments.output == "text" and arguments.query is None and call is not None:
        print(_text(operation, call))
        if with_response:
            print(json_text(facts["response"], indent=2), flush=True)
    return print_json(facts, arguments)


def _outcome_json(outcome: WaiterOutcome[Any]) -> dict[str, Any]:
    facts = {name: getattr(outcome, name) for name in ("waiter", "observed", "basis")}
    facts |= reported_json(outcome)
    if outcome.exception is not None:
        facts["exception"] = error_json(outcome.exception)
    return facts


def _text(operation: OperationModel, call: CallOutcome) -> str:
    attempts = counted(call.attempts, "attempt")
    text = f"{operation.service_model.service_name} {operation.name}: {attempts}"
    if call.outcome is not None and call.outcome.basis == "unchanged":
        text += ", nothing to change"
    elif call.outcome is not None and call.outcome.waiter == operation.name:
        text += ", it is gone already"
    elif call.outcome is not None:
        text += f", then {call.outcome.waiter} after {span(call.outcome.elapsed)}"
    return text
