"""Steps the waits of a schedule: what is decided for each of them, and when it is due."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ..engine.machine import Decision, Ending, Pause, Poll, Woken
from ..outcome import WaiterOutcome
from .attempt import Attempt, Reply
from .call_queue import CallQueue
from .groups import Group
from .tasks import Task, TaskStage
from .wait_run import WaitRun

EXPIRY_GRACE: Final = 0.001
"""Seconds after a deadline in which an attempt that was due at the deadline may still begin."""

FEWEST_TO_DROP: Final = 100
"""Waits that end before their times are dropped; for fewer it is not worth the search."""


class TaskSteps:
    """The next step of each wait: the end of its delay, its place in a queue, or its end.

    Args:
        queue: takes the waits that are due.

    Attributes:
        ended: waits that have ended, for the schedule to take.
    """

    def __init__(self, queue: CallQueue) -> None:
        self._queue = queue
        # The ends of delays, and the deadlines of waits that are queued or calling.
        self._times: list[tuple[float, int, int, Task]] = []
        self._order = itertools.count()
        self._of_ended = 0
        self.ended: deque[Task] = deque()

    def next_time(self) -> float | None:
        """Return when there is something to do before a call has ended; None: nothing."""
        first = self._times[0][0] if self._times else math.inf
        first = min(first, self._queue.room_at)
        return None if first == math.inf else first

    def pass_time(self, now: float) -> None:
        """Go on with waits whose delay has ended; end those whose deadline has passed."""
        while self._times and self._times[0][0] <= now:
            moment, _, _, task = heapq.heappop(self._times)
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
            self.step(task, lambda: task.run.paused(Woken(early=True)), now)
        elif task.stage is TaskStage.CALLING:
            task.wake_pending = True

    def attempted(self, task: Task, attempt: Attempt, now: float) -> None:
        """Step a wait whose attempt has a verdict."""
        self.step(task, lambda: task.run.attempted(attempt), now)
        if attempt.exception is not None and not isinstance(task.result, Exception):
            _forget_frames(attempt.exception)

    def step(self, task: Task, decide: Callable[[], Decision], now: float) -> None:
        """Do what the next decision on a wait asks for."""
        try:
            decision = decide()
        # A bug in the caller's code, such as a delay_pace; it ends this wait only.
        except Exception as error:
            self.end(task, error)
            return
        match decision:
            case Poll():
                self._enqueue(task, decision, now)
            case Pause(seconds, is_brought_forward):
                task.is_brought_forward = is_brought_forward
                self._delay(task, seconds, now)
            case ending:
                self.end(task, _conclusion(task.run, ending))

    def _delay(self, task: Task, seconds: float, now: float) -> None:
        task.stage = TaskStage.DELAYED
        task.delay, task.due = seconds, now + seconds
        task.throttles_seen = task.connections.throttles
        if task.group is not None:
            task.group.plan(task, now)
        self._plan(task.due, task)
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
        self.step(task, lambda: task.run.paused(Woken()), now)

    def _plan(self, moment: float, task: Task) -> None:
        heapq.heappush(self._times, (moment, task.index, next(self._order), task))

    def _postpone(self, task: Task, due: float) -> None:
        task.due = due
        self._plan(due, task)

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
            self.enqueue_group(group)

    def enqueue_group(self, group: Group) -> None:
        """Queue a group if any of its waits is queued."""
        group.in_queue = group.is_queued
        if group.in_queue:
            self._queue.put(group, group.queued[0].connections)

    def _plan_expiry(self, task: Task) -> None:
        task.expiry = task.until + EXPIRY_GRACE
        self._plan(task.expiry, task)

    def _expire_or_plan(self, task: Task, now: float) -> None:
        if task.until < now:
            self.expire(task, now)
        else:
            self._plan_expiry(task)

    def expire(self, task: Task, now: float) -> None:
        """End a wait whose deadline passed in the queue, or during a call that did not end."""
        task.call_made = task.call_made or task.stage is TaskStage.CALLING
        self.end_attempt(task, Reply(ended="deadline"), now)

    def end_attempt(self, task: Task, reply: Reply, now: float) -> None:
        """Step a wait whose call ended before it was answered, or was not made at all."""
        reply = replace(reply, made=task.call_made)
        self.step(task, lambda: task.run.replied(reply), now)

    def end(self, task: Task, result: WaiterOutcome[Any] | Exception) -> None:
        """Note the result of a wait."""
        if isinstance(result, Exception):
            task.run.interrupted(result)
        task.stage, task.result = TaskStage.ENDED, result
        self._queue.remove_wait(task.connections.service)
        self.ended.append(task)
        self._of_ended += 1
        if self._of_ended > max(FEWEST_TO_DROP, len(self._times) // 8):
            self._drop_ended()

    def _drop_ended(self) -> None:
        """Drop the times of waits that have ended; a deadline may be days away."""
        self._of_ended = 0
        self._times = [each for each in self._times if each[-1].stage is not TaskStage.ENDED]
        heapq.heapify(self._times)


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
