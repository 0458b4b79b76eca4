"""Waits as a schedule knows them, each alone and in groups that one call can answer.

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

import enum
import math
import sys
from collections import deque
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextvars import Context
from dataclasses import KW_ONLY, dataclass, field
from functools import cache, partial
from typing import Any, ClassVar, Final, NamedTuple

from ..calls.budget import Reply
from ..calls.clock import current_time
from ..engine.delays import draw, jittered_delay
from ..engine.machine import Policy
from ..engine.screen_plan import FEWEST_WAITS, MOST_SCREENED
from ..options import CancelEvent, Subscribable, WaitOptions, WakeSignal
from ..outcome import WaiterOutcome
from ..service.sharing import Coalescing, asked_ids
from ..wait.drivers import PreparedWait
from ..wait.wait_run import RANDOM, WaitRun
from .limits import ClientConnections
from .screen_call import ScreenCall, Screening, screen_of
from .shared_call import SharedCall
from .wait import Wait

LARGEST_DELAY_SHARE: Final = 0.5
"""The share of a delay by which one late answer may put off the next poll of the group."""


class TaskStage(enum.Enum):
    """What a task waits for."""

    DELAYED = enum.auto()
    """The end of a delay."""
    QUEUED = enum.auto()
    """Room for its call."""
    CALLING = enum.auto()
    """The reply to its call."""
    ENDED = enum.auto()
    """Nothing: it is over."""


@dataclass(slots=True, eq=False, repr=False)
class Task:
    """One wait among many; `schedule` alone changes it."""

    run: WaitRun
    call: Any
    """The `BlockingCall` or `AwaitedCall` of each attempt that is not shared."""
    connections: ClientConnections
    """Those of the client that is called."""
    _: KW_ONLY
    cancel: CancelEvent | None = None
    """Ends this wait alone."""
    wake: WakeSignal | Subscribable | None = None
    """Ends a delay of this wait early."""
    group: Group | None = None
    """The waits that one call can answer together with this one."""
    ids: Sequence[str] = ()
    """The identifiers that the wait asks for, as its group counts them."""
    context: Context | None = field(default=None, init=False)
    """The context variables that the wait sees; None: those of the run."""
    index: int = field(default=0, init=False)
    """The place among the waits of the run."""
    stage: TaskStage = field(default=TaskStage.DELAYED, init=False)
    delay: float = field(default=0.0, init=False)
    due: float = field(default=0.0, init=False)
    """When its delay ends or, without one, its deadline is checked; infinity: never."""
    until: float = field(default=math.inf, init=False)
    """The deadline of the wait."""
    throttles_seen: float = field(default=0, init=False)
    """Throttles of the client when the delay began."""
    sharers: CallGroup | None = field(default=None, init=False)
    """The waits that share the call in flight; None: it is for this wait alone."""
    call_made: bool = field(default=False, init=False)
    """Whether a call was made for the present attempt."""
    has_turn: bool = field(default=False, init=False)
    """Whether the call in flight has a connection, and no longer waits for one."""
    wake_pending: bool = field(default=False, init=False)
    """Whether a signal was set while a call was in flight."""
    was_woken: bool = field(default=False, init=False)
    """Whether a signal ended the last delay."""
    is_brought_forward: bool = field(default=False, init=False)
    """Whether a signal has shortened the present delay."""
    is_alone: bool = field(default=False, init=False)
    """Whether the last attempt was an error that would spoil a shared call."""
    shared: int = field(default=0, init=False)
    """Attempts by shared calls since the last call for this wait alone."""
    result: WaiterOutcome[Any] | Exception | None = field(default=None, init=False)
    """The outcome, or the error of a wait that did not succeed; None until it has ended."""

    @classmethod
    def of(
        cls, wait: PreparedWait, options: WaitOptions, connections: ClientConnections, **own: Any
    ) -> Task:
        """Return the task of a wait that is ready to start."""
        call, cancel = wait.calls.of_client(), options.cancel_event
        return cls(wait.wait_run, call, connections, cancel=cancel, wake=options.wake_signal, **own)

    @property
    def is_answered(self) -> bool:
        """Whether the call in flight has its answer, and only parses it."""
        return getattr(self.call, "is_answered", False)

    @property
    def is_queued(self) -> bool:
        """Whether the task waits for room for its call."""
        return self.stage is TaskStage.QUEUED

    @property
    def tasks(self) -> Sequence[Task]:
        """The waits that a call of this one is for: this one."""
        return (self,)

    def take(self) -> Sequence[Task]:
        """Return the waits that the next call is for: this one."""
        return (self,)


@dataclass(eq=False, repr=False)
class Group:
    """Waits that one call can answer."""

    join: Callable[[Sequence[Any]], Any]
    """Makes one call for several tasks, whose `split` returns `SharedAttempts`."""
    limit: int = sys.maxsize
    """The number of identifiers that one call may ask for."""
    due: float = field(init=False, default=-math.inf)
    """When the group is polled next."""
    waits: int = field(init=False, default=0)
    """Those that have not ended."""
    is_disbanded: bool = field(init=False, default=False)
    """An answer could not be split: from then on each wait is polled on its own."""
    trust: int = field(init=False, default=0)
    """Ends that a list showed, less those that it did not."""
    omits_missing: bool = field(init=False, default=False)
    """The service is known to omit what it does not know, instead of answering an error."""
    in_queue: bool = field(init=False, default=False)
    """The client has the group in its queue."""
    queued: deque[Task] = field(init=False, default_factory=deque)
    _drawn_for: float = field(init=False, default=-math.inf)
    _fraction: float = field(init=False, default_factory=RANDOM.random)
    _paces: dict[Callable[[int], float], Callable[[int], float]] = field(
        init=False, default_factory=dict
    )

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
        return self.due + task.run.policy.delays.min_delay <= task.until

    def begin_round(self, now: float) -> None:
        """Draw for a new round, if the poll that is due is the first of one."""
        if now >= self.due and self._drawn_for != self.due:
            self._drawn_for = self.due
            self._fraction = RANDOM.random()

    # --- shared calls --------------------------------------------------------------------

    screens: ClassVar[bool] = False
    """Whether the shared call takes the place of a wait's own, instead of being it."""

    def own_call_ended(self, screened: int) -> list[Task]:  # noqa: ARG002 - a subclass needs it
        """Note that a wait ended by its own call; return waits for queues of their own."""
        return []

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
            or run.attempts == run.policy.limits.max_attempts
            or task.was_woken
            or task.shared >= MOST_SCREENED
            or _has_to_be_timed(task, now)
        )
        return super().shares(task, now) and not is_own

    def own_call_ended(self, screened: int) -> list[Task]:
        """Note that a wait ended by its own call, after so many screened rounds; see `disband`.

        If the list had not shown the end, it is behind: so are the other states that it tells.
        """
        self.trust += -1 if screened >= MOST_SCREENED else 1
        return self.disband() if self.trust < 0 else []

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
    delays, attempts = task.run.policy.delays, task.run.attempts
    if task.shared < attempts - 1:
        return False  # One of the attempts before was an own call.
    longest = delays.max_delay
    if delays.learned is not None:
        longest = delays.learned.longest_delay
    elif delays.pace is None:
        longest = jittered_delay(
            attempts, min_delay=delays.min_delay, max_delay=longest, random=max
        )
    return task.until - now <= longest + delays.min_delay


