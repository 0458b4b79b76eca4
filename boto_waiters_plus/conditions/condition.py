"""What all general forms are: a callable, cases that judge its values, and one wait_run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from ..aws.awaited_call import awaited_call
from ..aws.call_budget import CallEnded
from ..aws.errors import error_facts
from ..aws.port import ended_attempt
from ..deadlines import budget_of
from ..engine.machine import AttemptsUsedUp, Ending, Facts, Failed, Policy, TimedOut
from ..engine.model import AcceptorState, MatchedAcceptor
from ..engine.redaction import may_show
from ..exceptions import WaiterError
from ..outcome import WaiterOutcome
from ..runtime.aio import drive_async
from ..runtime.attempt import Attempt
from ..runtime.sync import drive
from ..runtime.wait_run import WaitDescription, WaitRun
from .calling import called, refuse_coroutine, refuse_coroutine_function, value_of
from .cases import Case, Handler
from .form_options import Else, OnTimeout, Settings, checked_else
from .patterns import in_words, name_of


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a wait came out: the handler of a case or of the else, and its value."""

    handler: Handler | None
    value: Any
    error: WaiterError | None = None
    """Set where an exception that the handler returns is to be raised."""

    def call(self) -> Any:
        """What the handler makes of the value."""
        return self.value if self.handler is None else self.handler(self.value)

    async def call_async(self) -> Any:
        """What the handler makes of the value, awaited if need be."""
        result = self.call()
        if self.handler is not None and inspect.isawaitable(result):
            return await result
        return result

    def answer(self, result: Any) -> Any:
        """The result of the form; raises what the handler of a failure returned to be raised."""
        if self.error is not None and isinstance(result, BaseException):
            raise result from self.error
        return result


class Condition:
    """One wait of a general form.

    Args:
        form: the function's name, as messages call the wait.
        call: looks, and returns the value.
        cases: judge the value, the first that matches.
        max_wait: as the caller gave it.
        on_timeout, else_: what happens when time or attempts are used up.
        options: of `ConditionOptions`.
        description: what messages call the callable; its name if not given.
        observed: what of a value observers may be told.
        place: where in something larger the wait stands, for messages.
    """

    def __init__(
        self,
        form: str,
        call: Callable[[], Any],
        cases: Sequence[Case],
        *,
        max_wait: Any,
        on_timeout: OnTimeout = "raise",
        else_: Else | None = None,
        options: Mapping[str, Any],
        description: str | None = None,
        observed: Callable[[Any], Any] | None = None,
        place: str = "",
    ) -> None:
        if not callable(call):
            raise TypeError(f"{form} takes something to call, not {type(call).__name__}")
        self.form = form
        self.call = call
        self.last_value: Any = None
        self._cases = tuple(cases)
        self._looked = False
        self._ending: Ending | None = None
        self._observed = observed
        self._place = place
        self._on_timeout, self._else = checked_else(on_timeout, else_)
        settings = Settings.of(form, options)
        self.options = settings.common
        self._retry_on = settings.retry_on
        self.wait_run = WaitRun(
            self._description(name_of(call) if description is None else description),
            settings.policy(budget_of(form, max_wait)),
            wording=self._reason,
        )
        if self.options.on_attempt is not None:
            self.wait_run.observe_attempts(self.options.on_attempt)

    # --- a look --------------------------------------------------------------

    def returned(self, value: Any) -> Attempt:
        """The look gave a value."""
        index = next((i for i, case in enumerate(self._cases) if case.pattern.matches(value)), None)
        self.last_value, self._looked = value, True
        observed = value if self._observed is None else self._observed(value)
        return Attempt(
            facts=Facts(acceptor=index),
            response=value,
            observed=observed if may_show(observed) else None,
            last_response=value if isinstance(value, Mapping) else {},
        )

    def raised(self, error: Exception) -> Attempt:
        """The look ended in an error; one that is not to be waited through is raised."""
        facts = error_facts(error)
        transient = bool(self.options.retry_transient) and facts.retryable
        if not isinstance(error, self._retry_on) and not transient:
            raise error
        return Attempt(
            # Behind the cases stands the acceptor of the errors that are waited through.
            facts=Facts(acceptor=len(self._cases), throttled=facts.throttled),
            exception=error,
            error=facts.text,
            error_code=facts.code,
            service_message=facts.message,
            last_response=facts.response,
        )

    def handle_retry(self, attempt: Attempt) -> Any:
        """Call the handler of the `retry` case that took the look."""
        index = attempt.facts.acceptor
        if index is None or index >= len(self._cases):
            return None
        case = self._cases[index]
        if case.state is not AcceptorState.RETRY or case.handler is None:
            return None
        return case.handler(attempt.response)

    # --- the end -------------------------------------------------------------

    def succeeded(self, outcome: WaiterOutcome[Any]) -> Branch:
        """The branch of a wait that ended well."""
        return Branch(self._cases[outcome.acceptor.index].handler, self.last_value)

    def failed(self, error: WaiterError) -> Branch:
        """The branch of a wait that did not; raises the error where nothing takes it."""
        match self._ending:
            case None:  # an error of a wait inside the callable
                raise error
            case Failed(acceptor=int(index)):
                branch = _branch(self._cases[index], self.last_value, error)
            case TimedOut() | AttemptsUsedUp():
                branch = self._given_up(error)
            case _:
                branch = None
        if branch is None:
            error.last_value = self.last_value
            raise error
        return branch

    def _given_up(self, error: WaiterError) -> Branch | None:
        match self._else:
            case None:
                give_value = self._on_timeout == "last" and self._looked
                return Branch(None, self.last_value) if give_value else None
            case tuple(cases):
                matching = (c for c in cases if self._looked and c.pattern.matches(self.last_value))
                case = next(matching, None)
                return None if case is None else _branch(case, self.last_value, error)
            case handler:
                return Branch(handler, self.last_value, error)

    # --- words ---------------------------------------------------------------

    def _description(self, operation: str) -> WaitDescription:
        waited_through = "retry when an error of retry_on, or one that the SDK retries"
        texts = [*(case.text for case in self._cases), waited_through]
        goals = [c.pattern.text for c in self._cases if c.state is AcceptorState.SUCCESS]
        return WaitDescription(
            waiter=self.form,
            operation=operation,
            service=None,
            goal=" or ".join(goals),
            acceptors=tuple(MatchedAcceptor(i, text) for i, text in enumerate(texts)),
            states=(*(case.state for case in self._cases), AcceptorState.RETRY),
        )

    def _reason(self, wait_run: WaitRun, ending: Ending) -> str:
        # Told to the course alone: an error of another wait, inside the callable, never comes by.
        self._ending = ending
        looks = "1 look" if wait_run.attempts == 1 else f"{wait_run.attempts} looks"
        parts = [self._what_happened(wait_run.policy, ending), self._place]
        if not isinstance(ending, Failed):
            parts += [f"waited for: {wait_run.description.goal}", self._last_seen(wait_run.attempt)]
        parts.append(f"{looks} at {wait_run.description.operation} in {wait_run.elapsed:.1f} s")
        return "; ".join(part for part in parts if part)

    def _what_happened(self, policy: Policy, ending: Ending) -> str:
        match ending:
            case Failed(acceptor=int(index)):
                return f"terminal failure state: {self._cases[index].pattern.text}"
            case TimedOut():
                allowed = max(0.0, policy.max_wait or 0.0)
                return f"Timed out: the {allowed:.4g} s that were allowed are used up"
            case AttemptsUsedUp():
                return f"Max attempts exceeded: {policy.max_attempts} are used up"
            case _:
                return "cancelled"

    def _last_seen(self, attempt: Attempt | None) -> str:
        if attempt is None:
            return ""
        if attempt.error is not None:
            return f"last seen: error {attempt.error}"
        observed = attempt.observed if self._observed is not None else attempt.response
        size = f" of {len(observed)}" if isinstance(observed, Sized) else ""
        words = in_words(observed) or f"a value of type {type(observed).__name__}{size}"
        return f"last seen: {words}"


