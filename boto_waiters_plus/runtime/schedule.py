"""Which of many waits are due, and which of them there is room for.

A heap of times, no thread and no clock: the loops of `scheduler` and `scheduler_async` make the
calls, and say what time it is. All waits are stepped in the thread of the loop.

What has room:

- at most `threads` calls at once;
- at most `Pool.limit` on one client, whose connections are as many;
- where several services are waited on, no more of one service than there are threads left for
  the others, so that one that hangs cannot take them all;
- after a throttle half as many calls to that service, and one more after each round of answers
  that are none. Its pauses that ran when the throttle came last twice as long, where their wait
  has time for it.

Waits of one `chunks.Group` share calls, and a schedule.
"""

from __future__ import annotations

import enum
import heapq
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from ..engine.machine import Cancelled, Decision, Ending, Pause, Poll, Woken
from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .attempt import AsyncCall, Attempt, Call, Reply, SharedAttempts
from .groups import Chunk, Group, halves
from .wait_run import WaitRun

DEFAULT_THREADS: Final = 32
"""Enough to hide the latency of a service; what Python computes for a call bounds the rest."""

EXPIRY_GRACE: Final = 0.001
"""Seconds: a look that is due when its wait ends is still made."""


class Lane:
    """One service, as throttles and outages hit it.

    Attributes:
        waits: of it that have not ended.
        calling: calls that run.
        window: calls that may run since it throttled.
        throttles: answers that were one.
    """

    __slots__ = ("calling", "throttles", "waits", "window")

    def __init__(self) -> None:
        self.waits = 0
        self.calling = 0
        self.window = math.inf
        self.throttles = 0

    def answered(self, *, throttled: bool) -> None:
        """A call is about to end with this answer."""
        if throttled:
            self.throttles += 1
            self.window = max(1.0, min(self.window, self.calling) / 2)
        elif self.window < math.inf:
            self.window += 1 / self.window


class Pool:
    """The connections of one client.

    Args:
        lane: the service it calls.
        limit: calls that may run at once.
    """

    __slots__ = ("calling", "is_waiting", "lane", "limit", "queued")

    def __init__(self, lane: Lane, limit: int) -> None:
        self.lane = lane
        self.limit = max(1, limit)
        self.calling = 0
        self.queued: deque[Entry] = deque()
        self.is_waiting = False
        """Whether the schedule has it in its round."""


class Stage(enum.Enum):
    """What a task is at."""

    PAUSING = enum.auto()
    QUEUED = enum.auto()
    CALLING = enum.auto()
    ENDED = enum.auto()


class Task:
    """One wait among many.

    Args:
        wait_run: the wait.
        port: what is called.
        pool: the connections it uses.
        cancel: ends this wait alone.
        wake: makes it look again at once.
        request: what the call sends, for the group that joins it.
        group: those that one call can answer together with it.
        ids: what it asks for, as the group counts it.

    Attributes:
        index: its place among the waits.
        result: the outcome of a wait that succeeded, the error of one that did not; None before.
    """

    __slots__ = (
        "call",
        "cancel",
        "chunk",
        "due",
        "expiry",
        "group",
        "ids",
        "index",
        "is_alone",
        "pause",
        "pool",
        "request",
        "result",
        "run",
        "stage",
        "throttles_seen",
        "until",
        "wake",
        "was_woken",
        "woken",
    )

    def __init__(
        self,
        run: WaitRun,
        call: Call | AsyncCall,
        pool: Pool,
        *,
        cancel: CancelEvent | None = None,
        wake: WakeSignal | Subscribable | None = None,
        request: Any = None,
        group: Group | None = None,
        ids: Sequence[str] = (),
    ) -> None:
        self.run = run
        self.call: Any = call
        self.pool = pool
        self.cancel = cancel
        self.wake = wake
        self.request = request
        self.group = group
        self.ids = ids
        self.index = 0
        self.stage = Stage.PAUSING
        self.due = 0.0
        """When the pause ends."""
        self.pause = 0.0
        """Seconds of the pause."""
        self.until = math.inf
        """When the time of the wait is used up."""
        self.throttles_seen: float = 0
        """Throttles of the lane that the pause has taken into account."""
        self.expiry: float | None = None
        """When the schedule looks whether it is used up."""
        self.woken = False
        """A signal came while a call ran."""
        self.was_woken = False
        """A signal ended the last pause."""
        self.chunk: Chunk | None = None
        """With whom it shares the call that runs."""
        self.is_alone = False
        """Its last look ended in an error that would spoil a call for others too."""
        self.result: WaiterOutcome[Any] | Exception | None = None

    @property
    def is_queued(self) -> bool:
        """Whether it is to be called and there was no room yet."""
        return self.stage is Stage.QUEUED

    def is_live(self) -> bool:
        """The same, of what a queue holds."""
        return self.is_queued

    @property
    def tasks(self) -> Sequence[Task]:
        """The waits of what a queue holds: itself."""
        return (self,)

    def take(self) -> Sequence[Task]:
        """The waits that a call for it asks for."""
        return self.tasks


