"""Every option of a wait, checked where it is given, and the policy they make."""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal, Protocol, runtime_checkable

from .engine.machine import LastAttempt, Policy
from .engine.model import DEFAULT_MAX_DELAY, WaiterDefinition
from .engine.wait_event import WaitEvent

Seconds = float | timedelta


class CancelEvent(Protocol):
    """What stops a wait: `threading.Event`, or anything with these two methods."""

    def is_set(self) -> bool:
        """Whether the wait shall stop."""
        ...

    def wait(self, timeout: float | None = None, /) -> bool:
        """Block until it is set, at most `timeout` seconds; whether it is set."""
        ...


class WakeSignal(Protocol):
    """What makes a wait look again at once: `threading.Event`, or anything with these methods."""

    def is_set(self) -> bool:
        """Whether there is news."""
        ...

    def wait(self, timeout: float | None = None, /) -> bool:
        """Block until there is news, at most `timeout` seconds; whether there is."""
        ...

    def clear(self) -> None:
        """Forget the news: the wait is about to look."""
        ...


@runtime_checkable
class Subscribable(Protocol):
    """A signal that several waits may share: each has a view of its own (`signals.Signal`).

    A view with a method `unsubscribe` is told by it that its wait is over.
    """

    def subscribe(self) -> WakeSignal:
        """The signal as one wait sees it, from now on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions:
    """The options of a wait; None means not given.

    What a call gives wins over `enable(client)`, that over the session's, `install`'s, the
    definition's and the built-in values, in this order. Delays are seconds or `timedelta`.

    Raises:
        TypeError: a value is of the wrong kind.
        ValueError: a value is out of range, or `min_delay` is over `max_delay`.
    """

    min_delay: Seconds | None = None
    """The least delay between two attempts; the definition's `minDelay` if not given."""
    max_delay: Seconds | None = None
    """The largest delay between two attempts; the definition's `maxDelay` if not given."""
    max_attempts: int | None = None
    """The number of calls after which the wait ends with `WaiterAttemptsError`."""
    delay_pace: Literal["fixed"] | Callable[[int], float] | None = None
    """`"fixed"` (`min_delay` each time), or a function that returns the delay in seconds by the
    number of attempts made; the specification's jittered backoff if not given."""
    last_attempt: Literal["late", "spec", "deadline"] | None = None
    """Where the one last look is put: as late as an answer in time allows (the default), a
    `min_delay` before the end as the specification's text says, or at the end."""
    initial_delay: Seconds | None = None
    """Seconds before the first attempt; they count into `max_wait`."""
    success_count: int | None = None
    """Successes on consecutive attempts, `min_delay` apart, that are asked for."""
    missing_ok_for: Seconds | None = None
    """Seconds from the first attempt in which a not-found error is no failure."""
    retry_transient: bool | None = None
    """Whether errors that the SDK itself retries, throttling included, are sat out."""
    wake_signal: WakeSignal | Subscribable | None = None
    """What makes the wait look again at once: a `Signal`, an `SqsSignal`, or an event (cleared)."""
    cancel_event: CancelEvent | None = None
    """An event that ends the wait with `WaiterCancelledError`."""
    on_attempt: Callable[[WaitEvent], object] | None = None
    """Called after each attempt with a `WaitEvent`; what it raises ends the wait."""
    call_in_thread: bool | None = None
    """Whether each call runs in a daemon thread, which is given up at the deadline. Bounds what
    cannot be interrupted (your own event handlers and callables, the refresh of credentials), and
    may leave that one thread behind until it is done. A call that is awaited needs none."""

    def __post_init__(self) -> None:
        for name in ("min_delay", "max_delay"):
            self._check(name, seconds)
        for name in ("initial_delay", "missing_ok_for"):
            self._check(name, _seconds_from_zero)
        for name in ("max_attempts", "success_count"):
            self._check(name, _count)
        self._check("delay_pace", _pace)
        self._check("last_attempt", _last_attempt)
        self._check("retry_transient", _flag)
        self._check("call_in_thread", _flag)
        self._check("wake_signal", _wake_signal)
        self._check("cancel_event", lambda n, v: _with_methods(n, v, "is_set", "wait"))
        self._check("on_attempt", _callback)
        if self.min_delay is not None and self.max_delay is not None:
            check_order(self.min_delay, self.max_delay)

    def _check(self, name: str, checked: Callable[[str, Any], Any]) -> None:
        value = getattr(self, name)
        if value is not None:
            # Frozen for everybody but the constructor, which turns values into plain numbers.
            object.__setattr__(self, name, checked(name, value))

    def over(self, *lower: WaitOptions) -> WaitOptions:
        """These options, completed by those of lower precedence."""
        layers = (self, *lower)
        merged: dict[str, Any] = {}
        for name in OPTION_NAMES:
            given = (getattr(layer, name) for layer in layers)
            merged[name] = next((value for value in given if value is not None), None)
        return WaitOptions(**merged)


OPTION_NAMES: tuple[str, ...] = tuple(field.name for field in fields(WaitOptions))


def as_options(value: WaitOptions | Mapping[str, Any] | None, name: str) -> WaitOptions:
    """Options given as `WaitOptions`, as a mapping of its fields, or not at all.

    Raises:
        TypeError: neither of these, or a mapping with an unknown field.
    """
    if value is None:
        return NO_OPTIONS
    if isinstance(value, WaitOptions):
        return value
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be WaitOptions or a mapping, not {type(value).__name__}")
    for key in value:
        if key not in OPTION_NAMES:
            raise TypeError(f"{name}: {unknown(key, OPTION_NAMES, 'option')}")
    return WaitOptions(**value)


