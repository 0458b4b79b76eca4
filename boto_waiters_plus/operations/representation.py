"""Outcomes, errors and progress of background waits as JSON, and back."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import botocore.exceptions
from botocore.discovery import EndpointDiscoveryRefreshFailed
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError, ParamValidationError
from botocore.model import OperationModel

from ..calls.credentials import CREDENTIAL_ERRORS
from ..changes.stops import Stop
from ..engine.acceptors import MatchedAcceptor
from ..engine.redaction import cut, may_show, message_text, printable
from ..engine.wait_event import WaitEvent
from ..exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..outcome import (
    ExceptionOutcome,
    Record,
    ResponseOutcome,
    TimelineEntry,
    WaiterOutcome,
    reported_json,
)
from ..service.data_model import converted
from ..service.errors import error_facts, is_transient_error
from ..service.parameters import without_sensitive, wrong_parameters
from .operation import CANCELLED_DETAIL, OperationError, UnableError, path_of, problem, unreadable
from .stored_row import OPEN, SUCCEEDED, Row, Seal, json_text, loaded

_CODE_OF: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (WaiterFailedError, "failed"),
    (WaiterTimeoutError, "timed_out"),
    (WaiterAttemptsError, "attempts_used_up"),
    (WaiterCancelledError, "cancelled"),
    (ParamValidationError, "invalid_parameters"),
    (NoRegionError, "invalid_parameters"),
)

_ERROR_OF: Final = {code: kind for kind, code in _CODE_OF if issubclass(kind, WaiterError)}

_SHOWN: Final[dict[str, tuple[Any, Any]]] = {
    **dict.fromkeys(("label", "waiter", "service"), (str, "")),
    **dict.fromkeys(("region", "state_seen", "worker", "exclusive_key"), (str, None)),
    **dict.fromkeys(("created", "deadline", "elapsed"), ((int, float), 0.0)),
    "attempts": ((int, float), 0),
    "next_attempt": (float, None),
}
"""The columns that are shown, with the types that they have, and what a damaged row shows."""

_NAMES: Final = ("Waiter", "Checksum", "FlexibleChecksum", "IncompleteRead", "StubResponse")
_OTHERS: Final = (
    *(getattr(botocore.exceptions, f"{name}Error") for name in _NAMES),
    EndpointDiscoveryRefreshFailed,
)
"""Errors of botocore about an answer, and those of its test doubles."""

_LATEST: Final = dt.datetime.max.replace(microsecond=0, tzinfo=dt.timezone.utc).timestamp()


def timestamp(seconds: float | None) -> str | None:
    """Return a time as RFC 3339 text in UTC, from 1970 to the end of the year 9999."""
    if seconds is None:
        return None
    moment = dt.datetime.fromtimestamp(min(max(0.0, seconds), _LATEST), dt.timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def operation_json(row: Row) -> dict[str, Any]:
    """Return a background wait as the schema of AEP-151 has it.

    The row needs the columns that are shown, with `last_error`, `response` and `error` as objects.
    """
    last_error, response, error = row["last_error"], row["response"], row["error"]
    metadata: dict[str, Any] = {
        **{name: row[name] for name in ("label", "waiter", "service", "region")},
        "create_time": timestamp(row["created"]),
        "deadline": timestamp(row["deadline"]),
        "attempts": row["attempts"],
        "elapsed": round(row["elapsed"], 3),
        "state_seen": row["state_seen"],
        "reported": json.loads(row["reported"] or "{}"),
        "next_attempt": timestamp(row["next_attempt"]),
        "worker": row["worker"],
        "exclusive_key": row["exclusive_key"],
    }
    if last_error is not None:
        metadata["last_error"] = dict(last_error)
    done = response is not None or error is not None
    body: dict[str, Any] = {"path": path_of(row), "done": done, "metadata": metadata}
    if error is not None:
        body["error"] = dict(error)
    elif response is not None:
        body["response"] = dict(response)
    return body


def row_json(row: Row, seal: Seal) -> dict[str, Any]:
    """Return the row of a store as `operation_json` does, without what became of a stop."""
    last_error = None
    with contextlib.suppress(OperationError):
        last_error = _body(row, "last_error", seal)
    response, error = _bodies(row, seal)
    opened = {"last_error": last_error, "response": response, "error": error}
    return operation_json({**row, **_readable(row), **opened})


def _readable(row: Row) -> dict[str, Any]:
    """Return the columns that are shown, with defaults where a damaged row has something else."""
    shown: dict[str, Any] = {"reported": None}
    for name, (kind, default) in _SHOWN.items():
        value = row[name]
        is_right = isinstance(value, kind) and (kind is str or math.isfinite(value))
        shown[name] = value if is_right else default
    with contextlib.suppress(TypeError, ValueError):
        if isinstance(json.loads(row["reported"] or "{}"), dict):
            shown["reported"] = row["reported"]
    return shown


def result_of(row: Row, seal: Seal) -> WaiterOutcome[Any] | Exception | None:
    """Return the outcome or the error of a row that is done; None if it was cancelled."""
    if row["state"] == "cancelled":
        return None
    response, error = _bodies(row, seal)
    try:
        return outcome_from_json(response or {}) if error is None else error_from_json(error)
    except (KeyError, TypeError, ValueError, AttributeError) as found:
        return unreadable(f"its end cannot be read: {type(found).__name__}")


def _bodies(row: Row, seal: Seal) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the response and the error; an error if one of them cannot be read."""
    try:
        return _body(row, "response", seal), _body(row, "error", seal)
    except OperationError as error:
        # The state stays: it is the code of the error.
        is_code = isinstance(row["state"], str) and row["state"] not in (OPEN, SUCCEEDED)
        return None, problem(row["state"] if is_code else error.code, error.args[1])


