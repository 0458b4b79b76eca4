"""Waits as the rows of a store, and made again from them in another process.

A row has the resolved policy: no settings are merged where it is driven.
"""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import json
import math
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, Final

import botocore.exceptions
from botocore.discovery import EndpointDiscoveryRefreshFailed
from botocore.exceptions import BotoCoreError, ClientError
from botocore.model import OperationNotFoundError

from ..batch.wait import Wait
from ..changes.call import resumed_call
from ..changes.effects import EffectOfCall, EffectWaiter
from ..changes.prepared_call import CallOutcome, PreparedCall
from ..changes.stops import told
from ..changes.target import restored_response
from ..common.arguments import flag, text
from ..common.process import start_thread
from ..common.time_bounds import TimeBound
from ..common.wrong_arguments import Keyword, WrongTypeError, WrongValueError
from ..definitions.changes import EffectTrait
from ..definitions.files import load_definitions
from ..definitions.smithy import REPORTS
from ..engine.machine import LastAttempt, Machine, Phase, Policy
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterDefinitionError, WaiterError, WaiterTimeoutError
from ..options import CancelEvent, WaitOptions
from ..outcome import WaiterOutcome
from ..service.bound_waiter import BoundWaiter
from ..service.errors import is_transient_error
from ..service.json_parameters import as_json, from_json
from ..service.parameters import refuse_wrong_parameters, wrong_parameters
from ..service.waits import find_waiter
from .backend import ENDED, FREE, OPEN, REQUEST_KEY, Backend, Row
from .begun import (
    ASKED,
    CALL,
    CALLER_LEASE,
    keep_answer,
    owing,
    stop_stored,
    unknown_answer,
    wait_after,
    with_stop_kept,
)
from .boot_clock import Clock
from .client_description import CLIENT_COLUMNS, ClientDescription
from .operation import OperationError, StoreError, UnableError, unreadable
from .operation_pages import check_text
from .representation import CREDENTIAL_ERRORS, error_code
from .sealing import Seal, json_text, loaded
from .wait_ends import end_of, ended

MakeClient = Callable[[ClientDescription], Any]

CLIENTS_KEPT: Final = 100
"""Clients that are kept for further waits; the waits that are open keep theirs."""

DEFINITIONS_KEPT: Final = 1000

# The others are of waits that are driven where they are started.
_UNSTORED: Final = ("count_requests", "spread", "covers_end", "patience", "deadline", "learned")

_OPTIONS: Final = ("call_in_thread", "show_parameters")
"""The options that are not part of the policy; the rest are functions and events of a process."""

_NAMES: Final = ("Waiter", "Checksum", "FlexibleChecksum", "IncompleteRead", "StubResponse")
_OTHERS: Final = (
    *(getattr(botocore.exceptions, f"{name}Error") for name in _NAMES),
    EndpointDiscoveryRefreshFailed,
)
"""Errors of botocore about an answer, and those of its test doubles."""

_NUMBERS: Final = ("deadline", "created", "machine_at", "attempts", "elapsed")
_TEXTS: Final = ("definition", "parameters", "policy", "machine", "label", "waiter")
_READ: Final = {**dict.fromkeys(_NUMBERS, (int, float)), **dict.fromkeys(_TEXTS, (str,))}
"""The columns that a worker reads, and what they hold."""

_EMPTY: Final = (
    *("state_seen", "reported", "next_attempt", "lease", "worker", "last_error", "ended"),
    *("response", "error", "owes"),
)
"""Columns that are null in the row of a new wait."""


_ANSWERED: Final = (*FREE, "label", "machine", "machine_at", "parameters")
"""The columns that change when the call of a row is answered."""


