"""Notes in the budget of a call when its answer has arrived: what is left to do is to parse it."""

from __future__ import annotations

import math
from typing import Any, Final

from botocore.model import OperationModel

from .awaited_budget import AwaitedBudget, awaited_budget
from .call_budget import CallBudget, current_budget
from .per_client import PerClient
from .watchdog import monotonic


def note_arrivals(client: Any) -> None:
    """Let the client note the arrival of answers; botocore before 1.36 emits no event for it."""
    _handlers.of(client)


def _register(client: Any) -> None:
    service = client.meta.service_model.service_id.hyphenize()
    for event, handler in (("before-send", _sent), ("before-parse", _arrived)):
        client.meta.events.register_first(
            f"{event}.{service}", handler, unique_id=f"boto_waiters_plus-{event}"
        )


_handlers: Final = PerClient(_register)


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
