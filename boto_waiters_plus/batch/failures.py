"""The error of a batch, in words."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import ParamValidationError, StubResponseError

from ..exceptions import WaiterCancelledError, WaiterError, WaitersError
from ..outcome import WaiterOutcome
from ..service.parameters import wrong_parameters
from .callable_wait import CallableWait
from .wait import Wait

MOST_DESCRIBED: Final = 10
"""Failures whose reason is in the message of a `WaitersError`; the others are only named."""

MOST_NAMES: Final = 2000
"""Characters for the names of those; the attribute `errors` has them all."""

Result = WaiterOutcome[Any] | Exception


def waiters_error(
    name: str,
    waits: Sequence[Wait | CallableWait],
    results: Sequence[Result],
    max_wait: float | None,
) -> WaitersError:
    """Return the error of a batch in which waits did not succeed.

    Args:
        name: the function that was called.
        waits: all waits.
        results: how each of them ended.
        max_wait: the time bound of the whole batch.
    """
    errors = {i: result for i, result in enumerate(results) if isinstance(result, Exception)}
    known = [result for result in results if isinstance(result, (WaiterOutcome, WaiterError))]
    reason = _reason(waits, errors)
    error = WaitersError(
        name,
        reason,
        message=f"{name}: {reason}",
        errors=errors,
        outcomes=[None if isinstance(result, Exception) else result for result in results],
        attempts=sum(result.attempts for result in known),
        elapsed=max((result.elapsed for result in known), default=0),
        max_wait=max_wait,
    )
    error.__cause__ = _cause(len(waits), list(errors.values()))
    return error


def _reason(waits: Sequence[Wait | CallableWait], errors: Mapping[int, Exception]) -> str:
    """Return each failure in words; waits that were cancelled because of one are counted."""
    cancelled = sum(isinstance(error, WaiterCancelledError) for error in errors.values())
    named = dict(errors)
    if cancelled < len(errors):
        named = {i: e for i, e in errors.items() if not isinstance(e, WaiterCancelledError)}
    parts = [f"{len(errors)} of {len(waits)} waits did not succeed"]
    places = list(named)
    parts += [_described(i, waits[i], named[i]) for i in places[:MOST_DESCRIBED]]
    parts += _named(waits, {index: named[index] for index in places[MOST_DESCRIBED:]})
    if len(named) < len(errors):
        parts.append(f"{cancelled} {'was' if cancelled == 1 else 'were'} cancelled")
    return "\n  ".join(parts)


def _described(index: int, wait: Wait | CallableWait, error: Exception) -> str:
    # A test's own words; not the text of any other error, which may quote parameters.
    is_stubbed = isinstance(error, StubResponseError)
    hides = wait.merged_options.show_parameters is False
    if isinstance(error, WaiterError) or (is_stubbed and not hides):
        return f"[{index}] {error}"
    wrong = wrong_parameters(error) if isinstance(error, ParamValidationError) else ""
    text = f"[{index}] Waiter {wait.waiter} for {wait.label}: {type(error).__name__}"
    return f"{text}: {wrong}" if wrong else text


def _named(waits: Sequence[Wait | CallableWait], errors: Mapping[int, Exception]) -> list[str]:
    """Return the places of failures, grouped by waiter and error, up to a readable length."""
    places: dict[str, list[int]] = {}
    for index, error in errors.items():
        places.setdefault(f"{waits[index].waiter}: {type(error).__name__}", []).append(index)
    names, room, left = [], MOST_NAMES, len(errors)
    for kind, indexes in places.items():
        text = f"[{_ranges(indexes)}] {kind}"
        if len(text) > room:
            break
        names.append(text)
        room -= len(text)
        left -= len(indexes)
    return [*names, f"{left} more, see errors"] if left else names


def _ranges(indexes: Sequence[int]) -> str:
    """Return ascending numbers as ranges: 3, 5-9."""
    ranges: list[list[int]] = []
    for index in indexes:
        if ranges and index == ranges[-1][-1] + 1:
            ranges[-1][1:] = [index]
        else:
            ranges.append([index])
    return ", ".join("-".join(map(str, each)) for each in ranges)


def _cause(waits: int, errors: list[Exception]) -> BaseException:
    if sys.version_info >= (3, 11):
        return ExceptionGroup(  # noqa: F821 - see the line above
            f"{len(errors)} of {waits} waits", errors
        )
    return errors[0]
