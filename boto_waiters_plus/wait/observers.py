"""The observers of a wait: one stream of events for handlers, progress and the log."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ..common.errors import warn
from ..engine.delays import EARLY_SHARE, FEWEST_ENDS, KnownTime, LearnedTimes
from ..engine.machine import Policy
from ..history import ENDS, History, HistoryKey
from .facts import RunFacts, WaitLog, logger

if TYPE_CHECKING:
    from ..engine.model import WaitDescription
    from ..engine.wait_event import EventKind, WaitEvent
    from ..options import WaitOptions


Observer = Callable[["WaitEvent"], object]

_WAIT_IDS: Final = itertools.count(1)


class Observers:
    """The observers of one wait. An error of one is reported once, and the wait goes on.

    Args:
        of_all: called with each event.
        of_attempts: called with the events of attempts only.
    """

    __slots__ = ("_failed", "_of_all", "_of_attempts")

    def __init__(
        self, of_all: Sequence[Observer] = (), of_attempts: Sequence[Observer] = ()
    ) -> None:
        self._of_all = tuple(of_all)
        self._of_attempts = tuple(of_attempts)
        self._failed: tuple[Observer, ...] = ()

    def and_of_attempts(self, observer: Observer) -> Observers:
        """Return these observers and another one of attempts."""
        return Observers(self._of_all, (*self._of_attempts, observer))

    def tell(
        self,
        kind: EventKind,
        run: RunFacts,
        *,
        next_delay: float | None = None,
        error: str | None = None,
        is_transient: bool = False,
        message: str | None = None,
    ) -> None:
        """Give an event to the log and to all that observe it."""
        observers = self._of_all
        if kind == "attempt" and self._of_attempts:
            observers += self._of_attempts
        is_logged = logger.isEnabledFor(logging.INFO)
        if not observers and not is_logged:
            return
        from ..engine.wait_event import WaitEvent  # noqa: PLC0415 - most waits have no observers

        description = run.description
        run.wait_id = run.wait_id or next(_WAIT_IDS)
        # An end tells of the last attempt that saw the resource.
        attempt = run.attempt if kind == "attempt" else run.answer
        event = WaitEvent(
            kind=kind,
            wait_id=run.wait_id,
            label=str(run.label),
            service=description.service,
            waiter=description.waiter,
            operation=description.operation,
            attempt=run.attempts,
            elapsed=run.elapsed,
            state=attempt.seen if attempt else None,
            reported=attempt.reported if attempt else {},
            error=error,
            transient=is_transient,
            message=message,
            next_delay=next_delay,
        )
        if is_logged:
            run.log = run.log or WaitLog()
            run.log.write(event)
        for observer in observers:
            self._call(observer, event)

    def _call(self, observer: Observer, event: WaitEvent) -> None:
        try:
            observer(event)
        # Whatever the caller's handler raises, the wait goes on.
        except Exception as error:
            if any(observer is each for each in self._failed):
                return
            self._failed += (observer,)
            is_of_all = any(observer is each for each in self._of_all)
            name = "on_event" if is_of_all else "on_attempt"
            logger.error("%s raised; the wait goes on", name, exc_info=error)
            text = f"{name} raised {type(error).__name__}: {error}; the wait goes on"
            warn(text, RuntimeWarning)


def with_history(
    options: WaitOptions,
    policy: Policy,
    observers: tuple[Observer, ...],
    description: WaitDescription,
    client: Any = None,
    since_call: float | None = None,
    read: dict[Any, Any] | None = None,
) -> tuple[Policy, tuple[Observer, ...]]:
    """Return the policy of a wait, with the times that are known now, and its observers.

    Args:
        options: with a `delay_history`, to which the last observer adds the time of the wait.
        policy, observers, description: those of the wait.
        client: is called, in its region; None: it is not known.
        since_call: seconds from the call of `begin` to the start of the wait; None: no call.
        read: what was read for other waits of a batch, to be read once.
    """
    history: Any = user_history() if options.delay_history is True else options.delay_history
    offset = since_call or 0.0
    region = None if client is None else client.meta.region_name
    names = (description.service or "", description.waiter, region or "", options.delay_kind or "")
    key = HistoryKey(*names, from_call=since_call is not None)
    read, place = {} if read is None else read, (id(history), key)
    if place not in read:
        read[place] = history.times(key)
    times = tuple(each._replace(seconds=max(each.seconds - offset, 0.0)) for each in read[place])
    has_longest = options.max_delay is not None
    policy = with_times(policy, times, names, has_longest=has_longest)
    return policy, (*observers, TimeKeeper(history, key, offset))


# --- what a wait with `delay_history` takes from the times of earlier waits, and adds to them

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
