"""The end of a wait as a line of text or of JSON, without what may not be shown."""

from __future__ import annotations

import base64
import datetime as dt
import json
import sys
from collections.abc import Mapping
from typing import Any

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from ..exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome
from .live_progress import SeenState
from .text import as_flags, printable, span

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
        as_json: print each end as a line of JSON.
        quiet: print no line of text about a success.
        with_response: include the responses.
    """

    def __init__(
        self,
        waiter: str,
        operation: OperationModel,
        *,
        as_json: bool,
        quiet: bool,
        with_response: bool,
    ) -> None:
        self._waiter = waiter
        self._operation = operation
        self._as_json = as_json
        self._quiet = quiet
        self._with_response = with_response

    def ended(self, seen: SeenState, result: WaiterOutcome[Any] | Exception) -> None:
        """Print the end of a wait."""
        if isinstance(result, Exception):
            self._failed(seen, result)
            return
        facts = self._facts("succeeded", seen, result.attempts, result.elapsed)
        facts |= {"acceptor": result.acceptor.text, "observed": result.observed}
        text = f"{seen.label}: {self._waiter} after {span(result.elapsed)}"
        text += f" ({_attempts(result.attempts)})"
        if isinstance(result, ExceptionOutcome):
            facts["exception"] = _error(result.exception)
        if self._with_response and isinstance(result, ResponseOutcome):
            facts["response"] = self._safe_response(result.response)
            text += "\n" + json.dumps(facts["response"], indent=2, ensure_ascii=False)
        if self._as_json:
            _print_json(facts)
        elif not self._quiet or self._with_response:
            print(text, flush=True)

    def interrupted(self, seen: SeenState, elapsed: float) -> None:
        """Print how far a wait came that Ctrl-C ended."""
        if self._as_json:
            facts = self._facts("interrupted", seen, seen.attempts, elapsed)
            _print_json({**facts, "observed": seen.state})
        state = f", last state seen: {printable(seen.state)}" if seen.state else ""
        text = f"interrupted after {span(elapsed)}{state} ({_attempts(seen.attempts)})"
        print(f"boto-wait: {seen.label}: {text}", file=sys.stderr)

    def _failed(self, seen: SeenState, error: Exception) -> None:
        ending = next((text for kind, text in _ENDINGS if isinstance(error, kind)), "error")
        facts = self._facts(ending, seen, seen.attempts, seen.elapsed)
        text = f"{seen.label}: {error}"
        if isinstance(error, WaiterError):
            # The message names the resource.
            text = str(error)
            facts |= {"attempts": error.attempts, "elapsed": round(error.elapsed, 3)}
            acceptor = error.acceptor
            facts["acceptor"] = None if acceptor is None else acceptor.text
            facts |= {"observed": error.observed, "service_message": error.service_message}
            facts["failed_ids"] = error.failed_ids
            if self._with_response and ending != "error":
                facts["response"] = self._safe_response(error.last_response)
        facts["error"] = _error(error)
        if self._as_json:
            _print_json(facts)
        print(f"boto-wait: {printable(as_flags(text))}", file=sys.stderr)

    def _facts(self, ending: str, seen: SeenState, attempts: int, elapsed: float) -> dict[str, Any]:
        return {
            "outcome": ending,
            "service": self._operation.service_model.service_name,
            "waiter": self._waiter,
            "label": seen.label,
            "attempts": attempts,
            "elapsed": round(elapsed, 3),
        }

    def _safe_response(self, response: Mapping[str, Any]) -> Any:
        members = {name: value for name, value in response.items() if name != "ResponseMetadata"}
        return redacted(self._operation.output_shape, members)


def redacted(shape: Shape | None, value: Any) -> Any:
    """Return a value in the types of JSON, without members that are sensitive in the model."""
    if shape is not None and shape.metadata.get("sensitive"):
        return REDACTED
    if isinstance(value, Mapping):
        members = shape.members if isinstance(shape, StructureShape) else {}
        item = shape.value if isinstance(shape, MapShape) else None
        return {str(name): redacted(members.get(name, item), each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        item = shape.member if isinstance(shape, ListShape) else None
        return [redacted(item, each) for each in value]
    if isinstance(value, (dt.datetime, dt.date)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if value is None or isinstance(value, (str, int, float)):
        return value
    # A stream.
    return None


def _error(error: Exception) -> dict[str, Any]:
    facts = {"type": type(error).__name__, "message": str(error)}
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        facts["code"] = response.get("Error", {}).get("Code")
    return facts


def _attempts(number: int) -> str:
    return "1 attempt" if number == 1 else f"{number} attempts"


def _print_json(facts: Mapping[str, Any]) -> None:
    print(json.dumps(facts, ensure_ascii=False, default=str), flush=True)
