"""The end of a wait as a line of text or of JSON, without what may not be shown."""

from __future__ import annotations

import argparse
import base64
import datetime as dt
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from botocore.model import OperationModel, Shape

from ..engine.redaction import is_signed_url, printable
from ..exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome, reported_json
from ..progress import WaitProgress
from ..service.shapes import has_sensitive_names, inner_shape, is_sensitive
from .exit_codes import FAILED, SUCCEEDED, exit_code
from .output import counted, in_flags, json_text, print_json, span

REDACTED = "***"
"""What stands for a member that is sensitive in the model."""

_ENDINGS = (
    (WaiterTimeoutError, "timed out"),
    (WaiterAttemptsError, "attempts used up"),
    (WaiterCancelledError, "cancelled"),
    (WaiterFailedError, "failed"),
)


class OutcomeReport:
    """Prints how waits end: successes and JSON on stdout, errors on stderr.

    Args:
        waiter: the name of the waiter.
        operation: the operation that it polls.
        arguments: `output`, `query`, `quiet` and `include_response`.
    """

    _command = "boto-wait"
    _answer = "response"
    """The member of the JSON that has the answer of the last attempt."""

    def __init__(
        self, waiter: str, operation: OperationModel, arguments: argparse.Namespace
    ) -> None:
        self._waiter = waiter
        self._operation = operation
        self._arguments = arguments
        self._has_text = arguments.output == "text" and arguments.query is None
        self._with_response = arguments.include_response or arguments.query is not None

    def ended(
        self,
        wait: WaitProgress,
        parameters: Mapping[str, Any],
        result: WaiterOutcome[Any] | Exception | None,
    ) -> int:
        """Print the end of a wait; return its exit code. None: there was nothing to wait for."""
        if isinstance(result, Exception):
            self._failed(wait, parameters, result)
            return exit_code(result)
        facts = self._facts("succeeded", wait, parameters)
        if result is not None:
            facts |= _counts(result) | {"waiter": result.waiter}
            facts |= {"acceptor": result.acceptor.text, "observed": result.observed}
            facts |= _timeline(result) | ({"basis": result.basis} if result.basis else {})
            if isinstance(result, ExceptionOutcome):
                facts["exception"] = error_json(result.exception)
            if self._with_response and isinstance(result, ResponseOutcome):
                facts[self._answer] = safe_response(self._operation, result.response)
        if self._has_text and (not self._arguments.quiet or self._with_response):
            print(self._text(wait, result), flush=True)
            self._print_responses(facts)
        return SUCCEEDED if print_json(facts, self._arguments) else FAILED

    def _text(self, wait: WaitProgress, result: WaiterOutcome[Any] | None) -> str:
        """Return the line of a success."""
        assert result is not None, "there was a wait"
        attempts = counted(result.attempts, "attempt")
        return f"{wait.label}: {self._waiter} after {span(result.elapsed)} ({attempts})"

    def _print_responses(self, facts: Mapping[str, Any]) -> None:
        """Print the responses among the facts as text."""
        if self._answer in facts:
            print(json_text(facts[self._answer], indent=2), flush=True)

    def interrupted(self, wait: WaitProgress, parameters: Mapping[str, Any]) -> None:
        """Print how far a wait got before a signal ended it."""
        facts = self._facts("interrupted", wait, parameters)
        facts |= {"observed": wait.observed, **reported_json(wait)}
        print_json(facts, self._arguments)
        state = f", last state seen: {printable(wait.observed)}" if wait.observed else ""
        attempts = counted(wait.attempts, "attempt")
        self._say(f"{wait.label}: interrupted after {span(wait.elapsed)}{state} ({attempts})")
        self._lead_on(facts)

    def _failed(self, wait: WaitProgress, parameters: Mapping[str, Any], error: Exception) -> None:
        ending = next((text for kind, text in _ENDINGS if isinstance(error, kind)), "error")
        facts = self._facts(ending, wait, parameters)
        text = f"{wait.label}: {error}"
        if isinstance(error, WaiterError):
            # The message ends with the advice, and names the resource if there was a wait for it.
            text = str(error).removesuffix("".join(error.advice)) + in_flags(error.advice)
            text = text if error.label else f"{wait.label}: {text}"
            facts |= _counts(error)
            acceptor = error.acceptor and error.acceptor.text
            facts |= {"acceptor": acceptor, "observed": error.observed}
            facts |= {"service_message": error.service_message, "cause_found": error.cause_found}
            facts |= {"failed_ids": error.failed_ids, **_timeline(error)}
            if self._with_response and ending != "error":
                facts[self._answer] = safe_response(self._operation, error.last_response)
        facts["error"] = error_json(error)
        print_json(facts, self._arguments)
        self._say(text)
        self._lead_on(facts)

    def _lead_on(self, facts: Mapping[str, Any]) -> None:
        """Say what can be done after an end without success."""

    def _say(self, text: str) -> None:
        print(f"{self._command}: {printable(text)}", file=sys.stderr)

    def _facts(
        self, ending: str, wait: WaitProgress, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            "outcome": ending,
            "service": self._operation.service_model.service_name,
            "waiter": self._waiter,
            "label": wait.label,
            "parameters": redacted(self._operation.input_shape, parameters, is_answer=False),
            **_counts(wait),
        }


def safe_response(operation: OperationModel, response: Mapping[str, Any]) -> Any:
    """Return a response in the types of JSON, without sensitive members."""
    members = {name: value for name, value in response.items() if name != "ResponseMetadata"}
    return redacted(operation.output_shape, members)


def redacted(
    shape: Shape | None,
    value: Any,
    owner: Shape | None = None,
    name: str = "",
    *,
    is_answer: bool = True,
) -> Any:
    """Return a value in the types of JSON, without sensitive members."""
    within = partial(redacted, is_answer=is_answer)
    is_secret = is_sensitive(shape, owner, name, is_answer=is_answer) or has_sensitive_names(shape)
    if is_secret or (isinstance(value, str) and is_signed_url(value)):
        return REDACTED
    if isinstance(value, Mapping):
        return {
            str(key): within(inner_shape(shape, key), each, shape, key)
            for key, each in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [within(inner_shape(shape), each) for each in value]
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    # A stream is left out.
    return value if isinstance(value, (str, int, float)) else None


def _counts(wait: WaitProgress | WaiterOutcome[Any] | WaiterError) -> dict[str, Any]:
    return {"attempts": wait.attempts, "elapsed": round(wait.elapsed, 3)}


def _timeline(end: WaiterOutcome[Any] | WaiterError) -> dict[str, Any]:
    return reported_json(end) | {"timeline": [entry._asdict() for entry in end.timeline]}


def error_json(error: BaseException) -> dict[str, Any]:
    """Return the class, the text and the code of an error."""
    facts = {"type": type(error).__name__, "message": str(error)}
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        facts["code"] = response.get("Error", {}).get("Code")
    return facts
