"""The names of a wait's options, and the check of each where it is given.

They are kept apart from the options themselves, because the first lookup of a method needs only
the names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from .arguments import callback, count, flag, seconds, seconds_or_zero, unknown, with_methods

if TYPE_CHECKING:
    from .engine.machine import RetryTransient


def _delay_pace(name: str, value: Any) -> Any:
    if callable(value) and not isinstance(value, type):
        return value
    if not isinstance(value, str):
        raise TypeError(f'{name} must be "fixed" or a function of the attempt number')
    if value in _REMOVED_PACES:
        raise ValueError(f"{name}: {value!r} was removed; {_REMOVED_PACES[value]}")
    if value != "fixed":
        raise ValueError(f"{name}: {unknown(value, ('fixed',), 'pace')}")
    return value


_REMOVED_PACES: Final = {
    "spec": "leave delay_pace out for the specification's algorithm, the default",
    "eager": "leave delay_pace out, and give max_delay=D and min_delay=D/4 where a definition "
    "has longer delays",
}
"""What to write instead, by the former value of `delay_pace`."""


def _last_attempt(name: str, value: Any) -> str:
    # The lookup of a method needs the names of the options, and no machine.
    from .engine.machine import LastAttempt  # noqa: PLC0415

    known = [rule.value for rule in LastAttempt]
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {', '.join(known)}, not {type(value).__name__}")
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return str(value)


def _retry_transient(name: str, value: Any) -> RetryTransient:
    if value == "answered":
        return "answered"
    if isinstance(value, bool):
        return value
    is_text = isinstance(value, str)
    given = repr(value) if is_text else type(value).__name__
    kind = ValueError if is_text else TypeError
    raise kind(f'{name} must be True, False or "answered", not {given}')


def _wake_signal(name: str, value: Any) -> Any:
    if hasattr(value, "subscribe"):
        return value
    return with_methods(name, value, "is_set", "wait", "clear")


def _cancel_event(name: str, value: Any) -> Any:
    return with_methods(name, value, "is_set", "wait")


CHECKS: Final[dict[str, Callable[[str, Any], Any]]] = {
    "min_delay": seconds,
    "max_delay": seconds,
    "max_attempts": count,
    "delay_pace": _delay_pace,
    "last_attempt": _last_attempt,
    "initial_delay": seconds_or_zero,
    "success_count": count,
    "success_for": seconds_or_zero,
    "missing_ok_for": seconds_or_zero,
    "retry_transient": _retry_transient,
    "wake_signal": _wake_signal,
    "cancel_event": _cancel_event,
    "on_attempt": callback,
    "call_in_thread": flag,
    "show_parameters": flag,
}

OPTION_NAMES: Final = tuple(CHECKS)
