"""The options of the general forms: checked, and made a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypedDict, get_args

from ..engine.machine import LastAttempt, Policy
from ..engine.model import DEFAULT_MAX_DELAY, AcceptorState
from ..engine.wait_event import WaitEvent
from ..options import (
    OPTION_NAMES,
    CancelEvent,
    Seconds,
    Subscribable,
    WaitOptions,
    WakeSignal,
    judging,
    number,
    seconds,
    unknown,
)
from ..signals.signalling import Signal
from .cases import Case, Handler, checked_cases
from .paces import Fixed

DEFAULT_INTERVAL: Final = 0.1
"""Seconds between two looks; what is looked at is near, as a rule, and costs little."""

OnTimeout = Literal["raise", "last"]
Else = Handler | Case | Sequence[Case]
Raised = type[Exception] | tuple[type[Exception], ...]


class ConditionOptions(TypedDict, total=False):
    """What every general form takes besides `max_wait`, `on_timeout` and `else_`."""

    interval: Seconds
    """Seconds between two looks; 0.1 if nothing says otherwise."""
    signal: Any
    """A `Signal`, or the name of one: the wait looks again at once when it comes."""
    polling: bool
    """False: between the first look and the last, only the signal makes the wait look."""
    retry_on: Raised
    """Exceptions of a look after which the wait goes on; all others pass as they are."""
    min_delay: Seconds
    max_delay: Seconds
    max_attempts: int
    delay_pace: Literal["fixed"] | Callable[[int], float]
    last_attempt: Literal["late", "spec", "deadline"]
    initial_delay: Seconds
    success_count: int
    retry_transient: bool
    wake_signal: WakeSignal | Subscribable
    cancel_event: CancelEvent
    on_attempt: Callable[[WaitEvent], object]
    call_in_thread: bool


OWN_OPTIONS: Final = ("interval", "signal", "polling", "retry_on")
KNOWN_OPTIONS: Final = ("max_wait", *OWN_OPTIONS, *OPTION_NAMES)

EXCLUSIVE: Final = (
    ("interval", ("delay_pace", "min_delay", "max_delay")),
    ("signal", ("wake_signal",)),
)
"""Options that say the same thing in two ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of one wait, checked."""

    interval: float | None
    polling: bool
    retry_on: tuple[type[Exception], ...]
    common: WaitOptions
    """Those that every wait has."""

    @classmethod
    def of(cls, form: str, given: Mapping[str, Any]) -> Settings:
        """Check what a caller gave.

        Args:
            form: what messages call the wait.
            given: fields of `ConditionOptions`; None means not given.

        Raises:
            TypeError, ValueError: a bad one, or two that exclude each other.
        """
        own: dict[str, Any] = dict.fromkeys(OWN_OPTIONS)
        common: dict[str, Any] = {}
        for name, value in given.items():
            if name in OWN_OPTIONS:
                own[name] = value
            elif name in OPTION_NAMES:
                common[name] = value
            else:
                raise TypeError(f"{form}: {unknown(name, KNOWN_OPTIONS, 'option')}")
        _refuse_both(form, given)
        if own["signal"] is not None:
            common["wake_signal"] = _wake_signal(own["signal"])
        settings = cls(
            interval=None if own["interval"] is None else seconds("interval", own["interval"]),
            polling=_checked_polling(own["polling"]),
            retry_on=_checked_exceptions(own["retry_on"]),
            common=WaitOptions(**common),
        )
        settings._check_together(form)
        return settings

    def policy(self, max_wait: float) -> Policy:
        """The delays and bounds of the wait."""
        options = self.common
        most = number(options.max_delay, DEFAULT_MAX_DELAY)
        least = number(options.min_delay, min(DEFAULT_INTERVAL, most))
        if self.interval is not None:
            least = self.interval
        pace = options.delay_pace
        if not self.polling:
            # One pause as long as the wait; the machine puts the last attempt before its end.
            pace = Fixed(max_wait)
        elif pace is None and not self._delays_given:
            pace = "fixed"
        return Policy(
            min_delay=least,
            max_delay=max(least, most),
            max_wait=max_wait,
            max_attempts=options.max_attempts,
            pace=pace,
            last_attempt=LastAttempt(options.last_attempt or "late"),
            **judging(options),
        )

    @property
    def _delays_given(self) -> bool:
        return self.common.min_delay is not None or self.common.max_delay is not None

    def _check_together(self, form: str) -> None:
        if self.common.missing_ok_for is not None:
            raise TypeError(f"{form}: missing_ok_for is for waiters; name the error in retry_on")
        if self.polling:
            return
        if self.common.wake_signal is None:
            raise TypeError(f"{form}: polling=False needs a signal, nothing else makes it look")
        if self.interval is not None or self._delays_given or self.common.delay_pace is not None:
            raise TypeError(f"{form}: polling=False leaves no delays to give")


def checked_else(
    on_timeout: Any, else_: Any
) -> tuple[OnTimeout, Handler | tuple[Case, ...] | None]:
    """What happens when time or attempts are used up.

    Raises:
        TypeError, ValueError: not one of the ways to say it, or two at once.
    """
    if on_timeout not in get_args(OnTimeout):
        raise ValueError(f'on_timeout must be "raise" or "last", not {on_timeout!r}')
    if else_ is None:
        return on_timeout, None
    if on_timeout == "last":
        raise TypeError('on_timeout="last" and else_ both say what happens, give one of them')
    if callable(else_):
        return on_timeout, else_
    cases = checked_cases("else_", else_)
    if any(case.state is AcceptorState.RETRY for case in cases):
        raise ValueError("else_: the wait is over, there is nothing to retry")
    return on_timeout, cases


def _refuse_both(form: str, given: Mapping[str, Any]) -> None:
    for one, others in EXCLUSIVE:
        for other in others:
            if given.get(one) is not None and given.get(other) is not None:
                raise TypeError(f"{form}: {one} and {other} say the same thing, give one of them")


def _wake_signal(signal: Any) -> Any:
    if isinstance(signal, Subscribable):
        return signal
    # A threading.Event is hashable too: taken for a name, it would never wake anything.
    if all(callable(getattr(signal, method, None)) for method in ("is_set", "wait", "clear")):
        return signal
    return Signal(signal)


def _checked_polling(polling: Any) -> bool:
    if polling is None:
        return True
    if not isinstance(polling, bool):
        raise TypeError(f"polling must be True or False, not {type(polling).__name__}")
    return polling


def _checked_exceptions(kinds: Any) -> tuple[type[Exception], ...]:
    if kinds is None:
        return ()
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise TypeError(f"retry_on must be exceptions, not {kind!r}")
    return tuple(kinds)
