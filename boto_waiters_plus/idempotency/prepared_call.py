"""A call that is ready to be made, in steps that a caller drives, blocking or awaited."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Protocol

from botocore import xform_name
from botocore.model import OperationModel

from ..arguments import flag, with_methods
from ..aws.json_parameters import as_json
from ..deadlines import effective_max_wait
from ..exceptions import (
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..hooks.clients import waiters_of
from ..options import CancelEvent, WaitOptions
from ..outcome import WaiterOutcome
from .call_errors import AlreadyExistsError, CallOnceError, CallTimeoutError, LateArrivalError
from .call_target import CallTarget
from .existing_resource import Check, ExistingResource
from .following_wait import FollowingWait
from .repetition import SAFE_SHARE_OF_LIFETIME, Repetition
from .stored_calls import (
    ANSWERED,
    WAITING,
    CallStore,
    StoredCall,
    kept_response,
    restored_response,
    target_of,
)

MOST_ITEMS: Final = 1000
"""The most items read from the list in which a resource is looked for: the events of a stack may
go back years."""


@dataclass(frozen=True, kw_only=True, repr=False)
class CallOutcome:
    """The result of `call_once`."""

    response: Any
    """The response of the operation. If `adopted`, the part of the resource's description that
    stands for it, or else the whole description."""
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


class Step(Protocol):
    """One thing to do, blocking or awaited."""

    def drive(self) -> Any:
        """Do it in the calling thread."""
        ...

    def drive_async(self) -> Awaitable[Any]:
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


@dataclass(frozen=True, slots=True)
class KeptCall:
    """What is known of a call that is resumed."""

    age: float
    """Seconds since its first attempt; infinite where they cannot be known."""
    answer: Mapping[str, Any] | None
    """The answer of the operation, if one was kept."""

    @classmethod
    def of(cls, record: Mapping[str, Any], kept: Mapping[str, Any]) -> KeptCall:
        """Return what a record and its store know."""
        age = kept.get("age")
        if age is None:
            started_at = record.get("started_at")
            age = math.inf if started_at is None else time.time() - started_at
        # The clock was set back: the token may be older than it looks.
        return cls(age if age >= 0 else math.inf, kept.get("answer"))


class PreparedCall:
    """A call that is ready to be made; raises for whatever is wrong with its arguments.

    Args:
        method: of the client.
        options: as they were given.
        parameters: of the operation.
        kept: what is known of the call that is resumed; None for a new one.
    """

    def __init__(
        self,
        method: Any,
        options: CallOptions,
        parameters: Mapping[str, Any],
        *,
        kept: KeptCall | None = None,
    ) -> None:
        self._options = options
        self._answer = None if kept is None else kept.answer
        self._is_resumed = kept is not None
        self.target = target = CallTarget.of(method, allow_repeat=options.allow_repeat)
        self.parameters, self.token, self._is_callers = target.frozen(parameters)
        self._wait: FollowingWait | None = None
        if options.then_wait is not None:
            self._wait = FollowingWait(
                target.client, options.then_wait, target.operation, self.parameters
            )
        self.max_wait = effective_max_wait("call_once", options.max_wait)
        self._token_left = math.inf
        if target.member is not None and target.member.lifetime is not None:
            age = 0.0 if kept is None else kept.age
            self._token_left = target.member.lifetime * SAFE_SHARE_OF_LIFETIME - age
        self._record = None if options.in_store is None else self._to_json()

    async def run(self, drive: Drive) -> CallOutcome:
        """Make the call and wait; whether that blocks depends on `drive` alone."""
        repetition = self._repetition(
            self.target.operation, self.parameters, self.max_wait, token_left=self._token_left
        )
        stored = StoredCall(self._options.in_store, self._options.path, drive)
        call = self._answered()
        if call is None:
            await stored.save(self._record)
            call = await self._made(repetition, stored, drive)
        try:
            await self._note(stored, call)
            call = await self._waited(call, repetition, stored, drive)
            await stored.finish({"succeeded": True, "attempts": call.attempts})
        except WaiterError:
            raise
        except Exception as error:
            # The store failed; the response and the token must not be lost with it.
            error.call = call  # type: ignore[attr-defined]
            raise
        return call

    def _answered(self) -> CallOutcome | None:
        """Return the call as far as it was made by another process; None if it was not."""
        if self._answer is None:
            return None
        return CallOutcome(
            response=restored_response(self._answer),
            token=self.token,
            attempts=self._answer["attempts"],
            adopted=self._answer["adopted"],
        )

    async def _made(self, repetition: Repetition, stored: StoredCall, drive: Drive) -> CallOutcome:
        try:
            return await self._called(repetition, drive)
        except Exception as error:
            # What may have been executed stays open, to be resumed.
            if not getattr(error, "outcome_unknown", False):
                await stored.finish({"succeeded": False, "error": type(error).__name__})
            raise

    async def _note(self, stored: StoredCall, call: CallOutcome) -> None:
        if self._options.in_store is None or self._answer is not None:
            return
        answer = {
            "response": kept_response(self.target.operation, call.response),
            "attempts": call.attempts,
            "adopted": call.adopted,
        }
        await stored.note(ANSWERED, answer)
        if self._wait is not None:
            await stored.note(WAITING, answer)

    async def _waited(
        self, call: CallOutcome, repetition: Repetition, stored: StoredCall, drive: Drive
    ) -> CallOutcome:
        if self._wait is None:
            return call
        is_first = call.attempts == 1 and not (self._is_callers or self._is_resumed or call.adopted)
        is_repeated = not is_first or _retries_of_sdk(call.response) > 0
        try:
            step = self._wait.step(call.response, repetition.time_left, repetition.cancel_event)
            outcome = await drive(step)
        except WaiterError as error:
            # A wait that ran out of time or was cancelled can go on.
            if not isinstance(error, (WaiterTimeoutError, WaiterCancelledError)):
                await stored.finish({"succeeded": False, "error": type(error).__name__})
            raise _about(error, call, is_repeated=is_repeated) from error.__cause__
        return replace(call, outcome=outcome)

    async def _called(self, repetition: Repetition, drive: Drive) -> CallOutcome:
        adopted = False
        try:
            response = await drive(repetition)
        except AlreadyExistsError as error:
            response = await self._existing(error, repetition, drive)
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
            "target": target_of(self.target.client),
            "started_at": time.time(),
            "max_wait": self.max_wait,
            "then_wait": options.then_wait,
            "allow_repeat": options.allow_repeat,
            "adopt_existing": options.adopt_existing,
        }

    def _repetition(
        self,
        operation: OperationModel,
        parameters: Mapping[str, Any],
        max_wait: float,
        *,
        token_left: float = math.inf,
        all_pages: bool = False,
    ) -> Repetition:
        client = self.target.client
        name = xform_name(operation.name)
        method = getattr(client, name)
        if all_pages and client.can_paginate(name):
            method = partial(_all_pages, client.get_paginator(name))
        settings = waiters_of(client).settings
        given = WaitOptions(cancel_event=self._options.cancel_event)
        return Repetition(
            client,
            operation,
            method,
            parameters,
            max_wait,
            token_left=token_left,
            options=given.merged_over(settings.defaults),
            observers=settings.observers,
            first_is_unknown=self._is_resumed,
        )

    def _with_token(self, error: CallOnceError) -> CallOnceError:
        """Return an error with the token, and with how to repeat the same call."""
        member, text = self.target.member, ""
        lifetime = None if member is None else member.lifetime
        if error.outcome_unknown and member is not None:
            token = "its token" if member.is_sensitive else f"{member.name}={self.token!r}"
            text = f"To repeat the same call, pass {token} to call_once."
            if lifetime is not None:
                text = self._about_lifetime(error, text, lifetime)
        raised = error.extended(text, type(error))
        raised.token, raised.token_lifetime = self.token, lifetime
        return raised

    def _about_lifetime(self, error: CallOnceError, advice: str, lifetime: int) -> str:
        is_over = isinstance(error, CallTimeoutError) and self._token_left < self.max_wait
        known = f"The service knows the token for {lifetime} s from the first attempt"
        if is_over:
            return f"{known}: find out whether the call was executed before you repeat it."
        return f"{advice} {known}."

    async def _existing(self, error: AlreadyExistsError, made: Repetition, drive: Drive) -> Any:
        """Return what stands for the response if the resource is the call's own; else raise."""

        async def describe(check: Check) -> Any:
            if made.time_left <= 0:
                return None
            step = self._repetition(
                check.operation,
                check.parameters,
                made.time_left,
                # Where a token tells the resource, it may be on any page.
                all_pages=check.token is not None,
            )
            try:
                return await drive(step)
            except CallOnceError:
                return None

        existing = ExistingResource(
            self.target,
            self.parameters,
            self.token,
            error,
            made.judge.error_names,
            is_callers=self._is_callers and not self._is_resumed,
            adopt=self._options.adopt_existing,
        )
        try:
            return await existing.claimed(describe)
        except AlreadyExistsError as raised:
            raise raised from error.last_exception


def _all_pages(paginator: Any, **parameters: Any) -> Any:
    """Return the pages of a list as one; awaitable if the client is."""
    limit = {"MaxItems": MOST_ITEMS}
    return paginator.paginate(**parameters, PaginationConfig=limit).build_full_result()


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
