"""A call of a botocore client that ends at its deadline.

Everything that botocore does in the call is bounded: connecting, TLS, the request, the headers
and body of the response, and its own retries. The call runs in the calling thread. `connections`
tells the `CallBudget` which socket is in use, the watchdog shuts that socket when the time is up,
and `client_events` refuses retries that would not fit, and tells when the answer has arrived: what
has arrived by then is still parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from ..common.errors import warn
from ..options import CancelEvent
from .budget import CallBudget, CallEnded, run_within
from .client_events import note_arrivals, refuse_late_retries
from .clients import PerClient
from .connections import ClientPools
from .credentials import ClientCredentials, ask_for_codes, terminal_kept
from .threads import abandonable_call
from .watch import monotonic

T = TypeVar("T")


def bounded_call(
    call: Callable[[], T],
    *,
    client: Any,
    seconds: float | None,
    cancel_event: CancelEvent | None = None,
    in_thread: bool = False,
) -> T:
    """Make a call, and end it at the deadline.

    Args:
        call: runs in the calling thread. Only requests of botocore clients are cut off.
        client: the client whose method is called; None: the call is not a method of a client.
        seconds: the real time that the call has; None: no deadline.
        cancel_event: ends the call when it is set.
        in_thread: make the call in a daemon thread that is abandoned at the deadline, whatever
            the call does then.

    Raises:
        CallEnded: the call was ended, or not made because the time was up or the event set. The
            error that the call raised, if any, is the cause.
    """
    # First, because the first call of a client takes a moment to prepare.
    budget = CallBudget(seconds, cancel_event)
    return call_within(budget, call, client=client, in_thread=in_thread)


def call_within(
    budget: CallBudget, call: Callable[[], T], *, client: Any, in_thread: bool = False
) -> T:
    """Make a call within a budget that was made for it; see `bounded_call`.

    What the call returns or raises after its deadline counts if the answer had arrived in time.
    """
    if budget.is_endless:
        if client is not None:
            refuse_late_retries(client)
            ask_for_codes(client)
        return run_within(budget, call)
    for event in budget.cancel_events:
        if event.is_set():
            raise CallEnded("cancelled")
    if not budget.deadline > monotonic():
        raise CallEnded("deadline")
    try:
        make = partial(_call_that_can_end, budget, call, client, in_thread=in_thread)
        result = run_within(budget, make)
    except Exception as error:
        _raise_reason(budget, error)
        raise
    if budget.relies_on_timeouts:
        _warn_of_timeouts()
    if budget.reason is not None or monotonic() >= budget.deadline:
        _check_arrival(budget, result, client)
    return result


def _call_that_can_end(
    budget: CallBudget, call: Callable[[], T], client: Any, *, in_thread: bool
) -> T:
    """Make a call in such a way that the budget can end it."""
    if client is not None:
        pools, credentials = _prepared.of(client)
        in_thread = in_thread or not pools.can_cut_off()
        if not in_thread and credentials.are_due():
            in_thread = not credentials.refresh(budget)
    return _call_in_thread(budget, call, client) if in_thread else call()


def _check_arrival(budget: CallBudget, result: Any, client: Any) -> None:
    """Drop a late result and raise why it does not count, unless it had arrived in time."""
    if budget.reason != "cancelled" and budget.is_answered:
        return
    if client is not None:
        discard_response(result)
    raise CallEnded(budget.reason or "deadline")


def _prepare(client: Any) -> tuple[ClientPools, ClientCredentials]:
    refuse_late_retries(client)
    note_arrivals(client)
    return ClientPools(client), ClientCredentials(client)


_prepared: Final = PerClient(_prepare)


def discard_response(response: object) -> None:
    """Close the streaming body of a response that is dropped."""
    if isinstance(response, Mapping):
        for value in response.values():
            close = getattr(value, "close", None)
            if callable(close):
                close()


def _call_in_thread(budget: CallBudget, call: Callable[[], T], client: Any) -> T:
    inner: list[CallBudget] = []

    def work() -> T:
        inner.append(CallBudget(max(budget.left, 0.0)))
        try:
            return run_within(inner[0], call)
        finally:
            budget.refused_retry = inner[0].refused_retry

    discard = None if client is None else discard_response
    try:
        with terminal_kept():
            return abandonable_call(work, budget, discard=discard, name="call")
    except BaseException:
        # Ctrl-C included: what can be cut off of the call ends now.
        for each in inner:
            each.cancel()
        raise


def _raise_reason(budget: CallBudget, error: Exception) -> None:
    """Raise why the call was ended, if the error is not what it would have ended in anyway."""
    reason = budget.over_because
    if budget.relies_on_timeouts:
        _warn_of_timeouts()
    if reason is not None and not (reason == "deadline" and budget.is_answered):
        raise CallEnded(reason) from error
    if error is budget.refused_retry:
        raise CallEnded("retry refused") from error


def _warn_of_timeouts() -> None:
    warn(
        "no thread can be started or no file descriptor is left: max_wait is kept by socket "
        "timeouts alone, and a response that arrives slowly may exceed it",
        RuntimeWarning,
    )
