"""The options of the general forms: their types, their checks, and the policy that they make."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, TypedDict, get_args

from botocore.exceptions import ClientError

from ..common.arguments import flag, refuse_wrong_names, seconds_or_zero, text, unknown_option
from ..common.time_bounds import TimeBound
from ..common.wrong_arguments import Parts, WrongTypeError, WrongValueError, wrong_type, wrong_value
from ..definitions.changes import says_propagating
from ..engine.acceptors import AcceptorState
from ..engine.machine import Pace, Policy
from ..engine.model import DEFAULT_MAX_DELAY
from ..engine.redaction import printable
from ..engine.wait_event import WaitEvent
from ..options import (
    ENDING_OPTIONS,
    OPTION_NAMES,
    OTHER_NAMES,
    CancelEvent,
    Seconds,
    Subscribable,
    WaitOptions,
    WakeSignal,
    policy_of,
)
from ..settings import PROCESS_LEVEL, Settings
from ..signals.signal import Signal
from .paces import Fixed
from .patterns import Case, Handler, checked_cases

DEFAULT_INTERVAL: Final = 0.1
"""Seconds between two attempts; most callables are local and cheap."""

OnTimeout = Literal["raise", "last"]
Else = Handler | Case | Sequence[Case]
ErrorKind = type[Exception] | Callable[[Exception], object]
ErrorKinds = ErrorKind | tuple[ErrorKind, ...]


class ConditionOptions(TypedDict, total=False):
    """The options of every general form besides `max_wait`, `on_timeout` and `else_`."""

    interval: Seconds
    """Seconds between two attempts; default: 0.1; 0: the next one follows at once."""
    signal: Any
    """A `Signal`, or the name of one, that ends a delay early."""
    polling: bool
    """False: only the signal starts an attempt between the first and the last."""
    retry_on: ErrorKinds
    """Exceptions of the callable that are retried, besides transient errors of botocore (see
    `retry_transient`): classes, and functions of the error such as `propagating`. All others are
    raised unchanged."""
    min_delay: Seconds
    max_delay: Seconds
    max_attempts: int
    delay_pace: Literal["fixed"] | Callable[[int], float]
    last_attempt: Literal["late", "spec", "deadline"]
    initial_delay: Seconds
    success_count: int
    success_for: Seconds
    retry_transient: bool | Literal["answered"]
    wake_signal: WakeSignal | Subscribable
    cancel_event: CancelEvent
    on_attempt: Callable[[WaitEvent], object]
    call_in_thread: bool
    label: str
    """The name, in messages and events, of what is waited for; default: that of the callable."""


class BoundedOptions(ConditionOptions, total=False):
    """The options of a step, or of a form that raises when time or attempts are used up."""

    max_wait: Seconds | None


class StepOptions(BoundedOptions, total=False):
    """The options of a step that may return a value when time or attempts are used up."""

    else_: Else | None


class EndingOptions(StepOptions, total=False):
    """The options of a form that may return a value when time or attempts are used up."""

    on_timeout: OnTimeout


OWN_OPTIONS: Final = ("max_wait", "interval", "signal", "polling", "retry_on", "label")
KNOWN_OPTIONS: Final = (*OWN_OPTIONS, *OPTION_NAMES)

_OTHER_NAMES: Final[dict[str, Parts]] = {
    **{n: right for n, right in OTHER_NAMES.items() if n not in ("interval", *ENDING_OPTIONS)},
    **dict.fromkeys(("delay", "frequency", "poll_interval"), "interval (seconds)"),
}
_FOR_A_FUNCTION: Final = {"interval": "delay_pace (a function of the attempt number)"}

EXCLUSIVE: Final = (
    ("interval", ("delay_pace", "min_delay", "max_delay")),
    ("signal", ("wake_signal",)),
)
"""Options that set the same thing in two ways."""

OF_WAITERS: Final = {
    each.name: each.metadata["instead"] for each in fields(WaitOptions) if each.metadata["instead"]
}
"""Options that have no meaning without a waiter, and what to do instead."""

_NOT_OF_FORMS: Final[dict[str, None]] = dict.fromkeys(
    ("min_delay", "max_delay", "delay_pace", *OF_WAITERS)
)
"""Fields of defaults that do not apply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedOptions:
    """The options of one wait after their checks."""

    interval: float | None
    polling: bool
    is_retried: Callable[[Exception], bool]
    common: WaitOptions
    """The options that every wait has, as they were given."""
    label: str | None
    """The caller's label."""

    @classmethod
    def of(cls, form: str, given: Mapping[str, Any]) -> CheckedOptions:
        """Return the caller's options after their checks.

        Args:
            form: the name of the wait in messages.
            given: fields of `ConditionOptions`; None means not given.

        Raises:
            TypeError, ValueError: an option is wrong, or two exclude each other.
        """
        refuse_wrong_names(form, given, _OTHER_NAMES)
        for name in given:
            if name in ENDING_OPTIONS:
                ends = "it ends in an error when the time is used up"
                problem = f"{form} does not take {name}: {ends}; conditions.wait_for takes {name}"
                raise WrongTypeError(problem, argument=name)
            if name not in KNOWN_OPTIONS:
                raise unknown_option(name, KNOWN_OPTIONS, form)
        _refuse_exclusive(form, given)
        common = {name: value for name, value in given.items() if name in OPTION_NAMES}
        if given.get("signal") is not None:
            common["wake_signal"] = _signal(given["signal"])
        interval = given.get("interval")
        if callable(interval):
            refuse_wrong_names(form, ["interval"], _FOR_A_FUNCTION)
        polling = given.get("polling")
        label = given.get("label")
        options = cls(
            interval=None if interval is None else seconds_or_zero("interval", interval),
            polling=True if polling is None else flag("polling", polling),
            is_retried=_is_retried(given.get("retry_on")),
            common=WaitOptions(**common),
            label=None if label is None else printable(text("label", label)),
        )
        options._check_together(form)
        return options

    def policy(self, merged: WaitOptions, bound: TimeBound, _: WaitOptions) -> Policy:
        """Return the delays and limits of the wait, for `Settings.resolve`."""
        options = self.common
        longest: Any = DEFAULT_MAX_DELAY if options.max_delay is None else options.max_delay
        least: Any = min(DEFAULT_INTERVAL, longest)
        if self.interval is not None:
            least = self.interval
        elif options.min_delay is not None:
            least = options.min_delay
        pace = self._pace(bound.seconds)
        delays = {"min_delay": least, "max_delay": max(least, longest), "pace": pace}
        return policy_of(merged, delays, bound.limits, explain=False)

    def _pace(self, max_wait: float) -> Pace:
        if not self.polling:
            # One delay as long as the wait, before whose end the machine puts the last attempt.
            return Fixed(max_wait)
        pace = self.common.delay_pace
        return "fixed" if pace is None and not self._has_delays else pace

    @property
    def _has_delays(self) -> bool:
        return self.common.min_delay is not None or self.common.max_delay is not None

    def _check_together(self, form: str) -> None:
        for name, instead in OF_WAITERS.items():
            if (value := getattr(self.common, name)) is not None:
                problem = f"{form}: {name} is for waiters; {instead}"
                raise WrongTypeError(problem, argument=name, value=value)
        if self.polling:
            return
        problem = ""
        if self.common.wake_signal is None:
            problem = "needs a signal to start attempts"
        elif self.interval is not None or self._has_delays or self.common.delay_pace is not None:
            problem = "excludes interval and the other delays"
        if problem:
            what = f"{form}: polling=False {problem}"
            raise WrongTypeError(what, argument="polling", value=False)


