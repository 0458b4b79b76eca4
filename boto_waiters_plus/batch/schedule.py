"""Which of many waits are due, which may make a call, and what is decided for each of them.

Nothing else writes to a `Task`.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ..calls.budget import Reply
from ..calls.clock import SIGNAL_SLICE
from ..engine.machine import Cancelled, Decision, Pause, Poll, Woken
from ..options import CancelEvent
from ..outcome import WaiterOutcome
from ..wait.facts import Attempt, SharedAttempts
from .call_executor import RunClock
from .call_queue import CallQueue, Entry
from .groups import CallGroup, FinishedCall, Group, Task, TaskStage, halves
from .schedule_events import ScheduleEvents
from .shared_call import may_be_about_one

EXPIRY_GRACE: Final = 0.001
"""Seconds after a deadline in which an attempt that was due at the deadline may still begin."""

PARSING_SLICE: Final = 0.05
"""Seconds between two checks of a call that is past its deadline and still parses its answer."""

FEWEST_TO_DROP: Final = 100
"""Replaced times; for fewer it is not worth the search."""


class TaskSteps:
    """The next step of each wait: the end of its delay, its place in a queue, or its end.

    Args:
        queue: takes the waits that are due.

    Attributes:
        ended: waits that have ended, for the schedule to take.
    """

    def __init__(self, queue: CallQueue) -> None:
        self._queue = queue
        # When each wait is due: one time of each counts, that of `Task.due`.
        self._times: list[tuple[float, int, Task]] = []
        self._open = 0
        self.ended: deque[Task] = deque()

    def open(self, task: Task, index: int) -> None:
        """Give a wait its place among those of the schedule."""
        task.index = index
        self._open += 1
        if task.group is not None:
            task.group.waits += 1
        self._queue.add_wait(task.connections.service)

    def begin(self, task: Task, now: float) -> None:
        """Start a wait: its time begins now, whenever there is room for its first call."""
        limits = task.run.policy.limits
        if limits.max_wait is not None and limits.count_requests and not limits.covers_end:
            task.until = now + limits.max_wait - task.run.elapsed
        self.step(task, task.run.begin, now)

    def next_time(self) -> float:
        """Return when there is something to do before a call has ended; infinity: nothing."""
        first = self._times[0][0] if self._times else math.inf
        return min(first, self._queue.room_at)

    def pass_time(self, now: float) -> None:
        """Go on with waits whose delay has ended; end those whose deadline has passed."""
        while self._times and self._times[0][0] <= now:
            moment, _, task = heapq.heappop(self._times)
            if task.due == moment and task.stage is TaskStage.DELAYED:
                self._delay_ended(task, now)
            elif task.due == moment:
                self._expire_or_plan(task, now)

    def wake(self, task: Task, now: float) -> None:
        """End the delay of a wait early."""
        if task.stage is TaskStage.DELAYED and not task.is_brought_forward:
            task.was_woken = True
            self.step(task, partial(task.run.step, Woken(early=True)), now)
        elif task.stage is TaskStage.CALLING:
            task.wake_pending = True
        elif task.is_queued and task.group is not None and task.group.screens:
            # The call that it is queued for may be a list that is read already, or behind.
            task.wake_pending = True

    def cancel(self, task: Task, now: float, cause: Exception | None = None) -> None:
        """End a wait that has not ended; the reply to its call in flight is dropped."""
        if task.stage is TaskStage.ENDED:
            return
        uncalled = task.stage is TaskStage.QUEUED and not task.call_made
        self.step(task, partial(task.run.step, Cancelled(uncalled=uncalled)), now)
        if cause is not None and isinstance(task.result, Exception):
            task.result.__cause__ = cause

    def take(self, entry: Entry, now: float) -> list[Task]:
        """Return the waits that the next call is for; end those whose deadline has passed."""
        taken = []
        for task in entry.take():
            if task.until + EXPIRY_GRACE < now:
                self.expire(task, now)
            else:
                task.stage, task.has_turn = TaskStage.CALLING, False
                taken.append(task)
        if isinstance(entry, Group):
            self.enqueue_group(entry)
        return taken

    def call_ended(self, tasks: Sequence[Task], reply: Reply | None) -> list[Task]:
        """Note that a call has ended; return the waits that have not ended during it."""
        live = []
        for task in tasks:
            task.call_made = task.call_made or reply is None or reply.made
            task.sharers = None
            if task.stage is TaskStage.CALLING:
                live.append(task)
        return live

    def call_again(self, entries: Sequence[Task | CallGroup]) -> None:
        """Continue an attempt in other calls, at once."""
        for entry in reversed(entries):
            for task in entry.tasks:
                if task.stage is TaskStage.CALLING:
                    task.stage = TaskStage.QUEUED
            self._queue.put(entry, entry.connections, first=True)

    def finish(
        self,
        task: Task,
        reply: Reply | None,
        attempt: Attempt | None,
        error: Exception | None,
        now: float,
    ) -> None:
        """Step a wait whose own call has ended; there is a reply or an error."""
        if reply is None:
            assert error is not None, "a call without a reply raised"
            self.end(task, error)
        elif attempt is None:
            self.end_attempt(task, reply, now)
        else:
            screened = task.shared
            if attempt.exception is None or not attempt.facts.transient:
                task.shared = 0
                task.is_alone = attempt.exception is not None
            self.attempted(task, attempt, reply, now)
            if screened and task.group is not None and task.stage is TaskStage.ENDED:
                for each in task.group.own_call_ended(screened):
                    self._queue.put(each, each.connections)

    def shared(self, task: Task, attempt: Attempt, reply: Reply, now: float) -> None:
        """Step a wait by its share of a call for several."""
        task.shared += 1
        self.attempted(task, attempt, reply, now)

    def attempted(self, task: Task, attempt: Attempt, reply: Reply, now: float) -> None:
        """Step a wait whose attempt has a verdict."""
        self.step(task, partial(task.run.attempted, attempt, reply), now)
        if attempt.exception is not None and not isinstance(task.result, Exception):
            _forget_frames(attempt.exception)

    def step(self, task: Task, decide: Callable[[], Decision], now: float) -> None:
        """Do what the next decision on a wait asks for."""
        if task.context is None:
            self._step(task, decide, now)
        else:
            # A copy: a step may lead to another one.
            task.context.copy().run(self._step, task, decide, now)

    def _step(self, task: Task, decide: Callable[[], Decision], now: float) -> None:
        try:
            decision = decide()
        # A bug in the caller's code, such as a delay_pace; it ends this wait only.
        except Exception as error:
            self.end(task, error)
            return
        match decision:
            case Poll():
                if task.run.search is not None:
                    task.call = task.call.calls.reading(task.run.search.send).of_client()
                self._enqueue(task, decision, now)
            case Pause(seconds, is_brought_forward):
                task.is_brought_forward = is_brought_forward
                self._delay(task, seconds, now)
            case ending:
                result: WaiterOutcome[Any] | Exception
                try:
                    result = task.run.conclude(ending)
                except Exception as error:
                    # Its traceback is the loop's own, and would keep all of it alive.
                    result = error.with_traceback(None)
                self.end(task, result)

    def _delay(self, task: Task, seconds: float, now: float) -> None:
        task.stage = TaskStage.DELAYED
        task.delay = seconds
        task.throttles_seen = task.connections.throttles
        self._plan(task, now + seconds)
        if task.group is not None:
            task.group.plan(task, now)
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
                self._plan(task, task.due + task.delay)
                if group is not None:
                    group.plan(task, now)
                return
        if group is not None:
            if group.postpones(task, now):
                self._plan(task, group.due)
                return
            group.begin_round(now)
        task.was_woken = task.is_brought_forward
        task.is_brought_forward = False
        self.step(task, partial(task.run.step, Woken()), now)

    def _plan(self, task: Task, due: float) -> None:
        task.due = due
        if due < math.inf:
            heapq.heappush(self._times, (due, task.index, task))
            self._drop_replaced()

    def _drop_replaced(self) -> None:
        """Drop times that another has replaced; a deadline may be days away."""
        if len(self._times) > self._open + max(FEWEST_TO_DROP, self._open // 8):
            self._times = [each for each in self._times if each[0] == each[-1].due]
            heapq.heapify(self._times)

    def _enqueue(self, task: Task, poll: Poll, now: float) -> None:
        task.stage, task.call_made = TaskStage.QUEUED, False
        if poll.time_left is not None:
            task.until = now + poll.time_left
        # The grace is added later: one more number for each of thousands of waits takes memory.
        self._plan(task, task.until)
        group = task.group
        is_read = task.run.search is not None
        if is_read or group is None or not group.shares(task, now):
            # The attempt that is queued counts already.
            if is_read or task.run.attempts > 1:
                self._queue.put(task, task.connections)
            else:
                self._queue.put_new(task)
            return
        group.queued.append(task)
        if not group.in_queue:
            self.enqueue_group(group)

    def enqueue_group(self, group: Group) -> None:
        """Queue a group if any of its waits is queued."""
        group.in_queue = group.is_queued
        if group.in_queue:
            self._queue.put(group, group.queued[0].connections)

    def _expire_or_plan(self, task: Task, now: float) -> None:
        if task.until + EXPIRY_GRACE > now:
            self._plan(task, task.until + EXPIRY_GRACE)
        elif task.stage is TaskStage.CALLING and (task.sharers or task).is_answered:
            self._plan(task, now + PARSING_SLICE)
        else:
            self.expire(task, now)

    def expire(self, task: Task, now: float) -> None:
        """End a wait whose deadline passed in the queue, or during a call that did not end."""
        is_calling = task.stage is TaskStage.CALLING
        task.call_made = task.call_made or (is_calling and (task.sharers or task).has_turn)
        self.end_attempt(task, Reply(ended="deadline"), now)

    def end_attempt(self, task: Task, reply: Reply, now: float) -> None:
        """Step a wait whose call ended before it was answered, or was not made at all."""
        reply = replace(reply, made=task.call_made)
        self.step(task, partial(task.run.replied, reply), now)

    def end(self, task: Task, result: WaiterOutcome[Any] | Exception) -> None:
        """Note the result of a wait."""
        if isinstance(result, Exception):
            task.run.interrupted(result)
        task.stage, task.result, task.due = TaskStage.ENDED, result, math.inf
        if task.group is not None:
            task.group.waits -= 1
        self._queue.remove_wait(task.connections.service)
        self.ended.append(task)
        self._open -= 1
        self._drop_replaced()


def _forget_frames(error: BaseException | None) -> None:
    """Drop the traceback of an error that ended no wait.

    Its frames hold the request and the response, many times the memory of the rest of a wait.
    """
    while error is not None and error.__traceback__ is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


# --- decides which of many waits are due and which of them may make a call -----------------------
# A schedule is a heap of times and a queue for each client; it has no thread, and neither blocks
# nor awaits. The drivers (`scheduler`, `scheduler_async`, `background`) make the calls of a turn
# and wait: for a reply, or until the next turn is due. All waits are stepped in the thread of the
# driver.
#
# A call is made when there is room for it: at most `threads` calls at once, and what
# `limits` allows for the service and for the client. After a throttle the delays of the
# client's waits that are running last twice as long, where the wait has time for that.
#
# The waits of one `groups.Group` share calls and a schedule.

DEFAULT_THREADS: Final = 32
"""Enough to hide the latency of a service; the CPU time of the calls bounds the rest."""

KindOfResult = type[WaiterOutcome[Any]] | type[Exception]


class Schedule:
    """The schedule of one run of many waits.

    Args:
        threads: calls that may be in flight at once.
        cancels: events that cancel all waits.
        cancel_rest_after: the result of a wait after which the others are cancelled.

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
        cancel_rest_after: KindOfResult | None = None,
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
            if self._cancel_rest_after and isinstance(task.result, self._cancel_rest_after):
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
                    for task in tasks:
                        task.sharers = target
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
            try:
                if isinstance(target, CallGroup):
                    judged = target.call.split(reply)
                else:
                    judged = target.run.judge.judge(reply)
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
            left = []
            for task in live:
                # Also what the call raised: bad parameters of one wait are not the others' error.
                if reply is None or now < task.until:
                    left.append(task)
                else:
                    # It arrived in time, and was parsed until the time was over: nothing can tell
                    # whose it is, if acceptors know it or it says not found.
                    attempt = task.run.judge.judge(reply)
                    facts = attempt.facts
                    is_open = facts.acceptor is not None or facts.missing
                    attempt.facts = replace(facts, inconclusive=is_open)
                    self._steps.shared(task, attempt, reply, now)
            self._steps.call_again(halves(sharers.group, left))
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
        omitted = sharers.to_ask_again(shared.omitted)
        again = [task for task in omitted if task in live and now < task.until]
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
