"""Which of many waits are due, which may make a call, and what is decided for each of them.

A schedule is a heap of times and a queue for each client; it has no thread, and neither blocks nor
awaits. `scheduler` takes its turns, and an executor makes the calls of a turn.

A call is made when there is room for it: at most `threads` calls at once, and what `limits` allows
for the service and for the client. After a throttle the delays of the client's waits that are
running last twice as long, where the wait has time for that.

The waits of one `Group` share calls and a schedule. Nothing else writes to a `Task`.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from ..calls.budget import Reply
from ..calls.clock import SIGNAL_SLICE, current_time
from ..engine.machine import Cancelled, Decision, Pause, Poll, Woken
from ..options import CancelEvent, WakeSignal
from ..outcome import WaiterOutcome
from ..wait.drivers import subscribe, unsubscribe
from ..wait.facts import Attempt
from .call_queue import CallQueue, Entry
from .tasks import Calling, Delayed, Due, Ended, Group, OwnCall, PlannedCall, Share, Task

FEW_EVENTS: Final = 8
"""Up to this number, events are checked in every round; more of them every `SIGNAL_SLICE`."""


class ScheduleEvents:
    """The events that cancel and wake waits; an event that several waits share is checked once.

    Args:
        cancels: events that cancel all waits.

    Attributes:
        watched: the events that can still change anything.
    """

    def __init__(self, cancels: Iterable[CancelEvent]) -> None:
        self._cancels = list(cancels)
        self._of_cancel: dict[int, tuple[CancelEvent, list[Task]]] = {}
        self._of_wake: dict[int, tuple[WakeSignal, list[Task]]] = {}
        self._check_at = -math.inf
        self.watched = self._cancels

    def add(self, tasks: Iterable[Task]) -> None:
        """Watch the events of more waits."""
        for task in tasks:
            if task.cancel is not None:
                self._of_cancel.setdefault(id(task.cancel), (task.cancel, []))[1].append(task)
            if task.wake is not None:
                key = id(task.wake)
                # One subscription for all waits that share the signal: each of ten thousand would
                # have to be checked.
                if key not in self._of_wake:
                    self._of_wake[key] = (subscribe(task.wake), [])
                self._of_wake[key][1].append(task)
        if self._of_cancel or self._of_wake:
            self._drop_unneeded()

    def apply(self, run: Schedule, now: float) -> None:
        """Cancel and wake the waits of a schedule whose events are set."""
        if len(self.watched) > FEW_EVENTS and now < self._check_at:
            return
        self._check_at = now + SIGNAL_SLICE
        for event in self._cancels:
            is_set, error = _checked(event)
            if is_set:
                run.cancel(run.open.values(), error)
        for event, tasks in self._of_cancel.values():
            is_set, error = _checked(event, tasks[-1].context if tasks else None)
            if is_set:
                run.cancel(tasks, error)
        for signal, tasks in self._of_wake.values():
            if signal.is_set():
                signal.clear()
                run.wake(tasks)
        # A cancel event stays set, and would end every sleep at once.
        self._drop_unneeded()

    def check_at_once(self) -> None:
        """Let the next round check all events: one of them ended a sleep."""
        self._check_at = -math.inf

    def close(self) -> None:
        """End the subscriptions: the run is over."""
        for signal, _ in self._of_wake.values():
            unsubscribe(signal)

    def _drop_unneeded(self) -> None:
        """Forget the events whose waits have all ended."""
        for key in [key for key, (_, tasks) in self._of_wake.items() if _all_ended(tasks)]:
            unsubscribe(self._of_wake.pop(key)[0])
        self._of_cancel = {k: v for k, v in self._of_cancel.items() if not _all_ended(v[1])}
        cancels = [event for event, _ in self._of_cancel.values()]
        self.watched = [*self._cancels, *cancels, *(event for event, _ in self._of_wake.values())]


def _checked(event: CancelEvent, context: Context | None = None) -> tuple[bool, Exception | None]:
    """Return whether an event cancels its waits, and the error that it raised instead.

    It sees the context variables of one of them.

    The caller's event may be a connection to another process; one that fails ends its own
    waits, instead of losing the results of all.
    """
    try:
        # A context can be entered by one thread at a time.
        return (event.is_set() if context is None else context.copy().run(event.is_set)), None
    except Exception as error:
        return True, error


def _all_ended(tasks: list[Task]) -> bool:
    """Return whether the tasks have ended; drop those at the end of the list that have.

    This runs in every round: going through thousands of waits that share an event would take
    longer than their calls.
    """
    while tasks and isinstance(tasks[-1].stage, Ended):
        tasks.pop()
    return not tasks


# --- the schedule --------------------------------------------------------------------------------

EXPIRY_GRACE: Final = 0.001
"""Seconds after a deadline in which an attempt that was due at the deadline may still begin."""

PARSING_SLICE: Final = 0.05
"""Seconds between two checks of a call that is past its deadline and still parses its answer."""

FEWEST_TO_DROP: Final = 100
"""Replaced times; for fewer it is not worth the search."""


DEFAULT_THREADS: Final = 32
"""Enough to hide the latency of a service; the CPU time of the calls bounds the rest."""

KindOfResult = type[WaiterOutcome[Any]] | type[Exception]


class RunClock:
    """The clock of one run, in seconds.

    A sleep that ran to its end has passed, whatever the system's clock says: a clock that stands
    still must not keep waits alive.
    """

    def __init__(self) -> None:
        self._clock = current_time().clock()
        self._ahead = 0.0

    def __call__(self) -> float:
        return self._clock() + self._ahead

    def is_at_least(self, moment: float) -> None:
        """Note that a sleep until `moment` ran to its end."""
        self._ahead += max(0.0, moment - self())


class FinishedCall(NamedTuple):
    """A call that is over."""

    call: PlannedCall
    result: Reply | BaseException
    """The reply, or what was raised instead of one."""


class Executor(Protocol):
    """Makes the calls of a run."""

    def begin(self, call: PlannedCall) -> None:
        """Make a call, without waiting until it is over."""
        ...

    def finished_by_now(self) -> Sequence[FinishedCall]:
        """Return the calls that are over, each once."""
        ...


class Schedule:
    """The schedule of one run of many waits.

    Args:
        threads: calls that may be in flight at once.
        cancels: events that cancel all waits.
        cancel_rest_after: the result of a wait after which the others are cancelled.

    Attributes:
        now: the clock of the run.
        open: the waits that have not ended, or whose end was not told yet, by their numbers.
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
        self._cancel_rest_after = cancel_rest_after
        # When each wait is due: one time of each counts, that of `Task.due`.
        self._times: list[tuple[float, int, Task]] = []
        self._ended: deque[Task] = deque()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left of any wait: also no call in flight, and no place in a queue."""
        return not self.open and self.queue.is_idle

    def add(self, tasks: Sequence[Task]) -> None:
        """Start waits: their time begins now, whenever there is room for the first call.

        Those of one client, service or group share these objects.
        """
        for task in tasks:
            self.open[task.number] = task
            self.queue.add_wait(task.connections.service)
            if task.group is not None:
                task.group.waits += 1
        self.events.add(tasks)
        now = self.now()
        for task in tasks:
            limits = task.run.policy.limits
            if limits.max_wait is not None and limits.count_requests and not limits.covers_end:
                task.until = now + limits.max_wait - task.run.elapsed
            self._step(task, task.run.begin, now)

    def cancel(self, tasks: Iterable[Task], cause: Exception | None = None) -> None:
        """End those of these waits that have not ended; replies to calls in flight are dropped.

        Args:
            tasks: the waits.
            cause: what an event of the caller's has raised.
        """
        now = self.now()
        for task in tasks:
            if not isinstance(task.stage, Ended):
                uncalled = isinstance(task.stage, Due) and not task.stage.call_made
                self._step(task, partial(task.run.step, Cancelled(uncalled=uncalled)), now)
                if cause is not None and isinstance(task.result, Exception):
                    task.result.__cause__ = cause

    def wake(self, tasks: Iterable[Task]) -> None:
        """End the delays of waits early."""
        now = self.now()
        for task in tasks:
            self._wake(task, now)

    def fail(self, error: Exception) -> None:
        """End every wait that has not ended with an error."""
        for task in self.open.values():
            if not isinstance(task.stage, Ended):
                self._end(task, error)

    def close(self) -> None:
        """Let go of the events, and tell the observers of open waits that these are cancelled."""
        self.events.close()
        for task in self.open.values():
            task.run.interrupted()

    def turn(self, executor: Executor, sink: Callable[[Task], object]) -> bool:
        """Do whatever is due; return whether any wait is open.

        Args:
            executor: makes the calls.
            sink: called with each wait that has ended.

        Raises:
            BaseException: a call raised this, and it is not an `Exception`.
        """
        self.finish(executor.finished_by_now())
        now = self.now()
        if self.events.watched:
            self.events.apply(self, now)
        self._pass_time(now)
        for entry in self.queue.take(now):
            call = self._taken(entry, now)
            if call is not None:
                self.queue.begin_call(call, now)
                executor.begin(call)
        while self._ended:
            task = self._ended.popleft()
            if self._cancel_rest_after and isinstance(task.result, self._cancel_rest_after):
                self.cancel(self.open.values())
            del self.open[task.number]
            self._drop_replaced()
            sink(task)
        return bool(self.open)

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
        first = self._times[0][0] if self._times else math.inf
        end = min(first, self.queue.room_at, now + longest)
        return end, max(0.0, end - now)

    def finish(self, finished: Sequence[FinishedCall]) -> None:
        """Go on with the waits whose calls are over; see `turn`."""
        for call, result in finished:
            self._finish(call, result, self.now())

    def _finish(self, call: PlannedCall, result: Reply | BaseException, now: float) -> None:
        if not isinstance(result, (Reply, Exception)):
            self.queue.end_call(call, throttled=None)
            for task in call.tasks:
                task.run.interrupted(result)
            raise result
        live = {task for task in call.tasks if task.is_in(call)}
        shares, calls, throttled = call.split(result, live, now)
        self.queue.end_call(call, throttled=throttled)
        reply = result if isinstance(result, Reply) else Reply(error=result)
        for task, share in shares:
            if task in live:
                self._tell(task, share, call, reply, now)
        self._call_again(calls, made=reply.made and call.is_of_waits)

    # --- the next step of a wait --------------------------------------------------------------

    def _pass_time(self, now: float) -> None:
        """Go on with waits whose delay has ended; end those whose deadline has passed."""
        while self._times and self._times[0][0] <= now:
            moment, _, task = heapq.heappop(self._times)
            if task.due != moment:
                continue
            if isinstance(task.stage, Delayed):
                self._delay_ended(task, task.stage, now)
            else:
                self._expire_or_plan(task, now)

    def _wake(self, task: Task, now: float) -> None:
        """End the delay of a wait early."""
        stage, group = task.stage, task.group
        if isinstance(stage, Delayed):
            if not stage.is_brought_forward:
                task.stage = Due(was_woken=True)
                self._step(task, partial(task.run.step, Woken(early=True)), now)
        # The call that it is queued for may be a list that is read already, or behind.
        elif isinstance(stage, Calling) or (task.is_due and group is not None and group.screens):
            task.wake_pending = True

    # --- calls -----------------------------------------------------------------------------

    def _taken(self, entry: Entry, now: float) -> PlannedCall | None:
        """Return the next call, for those of its waits whose deadline has not passed."""
        due = []
        for task in entry.take():
            if task.until + EXPIRY_GRACE < now:
                self._expire(task, now)
            else:
                due.append(task)
        if isinstance(entry, Group):
            self._enqueue_group(entry)
        if not due:
            return None
        call = entry.call_for(due)
        for task in due:
            assert isinstance(task.stage, Due), "or it would not have been taken"
            task.stage = Calling(call, *task.stage)
        return call

    def _tell(self, task: Task, share: Share, call: PlannedCall, reply: Reply, now: float) -> None:
        """Step a wait by what it is told of a call that has ended."""
        stage = task.stage
        assert isinstance(stage, Calling), "it waits for what it is told"
        if isinstance(share, Exception):
            self._end(task, share)
        elif isinstance(share, Reply):
            made = replace(share, made=stage.call_made or share.made)
            self._step(task, partial(task.run.replied, made), now)
        elif isinstance(call, OwnCall):
            screened = task.shared
            if share.exception is None or not share.facts.transient:
                task.shared = 0 if share.exception is None else None
            self._attempted(task, share, reply, now)
            if screened and task.group is not None and isinstance(task.stage, Ended):
                task.group.own_call_ended(screened)
        else:
            task.shared = (task.shared or 0) + 1
            self._attempted(task, share, reply, now)

    def _call_again(self, calls: Sequence[PlannedCall], *, made: bool) -> None:
        """Continue attempts in other calls, at once.

        Args:
            calls: the calls.
            made: whether the call before was made for the attempts.
        """
        for call in reversed(calls):
            for task in call.tasks:
                if isinstance(task.stage, Calling):
                    task.stage = Due(task.stage.was_woken, task.stage.call_made or made)
            self.queue.put(call, call.connections, first=True)

    def _attempted(self, task: Task, attempt: Attempt, reply: Reply, now: float) -> None:
        self._step(task, partial(task.run.attempted, attempt, reply), now)
        if attempt.exception is not None and not isinstance(task.result, Exception):
            _forget_frames(attempt.exception)

    # --- steps -----------------------------------------------------------------------------

    def _step(self, task: Task, decide: Callable[[], Decision], now: float) -> None:
        """Do what the next decision on a wait asks for."""
        if task.context is None:
            self._do_step(task, decide, now)
        else:
            # A copy: a step may lead to another one.
            task.context.copy().run(self._do_step, task, decide, now)

    def _do_step(self, task: Task, decide: Callable[[], Decision], now: float) -> None:
        try:
            decision = decide()
        # A bug in the caller's code, such as a delay_pace; it ends this wait only.
        except Exception as error:
            self._end(task, error)
            return
        match decision:
            case Poll():
                self._enqueue(task, decision, now)
            case Pause(seconds, is_brought_forward):
                self._delay(task, seconds, now, is_brought_forward=is_brought_forward)
            case ending:
                result: WaiterOutcome[Any] | Exception
                try:
                    result = task.run.conclude(ending)
                except Exception as error:
                    # Its traceback is the loop's own, and would keep all of it alive.
                    result = error.with_traceback(None)
                self._end(task, result)

    def _delay(self, task: Task, seconds: float, now: float, *, is_brought_forward: bool) -> None:
        stage = task.stage
        was_woken = isinstance(stage, (Due, Calling)) and stage.was_woken
        throttles = task.connections.throttles
        task.stage = delay = Delayed(seconds, throttles, is_brought_forward, was_woken)
        self._plan(task, now + seconds)
        if task.group is not None:
            task.group.plan(task, delay, now)
        if task.wake_pending:
            task.wake_pending = False
            self._wake(task, now)

    def _delay_ended(self, task: Task, delay: Delayed, now: float) -> None:
        group = task.group if not delay.is_brought_forward else None
        # An initial delay is the caller's; a throttle is no reason to change it.
        if task.run.attempts and task.connections.throttles > delay.throttles:
            task.stage = delay = delay._replace(throttles=math.inf)  # Once per delay.
            # Not the last attempt: there is no time behind it.
            if task.due + 2 * delay.seconds <= task.until:
                self._plan(task, task.due + delay.seconds)
                if group is not None:
                    group.plan(task, delay, now)
                return
        if group is not None:
            if group.postpones(task, now):
                self._plan(task, group.due)
                return
            group.begin_round(now)
        task.stage = Due(was_woken=delay.is_brought_forward)
        self._step(task, partial(task.run.step, Woken()), now)

    def _plan(self, task: Task, due: float) -> None:
        task.due = due
        if due < math.inf:
            heapq.heappush(self._times, (due, task.number, task))
            self._drop_replaced()

    def _drop_replaced(self) -> None:
        """Drop times that another has replaced; a deadline may be days away."""
        if len(self._times) > len(self.open) + max(FEWEST_TO_DROP, len(self.open) // 8):
            self._times = [each for each in self._times if each[0] == each[-1].due]
            heapq.heapify(self._times)

    def _enqueue(self, task: Task, poll: Poll, now: float) -> None:
        was_woken = isinstance(task.stage, (Due, Calling)) and task.stage.was_woken
        task.stage = due = Due(was_woken)
        if poll.time_left is not None:
            task.until = now + poll.time_left
        # The grace is added later: one more number for each of thousands of waits takes memory.
        self._plan(task, task.until)
        group = task.group
        is_read = task.run.search is not None
        if not is_read and group is not None and group.shares(task, due, now):
            group.queued.append(task)
            if not group.in_queue:
                self._enqueue_group(group)
        # The attempt that is queued counts already.
        elif is_read or task.run.attempts > 1:
            self.queue.put(task, task.connections)
        else:
            self.queue.put_new(task)

    def _enqueue_group(self, group: Group) -> None:
        """Queue a group if any of its waits is queued."""
        group.in_queue = group.is_due
        if group.in_queue:
            # Of a group that shares no more, those that were queued have their own calls first.
            connections = group.queued[0].connections
            self.queue.put(group, connections, first=group.is_disbanded)

    def _expire_or_plan(self, task: Task, now: float) -> None:
        if task.until + EXPIRY_GRACE > now:
            self._plan(task, task.until + EXPIRY_GRACE)
        elif isinstance(task.stage, Calling) and task.stage.call.is_answered:
            self._plan(task, now + PARSING_SLICE)
        else:
            self._expire(task, now)

    def _expire(self, task: Task, now: float) -> None:
        """End a wait whose deadline passed in the queue, or during a call that did not end."""
        stage = task.stage
        made = isinstance(stage, (Due, Calling)) and stage.call_made
        made = made or (isinstance(stage, Calling) and stage.call.has_turn)
        self._step(task, partial(task.run.replied, Reply(ended="deadline", made=made)), now)

    def _end(self, task: Task, result: WaiterOutcome[Any] | Exception) -> None:
        """Note the result of a wait."""
        if isinstance(result, Exception):
            task.run.interrupted(result)
        task.stage, task.due = Ended(result), math.inf
        if task.group is not None:
            task.group.waits -= 1
        self.queue.remove_wait(task.connections.service)
        self._ended.append(task)


def _forget_frames(error: BaseException | None) -> None:
    """Drop the traceback of an error that ended no wait.

    Its frames hold the request and the response, many times the memory of the rest of a wait.
    """
    while error is not None and error.__traceback__ is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