class NewRows:
    """Rows of waits that begin in one transaction, with the definitions that they need.

    Their ids are made here, so that they can be added again when no answer came.

    Args:
        seal: encrypts the parameters.
        include_response, profile_name: as for `Store.start`.
        begun: the call of `begin`, before whose answer the wait has no parameters; None: none.

    Attributes:
        rows: by the names of the columns.
        definitions: by digest.
    """

    def __init__(
        self, seal: Seal, include_response: Any, profile_name: str | None, begun: Any = None
    ) -> None:
        self.rows: list[dict[str, Any]] = []
        self.definitions: dict[str, str] = {}
        self._seal, self._begun = seal, begun
        if profile_name is not None:
            text("profile_name", profile_name)
        is_given = include_response is not None
        self._include_response = is_given and flag("include_response", include_response)
        # Thousands of waits share a client and a definition.
        self._columns_of = cache(partial(_columns_of, profile=profile_name))
        self._digests: dict[BoundWaiter, str] = {}

    def add(
        self, wait: Wait, exclusive_key: str | None = None, request_id: str | None = None
    ) -> dict[str, Any]:
        """Add the row of a wait, and return it.

        Raises:
            ValueError: a parameter is sensitive, or a name is too long.
            TypeError: an option or a parameter cannot be stored.
            ParamValidationError: botocore would refuse the parameters.
        """
        _refuse_functions(wait)
        parameters = as_json(wait.operation.input_shape, wait.parameters)
        begun = self._begun
        # After a call they are the effect's, and the polls tell.
        if begun is None:
            refuse_wrong_parameters(wait.client, wait.operation, wait.parameters)
        digest = self._digest(wait.bound_waiter)
        row: dict[str, Any] = {
            "id": uuid.uuid4().hex,
            "state": OPEN,
            # PostgreSQL stores no NUL.
            "label": "".join(each if each.isprintable() else " " for each in wait.label),
            "waiter": wait.waiter,
            "digest": digest,
            **self._columns_of(wait.client),
            "policy": policy_json(wait.policy, wait.merged_options),
            "include_response": self._include_response,
            "exclusive_key": exclusive_key,
            "machine": Machine(wait.definition.states, wait.policy, digest=digest).to_json(),
        }
        for name in ("service", "waiter", "region", "profile"):
            check_text(name, row[name], 100 if name in ("service", "region") else 200)
        request = None
        check_text("exclusive_key", exclusive_key)
        check_text("request_id", request_id)
        if request_id is not None:
            # What was asked for: a deadline may have left another `max_wait`.
            limits = wait.policy.limits._replace(max_wait=None, asked_wait=None, ended_by=None)
            asked_for = wait.policy._replace(limits=limits)
            policy = policy_json(asked_for, wait.merged_options)
            content = {**row, "policy": policy, **dict.fromkeys(("id", "label", "machine"))}
            asked = [parameters, wait.max_wait] if begun is None else [begun[n] for n in ASKED]
            # As numbers are compared.
            asked = [float(each) if type(each) is int else each for each in asked]
            request = _digest(request_id) + _digest(json_text([content, asked]))
        row |= dict.fromkeys(_EMPTY) | {"attempts": 0, "elapsed": 0.0}
        row |= {"created": 0.0, "machine_at": 0.0, "deadline": wait.max_wait, "request": request}
        row |= {"kind": kind_of(row)}
        stored = parameters if begun is None else {**parameters, CALL: begun}
        row["parameters"] = self._seal.closed(stored)
        self.rows.append(row)
        return row

    def _digest(self, waiter: BoundWaiter) -> str:
        if waiter not in self._digests:
            text = _definition_json(waiter)
            digest = self._digests[waiter] = hashlib.sha256(text.encode()).hexdigest()
            self.definitions[digest] = text
        return self._digests[waiter]


