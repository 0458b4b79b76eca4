"""The events that cancel and wake many waits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextvars import Context
from typing import Final, NamedTuple

from ..calls.clock import SIGNAL_SLICE
from ..options import CancelEvent, WakeSignal
from ..wait.drivers import subscribe, unsubscribe
from .tasks import Ended, Task

FEW_EVENTS: Final = 8
"""Up to this number, events are checked in every round; more of them every `SIGNAL_SLICE`."""


class Cancels(NamedTuple):
    """An event that ends waits."""

    tasks: Iterable[Task] | None
    """The waits; None: all of them."""
    cause: Exception | None
    """What the event raised instead of being set."""


class Wakes(NamedTuple):
    """A signal that ends the delays of waits."""

    tasks: Iterable[Task]


class ScheduleEvents:
    """The events that cancel and wake waits; an event that several waits share is checked once.

    Args:
        cancels: events that cancel all waits.

    Attributes:
        watched: the events that can still change anything.
    """

    def __init__(self, cancels: Iterable[CancelEvent]) -> None:
        self._cancels = list(cancels)
        self._of_cancel: dict[int, tuple[CancelEvent, list[Task]]] = {}
        self._of_wake: dict[int, tuple[WakeSignal, list[Task]]] = {}
        self._check_at = -math.inf
        self.watched = self._cancels

    def add(self, tasks: Iterable[Task]) -> None:
        """Watch the events of more waits."""
        for task in tasks:
            if task.cancel is not None:
                self._of_cancel.setdefault(id(task.cancel), (task.cancel, []))[1].append(task)
            if task.wake is not None:
                key = id(task.wake)
                # One subscription for all waits that share the signal: each of ten thousand would
                # have to be checked.
                if key not in self._of_wake:
                    self._of_wake[key] = (subscribe(task.wake), [])
                self._of_wake[key][1].append(task)
        if self._of_cancel or self._of_wake:
            self._drop_unneeded()

    def asked(self, now: float) -> Iterator[Cancels | Wakes]:
        """Yield what the events that are set ask for."""
        if len(self.watched) > FEW_EVENTS and now < self._check_at:
            return
        self._check_at = now + SIGNAL_SLICE
        for event in self._cancels:
            is_set, error = _checked(event)
            if is_set:
                yield Cancels(None, error)
        for event, tasks in self._of_cancel.values():
            is_set, error = _checked(event, tasks[-1].context if tasks else None)
            if is_set:
                yield Cancels(tasks, error)
        for signal, tasks in self._of_wake.values():
            if signal.is_set():
                signal.clear()
                yield Wakes(tasks)
        # A cancel event stays set, and would end every sleep at once.
        self._drop_unneeded()

    def check_at_once(self) -> None:
        """Let the next look check all events: one of them ended a sleep."""
        self._check_at = -math.inf

    def close(self) -> None:
        """End the subscriptions: the run is over."""
        for signal, _ in self._of_wake.values():
            unsubscribe(signal)

    def _drop_unneeded(self) -> None:
        """Forget the events whose waits have all ended."""
        for key in [key for key, (_, tasks) in self._of_wake.items() if _all_ended(tasks)]:
            unsubscribe(self._of_wake.pop(key)[0])
        self._of_cancel = {k: v for k, v in self._of_cancel.items() if not _all_ended(v[1])}
        cancels = [event for event, _ in self._of_cancel.values()]
        self.watched = [*self._cancels, *cancels, *(event for event, _ in self._of_wake.values())]


def _checked(event: CancelEvent, context: Context | None = None) -> tuple[bool, Exception | None]:
    """Return whether an event cancels its waits, and the error that it raised instead.

    It sees the context variables of one of them.

    The caller's event may be a connection to another process; one that fails ends its own
    waits, instead of losing the results of all.
    """
    try:
        # A context can be entered by one thread at a time.
        return (event.is_set() if context is None else context.copy().run(event.is_set)), None
    except Exception as error:
        return True, error


def _all_ended(tasks: list[Task]) -> bool:
    """Return whether the tasks have ended; drop those at the end of the list that have.

    This runs in every round: going through thousands of waits that share an event would take
    longer than their calls.
    """
    while tasks and isinstance(tasks[-1].stage, Ended):
        tasks.pop()
    return not tasks
