"""`call_once`: a mutating call that is repeated under one token until its outcome is known."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from botocore import xform_name
from botocore.model import OperationModel

from ..arguments import flag
from ..aws.client_kind import is_async
from ..deadlines import effective_max_wait
from ..engine.redaction import shown
from ..exceptions import WaiterError, WaiterFailedError
from ..hooks.clients import waiters_of
from ..outcome import WaiterOutcome
from .adoption import differences
from .call_errors import AlreadyExistsError, CallOnceError, LateArrivalError
from .call_target import CallTarget
from .following_wait import FollowingWait, WaiterChoice, describing_calls
from .repetition import Repetition


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


Steps = Generator[Step, Any, CallOutcome]


def call_once(
    method: Any,
    /,
    *,
    max_wait: Any = None,
    then_wait: WaiterChoice | None = None,
    allow_repeat: bool = False,
    adopt_existing: bool = False,
    **parameters: Any,
) -> CallOutcome:
    """Call an operation until its outcome is known, executed once.

    All attempts carry the same idempotency token and the same parameters. An attempt is repeated
    after errors that are transient or leave the outcome open: lost connections, timeouts, HTTP
    5xx, throttles. Delays follow section "Waiter retries", from 2 to 30 seconds.

    Args:
        method: a method of a botocore client, such as `ec2.run_instances`.
        max_wait: seconds (or a `timedelta`) for all attempts and the wait together.
        then_wait: the waiter to wait with for the resource. Its parameters come from the
            response; for a waiter that is not in `data/idempotency.json` pass
            `(waiter, function)`, where the function takes the response and returns them.
        allow_repeat: True repeats an operation that has no token, which may execute it twice.
        adopt_existing: True accepts a resource that "already exists" after an attempt whose
            outcome is unknown, if it is as the parameters ask for.
        parameters: of the operation. The token's member may be among them.

    Returns:
        The response, the token, the attempts, and the outcome of the wait.

    Raises:
        TypeError, ValueError: a bad argument, before the first request.
        CallOnceError: the call has no certain result, or was refused; see the subclasses.
        WaiterError: the wait did not succeed; its attribute `call` is the `CallOutcome`.
    """
    call = _Call(method, max_wait, then_wait, allow_repeat, adopt_existing, parameters)
    if is_async(type(call.target.client)):
        raise TypeError("the client is one of aiobotocore: await call_once_async instead")
    steps = call.steps()
    try:
        step = next(steps)
        while True:
            try:
                result = step.drive()
            except WaiterError as error:  # noqa: PERF203 - each step may fail
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        outcome: CallOutcome = end.value
        return outcome


async def call_once_async(
    method: Any,
    /,
    *,
    max_wait: Any = None,
    then_wait: WaiterChoice | None = None,
    allow_repeat: bool = False,
    adopt_existing: bool = False,
    **parameters: Any,
) -> CallOutcome:
    """`call_once` as part of the calling task.

    The calls of an aiobotocore client are awaited, those of any other are made in threads.
    Cancelling the task ends it at once; whether the call was executed is unknown then.
    """
    call = _Call(method, max_wait, then_wait, allow_repeat, adopt_existing, parameters)
    steps = call.steps()
    try:
        step = next(steps)
        while True:
            try:
                result = await step.drive_async()
            except WaiterError as error:  # noqa: PERF203 - each step may fail
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        outcome: CallOutcome = end.value
        return outcome


class _Call:
    """A call that is ready to be made; raises for whatever is wrong with its arguments."""

    def __init__(
        self,
        method: Any,
        max_wait: Any,
        then_wait: WaiterChoice | None,
        allow_repeat: bool,  # noqa: FBT001 - of this module
        adopt_existing: bool,  # noqa: FBT001 - of this module
        parameters: Mapping[str, Any],
    ) -> None:
        allow_repeat = flag("allow_repeat", allow_repeat)
        self._adopt = flag("adopt_existing", adopt_existing)
        self.target = target = CallTarget.of(method, allow_repeat=allow_repeat)
        self.parameters, self.token, self._is_callers = target.frozen(parameters)
        self._wait: FollowingWait | None = None
        if then_wait is not None:
            self._wait = FollowingWait(target.client, then_wait, target.operation, self.parameters)
        self.max_wait = effective_max_wait("call_once", max_wait)

    def steps(self) -> Steps:
        """Yield what to do, and return the outcome."""
        repetition = self._repetition(self.target.operation, self.parameters, self.max_wait)
        adopted = False
        try:
            response = yield repetition
        except AlreadyExistsError as error:
            raised = self._with_check(error)
            response = yield from self._adopted(raised, repetition.time_left)
            adopted = True
        except CallOnceError as error:
            raise self._with_token(error) from error.last_exception
        attempts = repetition.run.attempts
        call = CallOutcome(response=response, token=self.token, attempts=attempts, adopted=adopted)
        if self._wait is None:
            return call
        is_repeated = attempts > 1 or self._is_callers or _retries_of_sdk(response) > 0
        try:
            outcome = yield self._wait.step(response, repetition.time_left)
        except WaiterError as error:
            raise _about(error, call, is_repeated=is_repeated) from error.__cause__
        return replace(call, outcome=outcome)

    def _repetition(
        self, operation: OperationModel, parameters: Mapping[str, Any], max_wait: float
    ) -> Repetition:
        client = self.target.client
        method = getattr(client, xform_name(operation.name))
        observers = waiters_of(client).settings.observers
        return Repetition(client, operation, method, parameters, max_wait, observers=observers)

    def _with_token(self, error: CallOnceError) -> CallOnceError:
        """Return an error with the token, and with how to repeat the same call."""
        member, text = self.target.member, ""
        if error.outcome_unknown and member is not None:
            token = "its token" if member.is_sensitive else f"{member.name}={self.token!r}"
            text = f"call_once with {token} repeats the same call"
        raised = error.extended(text, type(error))
        raised.token = self.token
        return raised

    def _with_check(self, error: AlreadyExistsError) -> AlreadyExistsError:
        """Return an error with the call that tells whose the resource is."""
        text, check = "it existed before this call", None
        if error.outcome_unknown:
            text = "this call may have made it"
            calls = describing_calls(self.target.client, self.target.operation, self.parameters)
            check = next(calls, None)
        if check is not None:
            text += f": {_shown_call(*check)} tells"
        raised = error.extended(text, AlreadyExistsError)
        raised.token, raised.maybe_ours = self.token, error.outcome_unknown
        if check is not None:
            raised.check_operation, raised.check_parameters = check[0].name, check[1]
        return raised

    def _adopted(self, error: AlreadyExistsError, time_left: float) -> Generator[Step, Any, Any]:
        """Return the description of a resource that is as the call asked for; else raise."""
        cause, check = error.last_exception, error.check_operation
        if not self._adopt or check is None or time_left <= 0:
            raise error from cause
        operation = self.target.client.meta.service_model.operation_model(check)
        try:
            description = yield self._repetition(operation, error.check_parameters, time_left)
        except CallOnceError:
            raise error from cause
        token = None if self.target.member is None else self.target.member.path[0]
        found = differences(self.parameters, description, token)
        if found == ():
            return description
        text = f"it differs in {', '.join(found)}" if found else "nothing of it can be compared"
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
        text = "an earlier attempt of the call made the resource, and it is gone by now"
        error = error.extended(text, LateArrivalError)
    error.call = call
    return error
