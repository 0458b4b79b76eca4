"""What a wait with `delay_history` takes from the times of earlier waits, and adds to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ..engine.delays import EARLY_SHARE, FEWEST_ENDS, KnownTime, LearnedTimes
from ..engine.machine import Policy
from ..history import ENDS, History, HistoryKey
from .wait_log import logger

if TYPE_CHECKING:
    from ..engine.wait_event import WaitEvent

user_history = cache(History)
"""Returns the history of the user, one object for all waits."""


def with_times(
    policy: Policy, times: tuple[KnownTime, ...], names: Sequence[str], *, has_longest: bool
) -> Policy:
    """Return a policy whose delays come from times, where these are enough and none was chosen.

    Args:
        policy: the policy of the wait.
        times: the newest first.
        names: what the times are of.
        has_longest: whether the caller gave the `max_delay`.
    """
    ends = sorted(each.seconds for each in times if each.is_end)
    if policy.pace is not None or len(ends) < FEWEST_ENDS:
        return policy
    text = "Waiter %s: delays by %d earlier waits (%s), of which %d ended, half of them in %.1f s"
    middle, named = ends[len(ends) // 2], ", ".join(filter(None, names))
    logger.debug(text, names[1], len(times), named, len(ends), middle)
    most = policy.max_delay if has_longest else EARLY_SHARE * policy.max_delay
    return replace(policy, learned=LearnedTimes(times, most))


class TimeKeeper:
    """An observer of one wait that adds its time to a history, unless the first attempt ended it.

    Args:
        history, key: where.
        offset: seconds from what the time counts from to the start of the wait.
    """

    def __init__(self, history: History, key: HistoryKey, offset: float) -> None:
        self._history, self._key, self._offset = history, key, offset
        self._before = self._last = 0.0

    def __call__(self, event: WaitEvent) -> None:
        """Take an event of the wait."""
        if event.kind == "attempt":
            self._before, self._last = self._last, event.elapsed
        elif event.kind in ENDS and event.attempt > 1:
            # The state has changed at some time between the last two attempts.
            middle = (self._before + self._last) / 2
            seconds = event.elapsed if event.kind == "timeout" else middle
            self._history.add(self._key, event.kind, self._offset + seconds)
