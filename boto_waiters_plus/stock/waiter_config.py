"""The schedule of a stock waiter, by who chose it.

- The caller chose it, by `WaiterConfig`, by assigning `config.delay` or `config.max_attempts`, or
  by bringing a waiter model that is not botocore's: botocore's schedule to the letter, that delay
  and exactly that many attempts. A call is never cut off.
- The caller chose none: the specification's algorithm between a quarter of the delay and the
  delay, over the same time, delay x (maxAttempts - 1) seconds of sleeping, with at most twice as
  many attempts. `min_delay`, `max_delay` and `delay_pace` are used as given instead, with any
  number of attempts. A call that gets no answer is cut off in the end (`Policy.patience`).
- `max_wait`, or `WaiterConfig={"MaxWait": ...}`, in addition to either: that many seconds of wall
  time, calls included.

A surrounding `deadline` bounds all three in wall time.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Mapping
from typing import Any, Final

import botocore.waiter

from ..calls.private_names import is_botocores_model, model_of_config
from ..common.arguments import seconds, time_bound, unknown
from ..common.wrong_arguments import WrongValueError, wrong_type
from ..deadlines import deadline_left
from ..engine.delays import aws_delay_range, delay_range
from ..engine.machine import LastAttempt, Pace, Policy
from ..options import WaitOptions, delays_of, policy_of, refuse_misfit, refuse_short_wait

CONFIG_KEYS: Final = ("Delay", "MaxAttempts", "MaxWait")
SCHEDULE_KEYS: Final = frozenset({"Delay", "MaxAttempts"})


def stock_policy(
    config: Any,
    waiter_config: Any,
    client: Any,
    options: WaitOptions,
    max_wait: Any,
    given: WaitOptions,
) -> Policy:
    """Return the policy of a wait on a stock waiter.

    Args:
        config: the waiter's config object.
        client: the client that the waiter calls, or None if it is not known.
        options: the options of the call, completed by all defaults.
        waiter_config, max_wait, given: `WaiterConfig`, `max_wait` and the options of the call.

    Raises:
        TypeError, ValueError: a bad value, or an unknown key of `WaiterConfig`.
    """
    _check_keys(waiter_config)
    delay = seconds("Delay", waiter_config.get("Delay", config.delay), zero=True)
    attempts = _attempts(waiter_config.get("MaxAttempts", config.max_attempts))
    chosen = _chosen(config, waiter_config, client)
    # Defaults do not change a schedule that was chosen.
    applied = given if chosen else options
    delays = _delays(config, delay, applied, is_chosen=bool(chosen))
    refuse_misfit(delays["min_delay"], delays["max_delay"], "", applied, given)
    wall = waiter_config.get("MaxWait") if max_wait is None else max_wait
    limits = _limits(delay, attempts, chosen, wall, options)
    refuse_short_wait(given, limits["max_wait"])
    left = deadline_left()
    if left is not None:
        is_first = wall is not None and limits["max_wait"] <= left.seconds
        limits |= {"deadline": left.seconds, "ended_by": None if is_first else left.end}
    if applied.max_attempts is not None:
        limits["max_attempts"] = applied.max_attempts
    limits["patience"] = math.inf if chosen else _patience(client)
    delays["spread"] = limits.pop("spread", False)
    return policy_of(options, delays, limits, explain=bool(options.explain_failure))


def _limits(
    delay: float,
    attempts: int | None,
    chosen: frozenset[str],
    max_wait: Any,
    options: WaitOptions,
) -> dict[str, Any]:
    """Return the members of `Limits`, and `spread`."""
    if max_wait is not None:
        return {
            "max_wait": time_bound("max_wait", max_wait),
            "max_attempts": attempts if "MaxAttempts" in chosen else None,
        }
    if chosen or not delay or attempts is None or attempts == 1:
        own = {"max_wait": None, "max_attempts": attempts, "count_requests": False}
        return {**own, "last_attempt": LastAttempt.LATE}
    has_delays = (options.min_delay, options.max_delay, options.delay_pace) != (None, None, None)
    return {
        "max_wait": delay * (attempts - 1),
        "max_attempts": None if has_delays else 2 * attempts,
        # Calls are not counted, so that an attempt at the very end is in time.
        "last_attempt": LastAttempt.DEADLINE,
        "count_requests": False,
        "spread": not has_delays,
    }


def _delays(config: Any, delay: float, options: WaitOptions, *, is_chosen: bool) -> dict[str, Any]:
    """Return the members of `Delays`."""
    pace: Pace = options.delay_pace
    is_fixed = is_chosen or not delay or pace == "fixed"
    bound_waiter = getattr(config, "bound_waiter", None)
    if is_fixed:
        least = most = delay
    elif bound_waiter is not None:
        least, most = delays_of(bound_waiter.definition, options)
    else:
        converted = aws_delay_range if options.converted_delays == "aws" else delay_range
        least, most = converted(delay)
    if options.min_delay is None and options.max_delay is None:
        pace = "fixed" if is_fixed and pace is None else pace
        return {"min_delay": least, "max_delay": most, "pace": pace}
    longest: Any = math.inf if options.max_delay is None else options.max_delay
    given: Any = options.min_delay
    least = min(least or 1, longest) if given is None else given
    most = max(most, least) if options.max_delay is None else longest
    return {"min_delay": least, "max_delay": most, "pace": pace}


def _patience(client: Any) -> float:
    """Return the time that the client itself gives a connection and an answer."""
    if client is None:
        return math.inf
    config = client.meta.config
    timeouts = config.connect_timeout, config.read_timeout
    return math.inf if None in timeouts else float(sum(timeouts))


def _check_keys(waiter_config: Any) -> None:
    if not isinstance(waiter_config, Mapping):
        raise wrong_type("WaiterConfig", waiter_config, "a dict")
    for key in waiter_config:
        if key not in CONFIG_KEYS:
            known = ", ".join(CONFIG_KEYS)
            problem = f"WaiterConfig: {unknown(key, CONFIG_KEYS, 'key')} (known: {known})"
            raise WrongValueError(problem, argument=key)


def _attempts(value: Any) -> int | None:
    """Return the number of attempts: at least one, and a fraction rounded up, as in botocore.

    None stands for `math.inf`, no limit.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise wrong_type("MaxAttempts", value, "a number")
    if not value <= math.inf:
        raise WrongValueError.of("MaxAttempts", value, " must be a number, not nan")
    if value == math.inf:
        return None
    # As many as can be multiplied by a delay.
    attempts: Any = min(max(1, value), sys.maxsize)
    whole: int = math.ceil(attempts)
    return whole


