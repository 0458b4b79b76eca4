"""The wait of a general form, alone or among others: a callable whose values match cases."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.model import OperationModel

from ..batch.wait import CallableWait
from ..calls import flow
from ..calls.budget import Reply
from ..calls.client_call import Calls, IsReply
from ..calls.errors import RAW
from ..calls.flow import Flow, called
from ..common.arguments import time_bound
from ..deadlines import deadline, deadline_left
from ..engine.acceptors import AcceptorState, MatchedAcceptor
from ..engine.machine import AttemptsUsedUp, Ending, Facts, Failed, RetryTransient, TimedOut
from ..engine.matching import Matching
from ..engine.model import WaitDescription, WaiterDefinition
from ..engine.redaction import cut, may_show, printable, without_secrets
from ..engine.reports import reported_text
from ..exceptions import WaiterError
from ..options import Seconds, WaitOptions, refuse_short_wait, retry_transient_of
from ..service.data_model import DataModel, plain
from ..service.errors import error_facts, told_by
from ..service.reports import StateReports
from ..settings import Observer
from ..wait.drivers import PreparedWait
from ..wait.facts import NO_REASON, Attempt, reason_in
from ..wait.wait_run import WaitRun
from ..wait.wording import reason_of
from .form_options import (
    CheckedOptions,
    ConditionOptions,
    Else,
    OnTimeout,
    checked_else,
    settings_of_forms,
)
from .patterns import TRUTHY, Case, Handler, checked_cases, in_words, name_of, success

if TYPE_CHECKING:
    from typing_extensions import Unpack


def calls_of(
    function: Callable[[], Any],
    options: WaitOptions,
    is_reply: IsReply,
    *,
    reply: Callable[[Any], Reply | Awaitable[Reply]] = Reply,
    twin: str | None,
) -> Calls:
    """Return how a callable is called.

    One that blocks runs in the calling thread and is not interrupted; with `call_in_thread` it runs
    in a thread that is abandoned at the deadline or when the cancel event is set. One that is
    awaited is cancelled then.

    Args:
        function: called without arguments.
        options: `call_in_thread` and `cancel_event` apply.
        is_reply: tells which exceptions are replies.
        reply: makes a reply of the value.
        twin: the function to recommend if the value has to be awaited; None: it is awaited.
    """
    if twin is not None:
        refuse_coroutine_function("the callable", function, twin)

    def checked_reply(value: Any) -> Reply | Awaitable[Reply]:
        if twin is not None:
            refuse_coroutine(value, twin)
        return reply(value)

    return Calls(
        awaited=twin is None,
        is_reply=is_reply,
        reply=checked_reply,
        cancel=options.cancel_event,
        in_thread=bool(options.call_in_thread),
        is_callable=True,
    )


def refuse_coroutine_function(what: str, function: object, twin: str) -> None:
    """Refuse a coroutine function where its result would not be awaited.

    Raises:
        TypeError: it is one.
    """
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"{what} is a coroutine function and must be awaited: use {twin}")


def refuse_coroutine(value: object, twin: str) -> None:
    """Refuse a coroutine where it would not be awaited.

    Raises:
        TypeError: it is one.
    """
    if inspect.iscoroutine(value):
        # Closed here, or Python would warn that it was never awaited.
        value.close()
        raise TypeError(f"the callable returned a coroutine, which must be awaited: use {twin}")


# --- judges of what a callable returned or raised: by a waiter definition, or by cases -----------


class ValueJudge:
    """Judges values and errors by the acceptors of a waiter definition.

    Args:
        definition: the waiter.
        input: the parameters that `inputOutput` matchers see.
        operation: the operation, if the callable is a method of a client.
    """

    def __init__(
        self,
        definition: WaiterDefinition,
        input: Mapping[str, Any] | None,
        operation: OperationModel | None = None,
    ) -> None:
        self._matching = Matching(definition.acceptors)
        self._operation = operation
        self._reports = StateReports(operation, definition.reports)
        self._model = None if operation is None else DataModel(operation, self._matching.paths)
        self._input = plain(input) if self._model is None else self._model.input(input or {})

    @staticmethod
    def is_reply(error: Exception) -> bool:
        """Return whether acceptors may match an error; others are for the caller to correct."""
        return not isinstance(error, RAW)

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this value or error."""
        if reply.error is not None:
            facts = error_facts(reply.error, self._operation)
            bases = {each.__name__ for each in type(reply.error).__mro__}
            facts = replace(facts, names=facts.names | bases)
            match = self._matching.match_error(facts.names, status=facts.status)
            return facts.attempt(reply.error, match.index, inconclusive=reply.ended is not None)
        value, model = reply.response, self._model
        document = plain(value) if model is None else model.output(value)
        match = self._matching.match_response(document, self._input)
        is_sensitive = model is not None and model.sensitive
        reported = self._reports.read(document if model is None else value)
        # Of a model, the path leads to a state; a callable may return anything.
        state = None if is_sensitive or model is None else match.state
        return Attempt(
            facts=Facts(acceptor=match.index),
            response=value,
            observed=None if is_sensitive else match.observed,
            state=reported_text(reported) or state,
            reported=reported,
            reason=NO_REASON if is_sensitive else reason_in(match.message),
            problems=match.problems,
        )


