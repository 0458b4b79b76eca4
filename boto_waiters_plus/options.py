"""Every option of a wait, checked where it is given, and the policy that options make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, runtime_checkable

from .common.arguments import (
    callback,
    check_order,
    count,
    flag,
    refuse_wrong_names,
    seconds,
    seconds_or_zero,
    text,
    time_bound,
    unknown,
    unknown_option,
    with_methods,
)
from .common.time_bounds import TimeBound
from .common.wrong_arguments import (
    Keyword,
    Parts,
    WrongTypeError,
    WrongValueError,
    wrong_type,
    wrong_value,
)
from .engine.model import DEFAULT_MAX_DELAY, WaiterDefinition

if TYPE_CHECKING:
    from .engine.machine import Policy, RetryTransient
    from .engine.wait_event import WaitEvent
    from .history import History

Seconds = float | timedelta


class CancelEvent(Protocol):
    """An event that cancels a wait: `threading.Event`, or anything with these two methods."""

    def is_set(self) -> bool:
        """Whether the wait is to be cancelled."""
        ...

    def wait(self, timeout: float | None = None, /) -> bool:
        """Block until it is set, at most `timeout` seconds; return whether it is set."""
        ...


class WakeSignal(CancelEvent, Protocol):
    """An event that ends a delay early: `threading.Event`, or anything with these methods.

    It is set if something has happened since `clear`.
    """

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


# --- the options, each with its check ------------------------------------------------------------

Check = Callable[[str, Any], Any]
"""Returns a value that was given for a name, or raises for it."""


def _delay_pace(name: str, value: Any) -> Any:
    if callable(value) and not isinstance(value, type):
        return value
    if not isinstance(value, str):
        raise WrongTypeError.of(name, value, ' must be "fixed" or a function of the attempt number')
    if value != "fixed":
        raise WrongValueError.of(name, value, f": {unknown(value, ('fixed',), 'pace')}")
    return value


def _one_of(*known: str) -> Check:
    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise _no_text_of(name, value, f"one of {', '.join(known)}")
        return str(value)

    return check


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


_IN_POLL: Final = "conditions.poll takes it, with a definition"


def _option(check: Check, command: str | None = None, *, instead: str | None = None) -> Any:
    """Return the field of an option.

    Args:
        check: its check, which also tells the command how it is written.
        command: the help of the command, which lacks it if there is none.
        instead: what to do in a form of `conditions`, for which the option has no meaning.
    """
    return field(default=None, metadata={"check": check, "command": command, "instead": instead})


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions:
    """The options of a wait; None means not given.

    Precedence: call, `enable(client)`, `enable(session)`, `install`, definition, built-in value.
    Delays are seconds or a `timedelta`.

    Attributes:
        min_delay: the least delay between two attempts; default: the definition's `minDelay`.
        max_delay: the largest delay between two attempts; default: the definition's `maxDelay`.
        max_attempts: the number of attempts after which the wait ends with
            `WaiterAttemptsError`; default: no limit.
        converted_delays: the delays of waiters whose definition was converted from botocore's, with
            its fixed delay of D seconds, and of `get_waiter` where no schedule was chosen:
            `"short"` (the default), from about D / 4 to D; `"aws"`, from D to 120 as in AWS's own
            Smithy models. `min_delay` and `max_delay` take precedence, and any other definition
            keeps its own delays.
        delay_pace: `"fixed"` for `min_delay` each time, or a function that is given the attempt
            number and returns seconds; default: the specification's jittered backoff.
        last_attempt: when the last attempt is made: `"late"` (the default), as late as still
            leaves time for an answer; `"spec"`, a `min_delay` before the end; `"deadline"`, at the
            end.
        initial_delay: seconds before the first attempt; they count towards `max_wait`.
        success_count: the number of successes on consecutive attempts, `min_delay` apart, that
            end the wait; default: 1.
        success_for: seconds that the state must have held: from the first of the successes on
            consecutive attempts to the start of the attempt that ends the wait.
        missing_ok_for: seconds, counted from the first attempt, for which a not-found error is a
            retry.
        retry_errors_for: seconds, counted from the first attempt, for which an error is a retry, by
            its code: `{"403": 60}`. An acceptor of success that matches it decides first.
        settle_for: seconds in which a success or a failure that a response tells counts only once
            another state was seen: right after a change the service may still answer with the state
            from before it. An error is no state.
        retry_transient: which transient errors (throttles, HTTP 5xx, lost connections, time-outs
            of one request) are retried if they remain after the SDK's own retries. `"answered"`
            (the default): all, except that a connection that cannot be made ends the wait unless
            the service has answered before. True: all. False: none; an error that no acceptor
            matches ends the wait. A certificate that is not trusted ends every wait, but is left to
            other workers of a store.
        wake_signal: a `Signal`, an `SqsSignal` or an event (which is cleared) that ends a delay
            early.
        cancel_event: an event that ends the wait with `WaiterCancelledError`.
        on_attempt: called with a `WaitEvent` after each attempt; an exception that it raises is
            reported once and ends no wait.
        call_in_thread: True makes each call in a daemon thread that is abandoned at the deadline.
            It bounds what cannot be interrupted (event handlers and callables of the caller, the
            refresh of credentials), and may leave that thread behind until the call is over.
            Awaited calls need none.
        explain_failure: after a response in a failure state, make up to two reads, in 2 seconds and
            inside `max_wait`, that tell the cause (`error.cause_found`): the event of a stack that
            failed, the last task of a service that stopped. Their errors end no wait. Default: True
            for `wait_until_*`, many waits, `begin` and stores; False for waiter objects.
        delay_history: a `History` of earlier waits, or True for that of the user: the delays come
            from the times that waits of the same service, waiter and region took, where there are
            five or more; min_delay bounds them, and max_delay if it is given. The time of this wait
            is added. A stored wait takes True, and the times of its store.
        delay_kind: any text that splits what is in `delay_history`, such as an instance class.
        show_parameters: False leaves the parameters of the operation out of labels, and so out of
            every message, event, log line and repr; default: the label has those that identify
            the resource.

    Raises:
        TypeError: a value is of the wrong kind.
        ValueError: a value is out of range, or `min_delay` is more than `max_delay`.
    """

    min_delay: Seconds | None = _option(seconds, "least delay between two attempts")
    max_delay: Seconds | None = _option(seconds, "largest delay between two attempts")
    converted_delays: Literal["short", "aws"] | None = _option(
        _one_of("short", "aws"), instead="give min_delay and max_delay"
    )
    max_attempts: int | None = _option(count, "number of attempts at which the wait ends")
    delay_pace: Literal["fixed"] | Callable[[int], float] | None = _option(_delay_pace)
    last_attempt: Literal["late", "spec", "deadline"] | None = _option(
        _one_of("late", "spec", "deadline")
    )
    initial_delay: Seconds | None = _option(seconds_or_zero, "delay before the first attempt")
    success_count: int | None = _option(count, "number of successes in a row that end the wait")
    success_for: Seconds | None = _option(seconds_or_zero, "time that the state must have held")
    missing_ok_for: Seconds | None = _option(
        seconds_or_zero,
        "time in which a resource that is not found may still appear",
        instead="name the error in retry_on",
    )
    retry_errors_for: Mapping[str, Seconds] | None = _option(
        _retry_errors_for,
        "errors that are no failure yet, and for how long: AccessDenied=60",
        instead="name the error in retry_on",
    )
    settle_for: Seconds | None = _option(
        seconds_or_zero,
        "time in which a state may be from before a change",
        instead="wait for a value that only the change gives",
    )
    retry_transient: RetryTransient | None = _option(
        _retry_transient,
        "after throttles, HTTP 5xx and lost connections: poll again (answered: a connection that "
        "cannot be made ends the wait until the service has answered; the default), poll again "
        "always, or never",
    )
    wake_signal: WakeSignal | Subscribable | None = _option(_wake_signal)
    cancel_event: CancelEvent | None = _option(_cancel_event)
    on_attempt: Callable[[WaitEvent], object] | None = _option(callback)
    call_in_thread: bool | None = _option(flag)
    explain_failure: bool | None = _option(
        flag,
        "after a failure, make up to two reads that tell the cause (the default)",
        instead="a callable has no other reads",
    )
    delay_history: History | bool | None = _option(_delay_history, instead=_IN_POLL)
    delay_kind: str | None = _option(text, instead=_IN_POLL)
    show_parameters: bool | None = _option(flag, instead="give a label")

    def __post_init__(self) -> None:
        for name in OPTION_NAMES:
            value = getattr(self, name)
            if value is not None:
                # Frozen for all but the constructor, which turns values into plain numbers.
                object.__setattr__(self, name, CHECKS[name](name, value))
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


CHECKS: Final[dict[str, Check]] = {
    each.name: each.metadata["check"] for each in fields(WaitOptions)
}
OPTION_NAMES: Final = tuple(CHECKS)

_PLAIN: Final = frozenset((int, float, str, bool))
_shared_options: Final = lru_cache(maxsize=128, typed=True)(WaitOptions)


_DELAYS: Final = (
    *(Keyword("min_delay"), " and ", Keyword("max_delay")),
    *(" (seconds), or ", Keyword("delay_pace"), " (a function),"),
)
_MAX_WAIT: Final = (Keyword("max_wait"), " (seconds)")
_BEFORE_THE_END: Final = (Keyword("max_wait"), ", and raises WaiterTimeoutError at its end,")

_TITLES: Final = {name.title().replace("_", ""): (Keyword(name),) for name in OPTION_NAMES}

ENDING_OPTIONS: Final = ("on_timeout", "else_")
"""Options of `conditions.wait_for` and its relatives alone."""

OTHER_NAMES: Final[dict[str, Parts]] = {
    **dict.fromkeys(("Delay", "delay", "interval", "frequency", "poll_interval"), _DELAYS),
    **dict.fromkeys(ENDING_OPTIONS, _BEFORE_THE_END),
    "pre_wait": (Keyword("initial_delay"), " (seconds)"),
    **dict.fromkeys(("MaxWait", "WaiterConfig", "maxWait", "maxwait"), _MAX_WAIT),
    **dict.fromkeys(("timeout", "wait_timeout"), _MAX_WAIT),
    # A name without its underscore would be taken for a parameter of the operation.
    **{name.replace("_", ""): (Keyword(name),) for name in OPTION_NAMES},
    **_TITLES,
    **{title[0].lower() + title[1:]: right for title, right in _TITLES.items()},
}
"""Our options by the names that they have in other waiters, and by likely slips: the right one in
the parts of a message."""

MAX_WAIT_NAMES: Final = {name: right for name, right in OTHER_NAMES.items() if right is _MAX_WAIT}
"""Those of `max_wait`, for functions that take no other option."""


def refuse_other_names(wait: str, names: Iterable[str]) -> None:
    """Refuse options under the names that they have in other waiters.

    Raises:
        TypeError: one of them is given; the message has the right name.
    """
    refuse_wrong_names(wait, names, OTHER_NAMES)


def refuse_options_of_waits(function: str, names: Iterable[str], taker: str) -> None:
    """Refuse options of a wait, under any name, where something else takes all but `max_wait`.

    Args:
        function: what was called, for the message.
        names: the names that were given.
        taker: what takes them.

    Raises:
        TypeError: one of them is given.
    """
    refuse_wrong_names(function, names, MAX_WAIT_NAMES)
    for name in names:
        if name in OTHER_NAMES or name in CHECKS:
            right = "".join(OTHER_NAMES.get(name, name)).rstrip(",")
            problem = f"{function} does not take {name}: {taker} takes {right}"
            raise WrongTypeError(problem, argument=name)


def as_options(value: WaitOptions | Mapping[str, Any], name: str) -> WaitOptions:
    """Return options given as `WaitOptions` or as a mapping of its fields.

    Raises:
        TypeError: neither of these, or a mapping with an unknown field.
    """
    if isinstance(value, WaitOptions):
        return value
    if not isinstance(value, Mapping):
        raise wrong_type(name, value, "WaitOptions or a mapping")
    _refuse_other_fields(name, value)
    return WaitOptions(**value)


def _refuse_other_fields(name: str, keys: Iterable[str]) -> None:
    for key in keys:
        if key in ("max_wait", *MAX_WAIT_NAMES, *ENDING_OPTIONS):
            raise WrongTypeError(
                f"{name} cannot have {key}: give max_wait to each wait, or put deadline(seconds) "
                "around the waits",
                argument=key,
            )
    refuse_other_names(name, keys)
    for key in keys:
        if key not in CHECKS:
            raise unknown_option(key, OPTION_NAMES, name)


def _answering(initialize: Callable[..., None]) -> Callable[..., None]:
    """Decorate the `__init__` of `WaitOptions`, to answer other names with the right one."""

    @wraps(initialize)
    def __init__(self: WaitOptions, **given: Any) -> None:  # noqa: N807 - it is one
        _refuse_other_fields("WaitOptions", given)
        initialize(self, **given)

    return __init__


WaitOptions.__init__ = _answering(WaitOptions.__init__)  # type: ignore[method-assign]  # the one that a dataclass made


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
        if name not in CHECKS:
            raise unknown_option(name, ("max_wait", *OPTION_NAMES))
    given = {name: keywords[name] for name in with_underscore}
    # Thousands of waits with the same options share them; the caller's objects are not kept.
    is_plain = _PLAIN.issuperset(map(type, given.values()))
    options = _shared_options(**given) if is_plain else WaitOptions(**given)
    return options, {name: value for name, value in keywords.items() if name not in CHECKS}


def only_options(wait: str, keywords: Mapping[str, Any], instead: str) -> WaitOptions:
    """Return the options of a wait whose parameters are given in another way.

    Raises:
        TypeError: a keyword that is no option; the message says what to do `instead`.
    """
    refuse_other_names(wait, keywords)
    options, others = split_options(keywords)
    if others:
        raise TypeError(f"unexpected {', '.join(sorted(others))}: {instead}")
    return options


def refuse_misfit(
    min_delay: Any, max_delay: Any, waiter: str, options: WaitOptions, given: WaitOptions
) -> None:
    """Refuse a `min_delay` that is more than the `max_delay`, one of which was given.

    Args:
        min_delay, max_delay: the seconds.
        waiter: its name.
        options: merged options.
        given: those of the call.

    Raises:
        ValueError: about what was given, which says whose the other one is.
    """
    if min_delay <= max_delay:
        return
    own = given if given.min_delay or given.max_delay else options
    name, relation, other, of = "max_delay", "less", "min_delay", "of"
    if own.max_delay is None:
        # Not of the waiter: of some it is less.
        name, relation, other, of = "min_delay", "more", "max_delay", "for"
    who = "of the defaults" if getattr(options, other) else f"{of} the waiter {waiter}"
    values = {"min_delay": min_delay, "max_delay": max_delay}
    than = f" ({values[name]}) is {relation} than the ", Keyword(other)
    raise WrongValueError.of(name, values[name], *than, f" {who} ({values[other]}): give both")


def delays_of(definition: WaiterDefinition, options: WaitOptions) -> tuple[float, float]:
    """Return the least and the largest delay of a definition, under `converted_delays`."""
    from .engine.delays import aws_delay_range, delay_range  # noqa: PLC0415 - not to install

    own, fixed = (definition.min_delay, definition.max_delay), definition.botocore_delay
    if options.converted_delays == "aws" and fixed and own == delay_range(fixed):
        return aws_delay_range(fixed)
    return own


def policy_for(
    definition: WaiterDefinition,
    options: WaitOptions,
    max_wait: float | TimeBound | None,
    given: WaitOptions | None = None,
) -> Policy:
    """Return the policy of a wait under a definition.

    Args:
        definition: the definition.
        options: merged options.
        max_wait: seconds; None: no limit.
        given: those of the call, for messages; None: the same.

    Raises:
        ValueError: `min_delay` is more than `max_delay`.
    """
    least, most = delays_of(definition, options)
    min_delay: Any = least if options.min_delay is None else options.min_delay
    max_delay: Any = options.max_delay
    if max_delay is None:
        # A definition with short delays must not forbid a longer `min_delay`.
        max_delay = max(most, min(min_delay, DEFAULT_MAX_DELAY))
    refuse_misfit(min_delay, max_delay, definition.name, options, given or options)
    limits = max_wait.limits if isinstance(max_wait, TimeBound) else {"max_wait": max_wait}
    is_explained = options.explain_failure is not False
    delays = {"min_delay": min_delay, "max_delay": max_delay, "pace": options.delay_pace}
    return policy_of(options, delays, limits, explain=is_explained)


def policy_of(
    options: WaitOptions, delays: Mapping[str, Any], limits: Mapping[str, Any], *, explain: bool
) -> Policy:
    """Return a policy, in which what is not given here is by the options.

    Args:
        options: merged options.
        delays, limits: members of `Delays` and `Limits`.
        explain: whether further reads follow a failure.
    """
    # Installing needs no machine.
    from .engine import machine  # noqa: PLC0415

    shared, rule = machine.shared, machine.LastAttempt(options.last_attempt or "late")
    own: dict[str, Any] = {"initial_delay": options.initial_delay or 0, **delays}
    limits = {"max_attempts": options.max_attempts, "last_attempt": rule, **limits}
    parts: dict[str, Any] = {
        "limits": shared(machine.Limits, **limits),
        "endings": shared(
            machine.Endings,
            success_count=options.success_count or 1,
            success_for=options.success_for or 0,
            missing_ok_for=options.missing_ok_for or 0,
            retry_errors_for=tuple((options.retry_errors_for or {}).items()),
            settle_for=options.settle_for or 0,
            retry_transient=retry_transient_of(options),
            explain=explain,
        ),
    }
    if callable(own["pace"]):
        # The caller's function is not kept.
        return machine.Policy(machine.Delays(**own), **parts)
    policy: Policy = shared(machine.Policy, delays=shared(machine.Delays, **own), **parts)
    return policy


def retry_transient_of(options: WaitOptions) -> RetryTransient:
    """Return `retry_transient`, or its default: `"answered"`."""
    return "answered" if options.retry_transient is None else options.retry_transient


def refuse_short_wait(given: WaitOptions, max_wait: Any, *, zero: bool = False) -> None:
    """Refuse a `max_wait` in which no state can hold for `success_for`, or no attempt be made.

    Args:
        given: the options of the call. A default may be more than a short wait has.
        max_wait: seconds or a `timedelta`; None: there is nothing to check.
        zero: whether a `max_wait` of 0 has an attempt.

    Raises:
        TypeError, ValueError: it is not a number of seconds, or too small. One that is over
            already is the wait's own business.
    """
    least: Any = max(given.success_for or 0, given.initial_delay or 0)
    if not least or max_wait is None:
        return
    seconds = time_bound("max_wait", max_wait)
    if seconds <= least and (seconds > 0 or (zero and seconds == 0)):
        is_held = least == given.success_for
        name = "success_for" if is_held else "initial_delay"
        why = (
            "no state can be seen to hold for so long" if is_held else "no attempt would be in time"
        )
        given_time, most = f" ({least:g} s) must be less than ", f" ({seconds:g} s): {why}"
        raise WrongValueError.of(name, least, given_time, Keyword("max_wait"), most)


NO_OPTIONS: Final = WaitOptions()
"""No option is given."""

SMITHY: Final = WaitOptions(
    last_attempt="spec", retry_transient=False, converted_delays="aws", explain_failure=False
)
"""The options of a wait that keeps to the letter of the specification, and to AWS's numbers.

`install(defaults=SMITHY)` replaces the four defaults that differ: the last attempt is made
`min_delay` before the end, an error that no acceptor matches is a failure even if it is transient,
no further call follows a failure, and delays that were converted from botocore's are those of AWS's
Smithy models. A definition's own delays stay as they are.
"""