class CallGroup:
    """Waits that share one call.

    Args:
        group: the group of the waits.
        tasks: the waits.

    Attributes:
        until: when the call has to be over.
        has_turn: whether it has a connection.
    """

    __slots__ = ("_call", "group", "has_turn", "tasks", "until")

    def __init__(self, group: Group, tasks: Sequence[Task]) -> None:
        self.group = group
        self.tasks = list(tasks)
        self.until = group.until(tasks)
        self._call: Any = None
        self.has_turn = False

    @property
    def call(self) -> Any:
        """The call for all of the waits, which also splits its reply."""
        if self._call is None:
            self._call = self.group.join(self.tasks)
        return self._call

    @property
    def context(self) -> Context | None:
        """The context variables that the call sees; None: those of the run."""
        return self.tasks[0].context

    @property
    def is_answered(self) -> bool:
        """Whether the call in flight has its answer, and only parses it."""
        return getattr(self._call, "is_answered", False)

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


def halves(group: Group, tasks: Sequence[Task]) -> list[CallGroup | Task]:
    """Return the two halves of some waits, to share a call each; a single wait stays a task."""
    middle = (len(tasks) + 1) // 2
    parts = [part for part in (tasks[:middle], tasks[middle:]) if part]
    return [part[0] if len(part) == 1 else CallGroup(group, part) for part in parts]


