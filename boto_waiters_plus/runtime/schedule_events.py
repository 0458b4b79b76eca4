"""The events that stop and wake many waits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from ..options import CancelEvent, WakeSignal
from .clock import SIGNAL_SLICE, subscribe, unsubscribe
from .schedule import Schedule, Stage, Task

FEW_EVENTS: Final = 8
"""So many are asked in every round, more of them only every `SIGNAL_SLICE`."""


class Signals:
    """The events that stop and wake waits; each is asked once, whoever shares it.

    Args:
        tasks: the waits, with events of their own.
        cancels: stop all of them.
    """

    def __init__(self, tasks: Iterable[Task], cancels: Iterable[CancelEvent]) -> None:
        self._cancels = list(cancels)
        self._of_cancel: dict[int, tuple[CancelEvent, list[Task]]] = {}
        self._of_wake: dict[int, tuple[WakeSignal, list[Task]]] = {}
        for task in tasks:
            if task.cancel is not None:
                self._of_cancel.setdefault(id(task.cancel), (task.cancel, []))[1].append(task)
            if task.wake is not None:
                key = id(task.wake)
                # One view for all who share the signal: each of ten thousand would be asked.
                if key not in self._of_wake:
                    self._of_wake[key] = (subscribe(task.wake), [])
                self._of_wake[key][1].append(task)
        self._look_at = -math.inf
        self.events: list[CancelEvent] = []
        """Those that can still change anything."""
        self._collect()

    def heed(self, schedule: Schedule, now: float) -> None:
        """Do what the events that are set ask for."""
        if not self.events or (len(self.events) > FEW_EVENTS and now < self._look_at):
            return
        self._look_at = now + SIGNAL_SLICE
        if any(event.is_set() for event in self._cancels):
            schedule.cancel_rest(now)
        for event, tasks in self._of_cancel.values():
            if event.is_set():
                for task in tasks:
                    schedule.cancel(task, now)
        for signal, tasks in self._of_wake.values():
            if signal.is_set():
                signal.clear()
                for task in tasks:
                    schedule.wake(task, now)
        # A cancel event stays set, and would end every sleep at once.
        self._collect()

    def came(self) -> None:
        """An event ended a sleep: it is to be looked for at once."""
        self._look_at = -math.inf

    def close(self) -> None:
        """The run is over: nobody looks at the signals any more."""
        for signal, _ in self._of_wake.values():
            unsubscribe(signal)

    def _collect(self) -> None:
        """Forget the events that only waits had which have ended."""
        for key in [key for key, (_, tasks) in self._of_wake.items() if _all_ended(tasks)]:
            unsubscribe(self._of_wake.pop(key)[0])
        self._of_cancel = {k: v for k, v in self._of_cancel.items() if not _all_ended(v[1])}
        cancels = [event for event, _ in self._of_cancel.values()]
        self.events = [*self._cancels, *cancels, *(event for event, _ in self._of_wake.values())]


def _all_ended(tasks: list[Task]) -> bool:
    """Whether the tasks have ended; those at the end of the list that have are dropped.

    It is asked in every round: going through thousands that share an event would take longer
    than their calls.
    """
    while tasks and tasks[-1].stage is Stage.ENDED:
        tasks.pop()
    return not tasks