def _body(row: Row, name: str, seal: Seal) -> dict[str, Any] | None:
    """Return the object in a column; raise OperationError if it cannot be read."""
    body = None if row[name] is None else seal.opened(row[name], name)
    if not (body is None or isinstance(body, dict)):
        raise unreadable(f"the stored {name} is not a JSON object")
    return body


def progress_of(event: WaitEvent, now: float) -> dict[str, Any]:
    """Return what changes in a row after an attempt that ended at `now` of the wall clock.

    `last_error`, not encrypted, is part of it only after a transient error.
    """
    state = f"error {event.error}" if event.error else event.state
    progress: dict[str, Any] = {"attempts": event.attempt, "elapsed": event.elapsed}
    if event.transient:
        state = f"transient error {event.error}"
        error = printable(event.message or "")
        progress["last_error"] = problem("attempt_failed", error, attempt=event.attempt)
    # No database stores a lone surrogate, and PostgreSQL no NUL.
    progress["state_seen"] = None if state is None else printable(state)
    progress["reported"] = json.dumps(dict(event.reported)) if event.reported else None
    progress["next_attempt"] = None if event.next_delay is None else now + event.next_delay
    return progress


def response_json(outcome: WaiterOutcome[Any], response: Any = None) -> dict[str, Any]:
    """Return an outcome as the member `response` of a background wait.

    The service's response is part of it if it is given.
    """
    is_exception = isinstance(outcome, ExceptionOutcome)
    body = {"kind": "exception" if is_exception else "response", **_facts_json(outcome)}
    if outcome.basis is not None:
        body["basis"] = outcome.basis
    if isinstance(outcome, ExceptionOutcome):
        exception = outcome.exception
        body["exception"] = _exception_json(exception, error_facts(exception).message)
    elif response is not None:
        body["response"] = response
    return body


