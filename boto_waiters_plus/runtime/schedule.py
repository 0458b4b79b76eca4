"""Decides which of many waits are due and which of them may make a call.

A schedule is a heap of times and a queue for each client; it has no thread and no clock. The loops
in `scheduler` and `scheduler_async` make the calls and say what time it is. All waits are stepped
in the thread of the loop.

A call is made when there is room for it: at most `threads` calls at once, and what
`service_limiter` allows for the service and for the client. After a throttle the delays of the
client's waits that are running last twice as long, where the wait has time for that.

The waits of one `groups.Group` share calls and a schedule.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ..engine.machine import Cancelled, Decision, Ending, Pause, Poll, Woken
from ..outcome import WaiterOutcome
from .attempt import Attempt, Reply, SharedAttempts
from .call_queue import CallQueue
from .groups import Group, SharedBatch, halves
from .tasks import FinishedCall, PlannedCall, Task, TaskStage
from .wait_run import WaitRun

DEFAULT_THREADS: Final = 32
"""Enough to hide the latency of a service; the CPU time of the calls bounds the rest."""

EXPIRY_GRACE: Final = 0.001
"""Seconds after a deadline in which an attempt that was due at the deadline may still begin."""


class Schedule:
    """Decides which waits are due and which of them may make a call.

    Times are those of one clock that never goes back; every method that takes `now` must be
    given the present time.

    Args:
        tasks: the waits; those of one client, service or group share these objects.
        threads: calls that may be in flight at once.
        cancel_rest_after: tells of a wait that has ended whether the others are cancelled.

    Attributes:
        waits: waits that have not ended.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        threads: int = DEFAULT_THREADS,
        *,
        cancel_rest_after: Callable[[Task], bool] | None = None,
    ) -> None:
        self._tasks = tasks
        self._queue = CallQueue(threads)
        self._cancel_rest_after = cancel_rest_after
        # The ends of delays, and the deadlines of waits that are queued or calling.
        self._times: list[tuple[float, int]] = []
        self._ended: deque[Task] = deque()
        self.waits = len(tasks)

    @property
    def calling(self) -> int:
        """The number of calls in flight."""
        return self._queue.calling

    def begin(self, now: float) -> None:
        """Start all waits: their time begins now, whenever there is room for the first call."""
        for index, task in enumerate(self._tasks):
            task.index = index
            self._queue.add_wait(task.connections.service)
        for task in self._tasks:
            policy = task.run.policy
            if policy.max_wait is not None and policy.count_requests:
                task.until = now + policy.max_wait
            self._step(task, task.run.begin, now)

    def next_time(self) -> float | None:
        """Return when there is something to do before a call has ended; None: nothing."""
        first = self._times[0][0] if self._times else math.inf
        first = min(first, self._queue.room_at)
        return None if first == math.inf else first

    def _pass_time(self, now: float) -> None:
        """Go on with waits whose delay has ended; end those whose deadline has passed."""
        while self._times and self._times[0][0] <= now:
            moment, index = heapq.heappop(self._times)
            task = self._tasks[index]
            if task.stage is TaskStage.DELAYED and task.due == moment:
                self._delay_ended(task, now)
            elif task.expiry == moment:
                task.expiry = None
                if task.stage is TaskStage.QUEUED or task.stage is TaskStage.CALLING:
                    self._expire_or_plan(task, now)

    def wake(self, task: Task, now: float) -> None:
        """End the delay of a wait early."""
        if task.stage is TaskStage.DELAYED and not task.is_brought_forward:
            task.was_woken = True
            self._step(task, lambda: task.run.paused(Woken(early=True)), now)
        elif task.stage is TaskStage.CALLING:
            task.wake_pending = True

    def cancel(self, tasks: Iterable[Task], now: float, cause: Exception | None = None) -> None:
        """End waits that have not ended; the replies to their calls in flight are dropped."""
        for task in tasks:
            if task.stage is TaskStage.ENDED:
                continue
            uncalled = task.stage is TaskStage.QUEUED and not task.call_made
            event = Cancelled(uncalled=uncalled)
            self._step(task, partial(task.run.paused, event), now)
            if cause is not None and isinstance(task.result, Exception):
                task.result.__cause__ = cause

    def cancel_rest(self, now: float, cause: Exception | None = None) -> None:
        """End every wait that has not ended."""
        self.cancel(self._tasks, now, cause)

    def ended(self, now: float) -> Iterator[Task]:
        """Yield the waits that have ended and were not yielded before."""
        while self._ended:
            task = self._ended.popleft()
            if self._cancel_rest_after is not None and self._cancel_rest_after(task):
                self.cancel_rest(now)
            yield task

    # --- calls -----------------------------------------------------------------------------

    def calls(self, now: float) -> Iterator[PlannedCall]:
        """Yield the calls that are due and have room; each must be made at once."""
        self._pass_time(now)
        for entry in self._queue.take(now):
            call = self._planned(entry, now)
            if call is not None:
                yield call

    def _planned(self, entry: Task | SharedBatch | Group, now: float) -> PlannedCall | None:
        """Return the call for what was queued; None if the deadlines of all waits have passed."""
        tasks = []
        for task in entry.take():
            if task.until + EXPIRY_GRACE < now:
                self._expire(task, now)
            else:
                task.stage = TaskStage.CALLING
                tasks.append(task)
        if isinstance(entry, Group):
            self._enqueue_group(entry)
        if not tasks:
            return None
        target: Task | SharedBatch = tasks[0]
        group = tasks[0].group
        if group is not None and (len(tasks) > 1 or isinstance(entry, SharedBatch)):
            target = SharedBatch(group, tasks)
        self._queue.begin_call(target, now)
        return PlannedCall(target, target.until)

    def finish(self, finished: FinishedCall, now: float) -> None:
        """Go on with the waits whose call is over.

        Raises:
            BaseException: the call raised this, and it is no `Exception`.
        """
        target, reply, error = finished
        verdict: Attempt | SharedAttempts | None = None
        if reply is not None and reply.ended in (None, "retry refused"):
            judge = target.call if isinstance(target, SharedBatch) else target.run.judge
            try:
                verdict = judge.judge(reply)
            # A bug in code of the caller's, such as a condition; it ends its own waits only.
            except Exception as raised:
                reply, error = None, raised
        self._queue.end_call(target, throttled=_is_throttle(verdict))
        if error is not None and not isinstance(error, Exception):
            raise error
        for task in [target] if isinstance(target, Task) else target.tasks:
            task.call_made = task.call_made or reply is None or reply.made
        if isinstance(target, SharedBatch):
            assert not isinstance(verdict, Attempt), "a shared call has several attempts"
            self._finish_batch(target, reply, verdict, now)
        elif target.stage is not TaskStage.ENDED:
            assert not isinstance(verdict, SharedAttempts), "a call of one wait has one attempt"
            self._finish_task(target, reply, verdict, error, now)

    def _finish_task(
        self,
        task: Task,
        reply: Reply | None,
        attempt: Attempt | None,
        error: Exception | None,
        now: float,
    ) -> None:
        if reply is None:
            assert error is not None, "a call without a reply raised"
            self._end(task, error)
        elif attempt is None:
            self._end_attempt(task, reply, now)
        else:
            if attempt.exception is None:
                task.is_alone = False
            elif not attempt.facts.retryable:
                task.is_alone = True
            self._attempted(task, attempt, now)

    def _finish_batch(
        self, batch: SharedBatch, reply: Reply | None, shared: SharedAttempts | None, now: float
    ) -> None:
        live = [task for task in batch.tasks if task.stage is TaskStage.CALLING]
        if reply is not None and shared is None:
            for task in live:
                self._end_attempt(task, reply, now)
        elif shared is None or shared.instead == "halve":
            # Also what the call raised: bad parameters of one wait are not the others' error.
            self._call_again(halves(batch.group, live))
        elif shared.instead == "disband":
            for task in batch.group.disband():
                self._queue.put(task, task.connections)
            self._call_again(live)
        else:
            again = [task for task in batch.to_ask_again(shared.omitted) if task in live]
            for task, attempt in zip(batch.tasks, shared.attempts, strict=True):
                if task in live and task not in again:
                    self._attempted(task, attempt, now)
            if again:
                self._call_again([SharedBatch(batch.group, again)])

    def _call_again(self, entries: Sequence[Task | SharedBatch]) -> None:
        """Continue an attempt in other calls, at once."""
        for entry in reversed(entries):
            tasks = [entry] if isinstance(entry, Task) else entry.tasks
            for task in tasks:
                task.stage = TaskStage.QUEUED
            self._queue.put(entry, entry.connections, first=True)

    def _attempted(self, task: Task, attempt: Attempt, now: float) -> None:
        self._step(task, lambda: task.run.attempted(attempt), now)
        if attempt.exception is not None and not isinstance(task.result, Exception):
            _forget_frames(attempt.exception)

    # --- steps -----------------------------------------------------------------------------

    def _step(self, task: Task, step: Callable[[], Decision], now: float) -> None:
        try:
            decision = step()
        # A bug in code of the caller's, such as a delay_pace; it ends this wait only.
        except Exception as error:
            self._end(task, error)
            return
        match decision:
            case Poll():
                self._enqueue(task, decision, now)
            case Pause(seconds, is_brought_forward):
                task.is_brought_forward = is_brought_forward
                self._delay(task, seconds, now)
            case ending:
                self._end(task, _conclusion(task.run, ending))

    def _delay(self, task: Task, seconds: float, now: float) -> None:
        task.stage = TaskStage.DELAYED
        task.delay, task.due = seconds, now + seconds
        task.throttles_seen = task.connections.throttles
        if task.group is not None:
            task.group.plan(task, now)
        heapq.heappush(self._times, (task.due, task.index))
        if task.wake_pending:
            task.wake_pending = False
            self.wake(task, now)

    def _delay_ended(self, task: Task, now: float) -> None:
        group = task.group if not task.is_brought_forward else None
        # An initial delay is the caller's; a throttle is no reason to change it.
        if task.run.attempts and task.connections.throttles > task.throttles_seen:
            task.throttles_seen = math.inf  # Once per delay.
            # Not the last attempt: there is no time behind it.
            if task.due + 2 * task.delay <= task.until:
                self._postpone(task, task.due + task.delay)
                if group is not None:
                    group.plan(task, now)
                return
        if group is not None:
            if group.postpones(task, now):
                self._postpone(task, group.due)
                return
            group.begin_round(now)
        task.was_woken = task.is_brought_forward
        task.is_brought_forward = False
        self._step(task, lambda: task.run.paused(Woken()), now)

    def _postpone(self, task: Task, due: float) -> None:
        task.due = due
        heapq.heappush(self._times, (due, task.index))

    def _enqueue(self, task: Task, poll: Poll, now: float) -> None:
        task.stage, task.call_made = TaskStage.QUEUED, False
        if poll.time_left is not None:
            task.until = now + poll.time_left
        if task.expiry is None and task.until < math.inf:
            self._plan_expiry(task)
        group = task.group
        if group is None or not group.shares(task):
            self._queue.put(task, task.connections)
            return
        group.queued.append(task)
        if not group.in_queue:
            self._enqueue_group(group)

    def _enqueue_group(self, group: Group) -> None:
        """Queue a group if any of its waits is queued."""
        group.in_queue = group.is_queued
        if group.in_queue:
            self._queue.put(group, group.queued[0].connections)

    # --- ends ------------------------------------------------------------------------------

    def _plan_expiry(self, task: Task) -> None:
        task.expiry = task.until + EXPIRY_GRACE
        heapq.heappush(self._times, (task.expiry, task.index))

    def _expire_or_plan(self, task: Task, now: float) -> None:
        if task.until < now:
            self._expire(task, now)
        else:
            self._plan_expiry(task)

    def _expire(self, task: Task, now: float) -> None:
        """End a wait whose deadline passed in the queue, or during a call that did not end."""
        task.call_made = task.call_made or task.stage is TaskStage.CALLING
        self._end_attempt(task, Reply(ended="deadline"), now)

    def _end_attempt(self, task: Task, reply: Reply, now: float) -> None:
        """Step a wait whose call ended before it was answered, or was not made at all."""
        reply = replace(reply, made=task.call_made)
        self._step(task, lambda: task.run.replied(reply), now)

    def _end(self, task: Task, result: WaiterOutcome[Any] | Exception) -> None:
        task.stage, task.result = TaskStage.ENDED, result
        self.waits -= 1
        self._queue.remove_wait(task.connections.service)
        self._ended.append(task)


def _is_throttle(verdict: Attempt | SharedAttempts | None) -> bool | None:
    """Return whether a call was throttled; None if nobody answered it."""
    if verdict is None:
        return None
    return verdict.throttled if isinstance(verdict, SharedAttempts) else verdict.facts.throttled


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
