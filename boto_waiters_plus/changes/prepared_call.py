"""A call that is ready to be made, in steps that a caller drives, blocking or awaited."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from botocore.model import OperationModel

from ..calls import flow
from ..calls.clients import is_async
from ..calls.flow import Flow, blocking
from ..common.arguments import flag, seconds_or_zero, time_bound, with_methods
from ..common.time_bounds import TimeBound
from ..common.wrong_arguments import WrongTypeError
from ..deadlines import effective_max_wait
from ..definitions.state_words import ENDINGS, FAILED_WORDS, state_words
from ..exceptions import WaiterCancelledError, WaiterError, WaiterFailedError, WaiterTimeoutError
from ..options import CancelEvent, WaitOptions
from ..outcome import ExceptionOutcome, WaiterOutcome
from ..service.errors import error_facts
from ..service.parameters import as_json, without_sensitive
from ..service.shapes import required_of
from ..settings import Observer
from .effects import EffectOfCall, chosen_effect, unchanged_by
from .existing_resource import Check, ExistingResource
from .gone import GoneResource
from .repetition import (
    SAFE_SHARE_OF_LIFETIME,
    AlreadyExistsError,
    CallOnceError,
    CallTimeoutError,
    LateArrivalError,
    RefusalRules,
    Repetition,
)
from .target import ANSWERED, WAITING, CallStore, CallTarget, restored_response, target_of

PROPAGATION_WAIT: Final = 120.0
"""Seconds in which services usually see a new role."""

RECORDED: Final = (
    *("then_wait", "allow_repeat", "adopt_existing", "propagation_wait"),
    *("busy_wait", "no_change_ok", "missing_ok", "show_parameters"),
)
"""The options that a store keeps."""


@dataclass(frozen=True, kw_only=True, repr=False)
class CallOutcome:
    """The result of `call_once`."""

    response: Any
    """The response of the operation. If `adopted`, the part of the resource's description that
    stands for it, or else the whole description. The error response of a refusal that is a success.
    """
    token: str | None
    """The idempotency token of all attempts; None if the operation has none."""
    attempts: int
    """The number of calls that were made, retries of the SDK not counted."""
    outcome: WaiterOutcome[Any] | None = field(default=None)
    """The outcome of the wait that followed; None without `then_wait`."""
    adopted: bool = False
    """Whether the service answered that the resource exists, and it is the call's own: made under
    its token, or as the call asked for it (`adopt_existing`)."""

    def __repr__(self) -> str:
        # Without the response and the token, which may be sensitive: reprs end up in logs.
        facts = f"attempts={self.attempts}, adopted={self.adopted}, outcome={self.outcome!r}"
        return f"CallOutcome({facts})"


@dataclass(frozen=True, slots=True)
class CallOptions:
    """The options of a call, as they were given."""

    max_wait: Any
    then_wait: Any = None
    allow_repeat: bool = False
    adopt_existing: bool = False
    in_store: CallStore | None = None
    cancel_event: CancelEvent | None = None
    path: str | None = None
    """Where the store keeps the call already."""
    name: str = "call_once"
    """What the caller has called, for messages."""
    once: bool = False
    """Whether an operation without a token is called once."""
    propagation_wait: float = PROPAGATION_WAIT
    """Seconds in which a refusal is repeated that a new role or policy explains."""
    busy_wait: float | None = None
    """Seconds in which one is repeated that says that another change is in progress; None: as any
    other that is transient."""
    no_change_ok: bool = False
    """Whether the refusal of a call that changes nothing is an outcome."""
    missing_ok: bool = False
    """Whether the refusal of a call is an outcome because what it takes away is gone."""
    show_parameters: bool | None = None
    """Whether the label of the call has parameters; None: as the client's settings say."""

    def __post_init__(self) -> None:
        WaitOptions(cancel_event=self.cancel_event)  # raises for what is no event
        seconds = seconds_or_zero("propagation_wait", self.propagation_wait)
        object.__setattr__(self, "propagation_wait", seconds)
        if self.busy_wait is not None:
            object.__setattr__(self, "busy_wait", seconds_or_zero("busy_wait", self.busy_wait))
        for name in ("allow_repeat", "adopt_existing", "no_change_ok", "missing_ok"):
            flag(name, getattr(self, name))
        if self.in_store is not None:
            with_methods("in_store", self.in_store, "save_call", "finish_call")
            is_stored = self.then_wait is True or isinstance(self.then_wait, str)
            if self.then_wait is not None and not is_stored:
                problem = "in_store: then_wait must be the name of an effect to be stored"
                raise WrongTypeError(problem, argument="then_wait", value=self.then_wait)


