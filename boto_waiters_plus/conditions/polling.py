"""Any callable under a waiter definition."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from ..aws.awaited_call import awaited_call
from ..aws.call_budget import CallEnded
from ..aws.errors import RAW, error_facts
from ..aws.port import ended_attempt, message_of
from ..deadlines import budget_of
from ..definitions.smithy import parse_waiter
from ..engine.machine import Facts
from ..engine.matching import Matching
from ..engine.model import WaiterDefinition
from ..options import WaitOptions, policy_for, split_options
from ..outcome import WaiterOutcome
from ..runtime.aio import drive_async
from ..runtime.attempt import Attempt
from ..runtime.sync import drive
from ..runtime.wait_run import WaitDescription, WaitRun
from .calling import called, refuse_coroutine, refuse_coroutine_function, value_of

ResultT = TypeVar("ResultT")


def poll(
    call: Callable[..., ResultT],
    waiter: WaiterDefinition | Mapping[str, Any],
    /,
    *,
    input: Mapping[str, Any] | None = None,
    max_wait: Any = None,
    **options: Any,
) -> WaiterOutcome[ResultT]:
    """Run a callable under a waiter definition until an acceptor ends the wait.

    An error that it raises is matched by the name of its class; a `ClientError` by its code too.
    It runs in the calling thread and is not interrupted: one that returns after `max_wait` is
    counted as late. With `call_in_thread=True` it is given up then.

    Args:
        call: called as `call(**input)`, or as `call()` where it takes no parameters.
        waiter: a definition, or the value of one waiter of a `waitable` trait.
        input: parameters of the call, which `inputOutput` matchers see too.
        max_wait: seconds (or a `timedelta`) to wait at most.
        options: fields of `WaitOptions`.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        TypeError, ValueError: before the first call, a bad argument.
        WaiterDefinitionError: the definition breaks a rule.
        WaiterError: the wait did not succeed (section "Waiter workflow").
    """
    refuse_coroutine_function("the callable", call, "poll_async")
    polled = _Polled(call, waiter, input, max_wait, options)
    return drive(
        polled.wait_run,
        _CallablePort(polled),
        cancel=polled.options.cancel_event,
        wake=polled.options.wake_signal,
    )


async def poll_async(
    call: Callable[..., Awaitable[ResultT]],
    waiter: WaiterDefinition | Mapping[str, Any],
    /,
    *,
    input: Mapping[str, Any] | None = None,
    max_wait: Any = None,
    **options: Any,
) -> WaiterOutcome[ResultT]:
    """`poll` as part of the calling task; cancelling that ends the wait at once.

    What the callable returns is awaited, and cancelled where it outlasts `max_wait`.
    """
    polled = _Polled(call, waiter, input, max_wait, options)
    return await drive_async(
        polled.wait_run,
        _AsyncCallablePort(polled),
        cancel=polled.options.cancel_event,
        wake=polled.options.wake_signal,
    )


class _Polled:
    """A callable, its definition, and the course of the wait on it."""

    def __init__(
        self,
        call: Callable[..., Any],
        waiter: WaiterDefinition | Mapping[str, Any],
        input: Mapping[str, Any] | None,
        max_wait: Any,
        options: Mapping[str, Any],
    ) -> None:
        if not callable(call):
            raise TypeError(f"call must be callable, not {type(call).__name__}")
        if input is not None and not isinstance(input, Mapping):
            raise TypeError(f"input must be a mapping, not {type(input).__name__}")
        definition = _definition(call, waiter)
        self.options = _only_options(options)
        self.wait_run = WaitRun(
            WaitDescription.of(definition),
            policy_for(definition, self.options, budget_of("poll", max_wait)),
        )
        if self.options.on_attempt is not None:
            self.wait_run.observe_attempts(self.options.on_attempt)
        self._call = call
        self._input = input
        self._arguments: Mapping[str, Any] = {} if _takes_nothing(call) else input or {}
        self._matching = Matching(definition.acceptors)

    def call(self) -> Any:
        return self._call(**self._arguments)

    def returned(self, value: Any) -> Attempt:
        match = self._matching.match_response(value, self._input)
        return Attempt(
            facts=Facts(acceptor=match.index),
            response=value,
            observed=match.observed,
            service_message=message_of(match.message),
            last_response=value if isinstance(value, Mapping) else {},
            problems=match.problems,
        )

    def raised(self, error: Exception) -> Attempt:
        facts = error_facts(error)
        match = self._matching.match_error(facts.names, status=facts.status)
        return Attempt(
            facts=Facts(
                acceptor=match.index,
                retryable=facts.retryable,
                throttled=facts.throttled,
                missing=facts.missing,
            ),
            exception=error,
            error=facts.text,
            error_code=facts.code,
            service_message=facts.message,
            last_response=facts.response,
        )


class _CallablePort:
    def __init__(self, polled: _Polled) -> None:
        self._polled = polled

    def poll(self, time_left: float | None) -> Attempt:
        try:
            value = called(self._polled.call, self._polled.options, time_left)
        except CallEnded as ended:
            return ended_attempt(ended, self._polled.raised)
        except RAW:
            raise
        except Exception as error:
            return self._polled.raised(error)
        refuse_coroutine(value, "poll_async")
        return self._polled.returned(value)


class _AsyncCallablePort:
    def __init__(self, polled: _Polled) -> None:
        self._polled = polled

    async def poll(self, time_left: float | None) -> Attempt:
        try:
            return await awaited_call(self._attempt, client=None, seconds=time_left)
        except CallEnded as ended:
            return ended_attempt(ended, self._polled.raised)

    async def _attempt(self) -> Attempt:
        try:
            value = await value_of(self._polled.call)
        except RAW:
            raise
        except Exception as error:
            return self._polled.raised(error)
        return self._polled.returned(value)


def _definition(call: Any, waiter: WaiterDefinition | Mapping[str, Any]) -> WaiterDefinition:
    if isinstance(waiter, WaiterDefinition):
        return waiter
    if not isinstance(waiter, Mapping):
        raise TypeError(f"waiter must be a definition or a mapping, not {type(waiter).__name__}")
    operation = getattr(call, "__name__", type(call).__name__)
    return parse_waiter("Poll", waiter, operation=operation, source="poll")


def _only_options(options: Mapping[str, Any]) -> WaitOptions:
    found, others = split_options(options)
    if others:
        raise TypeError(f"unexpected {', '.join(sorted(others))}: give parameters as input={{...}}")
    return found


def _takes_nothing(call: Callable[..., Any]) -> bool:
    try:
        return not inspect.signature(call).parameters
    except (TypeError, ValueError):
        return False
