"""Waits as a schedule knows them, each alone and in groups that one call can answer; their calls.

A call is for one wait (`OwnCall`) or for several. When it is over, it is *split*: into what each
of its waits is told, and the further calls that take its place.

The waits of a group differ only in the identifiers that they ask for, so that one call can ask
for many of them. That takes two things:

- One schedule. All delays of a round are drawn alike. A wait whose delay ends before the next
  poll of the group waits for that poll. No wait is polled before its own delay has ended, and none
  is held up where its own time would not last: a last attempt is made when it is due.
- Shared calls. The waits that are queued go into one call, up to the limit of the operation.

Every wait keeps its own machine: its attempts, its verdicts and its end are its own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextvars import Context
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple

from ..calls.budget import Reply
from ..calls.client_call import AwaitedCall, BlockingCall, Calls
from ..engine.delays import draw
from ..engine.machine import Policy
from ..options import CancelEvent, Subscribable, WaitOptions, WakeSignal
from ..outcome import WaiterOutcome
from ..wait.drivers import PreparedWait
from ..wait.facts import Attempt
from ..wait.wait_run import RANDOM, WaitRun
from .limits import ClientConnections

LARGEST_DELAY_SHARE: Final = 0.5
"""The share of a delay by which one late answer may put off the next poll of the group."""

# --- what a wait waits for -----------------------------------------------------------------------


class Delayed(NamedTuple):
    """The end of a delay."""

    seconds: float
    throttles: float
    """Throttles of the client when it began; infinity: it does not matter if there are more."""
    is_brought_forward: bool
    """Whether a signal has shortened it."""
    was_woken: bool
    """Whether a signal ended the delay before."""


class Due(NamedTuple):
    """Room for the call of an attempt."""

    was_woken: bool = False
    """Whether a signal ended the delay."""
    call_made: bool = False
    """Whether a call was made for the attempt."""


class Calling(NamedTuple):
    """The reply to a call."""

    call: PlannedCall
    was_woken: bool
    call_made: bool
    """Whether another call was made for the attempt before."""


class Ended(NamedTuple):
    """Nothing: it is over."""

    result: WaiterOutcome[Any] | Exception
    """The outcome, or the error of a wait that did not succeed."""


@dataclass(slots=True, eq=False, repr=False)
class Task:
    """One wait among many; `schedule` alone changes it."""

    number: int
    """No other wait of the run has it."""
    run: WaitRun
    send: Callable[[], Any]
    """Makes the bare call of each attempt that is not shared."""
    calls: Calls
    """How it is made."""
    connections: ClientConnections
    """Those of the client that is called."""
    _: KW_ONLY
    cancel: CancelEvent | None = None
    """Ends this wait alone."""
    wake: WakeSignal | Subscribable | None = None
    """Ends a delay of this wait early."""
    context: Context | None = None
    """The context variables that the wait sees; None: those of the run."""
    group: Group | None = None
    """The waits that one call can answer together with this one."""
    ids: Sequence[str] = ()
    """The identifiers that the wait asks for, as its group counts them."""
    stage: Delayed | Due | Calling | Ended = field(default=Due(), init=False)
    due: float = field(default=0.0, init=False)
    """When its delay ends or, without one, its deadline is checked; infinity: never."""
    until: float = field(default=math.inf, init=False)
    """The deadline of the wait."""
    wake_pending: bool = field(default=False, init=False)
    """Whether a signal was set while a call was in flight."""
    shared: int | None = field(default=0, init=False)
    """Attempts by shared calls since the last call for this wait alone; None: that call ended in
    an error, which would spoil a shared one."""

    @classmethod
    def of(
        cls,
        number: int,
        wait: PreparedWait,
        options: WaitOptions,
        connections: ClientConnections,
        **own: Any,
    ) -> Task:
        """Return the task of a wait that is ready to start."""
        cancel, wake = options.cancel_event, options.wake_signal
        of_wait = wait.wait_run, wait.send, wait.calls
        return cls(number, *of_wait, connections, cancel=cancel, wake=wake, **own)

    @property
    def result(self) -> WaiterOutcome[Any] | Exception | None:
        """The outcome, or the error of a wait that did not succeed; None until it has ended."""
        return self.stage.result if isinstance(self.stage, Ended) else None

    @property
    def is_due(self) -> bool:
        """Whether the task waits for room for its call."""
        return isinstance(self.stage, Due)

    def is_in(self, call: PlannedCall) -> bool:
        """Return whether the task waits for the reply to this call."""
        return isinstance(self.stage, Calling) and self.stage.call is call

    def take(self) -> Sequence[Task]:
        """Return the waits that the next call is for: this one."""
        return (self,)

    def call_for(self, tasks: Sequence[Task]) -> PlannedCall:
        """Return the call for this wait."""
        return OwnCall(tasks)


# --- waits that one call can answer --------------------------------------------------------------


class Group(ABC):
    """Waits that one call can answer.

    Attributes:
        due: when the group is polled next.
        waits: those that have not ended.
        is_disbanded: an answer could not be split: from then on each wait is polled on its own.
        in_queue: the client has the group in its queue.
        queued: the waits that are due.
    """

    screens: ClassVar[bool] = False
    """Whether the shared call takes the place of a wait's own, instead of being it."""

    def __init__(self) -> None:
        self.due = -math.inf
        self.waits = 0
        self.is_disbanded = False
        self.in_queue = False
        self.queued: deque[Task] = deque()
        self._drawn_for = -math.inf
        self._fraction = RANDOM.random()
        self._paces: dict[Callable[[int], float], Callable[[int], float]] = {}

    @property
    def is_apart(self) -> bool:
        """Whether each wait is polled on its own."""
        return self.is_disbanded

    # --- one schedule ----------------------------------------------------------------------

    def random(self, low: float, high: float) -> float:
        """Return a draw that is the same for all delays of a round with the same bounds."""
        if self.is_apart:
            return draw(RANDOM, low, high)
        if isinstance(low, int) and isinstance(high, int):
            return low + int(self._fraction * (high - low + 1))
        return low + self._fraction * (high - low)

    def policy(self, policy: Policy) -> Policy:
        """Return a policy whose `delay_pace` function is called once for each attempt number.

        Such a function may draw, and of a thousand draws the largest would delay all waits.
        """
        pace = policy.delays.pace
        if not callable(pace):
            return policy
        own = self._paces.setdefault(pace, self._shared(pace))
        return policy._replace(delays=policy.delays._replace(pace=own))

    def _shared(self, pace: Callable[[int], float]) -> Callable[[int], float]:
        of_group = cache(pace)
        return lambda attempt: pace(attempt) if self.is_apart else of_group(attempt)

    def plan(self, task: Task, delay: Delayed, now: float) -> None:
        """Let the next poll of the group be no earlier than the end of a delay that begins.

        A wait that has not been polled yet puts off no other, nor does one before its last
        attempt. Where a poll of the group is planned, neither does a wait that a signal woke, nor
        one whose answer came so late that the others would wait for half a delay more.
        """
        if not task.run.attempts or task.run.is_last:
            return
        is_planned, late = self.due > now, task.due - self.due
        if is_planned and (delay.was_woken or late > delay.seconds * LARGEST_DELAY_SHARE):
            return
        self.due = max(self.due, task.due)

    def postpones(self, task: Task, now: float) -> bool:
        """Return whether a wait whose delay has ended waits for the next poll of the group."""
        if self.is_apart or self.due <= now or task.run.is_last:
            return False
        return self.due + task.run.policy.delays.min_delay <= task.until

    def begin_round(self, now: float) -> None:
        """Draw for a new round, if the poll that is due is the first of one."""
        if now >= self.due and self._drawn_for != self.due:
            self._drawn_for = self.due
            self._fraction = RANDOM.random()

    # --- shared calls --------------------------------------------------------------------

    @abstractmethod
    def call_for(self, tasks: Sequence[Task]) -> PlannedCall:
        """Return a call for some of the waits: one that is alone has its own."""

    @abstractmethod
    def take(self) -> Sequence[Task]:
        """Remove the waits for the next call from the queue, in order."""

    def shares(self, task: Task, due: Due, now: float) -> bool:  # noqa: ARG002 - a subclass asks
        """Return whether the next attempt of a wait may share a call."""
        return not self.is_apart and task.shared is not None

    def own_call_ended(self, screened: int) -> None:  # noqa: B027 - a subclass takes note
        """Note that a wait ended by its own call, after so many attempts by shared ones."""

    @property
    def is_due(self) -> bool:
        """Whether any wait is queued; those that ended in the queue are dropped."""
        while self.queued and not self.queued[0].is_due:
            self.queued.popleft()
        return bool(self.queued)


