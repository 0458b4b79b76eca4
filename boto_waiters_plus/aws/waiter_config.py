"""How long a botocore waiter waits, and at what pace, by who chose what.

- Somebody chose the schedule, by `WaiterConfig` or by assigning `config.delay` or
  `config.max_attempts`: botocore's to the letter, that delay and exactly that many looks.
- Nobody did: the eager pace over the same span, delay x (maxAttempts - 1) seconds of sleeping,
  with at most twice as many looks.
- `max_wait`, or `WaiterConfig={"MaxWait": ...}`: that many seconds of wall time, hard.

A `deadline` around the caller bounds each of the three, in wall time.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import botocore.waiter

from ..arguments import check_order, seconds, unknown
from ..deadlines import seconds_left
from ..engine.machine import LastAttempt, Pace, Policy
from ..engine.model import DEFAULT_MAX_DELAY
from ..options import WaitOptions, pace_of, verdict_options
from .private_names import model_of_config

CONFIG_KEYS = ("Delay", "MaxAttempts", "MaxWait")


def policy_of(
    config: Any, waiter_config: Any, max_wait: Any, given: WaitOptions, options: WaitOptions
) -> Policy:
    """The policy of a wait on a botocore waiter.

    Args:
        config: the waiter's config object.
        waiter_config: the `WaiterConfig` of the call.
        max_wait: the `max_wait` of the call.
        given: the options of the call alone.
        options: the same, completed by all defaults.

    Raises:
        TypeError, ValueError: a value that is none, or an unknown key of `WaiterConfig`.
    """
    _check_keys(waiter_config)
    delay = seconds("Delay", waiter_config.get("Delay", config.delay), zero=True)
    attempts = _attempts(waiter_config.get("MaxAttempts", config.max_attempts))
    chosen = _chosen(config, waiter_config)
    wall = waiter_config.get("MaxWait") if max_wait is None else max_wait
    if wall is not None:
        policy = _bounded_by_time(delay, attempts, chosen, seconds("max_wait", wall))
    elif chosen or not delay or attempts is None or attempts == 1:
        policy = _fixed(delay, attempts)
    else:
        policy = _eager(delay, attempts)
    # A schedule that was chosen is not for defaults to change.
    policy = _repaced(policy, given if chosen else options)
    if options.last_attempt is not None and policy.count_requests:
        policy = replace(policy, last_attempt=LastAttempt(options.last_attempt))
    return replace(policy, deadline=seconds_left(), **verdict_options(options))


def _fixed(delay: float, attempts: int | None) -> Policy:
    return Policy(
        min_delay=delay,
        max_delay=delay,
        max_wait=None,
        max_attempts=attempts,
        pace=Pace.FIXED,
        count_requests=False,
    )


def _eager(delay: float, attempts: int) -> Policy:
    return Policy(
        min_delay=delay,
        max_delay=delay,
        max_wait=delay * (attempts - 1),
        max_attempts=2 * attempts,
        pace=Pace.EAGER,
        # Requests are not counted, so that a look at the very end of the span is in time.
        last_attempt=LastAttempt.DEADLINE,
        count_requests=False,
    )


def _bounded_by_time(
    delay: float, attempts: int | None, chosen: frozenset[str], max_wait: float
) -> Policy:
    return Policy(
        min_delay=delay,
        max_delay=delay,
        max_wait=max_wait,
        max_attempts=attempts if "MaxAttempts" in chosen else None,
        pace=Pace.FIXED if "Delay" in chosen or not delay else Pace.EAGER,
    )


def _repaced(policy: Policy, options: WaitOptions) -> Policy:
    """The policy under the options that speak of delays and looks."""
    if options.max_attempts is not None:
        policy = replace(policy, max_attempts=options.max_attempts)
    given = options.min_delay is not None or options.max_delay is not None
    if given:
        largest = _seconds_or(options.max_delay, math.inf)
        least = _seconds_or(options.min_delay, min(policy.min_delay or 1, largest))
        largest = _seconds_or(options.max_delay, max(DEFAULT_MAX_DELAY, least))
        check_order(least, largest)
        policy = replace(policy, min_delay=least, max_delay=largest, pace=Pace.SPEC)
    pace = pace_of(options, policy.pace)
    # A delay of 0 has no quarter to be eager with.
    if pace is not Pace.EAGER or policy.min_delay:
        policy = replace(policy, pace=pace)
    return policy


def _seconds_or(value: Any, default: float) -> float:
    return default if value is None else value


def _check_keys(waiter_config: Any) -> None:
    if not isinstance(waiter_config, Mapping):
        raise TypeError(f"WaiterConfig must be a dict, not {type(waiter_config).__name__}")
    for key in waiter_config:
        if key not in CONFIG_KEYS:
            raise ValueError(f"WaiterConfig: {unknown(key, CONFIG_KEYS, 'key')}")


def _attempts(value: Any) -> int | None:
    """The number of looks: botocore's loop makes one at least, and rounds a fraction up.

    None: `math.inf`, no bound at all.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"MaxAttempts must be a number, not {type(value).__name__}")
    looks = float(value)
    if math.isnan(looks):
        raise ValueError("MaxAttempts must be a number, not nan")
    if looks == math.inf:
        return None
    return max(1, math.ceil(looks))


def _chosen(config: Any, waiter_config: Mapping[str, Any]) -> frozenset[str]:
    """Which of Delay and MaxAttempts somebody chose; both, where the config is not botocore's."""
    model = model_of_config(config)
    if model is None:
        return frozenset({"Delay", "MaxAttempts"})
    chosen = {key for key in ("Delay", "MaxAttempts") if key in waiter_config}
    chosen |= getattr(config, "assigned", frozenset())
    if config.delay != model.get("delay"):
        chosen.add("Delay")
    if config.max_attempts != model.get("maxAttempts"):
        chosen.add("MaxAttempts")
    return frozenset(chosen)


class RecordingConfig(botocore.waiter.SingleWaiterConfig):
    """botocore's waiter config that remembers what was assigned, were it the same value."""

    assigned: frozenset[str] = frozenset()

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        key = {"delay": "Delay", "max_attempts": "MaxAttempts"}.get(name)
        if key is not None:
            super().__setattr__("assigned", self.assigned | {key})


def record_assignments(config: Any) -> None:
    """Make a waiter's config remember assignments from now on."""
    if type(config) is botocore.waiter.SingleWaiterConfig:
        config.__class__ = RecordingConfig