def split_options(keywords: Mapping[str, Any]) -> tuple[WaitOptions, dict[str, Any]]:
    """Tell our options from operation parameters.

    Every keyword of ours has an underscore and no member of an AWS operation has one, so that a
    misspelt option is caught here instead of being sent.

    Raises:
        TypeError: a keyword with an underscore that is no option, with the nearest that is.
    """
    options = {name: value for name, value in keywords.items() if name in OPTION_NAMES}
    parameters = {name: value for name, value in keywords.items() if name not in OPTION_NAMES}
    for name in parameters:
        if "_" in name:
            raise TypeError(unknown(name, ("max_wait", *OPTION_NAMES), "option"))
    return WaitOptions(**options), parameters


def unknown(name: object, known: Iterable[str], what: str) -> str:
    """Words for a name that does not exist, with the nearest that does."""
    near = nearest(str(name), known)
    hint = f"; did you mean {near!r}?" if near else ""
    return f"unknown {what} {name!r}{hint}"


def _is_finite(value: numbers.Real) -> bool:
    if isinstance(value, numbers.Integral):
        return True
    try:
        return math.isfinite(value)
    except OverflowError:  # a Fraction of more than any float, and no less finite
        return True


def _as_float(value: Any) -> float:
    """The number as int or float, cut to the largest float."""
    exact: Any = int(value) if isinstance(value, numbers.Integral) else value
    try:
        as_float = float(exact)
    except OverflowError:
        as_float = math.inf
    # Decimal's answer to too large a number is inf.
    if not math.isfinite(as_float):
        return sys.float_info.max if exact > 0 else -sys.float_info.max
    return exact if isinstance(exact, int) else as_float


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like this one; None if none is like it."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return found[0] if found else None


def seconds(name: str, value: Any, *, zero: bool = False) -> float:
    """A number of seconds as int or float; whole numbers stay whole.

    Args:
        name: the argument, for messages.
        value: a number, or a `timedelta`.
        zero: whether 0 is allowed.

    Raises:
        TypeError: not a number.
        ValueError: not finite, negative, or 0 where that makes no sense.
    """
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, Decimal)):
        raise TypeError(f"{name} must be seconds or a timedelta, not {type(value).__name__}")
    if not (value.is_finite() if isinstance(value, Decimal) else _is_finite(value)):
        raise ValueError(f"{name} must be finite, not {value}")
    exact = _as_float(value)
    if exact < 0 or (exact == 0 and not zero):
        raise ValueError(f"{name} must be {'at least' if zero else 'greater than'} 0, not {exact}")
    return exact


def check_order(min_delay: Any, max_delay: Any) -> None:
    """Refuse a least delay over the largest."""
    if min_delay > max_delay:
        raise ValueError(f"min_delay ({min_delay}) is more than max_delay ({max_delay})")


def policy_for(definition: WaiterDefinition, options: WaitOptions, max_wait: float) -> Policy:
    """Return the policy of a wait under a definition, from merged options.

    Raises:
        ValueError: `min_delay` is over `max_delay`.
    """
    min_delay = number(options.min_delay, definition.min_delay)
    # A definition with short delays must not forbid a longer `min_delay`.
    max_delay = max(definition.max_delay, min(min_delay, DEFAULT_MAX_DELAY))
    max_delay = number(options.max_delay, max_delay)
    check_order(min_delay, max_delay)
    return Policy(
        min_delay=min_delay,
        max_delay=max_delay,
        max_wait=max_wait,
        max_attempts=options.max_attempts,
        pace=options.delay_pace,
        last_attempt=LastAttempt(options.last_attempt or "late"),
        **judging(options),
    )


def judging(options: WaitOptions) -> dict[str, Any]:
    """The options that have the same name and meaning in every policy."""
    return {
        "initial_delay": number(options.initial_delay, 0),
        "success_count": options.success_count or 1,
        "missing_ok_for": number(options.missing_ok_for, 0),
        "retry_transient": bool(options.retry_transient),
    }


def number(value: Seconds | None, default: float) -> float:
    """An option that is seconds, or what holds where it was not given."""
    if value is None:
        return default
    return value.total_seconds() if isinstance(value, timedelta) else value


def _seconds_from_zero(name: str, value: Any) -> float:
    return seconds(name, value, zero=True)


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, not {value}")
    return int(value)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__}")
    return value


def _pace(name: str, value: Any) -> Any:
    if callable(value) and not isinstance(value, type):
        return value
    if not isinstance(value, str):
        raise TypeError(f'{name} must be "fixed" or a function of the number of attempts')
    if value in _REMOVED_PACES:
        raise ValueError(f"{name}: {value!r} was removed; {_REMOVED_PACES[value]}")
    if value != "fixed":
        raise ValueError(f"{name}: {unknown(value, ('fixed',), 'pace')}")
    return value


_REMOVED_PACES = {
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


def _callback(name: str, value: Any) -> Any:
    if not callable(value):
        raise TypeError(f"{name} must be a function, not {type(value).__name__}")
    if inspect.iscoroutinefunction(value):
        raise TypeError(f"{name} must be a plain function: it is called between two attempts")
    return value


def _wake_signal(name: str, value: Any) -> Any:
    if isinstance(value, Subscribable):
        return value
    return _with_methods(name, value, "is_set", "wait", "clear")


def _with_methods(name: str, value: Any, *methods: str) -> Any:
    if not all(callable(getattr(value, method, None)) for method in methods):
        raise TypeError(f"{name} must have the methods {', '.join(methods)} (threading.Event has)")
    return value


NO_OPTIONS = WaitOptions()