def end_of(
    row_id: str,
    result: WaiterOutcome[Any] | BaseException,
    seal: Seal,
    polled: OperationModel | None = None,
) -> dict[str, Any]:
    """Return what changes in the row of a wait that has ended.

    Args:
        row_id: of the row.
        result: how it ended.
        seal: of the store.
        polled: the operation whose response is stored; None: none is.
    """
    response = error = None
    try:
        if isinstance(result, BaseException):
            body = error_json(result)
            state, error = body["code"], seal.closed(body)
        else:
            state, response = SUCCEEDED, seal.closed(_response(result, polled))
    # An unexpected response, or an error of the caller's `encrypt`, ends no other wait.
    except Exception as found:
        state, response = "internal", None
        detail = f"its end cannot be stored: {type(found).__name__}"
        error = json_text(problem("internal", detail))
    end = {"id": row_id, "state": state, "response": response, "error": error, "ended": 0.0}
    return {**end, "machine_at": 0.0, "lease": None, "next_attempt": None}


def timeout_of(row: Row) -> WaiterTimeoutError:
    """Return the error of a wait that no worker could drive before its deadline."""
    max_wait = row["deadline"] - row["created"]
    # Of a damaged row the end is all that is known.
    with contextlib.suppress(OperationError, TypeError, LookupError, AttributeError):
        policy = loaded(row["policy"], "policy")
        max_wait = round(policy.get("asked_wait", policy["max_wait"]), 3)
    reason = f"timed out after {max_wait:.12g} s for {row['label']}: no worker could drive it"
    return WaiterTimeoutError(
        row["waiter"],
        reason,
        max_wait=max_wait,
        observed=row["state_seen"],
        **{name: row[name] for name in ("label", "attempts", "elapsed")},
    )


def _response(outcome: WaiterOutcome[Any], polled: OperationModel | None) -> dict[str, Any]:
    response: Any = None
    if polled is not None and isinstance(outcome, ResponseOutcome):
        shape = polled.output_shape
        members = {k: v for k, v in outcome.response.items() if k != "ResponseMetadata"}
        # As paths see it: JSON.
        response = converted(shape, without_sensitive(shape, members))
    return response_json(outcome, response)


def outcome_from_json(body: Mapping[str, Any]) -> WaiterOutcome[Any]:
    """Return the outcome that `response_json` described."""
    facts = {**_facts(body), "basis": body.get("basis")}
    if body["kind"] == "response":
        return ResponseOutcome(response=body.get("response", {}), **facts)
    return ExceptionOutcome(exception=_exception_from_json(body["exception"]), **facts)


def error_json(error: BaseException) -> dict[str, Any]:
    """Return the canonical object of an error that ended a wait."""
    if isinstance(error, OperationError):
        return problem(error.code, error.args[1])
    code = error_code(error)
    if not isinstance(error, WaiterError):
        # The class alone: the text of any other error may quote parameters.
        return problem(code, type(error).__name__)
    cause, message = error.last_exception, error.service_message
    # The error that is made of this has no response.
    reason = error.stored_reason or error.kwargs["reason"]
    body = problem(code, reason, **_facts_json(error))
    body |= {"failed_ids": error.failed_ids, "max_wait": error.max_wait}
    body["service_message"] = None if message is None else message_text(message)
    body["cause_found"] = error.cause_found
    if error.stop is not None:
        body["stop"] = error.stop.to_json()
    if isinstance(cause, ClientError):
        body["exception"] = _exception_json(cause, message)
    return body


def cancelled_json(stop: Stop | None) -> dict[str, Any]:
    """Return the canonical object of the end of a wait that was cancelled."""
    body = problem("cancelled", CANCELLED_DETAIL)
    return body if stop is None else with_stop(body, stop)


def with_stop(body: Mapping[str, Any], stop: Stop) -> dict[str, Any]:
    """Return the object of an error that tells what became of a stop, too."""
    detail = f"{body['detail'].rstrip('. ')}; {stop.text}."
    return {**body, "detail": detail, "stop": stop.to_json()}


def error_code(error: BaseException) -> str:
    """Return the code of an error that is no `OperationError`."""
    if getattr(error, "outcome_unknown", False):
        return "outcome_unknown"
    if isinstance(error, CREDENTIAL_ERRORS):
        return "credentials"
    return next((code for kind, code in _CODE_OF if isinstance(error, kind)), "internal")