# --- calls ---------------------------------------------------------------------------------------

Share = Attempt | Reply | Exception
"""What a wait is told: what its reply means; how its call ended without one; what was raised."""


class Split(NamedTuple):
    """What comes of a call that is over."""

    shares: Sequence[tuple[Task, Share]] = ()
    """What its waits are told."""
    calls: Sequence[PlannedCall] = ()
    """The calls that are made next, for the other waits."""
    throttled: bool | None = None
    """Whether the service throttled the call; None: it was not answered."""


class PlannedCall(ABC):
    """A call for some waits of one client.

    Args:
        tasks: the waits.
        until: when it has to be over.

    Attributes:
        has_turn: whether it has a connection, and no longer waits for one.
    """

    __slots__ = ("_made", "has_turn", "tasks", "until")

    is_of_waits: ClassVar[bool] = True
    """Whether it counts as the call of its waits' attempts."""

    def __init__(self, tasks: Sequence[Task], until: float) -> None:
        self.tasks = tasks
        self.until = until
        self.has_turn = False
        self._made: BlockingCall | AwaitedCall | None = None

    @abstractmethod
    def made(self) -> BlockingCall | AwaitedCall:
        """Return the call of the client."""

    @abstractmethod
    def split(self, result: Reply | Exception, live: Collection[Task], now: float) -> Split:
        """Return what comes of it.

        Args:
            result: the reply, or what was raised instead of one.
            live: those of its waits that have not ended; the others are told nothing.
            now: the time.
        """

    @abstractmethod
    def call_for(self, tasks: Sequence[Task]) -> PlannedCall:
        """Return the same call without those waits that ended in the queue."""

    def begun(self) -> BlockingCall | AwaitedCall:
        """Return what makes the call."""
        self._made = self.made()
        return self._made

    def time_left(self, now: float) -> float | None:
        """Return the seconds that the call has; None if it is not bounded."""
        return None if self.until == math.inf else max(0.0, self.until - now)

    @property
    def context(self) -> Context | None:
        """The context variables that the call sees; None: those of the run."""
        return self.tasks[0].context

    @property
    def connections(self) -> ClientConnections:
        """The connections of the client that is called."""
        return self.tasks[0].connections

    @property
    def is_awaited(self) -> bool:
        """Whether a task awaits the call; a thread makes any other."""
        return bool(self.tasks[0].calls.awaited)

    @property
    def is_answered(self) -> bool:
        """Whether the call in flight has its answer, and only parses it."""
        return self._made is not None and self._made.is_answered

    @property
    def is_due(self) -> bool:
        """Whether any of the waits is still queued."""
        return any(task.is_due for task in self.tasks)

    def take(self) -> Sequence[Task]:
        """Return the waits that have not ended in the queue."""
        return [task for task in self.tasks if task.is_due]


