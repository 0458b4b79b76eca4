"""The general forms: wait until a callable returns the right value.

Each returns a value, where `poll` returns an outcome. `wait_for_first` is in `first`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from ..options import Seconds
from .cases import Case, checked_cases, success
from .condition import Condition, run, run_async
from .form_options import BoundedOptions, ConditionOptions, Else, EndingOptions, OnTimeout
from .patterns import TRUTHY

if TYPE_CHECKING:
    from typing_extensions import Unpack

ValueT = TypeVar("ValueT")
MatchT = TypeVar("MatchT")


@overload
def wait_for(call: Callable[[], ValueT | None], /, **options: Unpack[BoundedOptions]) -> ValueT: ...
@overload
def wait_for(call: Callable[[], Any], /, **options: Unpack[EndingOptions]) -> Any: ...
def wait_for(
    call: Callable[[], Any],
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
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
    return run(truthy(call, **_terms(max_wait, on_timeout, else_, options)))


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
async def wait_for_async(
    call: Callable[[], Any],
    /,
    *,
    max_wait: Seconds | None = None,
    on_timeout: OnTimeout = "raise",
    else_: Else | None = None,
    **options: Unpack[ConditionOptions],
) -> Any:
    """Run `wait_for` as part of the calling task.

    Awaitables that the callable or a handler returns are awaited. A call that is still awaited at
    `max_wait`, or when `cancel_event` is set, is cancelled.
    """
    return await run_async(truthy(call, **_terms(max_wait, on_timeout, else_, options)))


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
    return run(matching(call, pattern, **_terms(max_wait, on_timeout, else_, options)))


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
    """Run `wait_for_match` as part of the calling task; see `wait_for_async`."""
    return await run_async(matching(call, pattern, **_terms(max_wait, on_timeout, else_, options)))


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
    return run(by_case(call, cases, **_terms(max_wait, on_timeout, else_, options)))


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
    """Run `wait_for_case` as part of the calling task; see `wait_for_async`."""
    return await run_async(by_case(call, cases, **_terms(max_wait, on_timeout, else_, options)))


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


def _terms(
    max_wait: Seconds | None,
    on_timeout: OnTimeout,
    else_: Else | None,
    options: ConditionOptions,
) -> dict[str, Any]:
    return {"max_wait": max_wait, "on_timeout": on_timeout, "else_": else_, "options": options}