@dataclass(frozen=True, slots=True)
class RowCall:
    """The call of a row, without an answer so far; with an answer any worker goes on with it."""

    row: Row
    wait: Wait
    """The wait without its parameters."""
    begun: dict[str, Any]
    seal: Seal
    backend: Backend
    lease: int
    """Under which the row is held here."""
    deadline: float
    """By `clock`."""
    clock: Clock

    def make(self, prepared: PreparedCall, effect: EffectOfCall) -> CallOutcome:
        """Make the call, and write what it was answered.

        Raises:
            CallOnceError: no answer, or a refusal.
            Exception: whatever else; it has the attribute `call`, since the call was answered.
        """
        call, wait, begun = prepared.run(), self.wait, self.begun
        try:
            if call.outcome is not None:
                self._end_unchanged(call, call.outcome)
                return replace(call, outcome=None)
            answered, left = keep_answer(begun, prepared, effect, call), self._left()
            words: Any = {"max_wait": left.seconds, "asked_wait": left.asked}
            policy = wait.policy._replace(limits=wait.policy.limits._replace(**words))
            after = wait_after(answered, wait.merged_options, max_wait=left, policy=policy)
            new = NewRows(self.seal, None, None, begun).add(after)
            change = {"id": self.row["id"], **{name: new[name] for name in _ANSWERED}}
            # With the options that only the row has.
            change["policy"] = json_text({**loaded(self.row["policy"], "policy"), **words})
            if not self.backend.write(self.lease, [change]) and begun["stop_on_cancel"]:
                self._stop_cancelled(new)
        except Exception as error:
            error.call = call  # type: ignore[attr-defined]
            raise
        return call

    def ended_in(self, error: Exception) -> Exception:
        """End the row in the error of its call; return the error, with what became of a stop."""
        row = {**self.row, "parameters": self.seal.closed({CALL: self.begun})}
        end = {**end_of(ended(row, error), error, self.seal), "parameters": row["parameters"]}
        timeout = error if isinstance(error, WaiterTimeoutError) else None
        is_stopped = timeout and self.begun["answer"] and self.begun["stop_on_timeout"]
        if is_stopped:
            # Whoever has to make the stop in place of this process knows of it.
            end |= {**owing(row, self.begun, self.seal, is_driven=True), "lease": self.lease}
        with contextlib.suppress(StoreError):
            self.backend.write(self.lease, [end])
        if timeout is None or not is_stopped:
            return error
        stop = stop_stored(self.wait.client, self.begun)
        with contextlib.suppress(StoreError):
            self.backend.write(ENDED, [with_stop_kept(row, stop, self.seal)])
        return told(timeout, stop)

    def _end_unchanged(self, call: CallOutcome, outcome: WaiterOutcome[Any]) -> None:
        """End the row of a call that had nothing to change."""
        facts = {"attempts": call.attempts, "adopted": False}
        self.begun["answer"] = {"response": {}, **facts, "date": None}
        kept = {"parameters": self.seal.closed({CALL: self.begun})}
        end = {**end_of(ended(self.row, outcome), outcome, self.seal), **kept}
        self.backend.write(self.lease, [end])

    def _stop_cancelled(self, answered: Row) -> None:
        """Stop what was begun by a call whose row was cancelled before its answer."""
        [row] = self.backend.get([self.row["id"]])
        if row["state"] == "cancelled":
            stop = stop_stored(self.wait.client, self.begun)
            kept = with_stop_kept(answered, stop, self.seal)
            self.backend.write(ENDED, [{**kept, "id": row["id"]}])

    def go_on(self, age: float, cancel: CancelEvent, end: Callable[[Exception], None]) -> bool:
        """Repeat the call in a thread, if it has a token; return False to leave the row alone.

        Args:
            age: seconds since the first attempt.
            cancel: ends the call in flight.
            end: takes the error in which the row ends, or an `UnableError`.
        """

        def repeat() -> None:
            try:
                self._repeat(age, cancel)
            except StoreError as error:
                end(UnableError("unavailable", str(error)))
            # Whatever it is, an earlier attempt may have been executed.
            except Exception as error:
                is_known = isinstance(error, (WaiterError, UnableError))
                known = error if is_known else unknown_answer(self.begun)
                if not is_known and hasattr(error, "call"):
                    # The answer was not kept: its token lets the call be repeated.
                    known = UnableError("unavailable", f"not kept: {type(error).__name__}")
                end(unable(error) or known)

        if age < CALLER_LEASE:
            # The process may be about to take its lease.
            return False
        if not self.begun["is_repeatable"]:
            end(unknown_answer(self.begun))
            return True
        run = partial(contextvars.copy_context().run, repeat)
        return start_thread(run, "call") is not None

    def _repeat(self, age: float, cancel: CancelEvent) -> None:
        client, begun = self.wait.client, self.begun
        # By the clock of the store.
        record = {**begun, "started_at": time.time() - age}
        try:
            prepared = resumed_call(client, record, self._left(), None, None, cancel)
        except (ValueError, AttributeError) as error:
            text = f"the call cannot be repeated here: {error}"
            raise UnableError("unsupported", text) from error
        trait = EffectTrait.from_json(begun["trait"], self.wait.definition)
        self.make(prepared, EffectOfCall(client, prepared.target.operation, trait))

    def _left(self) -> TimeBound:
        bound = self.wait.bound
        assert bound is not None, "a stored wait is bounded"
        return bound.left(self.deadline - self.clock())


def _columns_of(client: Any, profile: str | None) -> dict[str, Any]:
    """Return the columns of a row that describe its client."""
    description = ClientDescription.of(client, profile)
    return dict(zip(CLIENT_COLUMNS, astuple(description), strict=True))


