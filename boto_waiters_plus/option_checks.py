"""The names of a wait's options, and the check of each where it is given.

They are kept apart from the options themselves, because the first lookup of a method needs only
the names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from .common.arguments import (
    callback,
    count,
    flag,
    seconds,
    seconds_or_zero,
    text,
    unknown,
    with_methods,
)
from .common.wrong_arguments import (
    Keyword,
    WrongTypeError,
    WrongValueError,
    wrong_type,
    wrong_value,
)

if TYPE_CHECKING:
    from .engine.machine import RetryTransient


def _delay_pace(name: str, value: Any) -> Any:
    if callable(value) and not isinstance(value, type):
        return value
    if not isinstance(value, str):
        raise WrongTypeError.of(name, value, ' must be "fixed" or a function of the attempt number')
    if value != "fixed":
        raise WrongValueError.of(name, value, f": {unknown(value, ('fixed',), 'pace')}")
    return value


def _last_attempt(name: str, value: Any) -> str:
    # The lookup of a method needs the names of the options, and no machine.
    from .engine.machine import LastAttempt  # noqa: PLC0415

    return _one_of(name, value, [rule.value for rule in LastAttempt])


def _converted_delays(name: str, value: Any) -> str:
    return _one_of(name, value, ["short", "aws"])


def _one_of(name: str, value: Any, known: list[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise _no_text_of(name, value, f"one of {', '.join(known)}")
    return str(value)


def _no_text_of(name: str, value: Any, expected: str) -> Exception:
    wrong = wrong_value if isinstance(value, str) else wrong_type
    return wrong(name, value, expected)


def _retry_transient(name: str, value: Any) -> RetryTransient:
    if value == "answered":
        return "answered"
    if isinstance(value, bool):
        return value
    raise _no_text_of(name, value, 'True, False or "answered"')


def _wake_signal(name: str, value: Any) -> Any:
    if hasattr(value, "subscribe"):
        return value
    return with_methods(name, value, "is_set", "wait", "clear")


def _delay_history(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        if value:
            from .history import default_path  # noqa: PLC0415 - only where it is asked for

            default_path()
        return value
    if isinstance(value, type) or not (hasattr(value, "times") and hasattr(value, "add")):
        raise wrong_type(name, value, "True, False or a History")
    return value


def _retry_errors_for(name: str, value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise wrong_type(name, value, 'a mapping such as {"AccessDenied": 60}')
    return {
        text(Keyword(f"an error code in {name}", name), code): seconds_or_zero(
            Keyword(f"{name}[{code!r}]", name), time
        )
        for code, time in value.items()
    }


def _cancel_event(name: str, value: Any) -> Any:
    return with_methods(name, value, "is_set", "wait")


CHECKS: Final[dict[str, Callable[[str, Any], Any]]] = {
    "min_delay": seconds,
    "max_delay": seconds,
    "converted_delays": _converted_delays,
    "max_attempts": count,
    "delay_pace": _delay_pace,
    "last_attempt": _last_attempt,
    "initial_delay": seconds_or_zero,
    "success_count": count,
    "success_for": seconds_or_zero,
    "missing_ok_for": seconds_or_zero,
    "retry_errors_for": _retry_errors_for,
    "settle_for": seconds_or_zero,
    "retry_transient": _retry_transient,
    "wake_signal": _wake_signal,
    "cancel_event": _cancel_event,
    "on_attempt": callback,
    "call_in_thread": flag,
    "explain_failure": flag,
    "delay_history": _delay_history,
    "delay_kind": text,
    "show_parameters": flag,
}

OPTION_NAMES: Final = tuple(CHECKS)
