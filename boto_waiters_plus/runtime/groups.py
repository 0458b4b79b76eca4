"""Waits that one call can answer: their common schedule, and which of them the next call is for.

The waits of a group differ only in the identifiers that they ask for, so that one call can ask
for many of them. That takes two things:

- One schedule. All delays of a round are drawn alike. A wait whose delay ends before the next
  poll of the group waits for that poll. No wait is polled before its own delay has ended, and none
  is held up where its own time would not last: a last attempt is made when it is due.
- Shared calls. The waits that are queued go into one call, up to the limit of the operation. If
  the call ends in an error that may be about one of them, they are halved until that wait is
  alone, and the wait stays alone for as long as its attempts end in such an error. Waits whose
  identifiers an answer omits are asked for once more without the others: on their own, they may
  be an error.

Every wait keeps its own machine: its attempts, its verdicts and its end are its own.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache
from random import Random
from typing import Any, ClassVar, Final

from ..engine.backoff import draw, jittered_delay
from ..engine.machine import Policy
from ..engine.screen_plan import FEWEST_WAITS, MOST_SCREENED
from .service_limiter import ClientConnections
from .tasks import Task
from .wait_run import RANDOM

LARGEST_DELAY_SHARE: Final = 0.5
"""The share of a delay by which one late answer may put off the next poll of the group."""


@dataclass(eq=False, repr=False)
class Group:
    """Waits that one call can answer."""

    join: Callable[[Sequence[Any]], Any]
    """Makes one call for several tasks; its `judge` returns `SharedAttempts`."""
    limit: int = sys.maxsize
    """The number of identifiers that one call may ask for."""
    _: KW_ONLY
    source: Random = RANDOM
    """Where the draws of a round come from."""
    due: float = field(init=False, default=-math.inf)
    """When the group is polled next."""
    waits: int = field(init=False, default=0)
    """Those that have not ended."""
    is_disbanded: bool = field(init=False, default=False)
    """An answer could not be split: from then on each wait is polled on its own."""
    omits_missing: bool = field(init=False, default=False)
    """The service is known to omit what it does not know, instead of answering an error."""
    in_queue: bool = field(init=False, default=False)
    """The client has the group in its queue."""
    queued: deque[Task] = field(init=False, default_factory=deque)
    _drawn_for: float = field(init=False, default=-math.inf)
    _paces: dict[Callable[[int], float], Callable[[int], float]] = field(
        init=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        self._fraction = self.source.random()

    @property
    def is_apart(self) -> bool:
        """Whether each wait is polled on its own."""
        return self.is_disbanded

    # --- one schedule ----------------------------------------------------------------------

    def random(self, low: float, high: float) -> float:
        """Return a draw that is the same for all delays of a round with the same bounds."""
        if self.is_apart:
            return draw(self.source, low, high)
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
        of_group = cache(pace)
        return lambda attempt: pace(attempt) if self.is_apart else of_group(attempt)

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
        if self.is_apart or self.due <= now or task.run.is_last:
            return False
        return self.due + task.run.policy.min_delay <= task.until

    def begin_round(self, now: float) -> None:
        """Draw for a new round, if the poll that is due is the first of one."""
        if now >= self.due and self._drawn_for != self.due:
            self._drawn_for = self.due
            self._fraction = self.source.random()

    # --- shared calls --------------------------------------------------------------------

    screens: ClassVar[bool] = False
    """Whether the shared call takes the place of a wait's own, instead of being it."""

    def shares(self, task: Task, now: float) -> bool:  # noqa: ARG002 - a subclass needs it
        """Return whether the next attempt of a wait may share a call."""
        return not self.is_apart and not task.is_alone

    @property
    def is_queued(self) -> bool:
        """Whether any wait is queued; those that ended in the queue are dropped."""
        while self.queued and not self.queued[0].is_queued:
            self.queued.popleft()
        return bool(self.queued)

    def take(self) -> list[Task]:
        """Remove the waits for the next call from the queue, in order."""
        taken: list[Task] = []
        ids: set[str] = set()
        while self.is_queued:
            new = [each for each in self.queued[0].ids if each not in ids]
            if taken and len(ids) + len(new) > self.limit:
                break
            ids.update(new)
            taken.append(self.queued.popleft())
        return taken

    def until(self, tasks: Sequence[Task]) -> float:
        """Return when a call has to be over: at the latest of the deadlines."""
        return max(task.until for task in tasks)

    def disband(self) -> list[Task]:
        """Stop sharing calls; return the waits that were queued, for queues of their own."""
        self.is_disbanded = True
        queued = [task for task in self.queued if task.is_queued]
        self.queued.clear()
        return queued


class ScreenedGroup(Group):
    """Waits that a common call screens: it tells which are worth their own call.

    `SharedAttempts.attempts` of that call has None for those.
    """

    screens = True

    @property
    def is_apart(self) -> bool:
        """Whether each wait is polled on its own."""
        return self.is_disbanded or self.waits < FEWEST_WAITS

    def shares(self, task: Task, now: float) -> bool:
        """Return whether the next attempt of a wait may be screened.

        A list that is behind would undo successes that have to follow each other.
        """
        run = task.run
        is_own = (
            run.is_last
            or run.has_succeeded_once
            or run.attempts == run.policy.max_attempts
            or task.was_woken
            or task.shared >= MOST_SCREENED
            or _has_to_be_timed(task, now)
        )
        return super().shares(task, now) and not is_own

    def take(self) -> list[Task]:
        """Remove all waits from the queue; the first alone if they are few."""
        if sum(task.is_queued for task in self.queued) >= FEWEST_WAITS:
            return super().take()
        return [self.queued.popleft()] if self.is_queued else []

    def until(self, tasks: Sequence[Task]) -> float:
        """Return when a call has to be over: a wait that ends has its own call before."""
        return min(task.until for task in tasks)


def _has_to_be_timed(task: Task, now: float) -> bool:
    """Return whether the attempt may be the only one to tell how long the wait's own call takes.

    The last attempt is given a time by the slowest call so far, and a list is a fast one.
    """
    policy, attempts = task.run.policy, task.run.attempts
    if task.shared < attempts - 1:
        return False  # One of the attempts before was an own call.
    longest = policy.max_delay
    if policy.pace is None:
        longest = jittered_delay(
            attempts, min_delay=policy.min_delay, max_delay=longest, random=max
        )
    return task.until - now <= longest + policy.min_delay


class Sharers:
    """Waits that share one call.

    Args:
        group: the group of the waits.
        tasks: the waits.

    Attributes:
        until: when the call has to be over.
    """

    __slots__ = ("_call", "group", "tasks", "until")

    def __init__(self, group: Group, tasks: Sequence[Task]) -> None:
        self.group = group
        self.tasks = list(tasks)
        self.until = group.until(tasks)
        self._call: Any = None

    @property
    def call(self) -> Any:
        """The call for all of the waits, which is also the judge of its reply."""
        if self._call is None:
            self._call = self.group.join(self.tasks)
        return self._call

    @property
    def has_begun(self) -> bool:
        """Whether the call was made before, and goes on: it keeps what it has read."""
        return self._call is not None

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


def halves(group: Group, tasks: Sequence[Task]) -> list[Sharers | Task]:
    """Return the two halves of some waits, to share a call each; a single wait stays a task."""
    middle = (len(tasks) + 1) // 2
    parts = [part for part in (tasks[:middle], tasks[middle:]) if part]
    return [part[0] if len(part) == 1 else Sharers(group, part) for part in parts]