def kind_of(row: Mapping[str, Any]) -> str:
    """Return what waits with the same client and the same definition have in common."""
    return _kind(tuple(row[name] for name in (*CLIENT_COLUMNS, "digest")))


# Ten thousand waits of one kind share theirs.
@lru_cache(DEFINITIONS_KEPT)
def _kind(values: tuple[Any, ...]) -> str:
    return _digest(json_text(values))


def check_row(row: Row) -> None:
    """Raise OperationError if a row cannot be one that was stored.

    Only this row is damaged then: that its worker could not make the client of another kind would
    end good waits, whose client is the one that was stored.
    """
    for name, kinds in _READ.items():
        if isinstance(row[name], bool) or not isinstance(row[name], kinds):
            raise unreadable(f"its {name} cannot be read: it is {type(row[name]).__name__}")
    if kind_of(row) != row["kind"]:
        raise unreadable("its client cannot be read: it is not the one that was stored")


def policy_json(policy: Policy, options: WaitOptions) -> str:
    """Return a resolved policy, and the options of the wait that are no part of it, as JSON."""
    groups: tuple[Any, ...] = policy
    members = {n: getattr(each, n) for each in groups for n in each._fields if n not in _UNSTORED}
    # Where nothing can be connected to, the wait goes on: here later, or on another worker.
    members["retry_transient"] = bool(policy.endings.retry_transient)
    members |= {name: getattr(options, name) for name in _OPTIONS}
    if options.delay_history:
        members |= {"delay_history": True, "delay_kind": options.delay_kind}
        members["max_delay_given"] = options.max_delay is not None or None
    return json_text({name: value for name, value in members.items() if value is not None})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:REQUEST_KEY]


def _refuse_functions(wait: Wait) -> None:
    for name in ("on_attempt", "wake_signal", "cancel_event"):
        if getattr(wait.options, name) is not None:
            raise _not_stored(name, getattr(wait.options, name), "it exists only in this process")
    history, pace = wait.options.delay_history, wait.policy.delays.pace
    if not isinstance(history, (bool, type(None))):
        raise _not_stored("delay_history", history, "give True for the times of the store")
    if callable(pace):
        raise _not_stored("delay_pace", pace, "it is a function")


def _not_stored(name: str, value: Any, reason: str) -> WrongTypeError:
    return WrongTypeError.of(name, value, f" cannot be stored: {reason}")


def _definition_json(waiter: BoundWaiter) -> str:
    definition = waiter.definition
    members = {name: getattr(definition, name) for name in ("name", "operation", "service")}
    members["waiter"] = definition.to_json()
    if reports := waiter.polling.reported_paths:
        # In order, which an object would not keep here.
        members["reports"] = reports
    return json.dumps(members, sort_keys=True, separators=(",", ":"))


def _polled(client: Any, begun: Mapping[str, Any], trait: EffectTrait) -> Any:
    """Return, as JSON, what is polled for the effect of a call that was answered."""
    mutation = client.meta.service_model.operation_model(begun["operation"])
    effect = EffectOfCall(client, mutation, trait)
    answered = effect.with_answer(begun["document"], restored_response(begun["answer"]))
    return as_json(None, answered.parameters(TimeBound(math.inf)))


