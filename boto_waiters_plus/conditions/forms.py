"""The general forms: wait for whatever a callable gives.

Each returns a value, where `poll` returns an outcome. Each takes `max_wait`, what happens when
it is used up (`on_timeout`, `else_`), and `ConditionOptions`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, overload

from ..options import Seconds
from .calling import refuse_coroutine, refuse_coroutine_function, value_of
from .cases import Case, checked_cases, success
from .condition import Condition, run, run_async
from .form_options import ConditionOptions, Else, OnTimeout
from .patterns import TRUTHY, Pattern, name_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

ValueT = TypeVar("ValueT")
MatchT = TypeVar("MatchT")

Conditions = Sequence[Callable[[], Any]] | Mapping[Any, Callable[[], Any]]


class First(NamedTuple):
    """Which of several conditions came true first, and its value."""

    key: Any
    """Its key in the mapping, or its index in the sequence; None if none came true."""
    value: Any
    """Its value; if none came true, a mapping or list of what each gave at the last look."""


# --- wait_for ----------------------------------------------------------------


@overload
def wait_for(
    call: Callable[[], ValueT | None],
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> ValueT: ...
@overload
def wait_for(
    call: Callable[[], Any],
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any: ...
def wait_for(
    call: Callable[[], Any],
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """Call until what comes back is true, and return that.

    It is called in the calling thread and not interrupted: a value that comes after `max_wait` is
    late. What it raises passes, unless `retry_on` names it.

    Args:
        call: takes nothing.
        max_wait: seconds (or a `timedelta`) to wait at most; a `deadline` around it will do.
        on_timeout: `"raise"`, or `"last"` to return the last value.
        else_: called with the last value instead of raising; or cases matched on it.
        options: fields of `ConditionOptions`.

    Returns:
        The true value.

    Raises:
        TypeError, ValueError: before the first call, a bad argument.
        WaiterError: the wait did not succeed; `last_value` is what the last look gave.
    """
    terms = _terms(max_wait, on_timeout, else_, options)
    return run(truthy(call, **terms), "wait_for_async")


@overload
async def wait_for_async(
    call: Callable[[], Awaitable[ValueT | None]],
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> ValueT: ...
@overload
async def wait_for_async(
    call: Callable[[], ValueT | None],
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> ValueT: ...
@overload
async def wait_for_async(
    call: Callable[[], Any],
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any: ...
async def wait_for_async(
    call: Callable[[], Any],
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """`wait_for` as part of the calling task.

    What the callable returns is awaited if it can be, and cancelled where it outlasts `max_wait`.
    What a handler returns is awaited too.
    """
    return await run_async(truthy(call, **_terms(max_wait, on_timeout, else_, options)))


# --- wait_for_match ----------------------------------------------------------


@overload
def wait_for_match(
    call: Callable[[], Any],
    pattern: type[MatchT],
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> MatchT: ...
@overload
def wait_for_match(
    call: Callable[[], ValueT],
    pattern: Any,
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> ValueT: ...
@overload
def wait_for_match(
    call: Callable[[], Any],
    pattern: Any,
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any: ...
def wait_for_match(
    call: Callable[[], Any],
    pattern: Any,
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """Call until what comes back matches a pattern, and return that.

    Args:
        call: takes nothing.
        pattern: a predicate; a type; `like(...)`, a dataclass instance or a mapping, whose parts
            are patterns; a list or tuple of patterns; `...` for anything; any other value for
            itself.
        max_wait, on_timeout, else_, options: see `wait_for`.

    Returns:
        The value that matched.

    Raises:
        TypeError, ValueError: before the first call, a bad argument.
        WaiterError: the wait did not succeed; `last_value` is what the last look gave.
    """
    terms = _terms(max_wait, on_timeout, else_, options)
    return run(matching(call, pattern, **terms), "wait_for_match_async")


@overload
async def wait_for_match_async(
    call: Callable[[], Any],
    pattern: type[MatchT],
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> MatchT: ...
@overload
async def wait_for_match_async(
    call: Callable[[], Awaitable[ValueT]],
    pattern: Any,
    /,
    *,
    max_wait: Seconds | None = None,
    **options: Unpack[ConditionOptions],
) -> ValueT: ...
@overload
async def wait_for_match_async(
    call: Callable[[], Any],
    pattern: Any,
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any: ...
async def wait_for_match_async(
    call: Callable[[], Any],
    pattern: Any,
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """`wait_for_match` as part of the calling task; see `wait_for_async`."""
    return await run_async(matching(call, pattern, **_terms(max_wait, on_timeout, else_, options)))


# --- wait_for_case -----------------------------------------------------------


def wait_for_case(
    call: Callable[[], Any],
    cases: Sequence[Case],
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """Call until one of several cases ends the wait; the first that matches decides.

    A value that none matches is waited through.

    Args:
        call: takes nothing.
        cases: made by `success`, `failure` and `retry`.
        max_wait, on_timeout, options: see `wait_for`.
        else_: called with the last value instead of raising; or cases matched on it, of which
            none may match: then `WaiterTimeoutError` is raised after all.

    Returns:
        What the handler of the case returns; without one, the value.

    Raises:
        TypeError, ValueError: before the first call, a bad argument.
        WaiterFailedError: a failure case without a handler matched.
        WaiterError: the wait did not succeed; `last_value` is what the last look gave.
    """
    terms = _terms(max_wait, on_timeout, else_, options)
    return run(by_case(call, cases, **terms), "wait_for_case_async")


async def wait_for_case_async(
    call: Callable[[], Any],
    cases: Sequence[Case],
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """`wait_for_case` as part of the calling task; see `wait_for_async`."""
    return await run_async(by_case(call, cases, **_terms(max_wait, on_timeout, else_, options)))


# --- wait_for_first ----------------------------------------------------------


def wait_for_first(
    conditions: Conditions,
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """Call several conditions in turn until one is true, and tell which: `key, value = ...`.

    A look calls them in order and stops at the first that is true.

    Args:
        conditions: callables that take nothing, in a mapping or a sequence.
        max_wait, on_timeout, options: see `wait_for`.
        else_: see `wait_for`; the last value is that of `First`.

    Returns:
        A `First`: the key (or index) of the condition, and its value.

    Raises:
        TypeError, ValueError: before the first call, a bad argument.
        WaiterError: the wait did not succeed; `last_value` is what the last look gave.
    """
    terms = _terms(max_wait, on_timeout, else_, options)
    return run(first_of(conditions, **terms), "wait_for_first_async")


async def wait_for_first_async(
    conditions: Conditions,
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """`wait_for_first` as part of the calling task: one is awaited after the other."""
    terms = _terms(max_wait, on_timeout, else_, options)
    return await run_async(first_of_async(conditions, **terms))


# --- the wait behind each form -----------------------------------------------

_TRUE: Final = success(TRUTHY)


def truthy(call: Callable[[], Any], **terms: Any) -> Condition:
    """The wait of `wait_for`."""
    return Condition("wait_for", call, [_TRUE], **terms)


def matching(call: Callable[[], Any], pattern: Any, **terms: Any) -> Condition:
    """The wait of `wait_for_match`."""
    return Condition("wait_for_match", call, [success(pattern)], **terms)


def by_case(call: Callable[[], Any], cases: Sequence[Case], **terms: Any) -> Condition:
    """The wait of `wait_for_case`."""
    return Condition("wait_for_case", call, checked_cases("cases", cases), **terms)


def first_of(conditions: Conditions, **terms: Any) -> Condition:
    """The wait of `wait_for_first`."""
    calls = _checked(conditions)
    for key, call in calls.items():
        refuse_coroutine_function(f"condition {key!r}", call, "wait_for_first_async")

    def look() -> First:
        values = {}
        for key, call in calls.items():
            value = call()
            refuse_coroutine(value, "wait_for_first_async")
            if value:
                return First(key, value)
            values[key] = value
        return _none_of(conditions, values)

    return _first(look, conditions, calls, terms)


def first_of_async(conditions: Conditions, **terms: Any) -> Condition:
    """The wait of `wait_for_first_async`."""
    calls = _checked(conditions)

    async def look() -> First:
        values = {}
        for key, call in calls.items():
            value = await value_of(call)
            if value:
                return First(key, value)
            values[key] = value
        return _none_of(conditions, values)

    return _first(look, conditions, calls, terms)


def _first(
    look: Callable[[], Any],
    conditions: Conditions,
    calls: Mapping[Any, Callable[[], Any]],
    terms: Mapping[str, Any],
) -> Condition:
    named = isinstance(conditions, Mapping)
    names = ", ".join(str(key) if named else name_of(call) for key, call in calls.items())
    found = Pattern(lambda first: first.key is not None, f"any of {names}")
    return Condition(
        "wait_for_first",
        look,
        [success(found)],
        description=f"{len(calls)} conditions",
        observed=_observed,
        **terms,
    )


def _observed(first: First) -> Any:
    if first.key is not None:
        return first.key
    return list(first.value.values() if isinstance(first.value, dict) else first.value)


def _none_of(conditions: Conditions, values: dict[Any, Any]) -> First:
    return First(None, values if isinstance(conditions, Mapping) else list(values.values()))


def _checked(conditions: Any) -> dict[Any, Callable[[], Any]]:
    if isinstance(conditions, Mapping):
        calls = dict(conditions)
    elif isinstance(conditions, Sequence) and not isinstance(conditions, str):
        calls = dict(enumerate(conditions))
    else:
        raise TypeError(
            f"conditions must be a mapping or a list of callables, not {type(conditions).__name__}"
        )
    if not calls:
        raise ValueError("conditions must not be empty")
    for key, call in calls.items():
        if key is None:
            raise ValueError("conditions: None as a key would say that none came true")
        if not callable(call):
            raise TypeError(f"condition {key!r} must be callable, not {type(call).__name__}")
    return calls


def _terms(
    max_wait: Seconds | None,
    on_timeout: OnTimeout,
    else_: Else | None,
    options: ConditionOptions,
) -> dict[str, Any]:
    return {"max_wait": max_wait, "on_timeout": on_timeout, "else_": else_, "options": options}
