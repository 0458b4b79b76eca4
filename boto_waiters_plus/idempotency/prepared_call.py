"""A call that is ready to be made, in steps that a caller drives, blocking or awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from botocore import xform_name
from botocore.model import OperationModel

from ..arguments import flag, with_methods
from ..aws.json_parameters import as_json
from ..deadlines import effective_max_wait
from ..engine.redaction import shown
from ..exceptions import WaiterError, WaiterFailedError
from ..hooks.clients import waiters_of
from ..options import CancelEvent, WaitOptions
from ..outcome import WaiterOutcome
from .adoption import differences
from .call_errors import AlreadyExistsError, CallOnceError, LateArrivalError
from .call_target import CallTarget
from .following_wait import FollowingWait, describing_calls
from .repetition import Repetition
from .stored_calls import CallStore, StoreStep


@dataclass(frozen=True, kw_only=True, repr=False)
class CallOutcome:
    """What a call of `call_once` gave."""

    response: Any
    """The response of the operation; of the operation that describes the resource if `adopted`."""
    token: str | None
    """The idempotency token of all attempts; None if the operation has none."""
    attempts: int
    """The number of calls that were made, retries of the SDK not counted."""
    outcome: WaiterOutcome[Any] | None = field(default=None)
    """The outcome of the wait that followed; None without `then_wait`."""
    adopted: bool = False
    """Whether the resource existed, as the call asked for it (`adopt_existing`)."""

    def __repr__(self) -> str:
        # Without the response and the token, which may be sensitive: reprs end up in logs.
        facts = f"attempts={self.attempts}, adopted={self.adopted}, outcome={self.outcome!r}"
        return f"CallOutcome({facts})"


class Step(Protocol):
    """One thing to do, blocking or awaited."""

    def drive(self) -> Any:
        """Do it in the calling thread."""
        ...

    async def drive_async(self) -> Any:
        """Do it as part of the calling task."""
        ...


Drive = Callable[[Step], Awaitable[Any]]
"""Drives a step; if it blocks, what it returns is done when it is awaited."""


@dataclass(frozen=True, slots=True)
class CallOptions:
    """The options of a call, as they were given."""

    max_wait: Any
    then_wait: Any
    allow_repeat: bool
    adopt_existing: bool
    in_store: CallStore | None = None
    cancel_event: CancelEvent | None = None
    path: str | None = None
    """Where the store keeps the call already."""

    def __post_init__(self) -> None:
        WaitOptions(cancel_event=self.cancel_event)  # raises for what is no event
        flag("allow_repeat", self.allow_repeat)
        flag("adopt_existing", self.adopt_existing)
        if self.in_store is not None:
            with_methods("in_store", self.in_store, "save_call", "finish_call")
            if self.then_wait is not None and not isinstance(self.then_wait, str):
                raise TypeError("in_store: then_wait must be the name of a waiter to be stored")


class PreparedCall:
    """A call that is ready to be made; raises for whatever is wrong with its arguments."""

    def __init__(
        self,
        method: Any,
        options: CallOptions,
        parameters: Mapping[str, Any],
        *,
        is_resumed: bool = False,
    ) -> None:
        self._options = options
        self._is_resumed = is_resumed
        self.target = target = CallTarget.of(method, allow_repeat=options.allow_repeat)
        self.parameters, self.token, self._is_callers = target.frozen(parameters)
        self._wait: FollowingWait | None = None
        if options.then_wait is not None:
            self._wait = FollowingWait(
                target.client, options.then_wait, target.operation, self.parameters
            )
        self.max_wait = effective_max_wait("call_once", options.max_wait)
        self._record = None if options.in_store is None else self._to_json()

    async def run(self, drive: Drive) -> CallOutcome:
        """Make the call and wait; whether that blocks depends on `drive` alone."""
        repetition = self._repetition(self.target.operation, self.parameters, self.max_wait)
        call = await self._stored(repetition, drive)
        if self._wait is None:
            return call
        is_first = call.attempts == 1 and not (self._is_callers or self._is_resumed)
        is_repeated = not is_first or _retries_of_sdk(call.response) > 0
        try:
            step = self._wait.step(call.response, repetition.time_left, repetition.cancel_event)
            outcome = await drive(step)
        except WaiterError as error:
            raise _about(error, call, is_repeated=is_repeated) from error.__cause__
        return replace(call, outcome=outcome)

    async def _stored(self, repetition: Repetition, drive: Drive) -> CallOutcome:
        """Make the call, between its two entries in the store."""
        store = self._options.in_store
        if store is None:
            return await self._called(repetition, drive)
        path = self._options.path
        if path is None:
            path = await drive(StoreStep(store.save_call, self._record))
        try:
            call = await self._called(repetition, drive)
        except Exception as error:
            # What may have been executed stays open, to be resumed.
            if not getattr(error, "outcome_unknown", False):
                result = {"succeeded": False, "error": type(error).__name__}
                await drive(StoreStep(store.finish_call, path, result))
            raise
        result = {"succeeded": True, "attempts": call.attempts}
        await drive(StoreStep(store.finish_call, path, result))
        return call

    async def _called(self, repetition: Repetition, drive: Drive) -> CallOutcome:
        adopted = False
        try:
            response = await drive(repetition)
        except AlreadyExistsError as error:
            raised = self._with_check(error)
            response = await self._adopted(raised, repetition.time_left, drive)
            adopted = True
        except CallOnceError as error:
            raise self._with_token(error) from error.last_exception
        attempts = repetition.run.attempts
        return CallOutcome(response=response, token=self.token, attempts=attempts, adopted=adopted)

    def _to_json(self) -> dict[str, Any]:
        operation, options = self.target.operation, self._options
        return {
            "service": operation.service_model.service_name,
            "operation": operation.name,
            "parameters": as_json(operation.input_shape, self.parameters),
            "token": self.token,
            "max_wait": self.max_wait,
            "then_wait": options.then_wait,
            "allow_repeat": options.allow_repeat,
            "adopt_existing": options.adopt_existing,
        }

    def _repetition(
        self, operation: OperationModel, parameters: Mapping[str, Any], max_wait: float
    ) -> Repetition:
        client = self.target.client
        method = getattr(client, xform_name(operation.name))
        settings = waiters_of(client).settings
        given = WaitOptions(cancel_event=self._options.cancel_event)
        return Repetition(
            client,
            operation,
            method,
            parameters,
            max_wait,
            options=given.merged_over(settings.defaults),
            observers=settings.observers,
            first_is_unknown=self._is_resumed,
        )

    def _with_token(self, error: CallOnceError) -> CallOnceError:
        """Return an error with the token, and with how to repeat the same call."""
        member, text = self.target.member, ""
        if error.outcome_unknown and member is not None:
            token = "its token" if member.is_sensitive else f"{member.name}={self.token!r}"
            text = f"To repeat the same call, pass {token} to call_once."
        raised = error.extended(text, type(error))
        raised.token = self.token
        return raised

    def _with_check(self, error: AlreadyExistsError) -> AlreadyExistsError:
        """Return an error with the call that tells whose the resource is."""
        text, check = "It existed before this call", None
        if error.outcome_unknown:
            text = "This call may have made it"
            calls = describing_calls(self.target.client, self.target.operation, self.parameters)
            check = next(calls, None)
        if check is not None:
            text += f": {_shown_call(*check)} tells"
        raised = error.extended(f"{text}.", AlreadyExistsError)
        raised.token, raised.maybe_ours = self.token, error.outcome_unknown
        if check is not None:
            raised.check_operation, raised.check_parameters = check[0].name, check[1]
        return raised

    async def _adopted(self, error: AlreadyExistsError, time_left: float, drive: Drive) -> Any:
        """Return the description of a resource that is as the call asked for; else raise."""
        cause, check = error.last_exception, error.check_operation
        if not self._options.adopt_existing or check is None or time_left <= 0:
            raise error from cause
        operation = self.target.client.meta.service_model.operation_model(check)
        try:
            step = self._repetition(operation, error.check_parameters, time_left)
            description = await drive(step)
        except CallOnceError:
            raise error from cause
        found = differences(self.parameters, description)
        if found == ():
            return description
        text = (
            f"It differs in {', '.join(found)}."
            if found
            else "None of the parameters can be compared with it."
        )
        raised = error.extended(text, AlreadyExistsError)
        raised.differences = found or ()
        raise raised from cause


def _shown_call(operation: OperationModel, parameters: Mapping[str, Any]) -> str:
    members = {} if operation.input_shape is None else operation.input_shape.members
    texts = [
        f"{name}={'...' if members[name].metadata.get('sensitive') else repr(shown(value))}"
        for name, value in parameters.items()
    ]
    return f"{xform_name(operation.name)}({', '.join(texts)})"


def _retries_of_sdk(response: Any) -> int:
    retries: int = response.get("ResponseMetadata", {}).get("RetryAttempts", 0)
    return retries


def _about(error: WaiterError, call: CallOutcome, *, is_repeated: bool) -> WaiterError:
    """Return the error of a wait with the call before it."""
    if isinstance(error, WaiterFailedError) and is_repeated and error.attempts == 1:
        text = "An earlier attempt of the call made the resource, and it is gone by now."
        error = error.extended(text, LateArrivalError)
    error.call = call
    return error