class Evaluation(NamedTuple):
    """A value, and the index of the case that it matched; None: it matched none."""

    value: Any
    case: int | None


@dataclass(slots=True, eq=False, repr=False)
class CasesJudge:
    """Judges values by cases, the first that matches; an error is a retry."""

    cases: Sequence[Case]
    """In order."""
    is_retried: Callable[[Exception], bool]
    """Tells of an error whether it is retried."""
    retry_transient: RetryTransient
    """Which transient errors are retried."""
    observed: Callable[[Any], Any] | None = None
    """Returns the part of a value that observers get."""
    last: Evaluation | None = field(init=False, default=None)
    """The last evaluation of a value."""

    @property
    def last_value(self) -> Any:
        """The last value that the callable returned; None if it returned none."""
        return None if self.last is None else self.last.value

    def is_reply(self, error: Exception) -> bool:
        """Return whether an error may be retried; others are raised."""
        if self.is_retried(error):
            return True
        return self.retry_transient is not False and error_facts(error).transient

    def evaluate(self, value: Any) -> Reply:
        """Match a value against the cases; an error of a predicate counts as the callable's."""
        try:
            matching = (i for i, case in enumerate(self.cases) if case.pattern.matches(value))
            evaluation = Evaluation(value, next(matching, None))
        except Exception as error:
            if not self.is_reply(error):
                raise
            return Reply(error=error)
        self.last = evaluation
        return Reply(evaluation)

    def handle_retry(self, reply: Reply) -> Any:
        """Call the handler of the `retry` case that the value matched; return what it returns."""
        if reply.error is not None or reply.response.case is None:
            return None
        case = self.cases[reply.response.case]
        if case.state is not AcceptorState.RETRY or case.handler is None:
            return None
        return case.handler(reply.response.value)

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this evaluation or error."""
        if reply.error is not None:
            # The acceptor of retried errors follows those of the cases.
            facts = error_facts(reply.error)
            attempt = facts.attempt(reply.error, None, inconclusive=reply.ended is not None)
            if self.is_retried(reply.error):
                attempt.facts = replace(attempt.facts, acceptor=len(self.cases))
                attempt.is_retried = True
            return attempt
        value, index = reply.response
        observed = value if self.observed is None else self.observed(value)
        return Attempt(
            facts=Facts(acceptor=index),
            response=value,
            observed=observed if may_show(observed) else None,
            state=_state_of(observed),
        )


def _state_of(value: Any) -> str:
    """Return a value in words that are safe to show."""
    size = f" of length {len(value)}" if isinstance(value, Sized) else ""
    return in_words(value) or f"a value of type {type(value).__name__}{size}"


def _text_of(error: Exception) -> str:
    """Return the class and the text of an exception, as far as they may be shown."""
    text = ""
    with contextlib.suppress(Exception):  # Its class may be the caller's.
        text = told_by(error)[:2000]  # It may be megabytes.
    name, text = printable(type(error).__name__), cut(without_secrets(text).rstrip(". "))
    return f"{name}: {text}" if text else name


async def _after(handled: Awaitable[Any], reply: Reply) -> Reply:
    await handled
    return reply


# --- the wait ------------------------------------------------------------------------------------


class Condition:
    """One wait of a general form.

    Args:
        form: the name of the form, which is the name of the wait in messages.
        call: returns the value.
        cases: matched against the value in order.
        max_wait: as the caller gave it; 0 is one attempt.
        on_timeout, else_: what the form does when time or attempts are used up.
        options: fields of `ConditionOptions`.
        name: the name of the callable in messages; default: its own.
        observed: returns the part of a value that observers get.
        place: the place of the wait in something larger, for messages.
        covers_end: the last attempt begins at the end of `max_wait`.
        besides: a `deadline` that does not bound the wait.
        observers: called with each event; default: those that `install` set.
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
        name: str | None = None,
        observed: Callable[[Any], Any] | None = None,
        place: str = "",
        covers_end: bool = False,
        besides: deadline | None = None,
        observers: Sequence[Observer] | None = None,
    ) -> None:
        if not callable(call):
            raise TypeError(f"{form} takes something to call, not {type(call).__name__}")
        self._call = call
        self._cases = tuple(cases)
        self._place = place
        self._on_timeout, self._else = checked_else(on_timeout, else_)
        self._ending: Ending | None = None
        checked = CheckedOptions.of(form, options)
        own: Any = {"name": form, "zero": True, "besides": besides}
        resolved = settings_of_forms().resolve(checked.common, max_wait, checked.policy, **own)
        self.options, policy, of_process = resolved
        self._judge = CasesJudge(
            self._cases,
            checked.is_retried,
            retry_transient=retry_transient_of(self.options),
            observed=observed,
        )
        name = name_of(call) if name is None else name
        is_once = max_wait is not None and time_bound("max_wait", max_wait) == 0
        limits, seconds = policy.limits, policy.limits.max_wait or 0
        if (covers_end or is_once) and seconds >= 0:
            # 0 is one attempt, of any length.
            limits = limits._replace(covers_end=True, patience=seconds or math.inf)
            if (left := deadline_left(besides)) is not None:
                asked, end = None if limits.ended_by else seconds, left.end
                limits = limits._replace(deadline=left.seconds, asked_wait=asked, ended_by=end)
            policy = policy._replace(limits=limits)
        self.wait_run = WaitRun(
            description_of(form, self._cases, name),
            policy,
            self._judge,
            label=checked.label or name,
            observers=of_process if observers is None else observers,
            on_attempt=self.options.on_attempt,
            wording=self._reason,
            is_raw=lambda _: True,
        )

    @property
    def last_value(self) -> Any:
        """The last value that the callable returned; None if it returned none."""
        return self._judge.last_value

    def prepared(self, twin: str | None) -> PreparedWait:
        """Return the wait, ready to start; `twin` is what awaits a callable, None: this does."""

        def reply(value: Any) -> Reply | Awaitable[Reply]:
            reply = self._judge.evaluate(value)
            handled = self._judge.handle_retry(reply)
            is_awaited = twin is None and inspect.isawaitable(handled)
            return _after(handled, reply) if is_awaited else reply

        calls = calls_of(self._call, self.options, self._judge.is_reply, reply=reply, twin=twin)
        wake = self.options.wake_signal
        return PreparedWait(wait_run=self.wait_run, send=self._call, calls=calls, wake=wake)

    def flow(self, twin: str | None) -> Flow[Any]:
        """Wait, and return the result of the form; `twin`: see `prepared`."""
        wait = self.prepared(twin)
        try:
            outcome = yield from wait.flow()
        except WaiterError as error:
            # Inside: an error of the handler has this one as its context.
            return (yield from self._result_after(error))
        return (yield from self._result(self._cases[outcome.acceptor.index].handler))

    def _result(self, handler: Handler | None, error: WaiterError | None = None) -> Flow[Any]:
        """Return the last value, or what a handler makes of it.

        After an error, an exception that the handler returns is raised from it.
        """
        if handler is None:
            return self.last_value
        result = yield called(partial(handler, self.last_value))
        if error is not None and isinstance(result, BaseException):
            raise result from error
        return result

    def _result_after(self, error: WaiterError) -> Flow[Any]:
        """Return the result of a wait that did not succeed, or raise its error."""
        result = None
        match self._ending:
            case None:  # the error of a wait inside the callable
                raise error
            case Failed(acceptor=int(index)):
                result = self._case_result(self._cases[index], error)
            case TimedOut() | AttemptsUsedUp():
                result = self._else_result(error)
        if result is None:
            error.last_value = self.last_value
            raise error
        return result

    def _else_result(self, error: WaiterError) -> Flow[Any] | None:
        last = self._judge.last
        match self._else:
            case None:
                return self._result(None) if self._on_timeout == "last" and last else None
            case tuple(cases):
                for case in cases:
                    if last is not None and case.pattern.matches(last.value):
                        return self._case_result(case, error)
                return None
            case handler:
                return self._result(handler, error)

    def _case_result(self, case: Case, error: WaiterError) -> Flow[Any] | None:
        if case.state is AcceptorState.SUCCESS:
            return self._result(case.handler)
        return None if case.handler is None else self._result(case.handler, error)

    def _reason(self, run: WaitRun, ending: Ending) -> tuple[str, str]:
        # Called for this wait only, never for one inside the callable.
        self._ending = ending
        reason = reason_of(run, ending)
        reason = f"{reason} It was {self._place}." if self._place else reason
        if run.retried is not None:
            reason = f"{reason} The last exception that was retried: {_text_of(run.retried)}."
        return reason, f"Waiter {run.description.waiter} {reason}"


