"""Waits that one call can answer: their common schedule, and which of them the next call is for.

The waits of a group differ only in the identifiers that they ask for, so that one call can ask
for many of them. That takes two things:

- One schedule. All delays of a round are drawn alike. A wait whose delay ends before the next
  poll of the group waits for that poll. No wait is polled before its own delay has ended, and none
  is held up where its own time would not last: a last attempt is made when it is due.
- Shared batches. The waits that are queued go into one call, up to the limit of the operation. A
  batch whose call ended in an error that may be about one of its waits is halved until that wait
  is alone, and the wait stays alone for as long as its attempts end in such an error. Waits whose
  identifiers an answer omits are asked for once more without the others: on their own, they may
  be an error.

Every wait keeps its own machine: its attempts, its verdicts and its end are its own.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Final

from ..engine.backoff import draw
from ..engine.machine import Policy
from .service_limiter import ClientConnections
from .tasks import Task
from .wait_run import RANDOM

LARGEST_DELAY_SHARE: Final = 0.5
"""The share of a delay by which one late answer may put off the next poll of the group."""


class Group:
    """Waits that one call can answer.

    Args:
        join: makes one call for several tasks; its `judge` returns `SharedAttempts`.
        limit: the number of identifiers that one call may ask for.
        source: where the draws of a round come from.
    """

    def __init__(
        self,
        join: Callable[[Sequence[Any]], Any],
        limit: int,
        *,
        source: Random = RANDOM,
    ) -> None:
        self.join = join
        self.limit = limit
        self.due = -math.inf
        """When the group is polled next."""
        self.is_disbanded = False
        """An answer could not be split: from then on each wait is polled on its own."""
        self.omits_missing = False
        """The service is known to omit what it does not know, instead of answering an error."""
        self.in_queue = False
        """The client has the group in its queue."""
        self.queued: deque[Task] = deque()
        self._source = source
        self._fraction = source.random()
        self._drawn_for = self.due
        self._paces: dict[Callable[[int], float], Callable[[int], float]] = {}
        self._delays: dict[tuple[Callable[[int], float], int], float] = {}

    # --- one schedule ----------------------------------------------------------------------

    def random(self, low: float, high: float) -> float:
        """Return a draw that is the same for all delays of a round with the same bounds."""
        if self.is_disbanded:
            return draw(self._source, low, high)
        if isinstance(low, int) and isinstance(high, int):
            return low + int(self._fraction * (high - low + 1))
        return low + self._fraction * (high - low)

    def policy(self, policy: Policy) -> Policy:
        """Return a policy whose `delay_pace` function is called once for each attempt number.

        Such a function may draw, and of a thousand draws the largest would delay all waits.
        """
        pace = policy.pace
        if not callable(pace):
            return policy
        return replace(policy, pace=self._paces.setdefault(pace, self._shared(pace)))

    def _shared(self, pace: Callable[[int], float]) -> Callable[[int], float]:
        def delay(attempt: int) -> float:
            if self.is_disbanded:
                return pace(attempt)
            key = pace, attempt
            if key not in self._delays:
                self._delays[key] = pace(attempt)
            return self._delays[key]

        return delay

    def plan(self, task: Task, now: float) -> None:
        """Let the next poll of the group be no earlier than the end of a delay that begins.

        A wait that has not been polled yet puts off no other, nor does one before its last
        attempt. Where a poll of the group is planned, neither does a wait that a signal woke, nor
        one whose answer came so late that the others would wait for half a delay more.
        """
        if not task.run.attempts or task.run.is_last:
            return
        is_planned, late = self.due > now, task.due - self.due
        if is_planned and (task.was_woken or late > task.delay * LARGEST_DELAY_SHARE):
            return
        self.due = max(self.due, task.due)

    def postpones(self, task: Task, now: float) -> bool:
        """Return whether a wait whose delay has ended waits for the next poll of the group."""
        if self.is_disbanded or self.due <= now or task.run.is_last:
            return False
        return self.due + task.run.policy.min_delay <= task.until

    def begin_round(self, now: float) -> None:
        """Draw for a new round, if the poll that is due is the first of one."""
        if now >= self.due and self._drawn_for != self.due:
            self._drawn_for = self.due
            self._fraction = self._source.random()

    # --- shared batches --------------------------------------------------------------------

    def shares(self, task: Task) -> bool:
        """Return whether the next attempt of a wait may share a call."""
        return not self.is_disbanded and not task.is_alone

    @property
    def is_queued(self) -> bool:
        """Whether any wait is queued; those that ended in the queue are dropped."""
        while self.queued and not self.queued[0].is_queued:
            self.queued.popleft()
        return bool(self.queued)

    def take(self) -> list[Task]:
        """Remove the waits that the next call is for from the queue, in its order."""
        taken: list[Task] = []
        ids: set[str] = set()
        while self.is_queued:
            new = [each for each in self.queued[0].ids if each not in ids]
            if taken and len(ids) + len(new) > self.limit:
                break
            ids.update(new)
            taken.append(self.queued.popleft())
        return taken

    def disband(self) -> list[Task]:
        """Stop sharing calls; return the waits that were queued, for queues of their own."""
        self.is_disbanded = True
        queued = [task for task in self.queued if task.is_queued]
        self.queued.clear()
        return queued


class SharedBatch:
    """Waits that share one call.

    Args:
        group: the group of the waits.
        tasks: the waits.

    Attributes:
        until: the latest of the deadlines.
    """

    __slots__ = ("_call", "group", "tasks", "until")

    def __init__(self, group: Group, tasks: Sequence[Task]) -> None:
        self.group = group
        self.tasks = list(tasks)
        self.until = max(task.until for task in tasks)
        self._call: Any = None

    @property
    def call(self) -> Any:
        """The call for all of the waits, which is also the judge of its reply."""
        if self._call is None:
            self._call = self.group.join(self.tasks)
        return self._call

    @property
    def connections(self) -> ClientConnections:
        """The connections of the client that is called."""
        return self.tasks[0].connections

    @property
    def is_queued(self) -> bool:
        """Whether any of the waits is still queued."""
        return any(task.is_queued for task in self.tasks)

    def take(self) -> list[Task]:
        """Return the waits that have not ended in the queue."""
        return [task for task in self.tasks if task.is_queued]

    def to_ask_again(self, omitted: Collection[int]) -> list[Task]:
        """Return the waits that have to be asked for again, without the others.

        Args:
            omitted: the places of the waits that the answer omits. If it omits all of them, the
                service is known to do so.
        """
        if omitted and len(omitted) == len(self.tasks):
            self.group.omits_missing = True
        return [] if self.group.omits_missing else [self.tasks[index] for index in sorted(omitted)]


def halves(group: Group, tasks: Sequence[Task]) -> list[SharedBatch | Task]:
    """Return two batches of half the waits each; a single wait stays a task."""
    middle = (len(tasks) + 1) // 2
    parts = [part for part in (tasks[:middle], tasks[middle:]) if part]
    return [part[0] if len(part) == 1 else SharedBatch(group, part) for part in parts]
