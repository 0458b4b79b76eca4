"""What the events of a client tell and refuse: when an answer arrives, and retries too late."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from botocore.exceptions import ClientError
from botocore.model import OperationModel

from .budget import AwaitedBudget, Budget, CallBudget, awaited_budget, current_budget
from .clients import PerClient
from .errors import callers_error
from .private_names import has_brief_delays, is_retryable, most_attempts
from .watch import monotonic

# --- notes in the budget of a call when its answer has arrived: what is left to do is to parse it


def _register_first(client: Any, event: str, handler: Callable[..., None]) -> None:
    name = f"{event}.{client.meta.service_model.service_id.hyphenize()}"
    client.meta.events.register_first(name, handler, unique_id=f"boto_waiters_plus-{event}")


def _register_arrivals(client: Any) -> None:
    _register_first(client, "before-send", _sent)
    _register_first(client, "before-parse", _arrived)


note_arrivals: Final = PerClient(_register_arrivals).of
"""Lets a client note the arrival of answers; botocore before 1.36 emits no event for it."""


def _budget() -> CallBudget | AwaitedBudget | None:
    return current_budget() or awaited_budget.get()


def _sent(**_: Any) -> None:
    budget = _budget()
    if budget is not None:
        budget.arrived = math.inf


def _arrived(operation_model: OperationModel, **_: Any) -> None:
    budget = _budget()
    # A stream is read later, by the caller.
    if budget is not None and not (
        operation_model.has_streaming_output or operation_model.has_event_stream_output
    ):
        budget.arrived = monotonic()


# --- refuses a retry whose delay may not fit into the time left for the call ---------------------

LARGEST_STANDARD_DELAY: Final = 20.0
"""Seconds; the standard retry mode's cap on its own delay."""

LARGEST_RETRY_AFTER: Final = 5.0
"""Seconds that a service may ask the standard retry mode to add."""

BRIEF_SHARE: Final = 1 / 40
"""Of the bound: the least that botocore's longest delay may be, for what is no throttle in the
standard mode, and for DynamoDB in the legacy mode."""

RETRIED_STATUSES: Final = frozenset({429, 500, 502, 503, 504, 509})


def _register_refusal(client: Any) -> None:
    def refuse_late_retry(**retry: Any) -> None:
        """Raise what the call would end in if a retry may not fit into the time left.

        The refusal is not returned: botocore before 1.43 takes False for "retry at once", and
        handlers that run later would take from the client's retry quota.
        """
        error, status = retry.get("caught_exception"), _status(retry)
        if error is None and (status is None or status < 300):
            return
        budget = _budget()
        if budget is None:
            return
        if error is not None and callers_error(error, budget.handled):
            raise error  # Nothing of the request failed.
        # An answer that arrived in time counts, unless the SDK would not take it for one.
        is_in_time = budget.over_because is None or budget.is_answered
        if is_in_time and not _is_late(client, budget, retry):
            return
        budget.refused_retry = _error_of(client, retry) if error is None else error
        raise budget.refused_retry

    _register_first(client, "needs-retry", refuse_late_retry)


refuse_late_retries: Final = PerClient(_register_refusal).of
"""Lets a client refuse retries that may not fit into the budget of the call."""


def only_call() -> None:
    """Note that nothing repeats the call that is made now: the SDK keeps its retries for longer."""
    budget = _budget()
    if budget is not None:
        budget.is_only_call = True


def _status(retry: Mapping[str, Any]) -> int | None:
    response = retry.get("response")
    return None if response is None else response[0].status_code


def _is_late(client: Any, budget: Budget, retry: Mapping[str, Any]) -> bool:
    """Return whether botocore is about to retry after a delay that may not fit.

    The real one is random, and drawn by a handler that takes from the retry quota first.
    """
    attempts = retry["attempts"]
    bound = 2.0 ** min(attempts - 1, 20)
    if bound + LARGEST_RETRY_AFTER <= budget.left:
        return False
    retries = client.meta.config.retries or {}
    is_standard = retries.get("mode") in ("standard", "adaptive")
    http, parsed = retry.get("response") or (None, None)
    cap, left = LARGEST_STANDARD_DELAY if is_standard else math.inf, budget.left
    if http is not None and "x-amz-retry-after" in http.headers:
        left -= LARGEST_RETRY_AFTER
    if min(bound, cap) <= left:
        return False
    most = retries.get("total_max_attempts") or most_attempts(retry["request_dict"])
    # Without a response, the exception alone decides.
    is_retried, is_throttle = is_retryable(retry.get("caught_exception") or Exception(), parsed)
    status = _status(retry)
    if attempts >= (most or math.inf) or not (is_retried or status in RETRIED_STATUSES):
        return False
    is_brief = client.meta.service_model.service_name == "dynamodb"
    if is_standard:
        is_brief = has_brief_delays() and not (is_throttle or status == 429)
    return not (budget.is_only_call and is_brief and min(bound * BRIEF_SHARE, cap) <= left)


def _error_of(client: Any, retry: Mapping[str, Any]) -> Exception:
    """Return the error that the client would make of a response."""
    parsed, context = retry["response"][1], retry["request_dict"]["context"]
    parsed.setdefault("ResponseMetadata", {})["RetryAttempts"] = retry["attempts"] - 1
    details = parsed.get("Error", {})
    names = context.get("error_code_override"), details.get("QueryErrorCode"), details.get("Code")
    code = next(filter(None, names), None)
    error: ClientError = client.exceptions.from_code(code)(parsed, retry["operation"].name)
    return error
