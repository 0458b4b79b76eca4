"""The general forms: wait until a callable returns the right value.

Each returns a value, where `poll` returns an outcome.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, overload

from ..calls import flow
from ..calls.clients import operation_of
from ..calls.flow import Flow, called
from ..common.arguments import text
from ..common.signatures import shown_with
from ..common.wrong_arguments import WrongValueError, wrong_type
from ..definitions.smithy import parse_waiter
from ..engine.model import WaitDescription, WaiterDefinition
from ..engine.redaction import printable
from ..options import Seconds, only_options, policy_for
from ..outcome import WaiterOutcome
from ..service.bound_waiter import warn_if_deprecated
from ..settings import PROCESS_LEVEL
from ..wait.drivers import PreparedWait
from ..wait.wait_run import WaitRun
from .condition import (
    Condition,
    ValueJudge,
    calls_of,
    refuse_coroutine,
    refuse_coroutine_function,
    run,
    run_async,
)
from .form_options import BoundedOptions, ConditionOptions, Else, EndingOptions, OnTimeout
from .patterns import TRUTHY, Case, Pattern, checked_cases, name_of, success

if TYPE_CHECKING:
    from typing_extensions import Unpack


ValueT = TypeVar("ValueT")
MatchT = TypeVar("MatchT")


def _terms(
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> dict[str, Any]:
    """Return what every form takes, as a `Condition` takes it."""
    return {"max_wait": max_wait, "on_timeout": on_timeout, "else_": else_, "options": options}


@overload
def wait_for(call: Callable[[], ValueT | None], /, **options: Unpack[BoundedOptions]) -> ValueT: ...
@overload
def wait_for(call: Callable[[], Any], /, **options: Unpack[EndingOptions]) -> Any: ...
@shown_with(_terms)
def wait_for(call: Callable[[], Any], /, **options: Any) -> Any:
    """Call a function until it returns a true value, and return that value.

    The callable runs in the calling thread and is not interrupted: a value that it returns after
    `max_wait` is too late. An exception that it raises ends the wait, unless `retry_on` names it or
    it is a transient error of botocore (see `retry_transient`).

    Args:
        call: called without arguments.
        max_wait: seconds (or a `timedelta`) to wait at most; 0: one attempt, of any length. May be
            left out inside a `deadline`.
        on_timeout: `"raise"`, or `"last"` to return the last value.
        else_: called with the last value instead of raising; or cases to match it against.
        options: fields of `ConditionOptions`.

    Returns:
        The true value.

    Raises:
        TypeError, ValueError: a bad argument, before the first call.
        WaiterError: the wait did not succeed; `last_value` is the last value.
    """
    return run(truthy(call, **_terms(**options)))


@overload
async def wait_for_async(
    call: Callable[[], Awaitable[ValueT | None]], /, **options: Unpack[BoundedOptions]
) -> ValueT: ...
@overload
async def wait_for_async(
    call: Callable[[], ValueT | None], /, **options: Unpack[BoundedOptions]
) -> ValueT: ...
@overload
async def wait_for_async(call: Callable[[], Any], /, **options: Unpack[EndingOptions]) -> Any: ...
@shown_with(_terms)
async def wait_for_async(call: Callable[[], Any], /, **options: Any) -> Any:
    """Run `wait_for` as part of the calling task.

    Awaitables that the callable or a handler returns are awaited. A call that is still awaited at
    `max_wait`, or when `cancel_event` is set, is cancelled.
    """
    return await run_async(truthy(call, **_terms(**options)))


@overload
def wait_for_match(
    call: Callable[[], Any], pattern: type[MatchT], /, **options: Unpack[BoundedOptions]
) -> MatchT: ...
@overload
def wait_for_match(
    call: Callable[[], ValueT], pattern: Any, /, **options: Unpack[BoundedOptions]
) -> ValueT: ...
@overload
def wait_for_match(
    call: Callable[[], Any], pattern: Any, /, **options: Unpack[EndingOptions]
) -> Any: ...
@shown_with(_terms)
def wait_for_match(call: Callable[[], Any], pattern: Any, /, **options: Any) -> Any:
    """Call a function until the value that it returns matches a pattern, and return the value.

    Args:
        call: called without arguments.
        pattern: a predicate; a type; `like(...)`, a dataclass instance or a mapping whose parts
            are patterns; a list or tuple of patterns, for any sequence but text and bytes; `...`
            for anything; any other value for itself (True, False and None by identity).
        max_wait, on_timeout, else_, options: see `wait_for`.

    Returns:
        The value that matched.

    Raises:
        TypeError, ValueError: a bad argument, before the first call.
        WaiterError: the wait did not succeed; `last_value` is the last value.
    """
    return run(matching(call, pattern, **_terms(**options)))


@overload
async def wait_for_match_async(
    call: Callable[[], Any], pattern: type[MatchT], /, **options: Unpack[BoundedOptions]
) -> MatchT: ...
@overload
async def wait_for_match_async(
    call: Callable[[], Awaitable[ValueT]], pattern: Any, /, **options: Unpack[BoundedOptions]
) -> ValueT: ...
@overload
async def wait_for_match_async(
    call: Callable[[], Any], pattern: Any, /, **options: Unpack[EndingOptions]
) -> Any: ...
@shown_with(_terms)
async def wait_for_match_async(call: Callable[[], Any], pattern: Any, /, **options: Any) -> Any:
    """Run `wait_for_match` as part of the calling task; see `wait_for_async`."""
    return await run_async(matching(call, pattern, **_terms(**options)))


@shown_with(_terms)
def wait_for_case(
    call: Callable[[], Any], cases: Sequence[Case], /, **options: Unpack[EndingOptions]
) -> Any:
    """Call a function until its value matches a case that ends the wait.

    The first case that matches a value decides.

    After a value that matches no case the wait goes on.

    Args:
        call: called without arguments.
        cases: made by `success`, `failure` and `retry`.
        max_wait, on_timeout, options: see `wait_for`.
        else_: called with the last value instead of raising; or cases to match it against. If
            none of these matches, the error of the wait is raised.

    Returns:
        The result of the case's handler; without a handler, the value.

    Raises:
        TypeError, ValueError: a bad argument, before the first call.
        WaiterFailedError: a failure case without a handler matched.
        WaiterError: the wait did not succeed; `last_value` is the last value.
    """
    return run(by_case(call, cases, **_terms(**options)))


@shown_with(_terms)
async def wait_for_case_async(
    call: Callable[[], Any], cases: Sequence[Case], /, **options: Unpack[EndingOptions]
) -> Any:
    """Run `wait_for_case` as part of the calling task; see `wait_for_async`."""
    return await run_async(by_case(call, cases, **_terms(**options)))


_TRUE: Final = success(TRUTHY)


def truthy(call: Callable[[], Any], **terms: Any) -> Condition:
    """Return the wait of `wait_for`."""
    return Condition("wait_for", call, [_TRUE], **terms)


def matching(call: Callable[[], Any], pattern: Any, **terms: Any) -> Condition:
    """Return the wait of `wait_for_match`."""
    return Condition("wait_for_match", call, [success(pattern)], **terms)


def by_case(call: Callable[[], Any], cases: Sequence[Case], **terms: Any) -> Condition:
    """Return the wait of `wait_for_case`."""
    return Condition("wait_for_case", call, checked_cases("cases", cases), **terms)


# --- the general form that waits for the first of several conditions -----------------------------

Conditions = Sequence[Callable[[], Any]] | Mapping[Any, Callable[[], Any]]


class First(NamedTuple):
    """The first of several conditions that came true, and its value."""

    key: Any
    """Its key in the mapping, or its index in the sequence; None if none came true."""
    value: Any
    """Its value; if none came true, a mapping or list of the last value of each."""


@shown_with(_terms)
def wait_for_first(conditions: Conditions, /, **options: Unpack[EndingOptions]) -> Any:
    """Call several conditions until one is true, and return its key and value.

    An attempt calls them in order and stops at the first that is true.

    Args:
        conditions: callables without arguments, in a mapping or a sequence.
        max_wait, on_timeout, options: see `wait_for`.
        else_: see `wait_for`; the last value is a `First`.

    Returns:
        A `First`: the key (or index) of the condition, and its value.

    Raises:
        TypeError, ValueError: a bad argument, before the first call.
        WaiterError: the wait did not succeed; `last_value` is the last value.
    """
    return run(first_of(conditions, **_terms(**options)))


@shown_with(_terms)
async def wait_for_first_async(conditions: Conditions, /, **options: Unpack[EndingOptions]) -> Any:
    """Run `wait_for_first` as part of the calling task; conditions are awaited in order."""
    return await run_async(first_of(conditions, awaited=True, **_terms(**options)))


def first_of(conditions: Conditions, *, awaited: bool = False, **terms: Any) -> Condition:
    """Return the wait of `wait_for_first`, or of its awaited twin."""
    calls = _checked(conditions)
    for key, call in () if awaited else calls.items():
        refuse_coroutine_function(f"condition {key!r}", call, "wait_for_first_async")

    def evaluate() -> Flow[First]:
        values = {}
        for key, call in calls.items():
            value = yield called(call)
            if not awaited:
                refuse_coroutine(value, "wait_for_first_async")
            if value:
                return First(key, value)
            values[key] = value
        return First(None, values if has_keys else list(values.values()))

    has_keys = isinstance(conditions, Mapping)
    names = ", ".join(str(key) if has_keys else name_of(call) for key, call in calls.items())
    found = Pattern(lambda first: first.key is not None, f"any of {names}")
    return Condition(
        "wait_for_first",
        lambda: (flow.run_async if awaited else flow.run)(evaluate()),
        [success(found)],
        name=f"{len(calls)} condition{'' if len(calls) == 1 else 's'}",
        observed=_observed,
        **terms,
    )


def _observed(first: First) -> Any:
    if first.key is not None:
        return first.key
    return list(first.value.values() if isinstance(first.value, dict) else first.value)


def _checked(conditions: Any) -> dict[Any, Callable[[], Any]]:
    if isinstance(conditions, Mapping):
        calls = dict(conditions)
    elif isinstance(conditions, Sequence) and not isinstance(conditions, str):
        calls = dict(enumerate(conditions))
    else:
        raise wrong_type("conditions", conditions, "a mapping or a list of callables")
    if not calls:
        raise WrongValueError.of("conditions", conditions, " must not be empty")
    for key, call in calls.items():
        if key is None:
            raise ValueError("conditions: None is not a key: it means that no condition came true")
        if not callable(call):
            raise TypeError(f"condition {key!r} must be callable, not {type(call).__name__}")
    return calls


# --- any callable under a waiter definition ------------------------------------------------------


def poll(
    call: Callable[..., ValueT],
    waiter: WaiterDefinition | Mapping[str, Any],
    /,
    *,
    input: Mapping[str, Any] | None = None,
    max_wait: Any = None,
    label: str | None = None,
    **options: Any,
) -> WaiterOutcome[ValueT]:
    """Run a callable under a waiter definition until an acceptor ends the wait.

    An error that it raises is matched by the name of its class or of a base class, a `ClientError`
    by its code too. Acceptors see the response of a method of a client in the data model of its
    operation (section "JMESPath data model"), without `ResponseMetadata`.
    The callable runs in the calling thread and is not interrupted: a value that it returns after
    `max_wait` is too late. With `call_in_thread=True` it is abandoned at `max_wait`.

    Args:
        call: called as `call(**input)`, or as `call()` if it takes no parameters.
        waiter: a definition, or the value of one waiter of a `waitable` trait.
        input: parameters of the call; `inputOutput` matchers see them too.
        max_wait: seconds (or a `timedelta`) to wait at most.
        label: the name, in messages and events, of what is waited for; default: the callable's.
        options: fields of `WaitOptions`.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        TypeError, ValueError: a bad argument, before the first call.
        WaiterDefinitionError: the definition breaks a rule.
        WaiterError: the wait did not succeed (section "Waiter workflow").
    """
    refuse_coroutine_function("the callable", call, "poll_async")
    return _prepared(call, waiter, input, max_wait, label, options, "poll_async").run()


async def poll_async(
    call: Callable[..., Awaitable[ValueT]],
    waiter: WaiterDefinition | Mapping[str, Any],
    /,
    *,
    input: Mapping[str, Any] | None = None,
    max_wait: Any = None,
    label: str | None = None,
    **options: Any,
) -> WaiterOutcome[ValueT]:
    """Run `poll` as part of the calling task; cancelling the task ends the wait at once.

    The result of the callable is awaited if it is awaitable, and cancelled at `max_wait` or when
    `cancel_event` is set.
    """
    return await _prepared(call, waiter, input, max_wait, label, options).run_async()


def _prepared(
    call: Callable[..., Any],
    waiter: WaiterDefinition | Mapping[str, Any],
    input: Mapping[str, Any] | None,
    max_wait: Any,
    label: str | None,
    options: Mapping[str, Any],
    twin: str | None = None,
) -> PreparedWait:
    """Return a wait that is ready to start."""
    if not callable(call):
        raise wrong_type("call", call, "callable")
    if input is not None and not isinstance(input, Mapping):
        raise TypeError(f"input must be a mapping, not {type(input).__name__}")
    definition = _definition(call, waiter)
    warn_if_deprecated(definition)
    given = only_options("poll", options, "give parameters as input={...}")
    description = WaitDescription.of(definition)
    policy_of = partial(policy_for, definition)
    resolved = PROCESS_LEVEL.own.resolve(given, max_wait, policy_of, name="poll")
    merged, policy, observers = resolved.with_history(description)
    run = WaitRun(
        description,
        policy,
        ValueJudge(definition, input, operation_of(call)),
        label=name_of(call) if label is None else printable(text("label", label)),
        observers=observers,
        on_attempt=merged.on_attempt,
    )
    arguments: Mapping[str, Any] = {} if _takes_nothing(call) else input or {}
    send = partial(call, **arguments)
    calls = calls_of(send, merged, ValueJudge.is_reply, twin=twin)
    return PreparedWait(wait_run=run, send=send, calls=calls, wake=merged.wake_signal)


def _definition(call: Any, waiter: WaiterDefinition | Mapping[str, Any]) -> WaiterDefinition:
    if isinstance(waiter, WaiterDefinition):
        return waiter
    if not isinstance(waiter, Mapping):
        raise wrong_type("waiter", waiter, "a definition or a mapping")
    operation = getattr(call, "__name__", type(call).__name__)
    return parse_waiter("Poll", waiter, operation=operation, source="poll")


def _takes_nothing(call: Callable[..., Any]) -> bool:
    try:
        return not inspect.signature(call).parameters
    except (TypeError, ValueError):
        return False
