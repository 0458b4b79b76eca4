"""Outcomes, errors and progress of operations as JSON, and back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import (
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
)

from ..engine.model import MatchedAcceptor
from ..engine.redaction import cut, may_show
from ..exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome
from .error_codes import OperationError, problem

_CODE_OF: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (WaiterFailedError, "failed"),
    (WaiterTimeoutError, "timed_out"),
    (WaiterAttemptsError, "attempts_used_up"),
    (WaiterCancelledError, "cancelled"),
    (ParamValidationError, "invalid_parameters"),
    (NoCredentialsError, "credentials"),
    (PartialCredentialsError, "credentials"),
    (NoRegionError, "invalid_parameters"),
)
_LATEST: Final = dt.datetime.max.replace(microsecond=0, tzinfo=dt.timezone.utc).timestamp()

_ERROR_OF: Final = {code: kind for kind, code in _CODE_OF if issubclass(kind, WaiterError)}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationFacts:
    """What does not change about an operation; times are seconds since the epoch."""

    path: str
    label: str
    waiter: str
    service: str
    region: str | None
    created: float
    deadline: float


@dataclass(slots=True, kw_only=True)
class WaitProgressFacts:
    """How far a wait is."""

    attempts: int = 0
    elapsed: float = 0.0
    state_seen: str | None = None
    next_attempt: float | None = None
    worker: str | None = None
    clock_jump: float | None = None


def timestamp(seconds: float | None) -> str | None:
    """Return a time as RFC 3339 text in UTC, at most the end of the year 9999."""
    if seconds is None:
        return None
    moment = dt.datetime.fromtimestamp(min(seconds, _LATEST), dt.timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def operation_json(
    facts: OperationFacts,
    progress: WaitProgressFacts,
    *,
    response: Mapping[str, Any] | None = None,
    error: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an operation as the schema of AEP-151 has it."""
    metadata: dict[str, Any] = {
        "label": facts.label,
        "waiter": facts.waiter,
        "service": facts.service,
        "region": facts.region,
        "create_time": timestamp(facts.created),
        "deadline": timestamp(facts.deadline),
        "attempts": progress.attempts,
        "elapsed": round(progress.elapsed, 3),
        "state_seen": progress.state_seen,
        "next_attempt": timestamp(progress.next_attempt),
        "worker": progress.worker,
    }
    if progress.clock_jump is not None:
        metadata["clock_jump"] = round(progress.clock_jump, 3)
    done = response is not None or error is not None
    body: dict[str, Any] = {"path": facts.path, "done": done, "metadata": metadata}
    if error is not None:
        body["error"] = dict(error)
    elif response is not None:
        body["response"] = dict(response)
    return body


def response_json(outcome: WaiterOutcome[Any], response: Any = None) -> dict[str, Any]:
    """Return an outcome as the member `response` of an operation.

    Args:
        outcome: how the wait succeeded.
        response: the service's response, if it is to be part of it.
    """
    body: dict[str, Any] = {
        "kind": "exception" if isinstance(outcome, ExceptionOutcome) else "response",
        "waiter": outcome.waiter,
        "label": outcome.label,
        "attempts": outcome.attempts,
        "elapsed": round(outcome.elapsed, 3),
        "acceptor": _acceptor_json(outcome.acceptor),
        "observed": _plain(outcome.observed),
    }
    if isinstance(outcome, ExceptionOutcome):
        body["exception"] = _exception_json(outcome.exception)
    elif response is not None:
        body["response"] = response
    return body


def outcome_from_json(body: Mapping[str, Any]) -> WaiterOutcome[Any]:
    """Return the outcome that `response_json` described."""
    facts: dict[str, Any] = {
        "waiter": body["waiter"],
        "label": body["label"],
        "attempts": body["attempts"],
        "elapsed": body["elapsed"],
        "acceptor": MatchedAcceptor(**body["acceptor"]),
        "observed": body["observed"],
    }
    if body["kind"] == "response":
        return ResponseOutcome(response=body.get("response", {}), **facts)
    exception = body["exception"]
    answer: Any = {
        "Error": {"Code": exception["code"], "Message": exception["message"]},
        "ResponseMetadata": {"HTTPStatusCode": exception["status"]},
    }
    return ExceptionOutcome(exception=ClientError(answer, exception["operation"]), **facts)


def error_json(error: BaseException) -> dict[str, Any]:
    """Return the canonical object of an error that ended a wait."""
    if isinstance(error, OperationError):
        return problem(error.code, error.args[1])
    code = next((code for kind, code in _CODE_OF if isinstance(error, kind)), "internal")
    if not isinstance(error, WaiterError):
        # The class alone: the text of any other error may quote parameters.
        return problem(code, type(error).__name__)
    return problem(
        code,
        str(error.kwargs["reason"]),
        waiter=error.waiter,
        label=error.label,
        failed_ids=error.failed_ids,
        attempts=error.attempts,
        elapsed=round(error.elapsed, 3),
        max_wait=error.max_wait,
        acceptor=None if error.acceptor is None else _acceptor_json(error.acceptor),
        observed=_plain(error.observed),
        service_message=None if error.service_message is None else cut(error.service_message),
    )


def error_from_json(body: Mapping[str, Any]) -> Exception:
    """Return the error that `error_json` described."""
    kind = _ERROR_OF.get(body["code"])
    if kind is None or "waiter" not in body:
        return OperationError(body["code"], body["detail"])
    acceptor = body["acceptor"]
    return kind(
        body["waiter"],
        body["detail"],
        message=f"Waiter {body['waiter']} {body['detail']}",
        label=body["label"],
        failed_ids=body["failed_ids"],
        attempts=body["attempts"],
        elapsed=body["elapsed"],
        max_wait=body["max_wait"],
        acceptor=None if acceptor is None else MatchedAcceptor(**acceptor),
        observed=body["observed"],
        service_message=body["service_message"],
    )


def _acceptor_json(acceptor: MatchedAcceptor) -> dict[str, Any]:
    return {"index": acceptor.index, "text": acceptor.text}


def _plain(value: Any) -> Any:
    """Return a value that an acceptor's path gave; None if it may not be shown."""
    if not may_show(value):
        return None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return cut(value) if isinstance(value, str) else value


def _exception_json(error: Exception) -> dict[str, Any]:
    answer: Any = getattr(error, "response", {})
    details = answer.get("Error", {})
    return {
        "code": str(details.get("Code") or type(error).__name__),
        "message": cut(str(details.get("Message") or "")),
        "status": answer.get("ResponseMetadata", {}).get("HTTPStatusCode"),
        "operation": str(getattr(error, "operation_name", "")),
    }