def run(condition: Condition, twin: str) -> Any:
    """Wait in the calling thread, and return what the form returns.

    Args:
        condition: the wait.
        twin: the function to name to somebody whose callable has to be awaited.
    """
    refuse_coroutine_function("the callable", condition.call, twin)
    try:
        outcome = drive(
            condition.wait_run,
            _Port(condition, twin),
            cancel=condition.options.cancel_event,
            wake=condition.options.wake_signal,
        )
    except WaiterError as error:
        branch = condition.failed(error)
        return branch.answer(branch.call())
    return condition.succeeded(outcome).call()


async def run_async(condition: Condition) -> Any:
    """`run` as part of the calling task."""
    try:
        outcome = await drive_async(
            condition.wait_run,
            _AsyncPort(condition),
            cancel=condition.options.cancel_event,
            wake=condition.options.wake_signal,
        )
    except WaiterError as error:
        branch = condition.failed(error)
        return branch.answer(await branch.call_async())
    return await condition.succeeded(outcome).call_async()


class _Port:
    def __init__(self, condition: Condition, twin: str) -> None:
        self._condition = condition
        self._twin = twin

    def poll(self, time_left: float | None) -> Attempt:
        condition = self._condition
        try:
            value = called(condition.call, condition.options, time_left)
            attempt = condition.returned(value)
        except CallEnded as ended:
            return ended_attempt(ended, condition.raised)
        except Exception as error:
            attempt = condition.raised(error)
        refuse_coroutine(attempt.response, self._twin)
        condition.handle_retry(attempt)
        return attempt


class _AsyncPort:
    def __init__(self, condition: Condition) -> None:
        self._condition = condition

    async def poll(self, time_left: float | None) -> Attempt:
        try:
            return await awaited_call(self._attempt, client=None, seconds=time_left)
        except CallEnded as ended:
            return ended_attempt(ended, self._condition.raised)

    async def _attempt(self) -> Attempt:
        condition = self._condition
        try:
            attempt = condition.returned(await value_of(condition.call))
        except Exception as error:
            attempt = condition.raised(error)
        handled = condition.handle_retry(attempt)
        if inspect.isawaitable(handled):
            await handled
        return attempt


def _branch(case: Case, value: Any, error: WaiterError) -> Branch | None:
    if case.state is AcceptorState.SUCCESS:
        return Branch(case.handler, value)
    return None if case.handler is None else Branch(case.handler, value, error)