class OwnCall(PlannedCall):
    """The call of one wait."""

    __slots__ = ()

    def __init__(self, tasks: Sequence[Task]) -> None:
        super().__init__(tasks, tasks[0].until)

    def made(self) -> BlockingCall | AwaitedCall:
        task = self.tasks[0]
        if task.run.search is None:
            return task.calls.of_client(task.send)
        return task.calls.of_reads().of_client(task.run.search.send)

    def split(self, result: Reply | Exception, live: Collection[Task], now: float) -> Split:  # noqa: ARG002 - one wait has all of it, at any time
        task = self.tasks[0]
        share: Share = result
        if isinstance(result, Reply) and task.run.search is None and is_answer(result):
            share = judged(task, result)
        return Split([(task, share)], throttled=is_throttle([share]))

    def call_for(self, tasks: Sequence[Task]) -> PlannedCall:  # noqa: ARG002 - there is one
        return self


def is_answer(reply: Reply) -> bool:
    """Return whether there is something to judge: the call was not ended before its reply."""
    return reply.ended in (None, "retry refused")


def judged(task: Task, reply: Reply) -> Attempt | Exception:
    """Return what a reply means to a wait.

    A bug in the caller's code, such as a condition, ends its own waits only.
    """
    try:
        return task.run.judge.judge(reply)
    except Exception as error:
        return error


def is_throttle(shares: Sequence[Share]) -> bool | None:
    """Return whether a call with these shares was throttled; None if it was not answered."""
    attempts = [share for share in shares if isinstance(share, Attempt)]
    return any(each.facts.throttled for each in attempts) if attempts else None