class WaitMaker:
    """Makes waits from rows; waits with the same client or definition share it."""

    def __init__(self, make_client: MakeClient, seal: Seal) -> None:
        self._client = lru_cache(CLIENTS_KEPT)(make_client)
        self._definition = lru_cache(DEFINITIONS_KEPT)(definition_from_json)
        self._seal = seal

    def wait_of(self, row: Row) -> tuple[Wait, dict[str, Any] | None]:
        """Return the wait of a row, whatever the settings are here.

        Raises:
            UnableError: this process cannot drive it; another may.
            OperationError: what is stored of it is damaged.
        """
        try:
            definition = self._definition(row["definition"])
            body = self._seal.opened(row["parameters"], "parameters")
            options, policy = _options_and_policy(row["policy"])
            begun, client = body.pop(CALL, None), self.client_of(row)
            # The label that was stored: that of the settings there, not of those here.
            own: dict[str, Any] = {"label": row["label"] or None, "policy": policy}
            waiter: WaiterDefinition | BoundWaiter = definition
            if begun is not None:
                trait = EffectTrait.from_json(begun["trait"], definition)
                waiter = EffectWaiter(find_waiter(client, definition)[0], trait).bound()
                own["call"] = begun["document"]
                if begun["answer"] and trait.parameters and not body:
                    # It ended before they were known, and was reopened.
                    body = _polled(client, begun, trait)
            return Wait.with_options(client, waiter, from_json(body), options, **own), begun
        except OperationError:
            raise
        except WaiterDefinitionError as error:
            raise UnableError("unsupported", str(error)) from error
        except OperationNotFoundError as error:
            raise UnableError("unsupported", f"botocore lacks the operation {error}") from error
        except (TypeError, ValueError, AttributeError, WaiterError) as error:
            raise unreadable(str(error)) from error
        # A damaged row may make any function fail; only the wait of that row ends.
        except Exception as error:
            raise unreadable(f"it cannot be read: {type(error).__name__}") from error

    def client_of(self, row: Row) -> Any:
        """Return the client of a row; raises as `wait_of`."""
        description = ClientDescription.of_row(row)
        try:
            return self._client(description)
        except OperationError as error:
            # A worker's own function may refuse a kind in these words.
            is_damage = error.code == "unreadable" and not isinstance(error, UnableError)
            raise error if is_damage else UnableError(error.code, error.args[1]) from error
        # Whatever the caller's function raises: it is this worker that has no client.
        except Exception as error:
            problem = f"a client of {row['service']} cannot be made: {type(error).__name__}"
            is_of_service = isinstance(error, (BotoCoreError, ClientError))
            code = "credentials" if is_of_service else error_code(error)
            raise UnableError(code, problem) from error


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


def definition_from_json(text: str) -> WaiterDefinition:
    """Return the definition that a row refers to; raise OperationError if it is malformed."""
    members = loaded(text, "definition")
    try:
        traits = {"smithy.waiters#waitable": {members["name"]: members["waiter"]}}
        traits[REPORTS] = {"*": dict(members.get("reports", ()))}
        shapes = {f"stored#{members['operation']}": {"type": "apply", "traits": traits}}
        (definition,) = load_definitions({"smithy": "2.0", "shapes": shapes})
    except KeyError as error:
        raise unreadable(f"its definition is malformed: {error} is missing") from error
    except (WaiterDefinitionError, ValueError, TypeError) as error:
        raise unreadable(f"its definition is malformed: {error}") from error
    return replace(definition, service=members["service"], source="store")


def reopened(row: Row, max_wait: float | None, max_attempts: int | None) -> dict[str, Any]:
    """Return what changes in the row of a wait that is reopened; it is polled again at once.

    Args:
        row: of a wait that ended in an error.
        max_wait, max_attempts: seconds and attempts from now on; None: what was left.

    Raises:
        ValueError: no time or no attempts are left.
        OperationError: the row cannot be read.
    """
    state, policy = (loaded(row[name], name) for name in ("machine", "policy"))
    try:
        left = policy["max_wait"] - row["elapsed"]
        if max_wait is not None:
            left = policy["asked_wait"] = max_wait
            policy |= {"max_wait": row["elapsed"] + left, "ended_by": None}
        if left <= 0:
            raise WrongValueError("there is no time left: give ", Keyword("max_wait"))
        if max_attempts is not None:
            policy["max_attempts"] = row["attempts"] + max_attempts
        elif row["attempts"] >= policy.get("max_attempts", math.inf):
            raise WrongValueError("there are no attempts left: give ", Keyword("max_attempts"))
        fresh = {"phase": Phase.NEW.value, "pause": 0, "last": False, "brought_forward": False}
        state |= {**fresh, "successes": 0, "holding": False}
    except (TypeError, KeyError, AttributeError) as error:
        raise unreadable(f"its state cannot be read: {type(error).__name__}") from None
    texts = {"machine": json_text(state), "policy": json_text(policy)}
    ended = dict.fromkeys(("ended", "response", "error", "last_error", "next_attempt", "owes"))
    return {**ended, **texts, "state": OPEN, "machine_at": 0.0, "deadline": left}


# Ten thousand waits of one kind share theirs.
@lru_cache(DEFINITIONS_KEPT)
def _options_and_policy(text: str) -> tuple[WaitOptions, Policy]:
    members = loaded(text, "policy")
    options = WaitOptions(**{name: members.pop(name, None) for name in _OPTIONS})
    for name in ("delay_history", "delay_kind", "max_delay_given"):
        members.pop(name, None)
    return options, Policy.of(**{**members, "last_attempt": LastAttempt(members["last_attempt"])})
