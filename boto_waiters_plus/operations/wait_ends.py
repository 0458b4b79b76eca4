"""What a worker knows of a wait that it drives, how a row ends, and the times of ended rows."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from botocore.model import OperationModel

from ..batch.groups import Task
from ..batch.wait import Wait
from ..changes.stops import Stop
from ..engine.delays import KnownTime, is_sound_time
from ..engine.machine import Policy
from ..exceptions import WaiterTimeoutError
from ..history import MOST_TIMES, with_times
from ..outcome import ResponseOutcome, WaiterOutcome
from ..service.data_model import converted
from ..service.json_parameters import without_sensitive
from .backend import SUCCEEDED, UNDRIVEN, Backend, Row
from .begun import DEBT_TIME, begun_of, owing, unknown_answer, with_stop_kept
from .operation import UNDRIVEN_GRACE, OperationError, UnableError, problem, unreadable
from .representation import error_json, response_json
from .sealing import Seal, json_text, loaded


@dataclass(slots=True, eq=False)
class Driven:
    """A wait that a worker drives."""

    id: str
    kind: str
    include_response: bool
    deadline: float
    """Its end by the clock of the worker."""
    operation: OperationModel | None = None
    """What it polls; None until it was made."""
    task: Task | None = None
    timeout: WaiterTimeoutError | OperationError | None = None
    """The error that it ends with if it was called or polled before and no worker can go on."""
    change: tuple[dict[str, Any], float] | None = None
    """To be written: what the last attempt changed, and when it was."""
    result: WaiterOutcome[Any] | BaseException | None = None
    """To be written: how it ended."""
    stop: tuple[str, Callable[[], Stop], Callable[[Stop], Row]] | None = None
    """Of what was begun, after a time-out: the operation, what makes it, and what keeps that."""
    mutation: OperationModel | None = None
    """The operation of its call, where it is an outcome that this had nothing to change."""
    last_change: dict[str, Any] | None = None
    """Of the attempt that ended the wait: written with the end, because its state cannot be resumed
    by the worker that takes over from one that was killed between the two."""


def owed_at_end(row: Row, asked: str, seal: Seal, *, is_driven: bool = False) -> dict[str, Any]:
    """Return what changes in a row that ends, if its call has asked for a stop.

    A row that cannot be read or written here owes whatever was asked for: a worker with the key
    finds out.

    Args:
        row, seal: the row, and the seal of its store.
        asked: the option that asks for a stop at such an end.
        is_driven: whether a worker drives it.
    """
    try:
        begun = begun_of(row, seal)
        return owing(row, begun, seal, is_driven=is_driven) if begun and begun[asked] else {}
    # The caller's `encrypt` may fail: the wait ends all the same.
    except Exception as error:
        # A damaged row owes nothing, one that is unreadable here may.
        return {} if type(error) is OperationError else {"owes": DEBT_TIME}


def is_overdue(row: Row, now: float) -> bool:
    """Return whether a worker should have ended the wait of a row by now."""
    deadline = row["deadline"]
    return isinstance(deadline, float) and deadline < now - UNDRIVEN_GRACE


def end_overdue(
    backend: Backend, seal: Seal, rows: Iterable[Row], stop: Stop | None = None
) -> bool:
    """End those of these open waits that are overdue and driven by no worker; return if any was.

    Args:
        rows: as they are in the store now.
        stop: what became of the stop of what was begun; None: it is left to a worker.
    """
    _, now = backend.ended_ids(math.inf)
    ends = (_overdue_end(row, seal, stop) for row in rows if is_overdue(row, now))
    overdue = [*filter(None, ends)]
    return bool(overdue and backend.write(UNDRIVEN, overdue))


def _overdue_end(row: Row, seal: Seal, stop: Stop | None) -> Row | None:
    """Return what changes in the row of a wait that no worker drives past its deadline.

    None: it cannot be read here, so that how it ends is not known.
    """
    error: Exception
    kept: Mapping[str, Any] = {}
    try:
        error = unanswered(row, seal) or timeout_of(row)
    except UnableError:
        return None
    except (OperationError, TypeError, ValueError, KeyError) as found:
        error = unreadable(f"its end cannot be told: {type(found).__name__}")
    # The caller's `encrypt` may fail: the wait ends all the same.
    with contextlib.suppress(Exception):
        asked = "stop_on_timeout"
        kept = with_stop_kept(row, stop, seal) if stop else owed_at_end(row, asked, seal)
    return {**end_of(ended(row, error), error, seal), **kept}


def unanswered(row: Row, seal: Seal) -> OperationError | None:
    """Return the error of a row whose call got no answer; None for any other row.

    Raises:
        OperationError: as `begun_of`.
    """
    begun = begun_of(row, seal)
    return None if begun is None or begun["answer"] else unknown_answer(begun)


def ended(row: Row, result: WaiterOutcome[Any] | Exception) -> Driven:
    """Return a wait that ends with this without a worker, such as a damaged row."""
    return Driven(row["id"], "", include_response=False, deadline=0.0, result=result)


def end_of(driven: Driven, result: WaiterOutcome[Any] | BaseException, seal: Seal) -> Row:
    """Return what changes in the row of a wait that has ended."""
    response = error = None
    if isinstance(result, UnableError) and driven.timeout is not None:
        result = driven.timeout
    try:
        if isinstance(result, BaseException):
            body = error_json(result)
            state, error = body["code"], seal.closed(body)
        else:
            state, response = SUCCEEDED, seal.closed(_response(driven, result))
    # An unexpected response, or an error of the caller's `encrypt`, ends no other wait.
    except Exception as found:
        state, response = "internal", None
        detail = f"its end cannot be stored: {type(found).__name__}"
        error = json_text(problem("internal", detail))
    end = {**(driven.last_change or {}), "id": driven.id, "state": state}
    end |= {"response": response, "error": error}
    return {**end, "ended": 0.0, "machine_at": 0.0, "lease": None, "next_attempt": None}


def _response(driven: Driven, outcome: WaiterOutcome[Any]) -> dict[str, Any]:
    response: Any = None
    if driven.include_response and isinstance(outcome, ResponseOutcome):
        assert driven.operation is not None, "a wait that ended was begun"
        shape = driven.operation.output_shape
        members = {k: v for k, v in outcome.response.items() if k != "ResponseMetadata"}
        # As paths see it: JSON.
        response = converted(shape, without_sensitive(shape, members))
    return response_json(outcome, response)


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


_IS_END: Final = {SUCCEEDED: True, "failed": True, "timed_out": False, "attempts_used_up": False}
"""By the state of a row: whether the wait ended, or its time."""

KEY: Final = ("service", "waiter", "region")


class RowTimes:
    """The times of the ended rows of a store, read once for each kind of wait."""

    def __init__(self, backend: Backend, seal: Seal) -> None:
        self._backend, self._seal = backend, seal
        self._known: dict[tuple[Any, ...], tuple[KnownTime, ...]] = {}

    def policy(self, row: Row, wait: Wait, *, is_begun: bool) -> Policy:
        """Return the policy of a wait, with the times of its kind if its row asks for them."""
        asked = loaded(row["policy"], "policy")
        if not asked.get("delay_history"):
            return wait.policy
        names = [*(row[name] or "" for name in KEY), asked.get("delay_kind") or ""]
        key = (*names, is_begun)
        if key not in self._known:
            filters = {name: row[name] for name in KEY if row[name] is not None}
            ended = self._backend.list({"state": "done", **filters}, None, MOST_TIMES)
            self._known[key] = tuple(self._times(ended, names[3], is_begun=is_begun))
        has_longest = bool(asked.get("max_delay_given"))
        return with_times(wait.policy, self._known[key], names, has_longest=has_longest)

    def _times(self, rows: list[Row], kind: str, *, is_begun: bool) -> Iterator[KnownTime]:
        for row in rows:
            # A damaged row tells nothing.
            with contextlib.suppress(OperationError, TypeError, AttributeError):
                seconds, is_end = row["elapsed"], _IS_END.get(row["state"])
                if is_end is None or row["attempts"] < 2 or not is_sound_time(seconds):
                    continue
                own = loaded(row["policy"], "policy").get("delay_kind") or ""
                if own == kind and (begun_of(row, self._seal) is not None) is is_begun:
                    yield KnownTime(seconds, is_end)
