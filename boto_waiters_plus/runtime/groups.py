"""Waits that one call can answer: their common schedule, and which of them the next call asks for.

Waits of one group differ only in what they ask for, so that one call can ask for many of them.
That takes two things:

- One schedule. Every pause of a round is drawn alike; whoever's is over before the group's next
  look waits for that look. A wait is never looked at before its own pause is over, and never held
  up where its time would not last: a last look stays where it is.
- Chunks. Those that are queued go into one call, up to the limit of the operation. A chunk whose
  call ended in an error that may be about one of them is halved until that one is alone; it stays
  alone for as long as its looks end so. Those that an answer says nothing of may be an error where
  they are asked for without the others: they are, once.

Every wait keeps its own machine: attempts, verdicts and its end are its own.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..engine.backoff import draw
from .wait_run import RANDOM

if TYPE_CHECKING:
    from ..engine.machine import Policy
    from .schedule import Pool, Task


MOST_PUT_OFF: Final = 0.5
"""The share of a pause by which one late answer puts off the next look of all."""


class Group:
    """Waits that one call can answer.

    Args:
        join: makes one call for several tasks; its `judge` returns `SharedAttempts`.
        limit: identifiers that one call may ask for.
    """

    def __init__(self, join: Callable[[Sequence[Any]], Any], limit: int) -> None:
        self.join = join
        self.limit = limit
        self.due = -math.inf
        """When the next look of all is."""
        self.is_apart = False
        """An answer could not be told apart: from then on each wait looks for itself."""
        self.omits = False
        """It is known that the service says nothing of what it does not know."""
        self.is_waiting = False
        """Whether the pool has it in its queue."""
        self.queued: deque[Task] = deque()
        self._fraction = RANDOM.random()
        self._drawn_for = self.due
        self._paces: dict[Callable[[int], float], Callable[[int], float]] = {}
        self._delays: dict[tuple[Callable[[int], float], int], float] = {}

    # --- one schedule ----------------------------------------------------------------------

    def random(self, low: float, high: float) -> float:
        """A draw that is the same for all pauses of a round, as far as their bounds are."""
        if self.is_apart:
            return draw(RANDOM, low, high)
        if isinstance(low, int) and isinstance(high, int):
            return low + int(self._fraction * (high - low + 1))
        return low + self._fraction * (high - low)

    def policy(self, policy: Policy) -> Policy:
        """A policy whose pace, where it is a function, is asked once for each attempt number.

        Such a function may draw, and a thousand draws would make the largest the delay of all.
        """
        pace = policy.pace
        if not callable(pace):
            return policy
        return replace(policy, pace=self._paces.setdefault(pace, self._shared(pace)))

    def _shared(self, pace: Callable[[int], float]) -> Callable[[int], float]:
        def delay(attempt: int) -> float:
            if self.is_apart:
                return pace(attempt)
            key = pace, attempt
            if key not in self._delays:
                self._delays[key] = pace(attempt)
            return self._delays[key]

        return delay

    def plan(self, task: Task, now: float) -> None:
        """Take note of a pause that begins: the next look of all is not before its end.

        A wait that has yet to look for the first time does not put off the others, nor does one
        at its last look. Where a look of all is planned, nor does one that a signal woke, or whose
        answer came so late that they would wait for half a pause more: it joins the look after.
        """
        if not task.run.attempts or task.run.is_last:
            return
        is_planned, late = self.due > now, task.due - self.due
        if is_planned and (task.was_woken or late > task.pause * MOST_PUT_OFF):
            return
        self.due = max(self.due, task.due)

    def holds(self, task: Task, now: float) -> bool:
        """Whether a wait whose pause is over is to wait for the next look of all."""
        if self.is_apart or self.due <= now or task.run.is_last:
            return False
        return self.due + task.run.policy.min_delay <= task.until

    def begin(self, now: float) -> None:
        """A look of one of its waits is due; the first of a round makes the round's draw."""
        if now >= self.due and self._drawn_for != self.due:
            self._drawn_for = self.due
            self._fraction = RANDOM.random()

    # --- chunks ----------------------------------------------------------------------------

    def takes(self, task: Task) -> bool:
        """Whether the next look of a wait may be shared."""
        return not self.is_apart and not task.is_alone

    def is_live(self) -> bool:
        """Whether somebody is queued; those that ended while they were are dropped."""
        while self.queued and not self.queued[0].is_queued:
            self.queued.popleft()
        return bool(self.queued)

    def take(self) -> list[Task]:
        """The waits that the next call asks for, the first that came first."""
        taken: list[Task] = []
        ids: set[str] = set()
        while self.is_live():
            new = [each for each in self.queued[0].ids if each not in ids]
            if taken and len(ids) + len(new) > self.limit:
                break
            ids.update(new)
            taken.append(self.queued.popleft())
        return taken

    def disband(self) -> list[Task]:
        """Give up sharing; those that were queued, who now have to queue for themselves."""
        self.is_apart = True
        queued = [task for task in self.queued if task.is_queued]
        self.queued.clear()
        return queued


class Chunk:
    """Waits that one call asks for.

    Args:
        group: theirs.
        tasks: the waits.
    """

    __slots__ = ("_call", "group", "tasks", "until")

    def __init__(self, group: Group, tasks: Sequence[Task]) -> None:
        self.group = group
        self.tasks = list(tasks)
        self.until = max(task.until for task in tasks)
        """When the time of the last of them is used up."""
        self._call: Any = None

    @property
    def call(self) -> Any:
        """The call for all of them."""
        if self._call is None:
            self._call = self.group.join(self.tasks)
        return self._call

    @property
    def pool(self) -> Pool:
        """The connections they use."""
        return self.tasks[0].pool

    def is_live(self) -> bool:
        """Whether somebody is still queued."""
        return any(task.is_queued for task in self.tasks)

    def take(self) -> list[Task]:
        """The waits that have not ended while they were queued."""
        return [task for task in self.tasks if task.is_queued]

    def unheard(self, silent: Collection[int]) -> list[Task]:
        """Those that have to be asked for again, without the others.

        Args:
            silent: the places of those that the answer says nothing of. Where that is all of them
                it is known what the service does.
        """
        if silent and len(silent) == len(self.tasks):
            self.group.omits = True
        return [] if self.group.omits else [self.tasks[index] for index in sorted(silent)]


def halves(group: Group, tasks: Sequence[Task]) -> list[Chunk | Task]:
    """Two chunks of half the waits each; one alone is no chunk."""
    middle = (len(tasks) + 1) // 2
    parts = [part for part in (tasks[:middle], tasks[middle:]) if part]
    return [part[0] if len(part) == 1 else Chunk(group, part) for part in parts]
