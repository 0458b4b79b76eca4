"""The blocking loop around a schedule."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

from ..options import CancelEvent
from .call_executor import (
    FORKED,
    LONGEST_BLOCK,
    CallExecutor,
    RunClock,
    ThreadCallExecutor,
)
from .clock import SIGNAL_SLICE, current_time
from .schedule import DEFAULT_THREADS, Schedule
from .schedule_events import ScheduleEvents
from .tasks import FinishedCall, Task

ItemT = TypeVar("ItemT")


class Scheduler:
    """The blocking loop around a schedule.

    Args:
        tasks: the waits; their time begins with `run`.
        threads: calls that may be in flight at once.
        cancels: events that cancel all of them.
        cancel_rest_after: tells of a wait that has ended whether the others are cancelled.
        context: the context variables that the calls see.
        stop: set when replies are no longer needed.
        executor: makes the calls; threads of the run's own if not given.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        threads: int = DEFAULT_THREADS,
        cancels: Sequence[CancelEvent] = (),
        cancel_rest_after: Callable[[Task], bool] | None = None,
        context: contextvars.Context | None = None,
        stop: threading.Event | None = None,
        executor: CallExecutor | None = None,
    ) -> None:
        self._schedule = Schedule(tasks, threads, cancel_rest_after=cancel_rest_after)
        self._events = ScheduleEvents(tasks, cancels)
        self._now = RunClock()
        if executor is None:
            executor = ThreadCallExecutor(self._now, context, stop=stop)
        self._executor = executor

    def run(self) -> Generator[Task, None, None]:
        """Run the waits.

        Closing the generator ends them all at once, and the calls in flight as far as possible.

        Yields:
            Each wait when it has ended.

        Raises:
            BaseException: a call raised this, and it is not an `Exception`.
        """
        schedule, now = self._schedule, self._now
        try:
            schedule.begin(now())
            while True:
                moment = now()
                self._events.apply(schedule, moment)
                for call in schedule.calls(moment):
                    self._executor.begin(call)
                yield from schedule.ended(moment)
                if not schedule.waits:
                    return
                for finished in self._wait():
                    schedule.finish(finished, now())
        finally:
            self._events.close()
            self._executor.close()
            schedule.close()

    def _wait(self) -> list[FinishedCall]:
        """Wait for a reply, for the next time of the schedule, or for an event."""
        moment = self._schedule.next_time()
        events = self._events.watched
        if self._schedule.calling:
            now = self._now()
            end = now + (SIGNAL_SLICE if events else LONGEST_BLOCK)
            end = end if moment is None else min(end, moment)
            finished = self._executor.finished(max(0.0, end - now))
            if not finished:
                self._now.is_at_least(end)
            return finished
        assert moment is not None, "without a call in flight a delay is running"
        self._sleep(moment, events)
        return []

    def _sleep(self, end: float, events: list[CancelEvent]) -> None:
        source, seconds = current_time(), max(0.0, end - self._now())
        if not events:
            source.sleep(seconds, None)
        else:
            # Only one event can end a sleep; several are checked in turns.
            seconds = seconds if len(events) == 1 else min(seconds, SIGNAL_SLICE)
            end = self._now() + seconds
            try:
                is_set = source.sleep_on(seconds, events[0])
            # The check of the events ends the waits of one that fails.
            except Exception:
                is_set = True
            if is_set:
                self._events.check_at_once()
                return
        self._now.is_at_least(end)


def run_in_thread(
    run: Generator[ItemT, None, None],
    stop: threading.Event,
    items: queue.SimpleQueue[ItemT | BaseException | None] | None = None,
) -> Generator[ItemT, None, None]:
    """Iterate over a run in a thread of its own, so that it goes on while the caller is busy.

    Args:
        run: ends soon after `stop` is set.
        stop: set when the generator is closed.
        items: what the run puts in here is yielded too, in order.
    """
    ready: queue.SimpleQueue[ItemT | BaseException | None]
    ready = queue.SimpleQueue() if items is None else items

    def work() -> None:
        try:
            for item in run:
                ready.put(item)
        # Raised again in the thread of the caller, whatever it is.
        except BaseException as error:
            ready.put(error)
        else:
            ready.put(None)

    in_context = contextvars.copy_context().run
    name = "boto_waiters_plus schedule"
    thread = threading.Thread(target=in_context, args=(work,), name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # No thread can be started, such as while the interpreter shuts down.
        work()
    try:
        yield from _items(ready, thread)
    finally:
        stop.set()
        # A callback may close the run, and so may the garbage collector, in any thread.
        if thread.is_alive() and thread is not threading.current_thread():
            thread.join()


def _items(
    ready: queue.SimpleQueue[ItemT | BaseException | None], thread: threading.Thread
) -> Iterator[ItemT]:
    while True:
        was_alive = thread.is_alive()
        try:
            item = ready.get(timeout=LONGEST_BLOCK)
        except queue.Empty:
            if not was_alive:
                raise RuntimeError(FORKED) from None
            continue
        if item is None:
            return
        if isinstance(item, BaseException):
            raise item
        yield item
