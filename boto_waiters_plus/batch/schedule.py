"""Decides which of many waits are due and which of them may make a call.

A schedule is a heap of times and a queue for each client; it has no thread, and neither blocks
nor awaits. The drivers (`scheduler`, `scheduler_async`, `background`) make the calls of a turn and
wait: for a reply, or until the next turn is due. All waits are stepped in the thread of the
driver, by `task_steps`.

A call is made when there is room for it: at most `threads` calls at once, and what
`service_limiter` allows for the service and for the client. After a throttle the delays of the
client's waits that are running last twice as long, where the wait has time for that.

The waits of one `groups.Group` share calls and a schedule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from ..calls.budget import Reply
from ..calls.clock import SIGNAL_SLICE
from ..options import CancelEvent
from ..wait.facts import Attempt, SharedAttempts
from .call_executor import RunClock
from .call_queue import CallQueue
from .schedule_events import ScheduleEvents
from .shared_call import may_be_about_one
from .task_steps import TaskSteps
from .tasks import CallGroup, FinishedCall, Task, TaskStage, halves

DEFAULT_THREADS: Final = 32
"""Enough to hide the latency of a service; the CPU time of the calls bounds the rest."""


class Schedule:
    """The schedule of one run of many waits.

    Args:
        threads: calls that may be in flight at once.
        cancels: events that cancel all waits.
        cancel_rest_after: tells of a wait that has ended whether the others are cancelled.

    Attributes:
        now: the clock of the run.
        open: the waits that were not yielded yet, by their places.
        queue: the calls in flight, and those that wait for room.
        events: those that cancel and wake waits.
    """

    def __init__(
        self,
        threads: int = DEFAULT_THREADS,
        *,
        cancels: Sequence[CancelEvent] = (),
        cancel_rest_after: Callable[[Task], bool] | None = None,
    ) -> None:
        self.now = RunClock()
        self.open: dict[int, Task] = {}
        self.queue = CallQueue(threads)
        self.events = ScheduleEvents(cancels)
        self._added = 0
        self._cancel_rest_after = cancel_rest_after
        self._steps = TaskSteps(self.queue)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left of any wait: also no call in flight, and no place in a queue."""
        return not self.open and self.queue.is_idle

    def add(self, tasks: Sequence[Task]) -> None:
        """Start waits: their time begins now, whenever there is room for the first call.

        Those of one client, service or group share these objects.
        """
        for task in tasks:
            self._steps.open(task, self._added)
            self.open[self._added] = task
            self._added += 1
        self.events.add(tasks)
        now = self.now()
        for task in tasks:
            self._steps.begin(task, now)

    def cancel(self, task: Task, cause: Exception | None = None) -> None:
        """End a wait that has not ended; the reply to its call in flight is dropped."""
        self._steps.cancel(task, self.now(), cause)

    def cancel_rest(self, cause: Exception | None = None) -> None:
        """End every wait that has not ended."""
        for task in self.open.values():
            self.cancel(task, cause)

    def wake(self, task: Task) -> None:
        """End the delay of a wait early."""
        self._steps.wake(task, self.now())

    def fail(self, error: Exception) -> None:
        """End every wait that has not ended with an error."""
        for task in self.open.values():
            if task.stage is not TaskStage.ENDED:
                self._steps.end(task, error)

    def close(self) -> None:
        """Let go of the events, and tell the observers of open waits that these are cancelled."""
        self.events.close()
        for task in self.open.values():
            task.run.interrupted()

    # --- turns -----------------------------------------------------------------------------

    def turn(
        self, finished: Sequence[FinishedCall], make: Callable[[Task | CallGroup], object]
    ) -> Iterator[Task]:
        """Do whatever is due, and yield the waits that have ended.

        Args:
            finished: the calls that are over.
            make: makes the call for these waits, without waiting until it is over.

        Raises:
            BaseException: a call raised this, and it is not an `Exception`.
        """
        self.finish(finished)
        now = self.now()
        if self.events.watched:
            self.events.apply(self, now)
        for target in self._calls(now):
            make(target)
        while self._steps.ended:
            task = self._steps.ended.popleft()
            if self._cancel_rest_after is not None and self._cancel_rest_after(task):
                self.cancel_rest()
            del self.open[task.index]
            yield task

    def next_turn(
        self, longest: float = math.inf, *, check_events: bool = True
    ) -> tuple[float, float]:
        """Return when the next turn is due, and the seconds until then.

        Infinity: only a reply is to come.

        Args:
            longest: seconds after which it is due at the latest.
            check_events: whether it is due when the events are to be checked.
        """
        if check_events and self.events.watched:
            longest = min(longest, SIGNAL_SLICE)
        now = self.now()
        end = min(self._steps.next_time(), now + longest)
        return end, max(0.0, end - now)

    # --- calls -----------------------------------------------------------------------------

    def _calls(self, now: float) -> Iterator[Task | CallGroup]:
        """Yield the waits whose calls are due and have room; each call must be made at once."""
        self._steps.pass_time(now)
        for entry in self.queue.take(now):
            tasks = self._steps.take(entry, now)
            if tasks:
                target: Task | CallGroup = tasks[0]
                group = tasks[0].group
                if group is not None and (len(tasks) > 1 or isinstance(entry, CallGroup)):
                    target = CallGroup(group, tasks)
                    if isinstance(entry, CallGroup) and entry.has_begun:
                        target = entry  # It keeps its pages, even if some of its waits have ended.
                self.queue.begin_call(target, now)
                if isinstance(target, CallGroup):
                    self._steps.call_shared(tasks, target)
                yield target

    def finish(self, finished: Sequence[FinishedCall]) -> None:
        """Go on with the waits whose calls are over; see `turn`."""
        for each in finished:
            self._finish(*each, self.now())

    def _finish(
        self,
        target: Task | CallGroup,
        reply: Reply | None,
        error: BaseException | None,
        now: float,
    ) -> None:
        judged: Attempt | SharedAttempts | None = None
        is_common = error is not None and not may_be_about_one(error)
        is_read = isinstance(target, Task) and target.run.search is not None
        if reply is not None and reply.ended in (None, "retry refused") and not is_read:
            judge = target.call if isinstance(target, CallGroup) else target.run.judge
            try:
                judged = judge.judge(reply)
            # A bug in the caller's code, such as a condition; it ends its own waits only.
            except Exception as raised:
                reply, error = None, raised
        self.queue.end_call(target, throttled=_is_throttle(judged))
        if error is not None and not isinstance(error, Exception):
            for task in target.tasks:
                task.run.interrupted(error)
            raise error
        live = self._steps.call_ended(target.tasks, reply)
        if isinstance(target, CallGroup):
            assert not isinstance(judged, Attempt), "a shared call has several attempts"
            if error is not None and is_common:
                for task in live:
                    self._steps.end(task, error)
            else:
                self._finish_sharers(target, live, reply, judged, now)
            return
        assert not isinstance(judged, SharedAttempts), "a call of one wait has one attempt"
        for task in live:
            self._steps.finish(task, reply, judged, error, now)

    def _finish_sharers(
        self,
        sharers: CallGroup,
        live: Sequence[Task],
        reply: Reply | None,
        shared: SharedAttempts | None,
        now: float,
    ) -> None:
        if reply is not None and shared is None:
            for task in live:
                self._steps.end_attempt(task, reply, now)
        elif reply is None or shared is None or shared.instead == "halve":
            # Also what the call raised: bad parameters of one wait are not the others' error.
            self._steps.call_again(halves(sharers.group, live))
        elif shared.instead == "disband":
            for task in sharers.group.disband():
                self.queue.put(task, task.connections)
            self._steps.call_again(live)
        elif shared.instead == "continue":
            self._steps.call_again([sharers] if live else [])
        else:
            self._finish_shares(sharers, frozenset(live), shared, reply, now)

    def _finish_shares(
        self,
        sharers: CallGroup,
        live: Collection[Task],
        shared: SharedAttempts,
        reply: Reply,
        now: float,
    ) -> None:
        again = [task for task in sharers.to_ask_again(shared.omitted) if task in live]
        alone = []
        for task, attempt in zip(sharers.tasks, shared.attempts, strict=True):
            if task not in live or task in again:
                continue
            if attempt is None:
                alone.append(task)
            else:
                self._steps.shared(task, attempt, reply, now)
        if again:
            self._steps.call_again([CallGroup(sharers.group, again)])
        self._steps.call_again(alone)


def _is_throttle(judged: Attempt | SharedAttempts | None) -> bool | None:
    """Return whether a call was throttled; None if there was no answer."""
    if judged is None:
        return None
    return judged.throttled if isinstance(judged, SharedAttempts) else judged.facts.throttled