def _chosen(config: Any, waiter_config: Mapping[str, Any], client: Any) -> frozenset[str]:
    """Return which of Delay and MaxAttempts were chosen; both for the caller's own model."""
    is_marked = isinstance(config, UnchosenConfig)
    # A client that is older than `install` does not mark its waiters.
    if not is_marked and not is_botocores_model(client, config):
        return SCHEDULE_KEYS
    chosen = SCHEDULE_KEYS.intersection(waiter_config)
    if is_marked:
        chosen |= config.assigned
    model = model_of_config(config) or {}
    if config.delay != model.get("delay"):
        chosen |= {"Delay"}
    if config.max_attempts != model.get("maxAttempts"):
        chosen |= {"MaxAttempts"}
    return chosen


class UnchosenConfig(botocore.waiter.SingleWaiterConfig):
    """The config of a waiter of `client.get_waiter`: its schedule is not chosen yet.

    It records what is assigned, even if the value stays the same.
    """

    assigned: frozenset[str] = frozenset()

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        key = {"delay": "Delay", "max_attempts": "MaxAttempts"}.get(name)
        if key is not None:
            super().__setattr__("assigned", self.assigned | {key})


def mark_as_unchosen(config: Any) -> None:
    """Mark the config of a waiter, as botocore made it, whose model is not the caller's.

    Any other waiter keeps its delay and its number of attempts to the letter.
    """
    if type(config) is botocore.waiter.SingleWaiterConfig:
        config.__class__ = UnchosenConfig
