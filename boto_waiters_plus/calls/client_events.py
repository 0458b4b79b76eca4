"""What the events of a client tell and refuse: when an answer arrives, and retries too late."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from botocore.exceptions import ClientError
from botocore.model import OperationModel

from .budget import AwaitedBudget, CallBudget, awaited_budget, current_budget
from .clients import PerClient
from .errors import callers_error
from .private_names import default_attempts, is_retryable, non_throttling_scale
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

LEGACY_DYNAMODB_SCALE: Final = 0.05
"""The legacy retry mode delays up to 2**n seconds, on DynamoDB up to this share of it."""

RETRIED_STATUSES: Final = frozenset({429, 500, 502, 503, 504, 509})


def _register_refusal(client: Any) -> None:
    def refuse_late_retry(
        attempts: int,
        operation: Any,
        request_dict: Mapping[str, Any],
        response: tuple[Any, Any] | None = None,
        caught_exception: Exception | None = None,
        **_: Any,
    ) -> None:
        """Raise what the call would end in if a retry does not fit into the time left.

        The refusal is not returned: botocore before 1.43 takes False for "retry at once", and
        handlers that run later would take from the client's retry quota.
        """
        if caught_exception is None and (response is None or response[0].status_code < 300):
            return
        budget = _budget()
        if budget is None:
            return
        if caught_exception is not None and callers_error(caught_exception, budget.handled):
            raise caught_exception  # Nothing of the request failed.
        # An answer that arrived in time counts, unless the SDK would not take it for one.
        if budget.over_because is None or budget.is_answered:
            if budget.left > _longest_delay(attempts):
                return
            delay = _largest_delay(client, attempts, response, caught_exception)
            if delay is None or delay <= budget.left:
                return
        if caught_exception is None:
            assert response is not None
            caught_exception = _error_of(client, operation, response[1], attempts, request_dict)
        budget.refused_retry = caught_exception
        raise caught_exception

    _register_first(client, "needs-retry", refuse_late_retry)


refuse_late_retries: Final = PerClient(_register_refusal).of
"""Lets a client refuse retries that do not fit into the budget of the call."""


def _error_of(
    client: Any,
    operation: Any,
    parsed: dict[str, Any],
    attempts: int,
    request_dict: Mapping[str, Any],
) -> Exception:
    """Return the error that the client would make of a response."""
    parsed.setdefault("ResponseMetadata", {})["RetryAttempts"] = attempts - 1
    details = parsed.get("Error", {})
    code = (
        request_dict["context"].get("error_code_override")
        or details.get("QueryErrorCode")
        or details.get("Code")
    )
    error: ClientError = client.exceptions.from_code(code)(parsed, operation.name)
    return error


def _longest_delay(attempts: int) -> float:
    """Return a delay in seconds that no retry of botocore after this many attempts exceeds."""
    return max(_growth(attempts), LARGEST_STANDARD_DELAY) + LARGEST_RETRY_AFTER


def _growth(attempts: int) -> float:
    return 2.0 ** min(attempts - 1, 20)


def _largest_delay(
    client: Any,
    attempts: int,
    response: tuple[Any, Any] | None,
    caught_exception: Exception | None,
) -> float | None:
    """Return the longest delay that botocore may make before it retries; None: it does not.

    The real one is random, and drawn by a handler that takes from the retry quota first.
    """
    retries = client.meta.config.retries or {}
    service = client.meta.service_model.service_id.hyphenize()
    is_standard = retries.get("mode") in ("standard", "adaptive")
    most = retries.get("total_max_attempts") or (default_attempts(service) if is_standard else None)
    if most is not None and attempts >= most:
        return None
    # Without a response, the exception alone decides.
    parsed = None if response is None else response[1]
    retryable, throttled = is_retryable(caught_exception or Exception(), parsed)
    status = None if response is None else response[0].status_code
    if not retryable and status not in RETRIED_STATUSES:
        return None
    growth = _growth(attempts)
    if not is_standard:
        return growth * (LEGACY_DYNAMODB_SCALE if service == "dynamodb" else 1)
    scale = 1.0 if throttled or status == 429 else non_throttling_scale(service)
    delay = min(scale * growth, LARGEST_STANDARD_DELAY)
    if response is not None and "x-amz-retry-after" in response[0].headers:
        delay += LARGEST_RETRY_AFTER
    return delay
