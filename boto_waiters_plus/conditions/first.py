"""The general form that waits for the first of several conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..options import Seconds
from .calls import refuse_coroutine, refuse_coroutine_function, value_of
from .cases import success
from .condition import Condition, run, run_async
from .form_options import ConditionOptions, Else, OnTimeout
from .patterns import Pattern, name_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Conditions = Sequence[Callable[[], Any]] | Mapping[Any, Callable[[], Any]]


class First(NamedTuple):
    """The first of several conditions that came true, and its value."""

    key: Any
    """Its key in the mapping, or its index in the sequence; None if none came true."""
    value: Any
    """Its value; if none came true, a mapping or list of the last value of each."""


def wait_for_first(
    conditions: Conditions,
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
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
    condition = first_of(
        conditions, max_wait=max_wait, on_timeout=on_timeout, else_=else_, options=options
    )
    return run(condition)


async def wait_for_first_async(
    conditions: Conditions,
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """Run `wait_for_first` as part of the calling task; conditions are awaited in order."""
    condition = first_of_async(
        conditions, max_wait=max_wait, on_timeout=on_timeout, else_=else_, options=options
    )
    return await run_async(condition)


def first_of(conditions: Conditions, **terms: Any) -> Condition:
    """Return the wait of `wait_for_first`."""
    calls = _checked(conditions)
    for key, call in calls.items():
        refuse_coroutine_function(f"condition {key!r}", call, "wait_for_first_async")

    def evaluate() -> First:
        values = {}
        for key, call in calls.items():
            value = call()
            refuse_coroutine(value, "wait_for_first_async")
            if value:
                return First(key, value)
            values[key] = value
        return _none_true(conditions, values)

    return _condition(evaluate, conditions, calls, terms)


def first_of_async(conditions: Conditions, **terms: Any) -> Condition:
    """Return the wait of `wait_for_first_async`."""
    calls = _checked(conditions)

    async def evaluate() -> First:
        values = {}
        for key, call in calls.items():
            value = await value_of(call)
            if value:
                return First(key, value)
            values[key] = value
        return _none_true(conditions, values)

    return _condition(evaluate, conditions, calls, terms)


def _condition(
    evaluate: Callable[[], Any],
    conditions: Conditions,
    calls: Mapping[Any, Callable[[], Any]],
    terms: Mapping[str, Any],
) -> Condition:
    has_keys = isinstance(conditions, Mapping)
    names = ", ".join(str(key) if has_keys else name_of(call) for key, call in calls.items())
    found = Pattern(lambda first: first.key is not None, f"any of {names}")
    return Condition(
        "wait_for_first",
        evaluate,
        [success(found)],
        name=f"{len(calls)} condition{'' if len(calls) == 1 else 's'}",
        observed=_observed,
        **terms,
    )


def _observed(first: First) -> Any:
    if first.key is not None:
        return first.key
    return list(first.value.values() if isinstance(first.value, dict) else first.value)


def _none_true(conditions: Conditions, values: dict[Any, Any]) -> First:
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
            raise ValueError("conditions: None is not a key: it means that no condition came true")
        if not callable(call):
            raise TypeError(f"condition {key!r} must be callable, not {type(call).__name__}")
    return calls
