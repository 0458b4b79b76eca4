"""Every option of a wait, checked where it is given, and the policy that options make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, Final, Literal, Protocol, runtime_checkable

from .arguments import (
    callback,
    check_order,
    count,
    flag,
    refuse_wrong_names,
    seconds,
    seconds_or_zero,
    unknown,
    with_methods,
)
from .engine.machine import LastAttempt, Policy
from .engine.model import DEFAULT_MAX_DELAY, WaiterDefinition
from .engine.wait_event import WaitEvent

Seconds = float | timedelta


class CancelEvent(Protocol):
    """An event that cancels a wait: `threading.Event`, or anything with these two methods."""

    def is_set(self) -> bool:
        """Whether the wait is to be cancelled."""
        ...

    def wait(self, timeout: float | None = None, /) -> bool:
        """Block until it is set, at most `timeout` seconds; return whether it is set."""
        ...


class WakeSignal(Protocol):
    """An event that ends a delay early: `threading.Event`, or anything with these methods."""

    def is_set(self) -> bool:
        """Whether something has happened since `clear`."""
        ...

    def wait(self, timeout: float | None = None, /) -> bool:
        """Block until it is set, at most `timeout` seconds; return whether it is set."""
        ...

    def clear(self) -> None:
        """Reset it: the wait is about to poll."""
        ...


@runtime_checkable
class Subscribable(Protocol):
    """A signal that several waits may share: each has a subscription (`signals.Signal`).

    A subscription with a method `unsubscribe` is ended by it when its wait is over.
    """

    def subscribe(self) -> WakeSignal:
        """Return a subscription for one wait, from now on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions:
    """The options of a wait; None means not given.

    An option of a call wins over `enable(client)`, that over the session's, `install`'s, the
    definition's and the built-in value, in this order. Delays are seconds or a `timedelta`.

    Attributes:
        min_delay: the least delay between two attempts; default: the definition's `minDelay`.
        max_delay: the largest delay between two attempts; default: the definition's `maxDelay`.
        max_attempts: the number of attempts after which the wait ends with
            `WaiterAttemptsError`; default: no bound.
        delay_pace: `"fixed"` for `min_delay` each time, or a function that is given the attempt
            number and returns seconds; default: the specification's jittered backoff.
        last_attempt: when the last attempt is made: `"late"`, as late as an answer in time
            allows (the default), `"spec"`, a `min_delay` before the end, or `"deadline"`, at the
            end.
        initial_delay: seconds before the first attempt; they count towards `max_wait`.
        success_count: the number of successes on consecutive attempts, `min_delay` apart, that
            end the wait; default: 1.
        missing_ok_for: seconds from the first attempt in which a not-found error is a retry.
        retry_transient: True retries transient and throttling errors that are left after the
            SDK's own retries; default: they end the wait.
        wake_signal: a `Signal`, an `SqsSignal` or an event (which is cleared) that ends a delay
            early.
        cancel_event: an event that ends the wait with `WaiterCancelledError`.
        on_attempt: called with a `WaitEvent` after each attempt; an exception that it raises is
            reported once and ends no wait.
        call_in_thread: True makes each call in a daemon thread that is abandoned at the deadline.
            It bounds what cannot be interrupted (event handlers and callables of the caller, the
            refresh of credentials), and may leave that thread behind until the call is over.
            Awaited calls need none.
        show_parameters: False leaves the parameters of the operation out of labels, and so out of
            every message, event, log line and repr; default: the label has those that identify
            the resource.

    Raises:
        TypeError: a value is of the wrong kind.
        ValueError: a value is out of range, or `min_delay` is more than `max_delay`.
    """

    min_delay: Seconds | None = None
    max_delay: Seconds | None = None
    max_attempts: int | None = None
    delay_pace: Literal["fixed"] | Callable[[int], float] | None = None
    last_attempt: Literal["late", "spec", "deadline"] | None = None
    initial_delay: Seconds | None = None
    success_count: int | None = None
    missing_ok_for: Seconds | None = None
    retry_transient: bool | None = None
    wake_signal: WakeSignal | Subscribable | None = None
    cancel_event: CancelEvent | None = None
    on_attempt: Callable[[WaitEvent], object] | None = None
    call_in_thread: bool | None = None
    show_parameters: bool | None = None

    def __post_init__(self) -> None:
        for name in OPTION_NAMES:
            value = getattr(self, name)
            if value is not None:
                # Frozen for all but the constructor, which turns values into plain numbers.
                object.__setattr__(self, name, _CHECKS[name](name, value))
        if self.min_delay is not None and self.max_delay is not None:
            check_order(self.min_delay, self.max_delay)

    def merged_over(self, lower: WaitOptions | None) -> WaitOptions:
        """Return these options, completed by those of lower precedence (None: there are none)."""
        if lower is None:
            return self
        if self is NO_OPTIONS:
            return lower
        merged = object.__new__(WaitOptions)
        for name in OPTION_NAMES:
            value = getattr(self, name)
            # Both were checked when they were given.
            object.__setattr__(merged, name, getattr(lower, name) if value is None else value)
        return merged