Entry = Task | Chunk | Group
"""What a pool queues."""


class PlannedCall(NamedTuple):
    """A call to make."""

    task: Task | Chunk
    time_left: float | None


class Answer(NamedTuple):
    """A call that is over."""

    task: Task | Chunk
    reply: Reply | None
    """None: the call raised."""
    error: BaseException | None


class Schedule:
    """Which waits are due, and which of them may call.

    Times are those of one clock that never goes back; every method that takes `now` must be
    given the present.

    Args:
        threads: calls that may run at once.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._tasks: list[Task] = []
        # Ends of pauses, and of the time of those that may have to queue for longer than it.
        self._times: list[tuple[float, int]] = []
        self._round: deque[Pool] = deque()
        self._ended: deque[Task] = deque()
        self._lanes = 0
        self.calling = 0
        """Calls that run."""
        self.waits = 0
        """Waits that have not ended."""

    def begin(self, tasks: Sequence[Task], now: float) -> None:
        """Start all waits: their time begins now, whenever there is room for their first call."""
        self._tasks = list(tasks)
        self.waits = len(self._tasks)
        for index, task in enumerate(self._tasks):
            task.index = index
            lane = task.pool.lane
            self._lanes += not lane.waits
            lane.waits += 1
        for task in self._tasks:
            policy = task.run.policy
            if policy.max_wait is not None and policy.count_requests:
                task.until = now + policy.max_wait
            self._step(task, task.run.begin, now)

    def next_time(self) -> float | None:
        """When there is something to do though no call ends; None: not before one does."""
        return self._times[0][0] if self._times else None

    def pass_time(self, now: float) -> None:
        """Take note of what is over by now: pauses, and the time of waits that are queued."""
        while self._times and self._times[0][0] <= now:
            moment, index = heapq.heappop(self._times)
            task = self._tasks[index]
            if task.stage is Stage.PAUSING and task.due == moment:
                self._pause_is_over(task, now)
            elif task.expiry == moment:
                task.expiry = None
                # A call of its own ends by itself in time, one for others too goes on for them.
                if task.is_queued or (task.stage is Stage.CALLING and task.chunk is not None):
                    self._expire_or_plan(task, now)

    def wake(self, task: Task, now: float) -> None:
        """Let a wait look again at once."""
        if task.stage is Stage.PAUSING:
            task.was_woken = True
            self._step(task, lambda: task.run.paused(Woken(early=True)), now)
        elif task.stage is Stage.CALLING:
            task.woken = True

    def cancel(self, task: Task, now: float) -> None:
        """End a wait; the answer of a call that runs is not looked at any more."""
        if task.stage is Stage.QUEUED:
            self._step(task, task.run.cancel, now)
        elif task.stage is not Stage.ENDED:
            self._step(task, lambda: task.run.paused(Cancelled()), now)

    def cancel_rest(self, now: float) -> None:
        """End every wait."""
        for task in self._tasks:
            self.cancel(task, now)

    def calls(self, now: float) -> Iterator[PlannedCall]:
        """The calls that are due and have room; each must be made."""
        refused = 0
        while refused < len(self._round) and self.calling < self._threads:
            pool = self._round.popleft()
            entry = _first_queued(pool)
            if entry is None:
                pool.is_waiting = False
                continue
            # In turns, so that a client with thousands of waits does not hold up one with one.
            self._round.append(pool)
            if not self._has_room(pool):
                refused += 1
                continue
            refused = 0
            pool.queued.popleft()
            call = self._call(entry, now)
            if call is not None:
                self._count_call(pool, 1)
                yield call

    def answered(self, answer: Answer, now: float) -> None:
        """A call is over.

        Raises:
            BaseException: what the call ended in, where that is no `Exception`.
        """
        called, reply, error = answer
        pool = called.pool
        attempt: Attempt | SharedAttempts | None = None
        if reply is not None and reply.ended in (None, "retry refused"):
            try:
                judge = called.call if isinstance(called, Chunk) else called.run.judge
                attempt = judge.judge(reply)
            # A bug in a condition of the caller's: the end of its waits.
            except Exception as raised:
                reply, error = None, raised
        throttled = isinstance(attempt, SharedAttempts) and attempt.throttled
        throttled = throttled or (isinstance(attempt, Attempt) and attempt.facts.throttled)
        pool.lane.answered(throttled=throttled)
        self._count_call(pool, -1)
        if error is not None and not isinstance(error, Exception):
            raise error
        if isinstance(called, Chunk):
            assert not isinstance(attempt, Attempt), "the attempts of several waits"
            self._chunk_answered(called, reply, attempt, now)
        else:
            assert not isinstance(attempt, SharedAttempts), "the attempt of one wait"
            self._task_answered(called, reply, attempt, error, now)

    def ended(self) -> Iterator[Task]:
        """The waits that have ended since this was asked last."""
        while self._ended:
            yield self._ended.popleft()

    # --- calls -----------------------------------------------------------------------------

    def _call(self, entry: Entry, now: float) -> PlannedCall | None:
        """The call for what was queued; None if the time of all of it is used up."""
        tasks = []
        for task in entry.take():
            if task.until + EXPIRY_GRACE < now:
                self._expire(task, now)
            else:
                task.stage = Stage.CALLING
                tasks.append(task)
        if isinstance(entry, Group):
            self._wait_on(entry)
        if not tasks:
            return None
        group = tasks[0].group
        if group is None or (len(tasks) == 1 and not isinstance(entry, Chunk)):
            until = tasks[0].until
            return PlannedCall(tasks[0], None if until == math.inf else max(0.0, until - now))
        chunk = Chunk(group, tasks)
        for task in tasks:
            task.chunk = chunk
            if task.until < chunk.until:
                self._plan_expiry(task)
        return PlannedCall(chunk, None if chunk.until == math.inf else max(0.0, chunk.until - now))

    def _task_answered(
        self,
        task: Task,
        reply: Reply | None,
        attempt: Attempt | None,
        error: Exception | None,
        now: float,
    ) -> None:
        if task.stage is Stage.ENDED:
            return
        if reply is None:
            assert error is not None, "a call without a reply raised"
            self._end(task, error)
            return
        if attempt is None:
            self._step(task, lambda: task.run.replied(reply), now)
            return
        if attempt.exception is None:
            task.is_alone = False
        elif not attempt.facts.retryable:
            task.is_alone = True
        self._take(task, attempt, now)

    def _chunk_answered(
        self, chunk: Chunk, reply: Reply | None, shared: SharedAttempts | None, now: float
    ) -> None:
        live = [task for task in chunk.tasks if task.stage is Stage.CALLING]
        if reply is not None and shared is None:
            for task in live:
                task.chunk = None
                self._step(task, partial(task.run.replied, reply), now)
        elif shared is None or shared.instead == "halve":
            # Also what the call raised: bad parameters of one are not the others' error.
            self._ask_again(halves(chunk.group, live))
        elif shared.instead == "disband":
            for task in chunk.group.disband():
                self._put(task.pool, task)
            self._ask_again(live)
        else:
            unheard = [task for task in chunk.unheard(shared.omitted) if task in live]
            for task, attempt in zip(chunk.tasks, shared.attempts, strict=True):
                if task in live and task not in unheard:
                    task.chunk = None
                    self._take(task, attempt, now)
            if unheard:
                self._ask_again([Chunk(chunk.group, unheard)])

    def _ask_again(self, entries: Sequence[Task | Chunk]) -> None:
        """Go on with a look in other calls, at once."""
        for entry in reversed(entries):
            for task in entry.tasks:
                task.stage, task.chunk = Stage.QUEUED, None
                if task.until < math.inf:
                    self._plan_expiry(task)
            self._put(entry.pool, entry, first=True)

    def _take(self, task: Task, attempt: Attempt, now: float) -> None:
        """Let a wait judge its answer."""
        self._step(task, lambda: task.run.attempted(attempt), now)
        if not isinstance(task.result, Exception):
            _forget_frames(attempt.exception)

    # --- steps -----------------------------------------------------------------------------

    def _step(self, task: Task, step: Callable[[], Decision], now: float) -> None:
        try:
            decision = step()
        # A bug in a pace of the caller's: the end of this one wait.
        except Exception as error:
            self._end(task, error)
            return
        match decision:
            case Poll():
                self._queue(task, decision, now)
            case Pause(seconds):
                self._pause(task, seconds, now)
            case ending:
                self._end(task, _conclusion(task.run, ending))

    def _pause(self, task: Task, seconds: float, now: float) -> None:
        task.stage = Stage.PAUSING
        task.pause, task.due = seconds, now + seconds
        task.throttles_seen = task.pool.lane.throttles
        if task.group is not None:
            task.group.plan(task, now)
        heapq.heappush(self._times, (task.due, task.index))
        if task.woken:
            task.woken = False
            self.wake(task, now)

    def _pause_is_over(self, task: Task, now: float) -> None:
        group = task.group
        if task.pool.lane.throttles > task.throttles_seen:
            task.throttles_seen = math.inf  # Once a pause.
            # A last look stays where it is: behind it there is no time to be had.
            if task.due + 2 * task.pause <= task.until:
                self._put_off(task, task.due + task.pause)
                if group is not None:
                    group.plan(task, now)
                return
        if group is not None:
            if group.holds(task, now):
                self._put_off(task, group.due)
                return
            group.begin(now)
        task.was_woken = False
        self._step(task, lambda: task.run.paused(Woken()), now)

    def _put_off(self, task: Task, due: float) -> None:
        task.due = due
        heapq.heappush(self._times, (due, task.index))

    def _queue(self, task: Task, poll: Poll, now: float) -> None:
        task.stage = Stage.QUEUED
        pool, group = task.pool, task.group
        if poll.time_left is not None:
            task.until = now + poll.time_left
            if pool.queued or not self._has_room(pool):
                self._plan_expiry(task)
        if group is None or not group.takes(task):
            self._put(pool, task)
            return
        group.queued.append(task)
        if not group.is_waiting:
            self._wait_on(group)

    def _wait_on(self, group: Group) -> None:
        """Queue a group for as long as there is somebody in it to call for."""
        group.is_waiting = group.is_live()
        if group.is_waiting:
            self._put(group.queued[0].pool, group)

    def _put(self, pool: Pool, entry: Entry, *, first: bool = False) -> None:
        if first:
            pool.queued.appendleft(entry)
        else:
            pool.queued.append(entry)
        if not pool.is_waiting:
            pool.is_waiting = True
            self._round.append(pool)

    def _plan_expiry(self, task: Task) -> None:
        if task.expiry is None:
            task.expiry = task.until + EXPIRY_GRACE
            heapq.heappush(self._times, (task.expiry, task.index))

    def _expire_or_plan(self, task: Task, now: float) -> None:
        if task.until < now:
            self._expire(task, now)
        else:
            self._plan_expiry(task)

    def _expire(self, task: Task, now: float) -> None:
        """The time of a wait was used up before there was room for its call."""
        self._step(task, lambda: task.run.replied(Reply(ended="deadline")), now)

    def _end(self, task: Task, result: WaiterOutcome[Any] | Exception) -> None:
        task.stage, task.result = Stage.ENDED, result
        self.waits -= 1
        lane = task.pool.lane
        lane.waits -= 1
        self._lanes -= not lane.waits
        self._ended.append(task)

    # --- room ------------------------------------------------------------------------------

    def _has_room(self, pool: Pool) -> bool:
        lane = pool.lane
        free = self._threads - self.calling
        if free <= 0 or pool.calling >= pool.limit or lane.calling + 1 > lane.window:
            return False
        return self._lanes <= 1 or lane.calling < free

    def _count_call(self, pool: Pool, count: int) -> None:
        self.calling += count
        pool.calling += count
        pool.lane.calling += count


def _first_queued(pool: Pool) -> Entry | None:
    """Whose turn it is in a pool; those that ended while they were queued are dropped."""
    queued = pool.queued
    while queued and not queued[0].is_live():
        gone = queued.popleft()
        if isinstance(gone, Group):
            gone.is_waiting = False
    return queued[0] if queued else None


def _forget_frames(error: BaseException | None) -> None:
    """Drop the traceback of an error that ended no wait.

    Its frames hold the request and the response, many times the memory of the rest of a wait.
    """
    while error is not None and error.__traceback__ is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


def _conclusion(run: WaitRun, ending: Ending) -> WaiterOutcome[Any] | Exception:
    try:
        return run.conclude(ending)
    except Exception as error:
        # Its traceback is the loop's own, and would keep all of it alive.
        return error.with_traceback(None)