def time_left(target: Task | CallGroup, now: float) -> float | None:
    """Return the seconds that a call for these waits has; None if it is not bounded."""
    return None if target.until == math.inf else max(0.0, target.until - now)


class FinishedCall(NamedTuple):
    """A call that is over."""

    target: Task | CallGroup
    """The wait or the waits that it was made for."""
    reply: Reply | None
    """None: the call raised."""
    error: BaseException | None


# --- which of many waits one call can answer -----------------------------------------------------

Membership = tuple[Group | None, Sequence[str]]
"""The group of a wait, and the identifiers that the wait asks for."""

ALONE: Final[Membership] = (None, ())
"""The calls of the wait cannot be shared."""


@dataclass(slots=True, eq=False, repr=False)
class Grouping:
    """The groups of a batch: same client, waiter, delays, and parameters apart from identifiers.

    `max_wait`, the number of attempts, the initial delay and what ends a wait may differ.
    """

    cancel: CancelEvent
    """Ends calls that are shared."""
    _: KW_ONLY
    screen: bool = True
    """Whether waits whose calls cannot be shared are screened."""
    by_age: bool = False
    """Whether waits may begin at different times: those whose delays depend on their age share
    calls only with others of about the same."""
    _groups: dict[tuple[Hashable, ...], Group] = field(init=False, default_factory=dict)

    def membership(self, wait: Wait, policy: Policy, options: WaitOptions) -> Membership:
        """Return the group of a wait, and what the wait asks for.

        A call in a thread that may be abandoned is never shared.
        """
        if options.call_in_thread:
            return ALONE
        coalescing = wait.bound_waiter.polling.coalescing
        asked = None if coalescing is None else asked_ids(coalescing, wait.parameters)
        if coalescing is None or asked is None:
            return self._screened(wait, policy) if self.screen else ALONE
        member, ids = asked
        others = {name: value for name, value in wait.parameters.items() if name != member}
        make = partial(self._new, coalescing, member)
        return self._group(wait, policy, (member, _frozen(others)), make), tuple(ids)

    def _screened(self, wait: Wait, policy: Policy) -> Membership:
        """Return the group of a wait that a sibling tells the state of."""
        screen = screen_of(wait.client, wait.bound_waiter)
        scope = None if screen is None else screen.scope_of(wait.parameters)
        if screen is None or scope is None:
            return ALONE

        def make() -> Group:
            screening = Screening(wait.called, wait.bound_waiter, screen, scope, self.cancel)
            return ScreenedGroup(partial(_screen_call, screening))

        group = self._group(wait, policy, _frozen(scope), make)
        return group, (wait.parameters[screen.id],)

    def _group(
        self, wait: Wait, policy: Policy, alike: Hashable, make: Callable[[], Group]
    ) -> Group | None:
        began, own = 0, policy.delays
        if own.learned is not None and self.by_age:
            began = int((current_time().clock()() - wait.age) / own.max_delay)
        delays = (own.min_delay, own.max_delay, own.pace, own.learned, began)
        called = id(wait.called), id(wait.bound_waiter.definition)
        key = (id(wait.client), *called, alike, delays)
        try:
            return self._groups.get(key) or self._groups.setdefault(key, make())
        except TypeError:  # A parameter or a delay_pace that is not hashable.
            return None

    def forget(self, client: Any) -> None:
        """Forget the groups of a client that has no open wait."""
        for key in [key for key in self._groups if key[0] == id(client)]:
            del self._groups[key]

    def _new(self, coalescing: Coalescing, member: str) -> Group:
        def join(tasks: Sequence[Task]) -> SharedCall:
            ids = [task.ids for task in tasks]
            judges = [task.run.judge for task in tasks]
            request = tasks[0].call.calls.send
            return SharedCall(request, member, ids, judges, coalescing, cancel=self.cancel)

        return Group(join, coalescing.limit)


def _screen_call(screening: Screening, tasks: Sequence[Task]) -> ScreenCall:
    return ScreenCall(screening, [task.ids[0] for task in tasks], [task.run for task in tasks])


def _frozen(value: Any) -> Any:
    """Return a hashable form of a parameter, equal for those that are sent alike.

    The types are part of it: `1 == True` in Python.
    """
    if isinstance(value, Mapping):
        return frozenset((name, _frozen(each)) for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(each) for each in value)
    return type(value), value