def unable(error: BaseException) -> UnableError | None:
    """Return the error of a worker that could not make a call; None: others could not either.

    What is stored was checked where it was stored. So botocore refuses it by the version, the
    settings or the certificates that it has here.
    """
    cause: Any = getattr(error, "last_exception", None) or error
    if isinstance(cause, CREDENTIAL_ERRORS):
        return UnableError("credentials", f"the worker has no credentials: {type(cause).__name__}")
    is_of_here = isinstance(cause, BotoCoreError) and not isinstance(cause, _OTHERS)
    if not is_of_here or is_transient_error(cause):
        return None
    # Its text may quote parameters.
    parts = ("the worker cannot make the call", type(cause).__name__, wrong_parameters(cause))
    code = error_code(cause).replace("internal", "unsupported")
    return UnableError(code, ": ".join(filter(None, parts)))


def error_from_json(body: Mapping[str, Any]) -> Exception:
    """Return the error that `error_json` described."""
    kind = _ERROR_OF.get(body["code"])
    if kind is None or "waiter" not in body:
        return OperationError(body["code"], body["detail"])
    facts = _facts(body)
    record, reported = facts.pop("timeline_record"), facts.pop("reported")
    error = kind(
        facts.pop("waiter"),
        body["detail"],
        message=f"Waiter {body['waiter']} {body['detail']}",
        failed_ids=body["failed_ids"],
        max_wait=body["max_wait"],
        service_message=body["service_message"],
        last_exception=_exception_from_json(body["exception"]) if "exception" in body else None,
        **facts,
    )
    error.timeline_record = record
    error.reported = reported
    error.cause_found = body.get("cause_found")
    return error


def _facts_json(end: WaiterOutcome[Any] | WaiterError) -> dict[str, Any]:
    """Return what outcomes and errors have in common."""
    acceptor = end.acceptor
    return {
        "waiter": end.waiter,
        "label": end.label,
        "attempts": end.attempts,
        "elapsed": round(end.elapsed, 3),
        "acceptor": acceptor and {"index": acceptor.index, "text": acceptor.text},
        "observed": _plain(end.observed),
        **reported_json(end),
        "timeline": _changes_in(end.timeline),
    }


def _facts(body: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: body[name] for name in ("waiter", "label", "attempts", "elapsed", "observed")}
    facts["acceptor"] = body["acceptor"] and MatchedAcceptor(**body["acceptor"])
    facts["reported"] = body.get("reported", {})
    return facts | {"timeline_record": _record_from_json(body["timeline"])}


def _changes_in(timeline: Sequence[TimelineEntry]) -> list[dict[str, Any]]:
    """Return the attempts that saw another state than the one before, and the last, as JSON."""
    last = len(timeline) - 1
    return [
        entry._asdict()
        for place, entry in enumerate(timeline)
        if place in (0, last) or entry.state != timeline[place - 1].state
    ]


def _record_from_json(entries: Iterable[Mapping[str, Any]]) -> Record | None:
    """Return a record of the attempts that `_changes_in` returned."""
    timeline = [TimelineEntry(**entry) for entry in entries]
    if not timeline:
        return None
    *earlier, (attempt, elapsed, state) = timeline
    return earlier, attempt, elapsed, state


def _plain(value: Any) -> Any:
    """Return a value that an acceptor's path gave; None if it may not be shown."""
    if not may_show(value):
        return None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return cut(value) if isinstance(value, str) else value


def _exception_json(error: Exception, message: str | None) -> dict[str, Any]:
    # One that is not of the service may have a `response` of None.
    answer: Any = error.response if isinstance(error, ClientError) else {}
    details = answer.get("Error", {})
    return {
        "code": str(details.get("Code") or type(error).__name__),
        "message": message_text(message or ""),
        "status": answer.get("ResponseMetadata", {}).get("HTTPStatusCode"),
        "operation": str(getattr(error, "operation_name", "")),
    }


def _exception_from_json(body: Mapping[str, Any]) -> ClientError:
    answer: Any = {
        "Error": {"Code": body["code"], "Message": body["message"]},
        "ResponseMetadata": {"HTTPStatusCode": body["status"]},
    }
    return ClientError(answer, body["operation"])
