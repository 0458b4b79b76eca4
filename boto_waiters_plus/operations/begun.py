"""The call of `begin` in a store: part of the row of its wait, before it is made.

The process that makes the call holds the row by a lease, as a worker does. Once the call is
answered the row is free, and is that of any other wait. If the lease ends before, a worker repeats
the call under its token, or ends the row as `outcome_unknown`.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from botocore.model import OperationModel

from ..batch.wait import Wait
from ..changes.answers import NOT_KEPT
from ..changes.effects import EffectOfCall, effect_named
from ..changes.prepared_call import CallOutcome, PreparedCall, kept_answer, restored_call
from ..changes.stops import Stop, StopsAfter, stop_in_time
from ..changes.target import restored_response
from ..common.process import start_thread
from ..common.time_bounds import TimeBound
from ..common.wrong_arguments import Keyword, WrongValueError
from ..definitions.changes import StopCall
from ..options import WaitOptions
from ..service.json_parameters import as_json, from_json, without_sensitive
from .backend import Backend, Row
from .operation import OperationError, StoreError, UnableError, unreadable
from .sealing import Seal

CALL: Final = "$call"
"""The member of the stored parameters that has the call; no parameter is stored by this name."""

DEBT_TIME: Final = 600.0
"""Seconds in which a row that has ended leaves its stop to a worker."""

ASKED: Final = (
    *("operation", "effect", "asked", "asked_wait"),
    *("stop_on_timeout", "stop_on_cancel", "propagation_wait", "busy_wait", "no_change_ok"),
    "missing_ok",
)
"""The members of a call that have to be the same where a `request_id` is used again."""

CALLER_LEASE: Final = 30.0
"""Seconds without a sign of the process that makes a call, after which it is taken for dead."""


def begun_call(
    prepared: PreparedCall, effect: EffectOfCall, asked: Mapping[str, Any], stops: StopsAfter
) -> dict[str, Any]:
    """Return a call as its row keeps it, for `resumed_call` too; without sensitive parameters.

    Args:
        prepared, effect: the call and its effect.
        asked: the parameters as they were given.
        stops: when what was begun is stopped.

    Raises:
        TypeError: a parameter cannot be stored.
        ValueError: a parameter of the wait would be sensitive.
    """
    trait = effect.to_json()
    as_json(effect.bound_waiter.operation.input_shape, dict.fromkeys(trait["parameters"]))
    kept = kept_parameters(prepared.target.operation, prepared.parameters)
    is_whole = kept == as_json(None, prepared.parameters)
    token = prepared.token if is_whole else None
    return {
        **prepared.record(kept),
        "token": token,
        # A function of the caller that tells what to poll cannot be kept.
        "is_repeatable": token is not None and effect.function is None,
        "asked": kept_parameters(prepared.target.operation, asked),
        "asked_wait": prepared.asked_wait,
        "stop_on_timeout": stops.timeout,
        "stop_on_cancel": stops.cancel,
        "effect": asdict(effect.effect),
        "trait": trait,
        **dict.fromkeys(("answer", "document", "stop")),
    }


def kept_parameters(operation: OperationModel, parameters: Mapping[str, Any]) -> Any:
    """Return parameters of a call as JSON, without sensitive ones."""
    shape = operation.input_shape
    return as_json(shape, without_sensitive(shape, parameters, is_answer=False))


def refuse_unkept(operation: OperationModel, asked: Mapping[str, Any]) -> None:
    """Raise ValueError for a parameter that is not kept, and so cannot be compared."""
    given, kept = as_json(None, asked), kept_parameters(operation, asked)
    if given != kept:
        name = next(each for each in given if given[each] != kept.get(each))
        problem = f"{name} is sensitive, in part or whole, and not kept: another value under this "
        raise WrongValueError(problem, Keyword("request_id"), " would be taken for a repetition")


def keep_answer(
    begun: dict[str, Any], prepared: PreparedCall, effect: EffectOfCall, call: CallOutcome
) -> EffectOfCall:
    """Add to a call what it was answered; return it so."""
    answer = begun["answer"] = kept_answer(prepared.target.operation, call)
    document = effect.call_document(from_json(begun["parameters"]), restored_response(answer))
    # Acceptors that read back what was asked for have to know that there was more.
    document["input"] = {**dict.fromkeys(prepared.parameters, NOT_KEPT), **document["input"]}
    begun["document"] = document
    return effect.with_answer(document, call.response)


def wait_after(
    answered: EffectOfCall, options: WaitOptions, *, max_wait: TimeBound, **bound: Any
) -> Wait:
    """Return the wait for the effect of a call that was answered.

    Args:
        answered: the call.
        options, max_wait, bound: of the wait.

    Raises:
        WaiterError: no time is left, or the answer does not tell what to poll.
    """
    parameters = answered.parameters(max_wait, options)
    on = (answered.client, answered.bound_waiter, parameters, options)
    return Wait.with_options(*on, call=answered.seen, max_wait=max_wait, **bound)


def begun_of(row: Row, seal: Seal) -> dict[str, Any] | None:
    """Return the call of a row; None: it has none.

    Raises:
        UnableError: the row cannot be decrypted here, so that whether it has one is not known.
        OperationError: it is damaged.
    """
    body = seal.opened(row["parameters"], "parameters")
    begun: dict[str, Any] | None = body.get(CALL) if isinstance(body, dict) else None
    if begun is not None and not _is_call(begun):
        raise unreadable("its call cannot be read")
    return begun


def _is_call(begun: Any) -> bool:
    """Return whether this is what `begun_call` has made, and not a part of a damaged row."""
    try:
        _ = begun["token"], begun["is_repeatable"], begun["stop_on_timeout"]
        planned, stop, _ = begun["trait"]["stop"], begun["stop"], begun["stop_on_cancel"]
        _ = planned is None or (StopCall(**planned), planned["resource"])
        _ = stop is None or Stop(**stop).text
        parts = (begun["operation"], str), (begun["effect"], dict), (begun["answer"] or {}, dict)
    except (TypeError, KeyError, AttributeError):
        return False
    return all(isinstance(part, kind) for part, kind in parts)


def tells_what_to_poll(row: Row, seal: Seal) -> bool:
    """Whether a row whose call was answered has what is polled, or expressions that give it."""
    body = seal.opened(row["parameters"], "parameters")
    return len(body) > 1 or bool(body[CALL]["trait"].get("parameters"))


def answered_call(begun: Mapping[str, Any]) -> CallOutcome:
    """Return a call that was answered; raise OperationError if the answer cannot be read."""
    try:
        return restored_call(begun["answer"], begun["token"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise unreadable(f"its call cannot be read: {type(error).__name__}") from None


def stored_answer(client: Any, begun: Mapping[str, Any]) -> EffectOfCall:
    """Return a call that was answered, to stop what it has begun.

    Raises:
        NotImplementedError: nothing is known here that stops it.
    """
    try:
        mutation = client.meta.service_model.operation_model(begun["operation"])
        effect = effect_named(client, mutation, begun["effect"]["name"])
        return effect.with_answer(begun["document"], restored_response(begun["answer"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        text = f"nothing is known that stops what {begun['operation']} has begun"
        raise NotImplementedError(text) from None


def stop_stored(client: Any, begun: Mapping[str, Any]) -> Stop:
    """Stop what the call of a row has begun, as `stop_in_time` does."""
    try:
        return stop_in_time(stored_answer(client, begun))
    except NotImplementedError as error:
        return Stop(begun["effect"]["stop"], "not made", str(error))


def owing(row: Row, begun: Mapping[str, Any], seal: Seal, *, is_driven: bool) -> dict[str, Any]:
    """Return what changes in a row that ends, for a stop that is left to a worker.

    Minutes later, one that names the resource may stop what others have begun: such a stop is left
    to the worker that drives the row, or not made.
    """
    stop = begun["trait"]["stop"]
    if not begun["answer"] or stop is None:
        return {}
    if is_driven or not stop["resource"]:
        kept = Stop(stop["operation"], "owed")
    else:
        reason = "it names the resource, and no worker drives the wait"
        kept = Stop(stop["operation"], "not made", reason)
    return with_stop_kept(row, kept, seal)


def with_stop_kept(row: Row, stop: Stop, seal: Seal) -> dict[str, Any]:
    """Return what changes in a row that keeps what became of a stop, as far as it can be read."""
    kept = {"id": row["id"], "owes": DEBT_TIME if stop.state == "owed" else None, "lease": None}
    with contextlib.suppress(UnableError):
        body = seal.reopened(row["parameters"], "parameters")
        body[CALL]["stop"] = stop.to_json()
        return {"parameters": seal.closed(body), **kept}
    return kept


def stop_of(row: Row, seal: Seal) -> Stop | None:
    """Return what became of the stop of what a row has begun; None: none was asked for."""
    try:
        begun = begun_of(row, seal)
    except UnableError as error:
        return Stop("", "unreadable", error.args[1])
    except OperationError:
        return None
    if begun is None or begun["trait"]["stop"] is None:
        return None
    stop = begun["stop"] and Stop(**begun["stop"])
    option = "stop_on_cancel" if row["state"] == "cancelled" else "stop_on_timeout"
    is_left = row["owes"] is not None or option == "stop_on_cancel"
    if not stop and is_left and begun["answer"] and begun[option]:
        # It was left by a process that could not read or write this.
        stop = Stop(begun["trait"]["stop"]["operation"], "owed")
    if stop and stop.state == "owed" and row["owes"] is None:
        reason = f"no worker did so in {DEBT_TIME / 60:g} minutes"
        return Stop(stop.operation, "not made", reason)
    return stop


def unknown_answer(begun: Mapping[str, Any]) -> OperationError:
    """Return the error of a call whose process is gone, and which is not repeated."""
    detail = f"{begun['operation']} may have been executed: the process that called it has ended"
    return OperationError("outcome_unknown", detail)


class CallerLease:
    """The lease of a process for one call, renewed in a thread until the call is over."""

    def __init__(self, backend: Backend, row: Row) -> None:
        self._backend = backend
        self._is_over = threading.Event()
        self.number = backend.acquire(process_name(), CALLER_LEASE)
        mine = {"id": row["id"], "lease": self.number, "worker": process_name()}
        # A worker that has claimed the row leaves it alone for its first seconds.
        self.is_taken = backend.write(None, [mine]) == 1
        """Whether the row is this process's: it has not ended."""
        start_thread(self._renew, "begin")

    def _renew(self) -> None:
        while not self._is_over.wait(CALLER_LEASE / 3):
            # The database may come back.
            with contextlib.suppress(StoreError):
                self._backend.renew(self.number, CALLER_LEASE)

    def end(self) -> None:
        """End the lease."""
        self._is_over.set()
        # It ends by itself, too.
        with contextlib.suppress(StoreError):
            self._backend.release(self.number)


def process_name() -> str:
    """Return the name by which others know this process."""
    return f"{socket.gethostname()}:{os.getpid()}"
