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

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from ..engine.machine import Cancelled
from .attempt import Attempt, Reply, SharedAttempts
from .call_queue import CallQueue
from .groups import Group, SharedBatch, halves
from .task_steps import EXPIRY_GRACE, TaskSteps
from .tasks import FinishedCall, PlannedCall, Task, TaskStage

DEFAULT_THREADS: Final = 32
"""Enough to hide the latency of a service; the CPU time of the calls bounds the rest."""


class Schedule:
    """Decides which waits are due and which of them may make a call.

    Times are those of one clock that never goes back; every method that takes `now` must be
    given the present time.

    Args:
        tasks: the waits; those of one client, service or group share these objects.
        threads: calls that may be in flight at once.
        cancel_rest_after: tells of a wait that has ended whether the others are cancelled.

    Attributes:
        next_time: returns when there is something to do before a call has ended; None: nothing.
        wake: ends the delay of a wait early.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        threads: int = DEFAULT_THREADS,
        *,
        cancel_rest_after: Callable[[Task], bool] | None = None,
    ) -> None:
        # Those that were not yielded yet, in order.
        self._open: dict[int, Task] = {}
        self._added = 0
        self._queue = CallQueue(threads)
        self._cancel_rest_after = cancel_rest_after
        self._steps = TaskSteps(self._queue)
        self.next_time = self._steps.next_time
        self.wake = self._steps.wake
        for task in tasks:
            self._open_task(task)

    @property
    def waits(self) -> int:
        """The number of waits that have not been yielded."""
        return len(self._open)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left of any wait: also no call in flight, and no place in a queue."""
        return not self._open and self._queue.is_idle

    @property
    def calling(self) -> int:
        """The number of calls in flight."""
        return self._queue.calling

    def begin(self, now: float) -> None:
        """Start all waits: their time begins now, whenever there is room for the first call."""
        for task in list(self._open.values()):
            self._begin(task, now)

    def add(self, task: Task, now: float) -> None:
        """Start one more wait, at any time after `begin`; its time begins now."""
        self._open_task(task)
        self._begin(task, now)

    def _open_task(self, task: Task) -> None:
        task.index = self._added
        self._added += 1
        self._open[task.index] = task
        self._queue.add_wait(task.connections.service)

    def _begin(self, task: Task, now: float) -> None:
        policy = task.run.policy
        if policy.max_wait is not None and policy.count_requests:
            task.until = now + policy.max_wait - task.run.elapsed
        self._steps.step(task, task.run.begin, now)

    def cancel(self, tasks: Iterable[Task], now: float, cause: Exception | None = None) -> None:
        """End waits that have not ended; the replies to their calls in flight are dropped."""
        for task in tasks:
            if task.stage is TaskStage.ENDED:
                continue
            uncalled = task.stage is TaskStage.QUEUED and not task.call_made
            event = Cancelled(uncalled=uncalled)
            self._steps.step(task, partial(task.run.paused, event), now)
            if cause is not None and isinstance(task.result, Exception):
                task.result.__cause__ = cause

    def cancel_rest(self, now: float, cause: Exception | None = None) -> None:
        """End every wait that has not ended."""
        self.cancel(list(self._open.values()), now, cause)

    def ended(self, now: float) -> Iterator[Task]:
        """Yield the waits that have ended and were not yielded before."""
        while self._steps.ended:
            task = self._steps.ended.popleft()
            if self._cancel_rest_after is not None and self._cancel_rest_after(task):
                self.cancel_rest(now)
            del self._open[task.index]
            yield task

    def close(self) -> None:
        """Tell the observers of waits that have not ended that they are cancelled."""
        for task in self._open.values():
            if task.stage is not TaskStage.ENDED:
                task.run.interrupted()

    # --- calls -----------------------------------------------------------------------------

    def calls(self, now: float) -> Iterator[PlannedCall]:
        """Yield the calls that are due and have room; each must be made at once."""
        self._steps.pass_time(now)
        for entry in self._queue.take(now):
            call = self._planned(entry, now)
            if call is not None:
                yield call

    def _planned(self, entry: Task | SharedBatch | Group, now: float) -> PlannedCall | None:
        """Return the call for what was queued; None if the deadlines of all waits have passed."""
        tasks = []
        for task in entry.take():
            if task.until + EXPIRY_GRACE < now:
                self._steps.expire(task, now)
            else:
                task.stage = TaskStage.CALLING
                tasks.append(task)
        if isinstance(entry, Group):
            self._steps.enqueue_group(entry)
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
            BaseException: the call raised this, and it is not an `Exception`.
        """
        target, reply, error = finished
        verdict: Attempt | SharedAttempts | None = None
        if reply is not None and reply.ended in (None, "retry refused"):
            judge = target.call if isinstance(target, SharedBatch) else target.run.judge
            try:
                verdict = judge.judge(reply)
            # A bug in the caller's code, such as a condition; it ends its own waits only.
            except Exception as raised:
                reply, error = None, raised
        self._queue.end_call(target, throttled=_is_throttle(verdict))
        if error is not None and not isinstance(error, Exception):
            for task in _tasks_of(target):
                task.run.interrupted(error)
            raise error
        for task in _tasks_of(target):
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
            self._steps.end(task, error)
        elif attempt is None:
            self._steps.end_attempt(task, reply, now)
        else:
            if attempt.exception is None:
                task.is_alone = False
            elif not attempt.facts.retryable:
                task.is_alone = True
            self._steps.attempted(task, attempt, now)

    def _finish_batch(
        self, batch: SharedBatch, reply: Reply | None, shared: SharedAttempts | None, now: float
    ) -> None:
        live = [task for task in batch.tasks if task.stage is TaskStage.CALLING]
        if reply is not None and shared is None:
            for task in live:
                self._steps.end_attempt(task, reply, now)
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
                    self._steps.attempted(task, attempt, now)
            if again:
                self._call_again([SharedBatch(batch.group, again)])

    def _call_again(self, entries: Sequence[Task | SharedBatch]) -> None:
        """Continue an attempt in other calls, at once."""
        for entry in reversed(entries):
            for task in _tasks_of(entry):
                task.stage = TaskStage.QUEUED
            self._queue.put(entry, entry.connections, first=True)


def _tasks_of(target: Task | SharedBatch) -> Sequence[Task]:
    return (target,) if isinstance(target, Task) else target.tasks


def _is_throttle(verdict: Attempt | SharedAttempts | None) -> bool | None:
    """Return whether a call was throttled; None if there was no answer."""
    if verdict is None:
        return None
    return verdict.throttled if isinstance(verdict, SharedAttempts) else verdict.facts.throttled