def run(condition: Condition) -> Any:
    """Wait in the calling thread and return the result of the form."""
    return flow.run(condition.flow(f"{condition.wait_run.description.waiter}_async"))


async def run_async(condition: Condition) -> Any:
    """Wait as part of the calling task and return the result of the form."""
    return await flow.run_async(condition.flow(None))


def description_of(form: str, cases: Sequence[Case], operation: str) -> WaitDescription:
    """Return what a wait on a callable is for, as messages and observers name it."""
    texts = [*(case.text for case in cases), "retry when the error is retried"]
    goals = [case.pattern.text for case in cases if case.state is AcceptorState.SUCCESS]
    return WaitDescription(
        waiter=form,
        operation=operation,
        service=None,
        goal=" or ".join(goals),
        acceptors=tuple(MatchedAcceptor(i, text) for i, text in enumerate(texts)),
        states=(*(case.state for case in cases), AcceptorState.RETRY),
    )


# --- a condition among other waits ---------------------------------------------------------------


class ConditionWait(CallableWait):
    """A wait on any callable, to be run with others; checked when it is made.

    Example::

        which, outcome = bwp.wait_any([
            bwp.Wait(ecs, "ServicesStable", {"services": ["web"]}),
            ConditionWait(lambda: deployment.error(), label="the deployment"),
        ], max_wait=600)

    In `wait_all` and its relatives a callable runs in one of the threads of the run. One that is
    still running at the end of its wait is not interrupted: its thread is left behind. The twins
    for asyncio run a coroutine function in the event loop, and cancel it.

    Args:
        call: called without arguments at each attempt.
        pattern: what its value has to match, as for `wait_for_match`; default: any true value. Or
            a list of cases, as for `wait_for_case`, without handlers for success and failure.
        max_wait: seconds (or a `timedelta`) to wait at most, from the start of the run; 0: one
            attempt. May be left out where the run has a `max_wait`, or a `deadline` around it.
        options: fields of `ConditionOptions`.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Attributes:
        max_wait: seconds; None: not given.
        label: the caller's label, or the name of the callable.
        options: the options that every wait has, as they were given.
        is_async: whether the callable is a coroutine function.
        waiter: what messages and events call the waiter.
    """

    __slots__ = (
        "_call",
        "_cases",
        "_options",
        "is_async",
        "label",
        "max_wait",
        "options",
    )

    waiter = "condition"

    def __init__(
        self,
        call: Callable[[], Any],
        pattern: Any = TRUTHY,
        /,
        *,
        max_wait: Seconds | None = None,
        **options: Unpack[ConditionOptions],
    ) -> None:
        if not callable(call):
            raise TypeError(f"ConditionWait takes something to call, not {type(call).__name__}")
        self._call = call
        self._cases = _cases(pattern)
        self._options: Mapping[str, Any] = options
        self.max_wait = None if max_wait is None else time_bound("max_wait", max_wait)
        checked = CheckedOptions.of("ConditionWait", options)
        self.options = checked.common
        refuse_short_wait(self.options, self.max_wait, zero=True)
        self.label = checked.label or name_of(call)
        self.is_async = any(
            map(inspect.iscoroutinefunction, (call, getattr(call, "__call__", None)))  # noqa: B004 - which kind it is
        )

    @property
    def merged_options(self) -> WaitOptions:
        """`options`, completed by the defaults of `install` that hold now."""
        return self.options.merged_over(settings_of_forms().defaults)

    @property
    def description(self) -> WaitDescription:
        """What the wait is for, as messages and observers name it."""
        return description_of(self.waiter, self._cases, name_of(self._call))

    def prepared(
        self, max_wait: float | None, function: str, observers: Sequence[Observer], **replaced: Any
    ) -> PreparedWait:
        """Return the wait, ready to start; see `CallableWait`."""
        condition = Condition(
            self.waiter,
            self._call,
            self._cases,
            max_wait=max_wait,
            options={**self._options, **replaced},
            observers=observers,
        )
        twin = f"{function.removesuffix('_async')}_async with a coroutine function"
        return condition.prepared(None if self.is_async else twin)

    def __repr__(self) -> str:
        return f"ConditionWait({self.label}, max_wait={self.max_wait})"


def _cases(pattern: Any) -> tuple[Case, ...]:
    is_list = isinstance(pattern, Sequence) and not isinstance(pattern, str)
    if not (isinstance(pattern, Case) or (is_list and any(isinstance(c, Case) for c in pattern))):
        return (success(pattern),)
    cases = checked_cases("cases", pattern)
    for case in cases:
        if case.handler is not None and case.state is not AcceptorState.RETRY:
            raise TypeError(
                "ConditionWait: an outcome has the value itself; leave out the handlers of "
                "success() and failure()"
            )
    return cases
