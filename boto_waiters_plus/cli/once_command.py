"""`boto-wait once SERVICE OPERATION`: make a call that is safe to repeat, then wait."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from botocore import xform_name
from botocore.exceptions import BotoCoreError, HTTPClientError
from botocore.model import OperationModel

from ..aws.tokens import new_token, token_member
from ..exceptions import WaiterError
from ..idempotency import CallOutcome, call_once
from . import FAILED, UsageError
from .client_options import add_client_options, client_of, duration, service_model, session_of
from .operation_parameters import add_operation_parameters, check_parameters, given_parameters
from .outcome_report import redacted
from .service_lookup import SERVICE_HELP, UnknownNameError, squashed
from .text import printable, span

USAGE = """boto-wait once SERVICE OPERATION [--parameter value ...] --max-wait TIME
       [--then WAITER] [options]"""


def add_parser(subparsers: Any) -> None:
    """Add the options that do not depend on the operation."""
    parser = subparsers.add_parser(
        "once",
        prog="boto-wait once",
        usage=USAGE,
        help="make a call that is repeated under one token, then wait",
        description="Call an operation, under one idempotency token, until its outcome is known; "
        "then wait for what it made. Exit with 0 if both succeeded, 255 if not, 2 for wrong "
        "arguments, 130 after Ctrl-C.",
    )
    parser.add_argument("--max-wait", type=duration, metavar="TIME", help="required: 90, 45m, 1h")
    parser.add_argument("--then", metavar="WAITER", help="wait afterwards: instance-running")
    parser.add_argument(
        "--allow-repeat", action="store_true", help="repeat an operation that has no token"
    )
    parser.add_argument(
        "--adopt-existing",
        action="store_true",
        help="accept a resource that an attempt without an answer may have made",
    )
    parser.add_argument("--output", choices=("text", "json"), default="text")
    parser.add_argument("--include-response", action="store_true", help="print the response too")
    add_client_options(parser)


def add_parameters(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the parameters of the operation that the words name, as far as they name one.

    Raises:
        UsageError: they name a service or an operation that does not exist.
    """
    parser.add_argument("service", metavar="SERVICE", help=SERVICE_HELP)
    parser.add_argument("operation", metavar="OPERATION", help="such as run-instances")
    names = [word for word in words[:2] if not word.startswith("-")]
    if len(names) < 2:
        if "-h" not in words and "--help" not in words:
            raise UsageError("SERVICE and OPERATION come first")
        return
    session = session_of(argparse.Namespace(profile=None))
    service = service_model(session, names[0])
    known = {xform_name(name, "-"): name for name in service.operation_names}
    name = next((each for each in known.values() if squashed(each) == squashed(names[1])), None)
    if name is None:
        raise UnknownNameError(f"{service.service_name} operation", names[1], known)
    operation = service.operation_model(name)
    parser.set_defaults(model=operation)
    add_operation_parameters(parser, operation)


def run(arguments: argparse.Namespace) -> int:
    """Make the call and wait; return the exit code."""
    operation: OperationModel = arguments.model
    if arguments.max_wait is None:
        raise UsageError("--max-wait is missing: the time for both at most, such as 90, 45m, 1h30m")
    parameters = given_parameters(arguments, operation)
    member = token_member(operation)
    token = None if member is None else member.value_in(parameters)
    if member is None or token is not None:
        check_parameters(operation, parameters)
    else:
        # Some models require the token, which call_once makes.
        check_parameters(operation, member.put_into(parameters, new_token(member)))
    client = client_of(session_of(arguments), operation.service_model.service_name, arguments)
    then_wait = arguments.then and arguments.then.replace("-", "_")
    try:
        call = call_once(
            getattr(client, xform_name(operation.name)),
            max_wait=arguments.max_wait,
            then_wait=then_wait,
            allow_repeat=arguments.allow_repeat,
            adopt_existing=arguments.adopt_existing,
            **parameters,
        )
    except (WaiterError, BotoCoreError, HTTPClientError) as error:
        _report(arguments, operation, getattr(error, "call", None), error)
        return FAILED
    except ValueError as error:
        raise UsageError(_as_options(str(error))) from error
    _report(arguments, operation, call, None)
    return 0


def _report(
    arguments: argparse.Namespace,
    operation: OperationModel,
    call: CallOutcome | None,
    error: Exception | None,
) -> None:
    """Print the end of a call: a success on stdout, an error on stderr, JSON on stdout."""
    with_response = call is not None and (arguments.include_response or error is not None)
    facts: dict[str, Any] = {
        "outcome": "succeeded" if error is None else "failed",
        "service": operation.service_model.service_name,
        "operation": operation.name,
        "token": _shown_token(operation, getattr(call or error, "token", None)),
        "attempts": getattr(call or error, "attempts", None),
    }
    if call is not None and call.outcome is not None:
        facts |= {"waiter": call.outcome.waiter, "observed": call.outcome.observed}
    if call is not None and with_response:
        facts["response"] = _safe_response(operation, call.response)
    if error is not None:
        facts["error"] = {"type": type(error).__name__, "message": str(error)}
        facts["outcome_unknown"] = getattr(error, "outcome_unknown", False)
        print(f"boto-wait once: {printable(str(error))}", file=sys.stderr)
    if arguments.output == "json":
        print(json.dumps(facts, ensure_ascii=False), flush=True)
    elif call is not None:
        print(_text(operation, call))
        if with_response:
            print(json.dumps(facts["response"], indent=2, ensure_ascii=False), flush=True)


def _text(operation: OperationModel, call: CallOutcome) -> str:
    attempts = f"{call.attempts} attempt{'' if call.attempts == 1 else 's'}"
    text = f"{operation.service_model.service_name} {operation.name}: {attempts}"
    if call.outcome is not None:
        text += f", then {call.outcome.waiter} after {span(call.outcome.elapsed)}"
    return text


def _shown_token(operation: OperationModel, token: str | None) -> str | None:
    member = token_member(operation)
    return None if member is None or member.is_sensitive else token


def _safe_response(operation: OperationModel, response: Mapping[str, Any]) -> Any:
    members = {name: value for name, value in response.items() if name != "ResponseMetadata"}
    return redacted(operation.output_shape, members)


def _as_options(text: str) -> str:
    return (
        text.replace("allow_repeat=True", "--allow-repeat")
        .replace("then_wait:", "--then:")
        .partition(" Pass a function")[0]
    )