OPTION_NAMES: Final[tuple[str, ...]] = tuple(field.name for field in fields(WaitOptions))
_NAMES: Final = frozenset(OPTION_NAMES)


OTHER_NAMES: Final = {
    "Delay": "min_delay and max_delay (seconds)",
    "MaxAttempts": "max_attempts",
    "MaxWait": "max_wait (seconds)",
    "WaiterConfig": "max_wait (seconds)",
    "timeout": "max_wait (seconds)",
}
"""Our options by the names that they have in other waiters."""

MAX_WAIT_NAMES: Final = {name: text for name, text in OTHER_NAMES.items() if "max_wait" in text}
"""Those of `max_wait`, for functions that take no other option."""


def refuse_other_names(wait: str, names: Iterable[str]) -> None:
    """Refuse options under the names that they have in other waiters.

    Raises:
        TypeError: one of them is given; the message has the right name.
    """
    refuse_wrong_names(wait, names, OTHER_NAMES)


def as_options(value: WaitOptions | Mapping[str, Any], name: str) -> WaitOptions:
    """Return options given as `WaitOptions` or as a mapping of its fields.

    Raises:
        TypeError: neither of these, or a mapping with an unknown field.
    """
    if isinstance(value, WaitOptions):
        return value
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be WaitOptions or a mapping, not {type(value).__name__}")
    refuse_other_names(name, value)
    for key in value:
        if key not in _NAMES:
            raise TypeError(f"{name}: {unknown(key, OPTION_NAMES, 'option')}")
    return WaitOptions(**value)


def split_options(keywords: Mapping[str, Any]) -> tuple[WaitOptions, Mapping[str, Any]]:
    """Return the options and the operation's parameters among keywords.

    Every option has an underscore in its name and no member of an AWS operation has one, so that a
    misspelt option is caught here instead of being sent.

    Raises:
        TypeError: a keyword with an underscore that is not an option, with the nearest that is.
    """
    with_underscore = [name for name in keywords if "_" in name]
    if not with_underscore:
        return NO_OPTIONS, keywords
    for name in with_underscore:
        if name not in _NAMES:
            raise TypeError(unknown(name, ("max_wait", *OPTION_NAMES), "option"))
    options = WaitOptions(**{name: keywords[name] for name in with_underscore})
    return options, {name: value for name, value in keywords.items() if name not in _NAMES}


def policy_for(definition: WaiterDefinition, options: WaitOptions, max_wait: float) -> Policy:
    """Return the policy of a wait under a definition, from merged options.

    Raises:
        ValueError: `min_delay` is more than `max_delay`.
    """
    min_delay: Any = definition.min_delay if options.min_delay is None else options.min_delay
    max_delay: Any = options.max_delay
    if max_delay is None:
        # A definition with short delays must not forbid a longer `min_delay`.
        max_delay = max(definition.max_delay, min(min_delay, DEFAULT_MAX_DELAY))
    check_order(min_delay, max_delay)
    return Policy(
        min_delay=min_delay,
        max_delay=max_delay,
        max_wait=max_wait,
        max_attempts=options.max_attempts,
        pace=options.delay_pace,
        last_attempt=LastAttempt(options.last_attempt or "late"),
        **verdict_options(options),
    )


def verdict_options(options: WaitOptions) -> dict[str, Any]:
    """Return the options that have the same name and meaning in every policy."""
    return {
        "initial_delay": options.initial_delay or 0,
        "success_count": options.success_count or 1,
        "missing_ok_for": options.missing_ok_for or 0,
        "retry_transient": bool(options.retry_transient),
    }


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
    known = [rule.value for rule in LastAttempt]
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {', '.join(known)}, not {type(value).__name__}")
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return str(value)


def _wake_signal(name: str, value: Any) -> Any:
    if isinstance(value, Subscribable):
        return value
    return with_methods(name, value, "is_set", "wait", "clear")


def _cancel_event(name: str, value: Any) -> Any:
    return with_methods(name, value, "is_set", "wait")


_CHECKS: Final[dict[str, Callable[[str, Any], Any]]] = {
    "min_delay": seconds,
    "max_delay": seconds,
    "max_attempts": count,
    "delay_pace": _delay_pace,
    "last_attempt": _last_attempt,
    "initial_delay": seconds_or_zero,
    "success_count": count,
    "missing_ok_for": seconds_or_zero,
    "retry_transient": flag,
    "wake_signal": _wake_signal,
    "cancel_event": _cancel_event,
    "on_attempt": callback,
    "call_in_thread": flag,
    "show_parameters": flag,
}

NO_OPTIONS: Final = WaitOptions()
"""No option is given."""