class PreparedCall:
    """A call that is ready to be made; raises for whatever is wrong with its arguments.

    Args:
        method: of the client.
        options: as they were given.
        parameters: of the operation.
        age: seconds since the first attempt of a call that is resumed; None: it is a new one.
        answer: the answer of the operation, if one was kept.
    """

    on_attempt: Observer | None = None
    """Called with each attempt of the wait."""

    def __init__(
        self,
        method: Any,
        options: CallOptions,
        parameters: Mapping[str, Any],
        *,
        age: float | None = None,
        answer: Mapping[str, Any] | None = None,
    ) -> None:
        self._options = options
        self._path = options.path
        self._answer = answer
        self._is_resumed = age is not None
        self.target = target = CallTarget.of(
            method, options.name, allow_repeat=options.allow_repeat or options.once
        )
        self.parameters, self.token, self._is_callers = target.frozen(parameters)
        self._gone: GoneResource | None = None
        if options.missing_ok:
            self._gone = GoneResource(target.client, target.operation, self.parameters)
        self.effect: EffectOfCall | None = None
        """What is waited for after the call."""
        if options.then_wait is not None:
            choice = None if options.then_wait is True else options.then_wait
            self.effect = chosen_effect(target.client, target.operation, choice, self.parameters)
        self.bound = bound = effective_max_wait(options.name, options.max_wait)
        """The time of the call and the wait."""
        self.max_wait = bound.seconds
        given = None if isinstance(options.max_wait, TimeBound) else options.max_wait
        self.asked_wait = None if given is None else time_bound("max_wait", given)
        """`max_wait` as it was given, whatever a deadline leaves of it."""
        self._token_left = math.inf
        if target.member is not None and target.member.lifetime is not None:
            self._token_left = target.member.lifetime * SAFE_SHARE_OF_LIFETIME - (age or 0.0)
        self._record: Mapping[str, Any] | None = None
        if options.in_store is not None:
            self._record = self.record(as_json(target.operation.input_shape, self.parameters))

    def run(self) -> CallOutcome:
        """Make the call and wait, in the calling thread."""
        if is_async(type(self.target.client)):
            raise TypeError(
                "calls of an aiobotocore client are awaited: "
                "use call_once_async or resume_call_async"
            )
        return flow.run(self._flow())

    async def run_async(self) -> CallOutcome:
        """Make the call and wait, as part of the calling task."""
        return await flow.run_async(self._flow())

    def _flow(self) -> Flow[CallOutcome]:
        repetition = self._repetition(
            self.target.operation,
            self.parameters,
            method=self.target.method,
            bound=self.bound,
            token_left=self._token_left,
        )
        if self._answer is None:
            if self._path is None:
                self._path = yield from self._access("save_call", self._record)
            call = yield from self._made(repetition)
        else:
            # Another process has made it.
            call = restored_call(self._answer, self.token)
        try:
            if call.outcome is None:
                yield from self._note(call)
                call = yield from self._waited(call, repetition)
            yield from self._finish(succeeded=True, attempts=call.attempts)
        except WaiterError:
            raise
        except Exception as error:
            # The store failed; the response and the token must not be lost with it.
            error.call = call  # type: ignore[attr-defined]
            raise
        return call

    def _made(self, repetition: Repetition) -> Flow[CallOutcome]:
        try:
            return (yield from self._called(repetition))
        except Exception as error:
            # What may have been executed stays open, to be resumed.
            if not getattr(error, "outcome_unknown", False):
                yield from self._finish(succeeded=False, error=type(error).__name__)
            raise

    def _finish(self, **result: Any) -> Flow[None]:
        """Keep how the call ended."""
        yield from self._access("finish_call", self._path, result)

    def _access(self, method: str, *arguments: Any) -> Flow[Any]:
        """Call a method of the store, if there is a store that has it."""
        function = getattr(self._options.in_store, method, None)
        return None if function is None else (yield blocking(partial(function, *arguments)))

    def _note(self, call: CallOutcome) -> Flow[None]:
        if self._options.in_store is None or self._answer is not None:
            return
        answer = kept_answer(self.target.operation, call)
        yield from self._access("note_call", self._path, ANSWERED, answer)
        if self.effect is not None:
            yield from self._access("note_call", self._path, WAITING, answer)

    def _waited(self, call: CallOutcome, repetition: Repetition) -> Flow[CallOutcome]:
        if self.effect is None:
            return call
        is_first = call.attempts == 1 and not (self._is_callers or self._is_resumed or call.adopted)
        metadata = call.response.get("ResponseMetadata", {})
        is_repeated = not is_first or metadata.get("RetryAttempts", 0) > 0
        try:
            answered, own = self.effect.answered(self.parameters, call.response), self._options
            given = WaitOptions(cancel_event=own.cancel_event, on_attempt=self.on_attempt)
            left = self.bound.left(repetition.time_left)
            outcome = yield from answered.wait(left, given)
        except WaiterError as error:
            unchanged = self._options.no_change_ok and unchanged_by(self.target.operation, error)
            if unchanged:
                return replace(call, outcome=unchanged)
            # A wait that ran out of time or was cancelled can go on.
            if not isinstance(error, (WaiterTimeoutError, WaiterCancelledError)):
                yield from self._finish(succeeded=False, error=type(error).__name__)
            raise _about(error, call, is_repeated=is_repeated) from error.__cause__
        except KeyboardInterrupt as interrupt:
            interrupt.call = call  # type: ignore[attr-defined]  # as errors have it
            raise
        return replace(call, outcome=outcome)

    def _called(self, repetition: Repetition) -> Flow[CallOutcome]:
        adopted = False
        try:
            response = yield from repetition.answer()
        except AlreadyExistsError as error:
            response = yield from self._existing(error, repetition)
            adopted = True
        except CallOnceError as error:
            raise self._with_token(error) from error.last_exception
        made: dict[str, Any] = {"token": self.token, "attempts": repetition.run.attempts}
        if isinstance(response, ExceptionOutcome):
            refusal: Any = response.exception
            return CallOutcome(response=refusal.response, outcome=response, **made)
        return CallOutcome(response=response, adopted=adopted, **made)

    def record(self, parameters: Any) -> dict[str, Any]:
        """Return what `resumed_call` goes on with; `parameters` are JSON."""
        operation, options = self.target.operation, self._options
        return {
            "service": operation.service_model.service_name,
            "operation": operation.name,
            "parameters": parameters,
            "token": self.token,
            "target": target_of(self.target.client),
            "started_at": time.time(),
            "max_wait": self.max_wait,
            **{name: getattr(options, name) for name in RECORDED},
        }

    def _repetition(
        self, operation: OperationModel, parameters: Mapping[str, Any], **bounds: Any
    ) -> Repetition:
        options, member = self._options, self.target.member
        required = required_of(self.target.operation.input_shape)
        return Repetition(
            self.target.client,
            operation,
            parameters,
            options=WaitOptions(
                cancel_event=options.cancel_event, show_parameters=options.show_parameters
            ),
            first_is_unknown=self._is_resumed,
            rules=RefusalRules(
                has_token=member is not None,
                once=options.once and member is None,
                propagation_wait=options.propagation_wait,
                busy_wait=options.busy_wait,
                no_change_ok=options.no_change_ok,
                gone=self._gone if operation is self.target.operation else None,
                is_one_change=len(self.parameters) <= len(required) + 1 + (member is not None),
            ),
            **bounds,
        )

    def _with_token(self, error: CallOnceError) -> CallOnceError:
        """Return an error with the token, and with how to repeat the same call."""
        member, text = self.target.member, ""
        lifetime = None if member is None else member.lifetime
        if error.outcome_unknown and member is not None:
            token = "its token" if member.is_sensitive else f"{member.name}={self.token!r}"
            text = f"To repeat the same call, pass {token} to {self._options.name}."
            if lifetime is not None:
                is_over = isinstance(error, CallTimeoutError) and self._token_left < self.max_wait
                known = f"The service knows the token for {lifetime} s from the first attempt"
                text = f"{text} {known}."
                if is_over:
                    text = f"{known}: find out whether the call was executed before you repeat it."
        raised = error.extended(text, type(error))
        raised.token, raised.token_lifetime = self.token, lifetime
        return raised

    def _existing(self, error: AlreadyExistsError, made: Repetition) -> Flow[Any]:
        """Return what stands for the response if the resource is the call's own; else raise."""

        def describe(check: Check) -> Flow[Any]:
            if made.time_left <= 0:
                return None
            # Where a token tells the resource, it may be on any page.
            repetition = self._repetition(
                check.operation,
                check.parameters,
                bound=self.bound.left(made.time_left),
                all_pages=check.token is not None,
            )
            with contextlib.suppress(CallOnceError):
                return (yield from repetition.answer())
            return None

        existing = ExistingResource(
            self.target,
            self.parameters,
            self.token,
            error,
            made.error_names,
            is_callers=self._is_callers and not self._is_resumed,
            adopt=self._options.adopt_existing,
        )
        try:
            return (yield from existing.claimed(describe))
        except AlreadyExistsError as raised:
            raise raised from error.last_exception