def settings_of_forms() -> Settings:
    """Return the settings of the process without the defaults of waiters.

    Their delays are not for callables, whose interval is short.
    """
    own = PROCESS_LEVEL.own
    if own.defaults is None:
        return own
    return Settings(defaults=replace(own.defaults, **_NOT_OF_FORMS), observers=own.observers)


def checked_else(
    on_timeout: Any, else_: Any
) -> tuple[OnTimeout, Handler | tuple[Case, ...] | None]:
    """Return `on_timeout` and `else_` after their checks.

    Raises:
        TypeError, ValueError: one of them is wrong, or both are given.
    """
    if on_timeout not in get_args(OnTimeout):
        raise wrong_value("on_timeout", on_timeout, '"raise" or "last"')
    if else_ is None:
        return on_timeout, None
    if on_timeout == "last":
        problem = 'on_timeout="last" and else_ exclude each other: give one of them'
        raise WrongTypeError(problem, argument="else_", value=else_)
    if callable(else_):
        return on_timeout, else_
    cases = checked_cases("else_", else_)
    if any(case.state is AcceptorState.RETRY for case in cases):
        problem = ": retry() has no meaning after the end of the wait"
        raise WrongValueError.of("else_", else_, problem)
    return on_timeout, cases


def _refuse_exclusive(form: str, given: Mapping[str, Any]) -> None:
    for one, others in EXCLUSIVE:
        for other in others:
            if given.get(one) is not None and given.get(other) is not None:
                problem = f"{form}: {one} and {other} exclude each other: give one of them"
                raise WrongTypeError(problem, argument=other, value=given[other])


def _signal(signal: Any) -> Any:
    if isinstance(signal, Subscribable):
        return signal
    # An event is hashable too; taken for a name, it would never end a delay.
    if all(callable(getattr(signal, method, None)) for method in ("is_set", "wait", "clear")):
        return signal
    if not isinstance(signal, Hashable):
        raise wrong_type("signal", signal, "a Signal or the name of one")
    return Signal(signal)


def _is_retried(given: Any) -> Callable[[Exception], bool]:
    kinds = () if given is None else given if isinstance(given, tuple) else (given,)
    for kind in kinds:
        if not (issubclass(kind, Exception) if isinstance(kind, type) else callable(kind)):
            problem = f" must be exception classes or functions of the error, not {kind!r}"
            raise WrongTypeError.of("retry_on", given, problem)

    def is_retried(error: Exception) -> bool:
        return any(
            isinstance(error, kind) if isinstance(kind, type) else kind(error) for kind in kinds
        )

    return is_retried


# --- `propagating`: refusals that end by themselves ----------------------------------------------


def propagating(error: Exception, /) -> bool:
    """Return whether a service says that it does not see a new role, policy or the like yet.

    For `retry_on`: `wait_for(create, max_wait=60, retry_on=propagating)`. Code and words decide
    together, because the code alone has other causes. `begin` and `call_once` repeat these
    refusals by themselves.
    """
    if not isinstance(error, ClientError):
        return False
    told = error.response.get("Error", {})
    return says_propagating(error.operation_name, told.get("Code", ""), told.get("Message", ""))
