"""The call of `begin` in a store: part of the row of its wait, before it is made.

The process that makes the call holds the row by a lease, as a worker does. Once the call is
answered the row is free, and is that of any other wait. If the lease ends before, a worker repeats
the call under its token, or ends the row as `outcome_unknown`.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from botocore.model import OperationModel

from ..batch.wait import Wait
from ..changes.call import resumed_call
from ..changes.effects import EffectOfCall, EffectWaiter, effect_named
from ..changes.known_effects import Effect
from ..changes.prepared_call import CallOutcome, PreparedCall, kept_answer, restored_call
from ..changes.stops import STOPS, Stop, StopsAfter, stop_in_time, told
from ..changes.target import restored_response
from ..common.process import start_thread
from ..common.time_bounds import TimeBound
from ..common.wrong_arguments import Keyword, WrongValueError
from ..definitions.changes import EffectTrait
from ..engine.machine import Machine
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterError, WaiterTimeoutError
from ..options import CancelEvent, WaitOptions
from ..service.parameters import as_json, from_json, without_sensitive
from ..service.waits import find_waiter
from .operation import OperationError, StoreError, UnableError, unreadable
from .representation import end_of, unable
from .stored_row import ENDED, FREE, Clock, Row, Seal, json_text, loaded

if TYPE_CHECKING:
    from .sql import Database

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

_OWN: Final = (
    *("is_repeatable", "asked", "asked_wait", "stop_on_timeout", "stop_on_cancel"),
    *("effect", "trait", "answer", "document", "stop"),
)
"""The members of a call that `resumed_call` does not know, in the order of the JSON."""


@dataclass(frozen=True, slots=True)
class Held:
    """How a row whose call has no answer so far is held: by its caller, or by a worker."""

    wait: Wait
    """The wait without its parameters."""
    database: Database
    lease: int
    deadline: float
    """By `clock`."""
    clock: Clock

    def left(self) -> TimeBound:
        """Return the time left for the call and the wait."""
        bound = self.wait.bound
        assert bound is not None, "a stored wait is bounded"
        return bound.left(self.deadline - self.clock())


@dataclass(slots=True, kw_only=True)
class BegunRow:
    """The row of a wait that `begin` has stored together with its call."""

    record: dict[str, Any]
    """What `resumed_call` goes on with, without sensitive parameters."""
    is_repeatable: bool
    """Whether another process may make the call again: under its token, with all parameters."""
    asked: Any
    """The parameters as they were given."""
    asked_wait: float | None
    stop_on_timeout: bool
    stop_on_cancel: bool
    effect: Effect
    trait: EffectTrait
    """The effect as the data has it, without what is polled: the row has its definition."""
    answer: dict[str, Any] | None = None
    """As `kept_answer` returns it."""
    document: dict[str, Any] | None = None
    """The answered call as paths see it."""
    stop: Stop | None = None
    """What became of the stop, as far as it was kept."""
    seal: Seal
    row: Row = field(default_factory=dict)
    """As it is stored; empty before that."""
    polled: Mapping[str, Any] = field(default_factory=dict)
    """The parameters of the wait, as JSON."""

    @classmethod
    def of_call(
        cls,
        prepared: PreparedCall,
        effect: EffectOfCall,
        options: WaitOptions,
        asked: Any,
        stops: StopsAfter,
        seal: Seal,
    ) -> BegunRow:
        """Return a call before it is stored.

        Args:
            prepared, effect: the call and its effect.
            options: of the wait.
            asked: the parameters as they were given.
            stops: when what was begun is stopped.
            seal: of the store.

        Raises:
            TypeError: a parameter cannot be stored.
            ValueError: a parameter of the wait would be sensitive.
        """
        operation, polling = prepared.target.operation, effect.bound_waiter.polling
        as_json(polling.operation.input_shape, dict.fromkeys(effect.trait.parameters))
        kept = kept_parameters(operation, prepared.parameters)
        is_whole = kept == as_json(None, prepared.parameters)
        token = prepared.token if is_whole else None
        # A worker has other settings.
        own = {"token": token, "show_parameters": options.show_parameters}
        return cls(
            record=prepared.record(kept) | own,
            # A function of the caller that tells what to poll cannot be kept.
            is_repeatable=token is not None and effect.function is None,
            asked=kept_parameters(operation, asked),
            asked_wait=prepared.asked_wait,
            stop_on_timeout=stops.timeout,
            stop_on_cancel=stops.cancel,
            effect=effect.effect,
            trait=replace(effect.trait, certain=[*polling.certain]),
            seal=seal,
        )

    @classmethod
    def read(cls, row: Row, seal: Seal) -> tuple[Any, BegunRow | None]:
        """Return the stored parameters of the wait of a row, and its call; None: it has none.

        Raises:
            UnableError: the row cannot be decrypted here, so that whether it has one is not known.
            OperationError: it is damaged.
        """
        body = seal.opened(row["parameters"], "parameters")
        record = body.pop(CALL, None) if isinstance(body, dict) else None
        if record is None:
            return body, None
        with contextlib.suppress(TypeError, KeyError, AttributeError):
            own: dict[str, Any] = {name: record.pop(name) for name in _OWN}
            stop = None if own["stop"] is None else Stop(**own["stop"])
            own |= {"effect": Effect(**own["effect"]), "trait": EffectTrait.from_json(own["trait"])}
            parts = (record["operation"], str), (own["answer"] or {}, dict)
            _ = record["token"], stop and stop.text
            if all(isinstance(part, kind) for part, kind in parts):
                own |= {"stop": stop, "record": record, "polled": body}
                return body, cls(**own, row=row, seal=seal)
        raise unreadable("its call cannot be read")

    def to_json(self) -> dict[str, Any]:
        """Return the call as its row keeps it."""
        own = {name: getattr(self, name) for name in _OWN}
        own |= {"effect": asdict(self.effect), "trait": self.trait.to_json()}
        return {**self.record, **own, "stop": self.stop and self.stop.to_json()}

    def closed(self) -> str:
        """Return the parameters of the row, sealed: those of the wait, and the call."""
        return self.seal.closed({**self.polled, CALL: self.to_json()})

    @property
    def operation(self) -> str:
        """The operation of the call."""
        name: str = self.record["operation"]
        return name

    @property
    def parameters(self) -> Any:
        """The parameters of the call, without sensitive ones."""
        return from_json(self.record["parameters"])

    @property
    def no_change_ok(self) -> bool:
        """Whether a call that has nothing to change is a success."""
        return bool(self.record.get("no_change_ok"))

    def mutation_on(self, client: Any) -> Any:
        """Return the model of the operation, as the botocore of a client has it."""
        return client.meta.service_model.operation_model(self.operation)

    @property
    def asked_for(self) -> list[Any]:
        """What has to be the same where a `request_id` is used again."""
        members = self.to_json()
        return [members[name] for name in ASKED]

    @property
    def call(self) -> CallOutcome | None:
        """The call that was answered; None before its answer.

        Raises:
            OperationError: the answer cannot be read.
        """
        try:
            return restored_call(self.answer, self.record["token"]) if self.answer else None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise unreadable(f"its call cannot be read: {type(error).__name__}") from None

    # --- the call ------------------------------------------------------------------------------

    def make(self, held: Held, prepared: PreparedCall, effect: EffectOfCall) -> CallOutcome:
        """Make the call, and write what it was answered.

        Raises:
            CallOnceError: no answer, or a refusal.
            Exception: whatever else; it has the attribute `call`, since the call was answered.
        """
        call, wait = prepared.run(), held.wait
        try:
            if call.outcome is not None:
                # It had nothing to change.
                self.answer = kept_answer(prepared.target.operation, replace(call, response={}))
                end = end_of(self.row["id"], call.outcome, self.seal)
                held.database.write(held.lease, [{**end, "parameters": self.closed()}])
                return replace(call, outcome=None)
            whole = effect.answered(prepared.parameters, call.response)
            self.answer = kept_answer(prepared.target.operation, call)
            self.document = whole.seen
            answered, left = effect.with_answer(self.document, call.response), held.left()
            words: Any = {"max_wait": left.seconds, "asked_wait": left.asked}
            policy = wait.policy._replace(limits=wait.policy.limits._replace(**words))
            after = wait_after(answered, wait.merged_options, max_wait=left, policy=policy)
            self.polled = as_json(after.operation.input_shape, after.parameters)
            machine = Machine(after.definition.states, policy, digest=self.row["digest"])
            change = {
                **FREE,
                "id": self.row["id"],
                "label": stored_label(after),
                "machine": machine.to_json(),
                "machine_at": 0.0,
                "parameters": self.closed(),
                # With the options that only the row has.
                "policy": json_text({**loaded(self.row["policy"], "policy"), **words}),
            }
            if not held.database.write(held.lease, [change]) and self.stop_on_cancel:
                self._stop_cancelled(held)
        except Exception as error:
            error.call = call  # type: ignore[attr-defined]
            raise
        return call

    def _stop_cancelled(self, held: Held) -> None:
        """Stop what was begun by a call whose row was cancelled before its answer."""
        [row] = held.database.get([self.row["id"]])
        if row["state"] == "cancelled":
            stop = self.stop_in_time(held.wait.client)
            held.database.write(ENDED, [self.with_stop(stop)])

    def go_on(
        self, held: Held, age: float, cancel: CancelEvent, end: Callable[[Exception], None]
    ) -> bool:
        """Repeat the call in a thread, if it has a token; return False to leave the row alone.

        Args:
            held: how the row is held.
            age: seconds since the first attempt.
            cancel: ends the call in flight.
            end: takes the error in which the row ends, or an `UnableError`.
        """
        if age < CALLER_LEASE:
            # The process may be about to take its lease.
            return False
        if not self.is_repeatable:
            end(self.unknown_answer())
            return True
        run = partial(contextvars.copy_context().run, self._repeat, held, age, cancel, end)
        return start_thread(run, "call") is not None

    def _repeat(
        self, held: Held, age: float, cancel: CancelEvent, end: Callable[[Exception], None]
    ) -> None:
        client = held.wait.client
        # By the clock of the store.
        record = {**self.record, "started_at": time.time() - age}
        try:
            self.seal.refuse_plain(self.row["parameters"])
            try:
                prepared = resumed_call(client, record, max_wait=held.left(), cancel_event=cancel)
            except (ValueError, AttributeError) as error:
                text = f"the call cannot be repeated here: {error}"
                raise UnableError("unsupported", text) from error
            trait = replace(self.trait, waiter=held.wait.definition)
            self.make(held, prepared, EffectOfCall(client, prepared.target.operation, trait))
        except StoreError as error:
            end(UnableError("unavailable", str(error)))
        # Whatever it is, an earlier attempt may have been executed.
        except Exception as error:
            is_known = isinstance(error, (WaiterError, UnableError))
            known = error if is_known else self.unknown_answer()
            if not is_known and hasattr(error, "call"):
                # The answer was not kept: its token lets the call be repeated.
                known = UnableError("unavailable", f"not kept: {type(error).__name__}")
            end(unable(error) or known)

    def unknown_answer(self) -> OperationError:
        """Return the error of a call whose process is gone, and which is not repeated."""
        detail = f"{self.operation} may have been executed: the process that called it has ended"
        return OperationError("outcome_unknown", detail)

    # --- the wait, and its end ---------------------------------------------------------------

    def wait(
        self, client: Any, definition: WaiterDefinition, options: WaitOptions, **stored: Any
    ) -> Wait:
        """Return the wait for the effect, as a worker drives it.

        Args:
            client: of the row.
            definition: what is polled.
            options: of the wait.
            stored: what else the row has of it.
        """
        trait, polled = replace(self.trait, waiter=definition), self.polled
        if self.answer and trait.parameters and not polled:
            # It ended before they were known, and was reopened.
            answered = self._with_answer(EffectOfCall(client, self.mutation_on(client), trait))
            polled = as_json(None, answered.parameters(TimeBound(math.inf)))
        waiter = EffectWaiter(find_waiter(client, definition)[0], trait).bound()
        parameters = from_json(polled)
        return Wait.with_options(client, waiter, parameters, options, call=self.document, **stored)

    def _with_answer(self, effect: EffectOfCall) -> EffectOfCall:
        return effect.with_answer(self.document or {}, restored_response(self.answer or {}))

    def end(self, held: Held, error: Exception) -> Exception:
        """End the row in the error of its call; return the error, with what became of a stop."""
        end = {**end_of(self.row["id"], error, self.seal), "parameters": self.closed()}
        timeout = error if isinstance(error, WaiterTimeoutError) else None
        is_stopped = timeout and self.answer and self.stop_on_timeout
        if is_stopped:
            # Whoever has to make the stop in place of this process knows of it.
            end |= {**self.owing(is_driven=True), "lease": held.lease}
        with contextlib.suppress(StoreError):
            held.database.write(held.lease, [end])
        if timeout is None or not is_stopped:
            return error
        stop = self.stop_in_time(held.wait.client)
        with contextlib.suppress(StoreError):
            held.database.write(ENDED, [self.with_stop(stop)])
        return told(timeout, stop)

    # --- the stop ------------------------------------------------------------------------------

    def effect_on(self, client: Any) -> EffectOfCall:
        """Return the effect of the answered call, to stop what was begun.

        Raises:
            NotImplementedError: nothing is known here that stops it.
        """
        try:
            name = self.effect.name
            return self._with_answer(effect_named(client, self.mutation_on(client), name))
        except (ValueError, KeyError, TypeError, AttributeError):
            text = f"nothing is known that stops what {self.operation} has begun"
            raise NotImplementedError(text) from None

    def stop_in_time(self, client: Any) -> Stop:
        """Stop what was begun, as `changes.stops.stop_in_time` does."""
        try:
            return stop_in_time(self.effect_on(client))
        except NotImplementedError as error:
            return Stop(self.effect.stop or "", "not made", str(error))

    def stop_in_thread(self, client: Any, then: Callable[[Stop], object]) -> None:
        """Stop what was begun in another thread; `then` takes what became of that."""
        STOPS.add(self.effect.stop or "", partial(self.stop_in_time, client), then)

    def owing(self, *, is_driven: bool) -> dict[str, Any]:
        """Return what changes in the row when it ends, for a stop that is left to a worker.

        Minutes later, one that names the resource may stop what others have begun: such a stop is
        left to the worker that drives the row, or not made.
        """
        planned = self.trait.stop
        if not self.answer or planned is None:
            return {}
        if is_driven or not planned.resource:
            return self.with_stop(Stop(planned.operation, "owed"))
        reason = "it names the resource, and no worker drives the wait"
        return self.with_stop(Stop(planned.operation, "not made", reason))

    def with_stop(self, stop: Stop) -> dict[str, Any]:
        """Return what changes in the row, which keeps what became of a stop if it can here."""
        self.stop = stop
        owes = DEBT_TIME if stop.state == "owed" else None
        kept: dict[str, Any] = {"id": self.row["id"], "owes": owes, "lease": None}
        with contextlib.suppress(UnableError):
            self.seal.refuse_plain(self.row["parameters"])
            kept["parameters"] = self.closed()
        return kept

    @property
    def told_stop(self) -> Stop | None:
        """What became of the stop, for the caller; None: none was asked for."""
        planned, stop, owes = self.trait.stop, self.stop, self.row["owes"] is not None
        if planned is None:
            return None
        is_cancel = self.row["state"] == "cancelled"
        is_asked = self.stop_on_cancel if is_cancel else owes and self.stop_on_timeout
        if not stop and self.answer and is_asked:
            # It was left by a process that could not read or write this.
            stop = Stop(planned.operation, "owed")
        if stop and stop.state == "owed" and not owes:
            reason = f"no worker did so in {DEBT_TIME / 60:g} minutes"
            return Stop(stop.operation, "not made", reason)
        return stop


def begun_of(row: Row, seal: Seal) -> BegunRow | None:
    """Return a row whose call `begin` has stored; None: it has none. Raises as `BegunRow.read`."""
    return BegunRow.read(row, seal)[1]


def stop_of(row: Row, seal: Seal) -> Stop | None:
    """Return what became of the stop of what a row has begun; None: none was asked for."""
    try:
        begun = begun_of(row, seal)
    except UnableError as error:
        return Stop("", "unreadable", error.args[1])
    except OperationError:
        return None
    return None if begun is None else begun.told_stop


def unanswered(row: Row, seal: Seal) -> OperationError | None:
    """Return the error of a row whose call got no answer; None for any other. Raises as `read`."""
    begun = begun_of(row, seal)
    return None if begun is None or begun.answer else begun.unknown_answer()


def stop_at_end(
    row: Row, asked: str, seal: Seal, made: Stop | None = None, *, is_driven: bool = False
) -> dict[str, Any]:
    """Return what changes in a row that ends, if its call has asked for a stop.

    A row that cannot be read or written here owes whatever was asked for: a worker with the key
    finds out.

    Args:
        row, seal: the row, and the seal of its store.
        asked: the option that asks for a stop at such an end.
        made: what became of the stop; None: it is left to a worker.
        is_driven: whether a worker drives it.
    """
    try:
        begun = begun_of(row, seal)
        if begun is None or not getattr(begun, asked):
            return {}
        return begun.with_stop(made) if made else begun.owing(is_driven=is_driven)
    # The caller's `encrypt` may fail: the wait ends all the same.
    except Exception as error:
        # A damaged row owes nothing, one that is unreadable here may.
        return {} if made or type(error) is OperationError else {"owes": DEBT_TIME}


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


def stored_label(wait: Wait) -> str:
    """Return the label of a wait as a row has it."""
    # PostgreSQL stores no NUL.
    return "".join(each if each.isprintable() else " " for each in wait.label)


class CallerLease:
    """The lease of a process for one call, renewed in a thread until the call is over."""

    def __init__(self, database: Database, row: Row) -> None:
        self._database = database
        self._is_over = threading.Event()
        self.number = database.acquire(process_name(), CALLER_LEASE)
        mine = {"id": row["id"], "lease": self.number, "worker": process_name()}
        # A worker that has claimed the row leaves it alone for its first seconds.
        self.is_taken = database.write(None, [mine]) == 1
        """Whether the row is this process's: it has not ended."""
        start_thread(self._renew, "begin")

    def _renew(self) -> None:
        while not self._is_over.wait(CALLER_LEASE / 3):
            # The database may come back.
            with contextlib.suppress(StoreError):
                self._database.renew(self.number, CALLER_LEASE)

    def end(self) -> None:
        """End the lease."""
        self._is_over.set()
        # It ends by itself, too.
        with contextlib.suppress(StoreError):
            self._database.release(self.number)


def process_name() -> str:
    """Return the name by which others know this process."""
    return f"{socket.gethostname()}:{os.getpid()}"