def kept_answer(operation: OperationModel, call: CallOutcome) -> dict[str, Any]:
    """Return what is kept of the answer of a call, as JSON without what is secret."""
    members = {name: each for name, each in call.response.items() if name != "ResponseMetadata"}
    response = as_json(None, without_sensitive(operation.output_shape, members))
    facts = {"attempts": call.attempts, "adopted": call.adopted}
    headers = call.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    return {"response": response, **facts, "date": headers.get("date")}


def restored_call(answer: Mapping[str, Any], token: str | None) -> CallOutcome:
    """Return the call of an answer that was kept."""
    facts = {name: answer[name] for name in ("attempts", "adopted")}
    return CallOutcome(response=restored_response(answer), token=token, **facts)


def _saw_it_gone(error: WaiterError, *, is_missing: bool) -> bool:
    """Return whether a wait saw nothing but a resource that is missing, or is being deleted."""
    states = {entry.state or "" for entry in error.timeline}
    words = state_words("".join(states))
    is_ending = any(word.startswith((*ENDINGS, "SHUTTING")) for word in words)
    is_gone = is_missing or (is_ending and FAILED_WORDS.isdisjoint(words))
    return len(states) <= 1 and is_gone


def _about(error: WaiterError, call: CallOutcome, *, is_repeated: bool) -> WaiterError:
    """Return the error of a wait with the call before it."""
    facts = None if error.last_exception is None else error_facts(error.last_exception)
    is_gone = facts is not None and facts.missing
    is_answered = facts is None or facts.on_the_way is None
    is_late = is_repeated and is_answered and _saw_it_gone(error, is_missing=is_gone)
    if isinstance(error, WaiterFailedError) and is_late:
        text = "An earlier attempt of the call made the resource, and it is gone by now."
        error = error.extended(text, LateArrivalError)
    error.call = call
    return error
