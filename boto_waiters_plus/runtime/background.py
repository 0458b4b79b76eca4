"""Waits that run in the background: one thread for any number of them, added at any time."""

from __future__ import annotations

import contextvars
import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from .call_executor import LONGEST_BLOCK, RunClock, ThreadCallExecutor
from .clock import SIGNAL_SLICE, SYSTEM_TIME, current_time
from .process import start_thread
from .schedule import DEFAULT_THREADS, Schedule
from .schedule_events import ScheduleEvents
from .tasks import Task

logger = logging.getLogger("boto_waiters_plus")

LONGEST_SLEEP_IN_BACKGROUND: Final = 3600.0
"""Seconds of one sleep of a thread that something new will wake."""

TaskEnd = Callable[[Task], object]


class BackgroundScheduler:
    """Runs waits in a background thread, each from the moment when it is added.

    The thread is started by the first wait and ends with the last one; the next wait starts
    another. It is a daemon thread: waits do not keep a process alive.

    Args:
        context: the context variables that the calls see.
        threads: calls that may be in flight at once.
        stop: set when the scheduler is closed; calls that watch it end.

    Attributes:
        time: the time source that the waits use.
        deliveries: functions to be called in a second thread, where a slow one delays no attempt.
    """

    def __init__(
        self,
        context: contextvars.Context,
        *,
        threads: int = DEFAULT_THREADS,
        stop: threading.Event | None = None,
    ) -> None:
        self.time = current_time()
        self.deliveries: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._context = context
        self._threads = threads
        self._stop = threading.Event() if stop is None else stop
        self._lock = threading.Lock()
        self._is_running = False
        self._failure: str | None = None
        self._actions: deque[Callable[[_Run], object]] = deque()
        self._news = threading.Event()

    @property
    def is_usable(self) -> bool:
        """Whether waits can be added; not after a failure of the thread."""
        return self._failure is None

    def add(self, waits: Sequence[tuple[Task, TaskEnd]]) -> None:
        """Start waits together, so that their first attempts may share calls.

        Args:
            waits: each with what is called in the background thread when it has ended.

        Raises:
            RuntimeError: no thread can be started, as during interpreter shutdown.
        """
        self._act(lambda run: run.add(waits))

    def cancel(self, task: Task) -> None:
        """End a wait with a `WaiterCancelledError`, if it has not ended."""
        self._act(lambda run: run.cancel(task))

    def close(self) -> None:
        """Drop all waits as they are, without a result; calls in flight end."""
        self._stop.set()
        self._news.set()

    def _act(self, action: Callable[[_Run], object]) -> None:
        with self._lock:
            if self._failure is not None:
                raise RuntimeError(self._failure)
            self._actions.append(action)
            if not self._is_running:
                thread = start_thread(self._run, "background")
                if thread is None:
                    self._actions.pop()
                    raise RuntimeError("no thread can be started for a background wait")
                self._is_running = True
        self._news.set()

    def _run(self) -> None:
        run = _Run(self._threads, self._context, self._news, self.deliveries)
        start_thread(run.deliver, "callbacks")
        try:
            while not self._stop.is_set():
                self._news.clear()
                while self._actions:
                    self._actions.popleft()(run)
                run.turn()
                # The clients outlive the run: what it counts for them has to be settled.
                if not run.schedule.is_idle:
                    self._sleep(run)
                elif self._has_ended():
                    return
        # What a call raised that is no `Exception`: a bug must not leave futures open forever.
        except BaseException as error:
            logger.exception("the background thread of waits failed")
            self._fail(run, error)
        finally:
            self.deliveries.put(None)
            run.close()

    def _has_ended(self) -> bool:
        with self._lock:
            self._is_running = bool(self._actions)
            return not self._is_running

    def _fail(self, run: _Run, error: BaseException) -> None:
        with self._lock:
            self._failure = f"the background thread failed: {type(error).__name__}"
            actions, self._actions = self._actions, deque()
        for action in actions:
            action(run)
        run.fail(RuntimeError(self._failure))

    def _sleep(self, run: _Run) -> None:
        """Sleep until there is something to do, or something new."""
        source, moment, now = current_time(), run.schedule.next_time(), run.now()
        end = now + LONGEST_SLEEP_IN_BACKGROUND if moment is None else moment
        if run.events.watched:
            end = min(end, now + SIGNAL_SLICE)
        if run.schedule.calling and source is not SYSTEM_TIME:
            # Virtual time stands still during a call, also before the thread of it has begun.
            with source.hold():
                self._news.wait(LONGEST_BLOCK)
        elif not source.sleep_on(max(0.0, end - now), self._news):
            run.now.is_at_least(end)


class _Run:
    """What one background thread works on.

    Args:
        threads: calls that may be in flight at once.
        context: the context variables that the calls see.
        news: set when a call is over.
        deliveries: functions to be called in a second thread.
    """

    def __init__(
        self,
        threads: int,
        context: contextvars.Context,
        news: threading.Event,
        deliveries: queue.SimpleQueue[Callable[[], object] | None],
    ) -> None:
        self.now = RunClock()
        self.schedule = Schedule((), threads)
        self.events = ScheduleEvents((), ())
        self._executor = ThreadCallExecutor(self.now, context, on_finished=news.set)
        self._deliveries = deliveries
        self._on_end: dict[Task, TaskEnd] = {}
        self.schedule.begin(self.now())

    def add(self, waits: Sequence[tuple[Task, TaskEnd]]) -> None:
        """Start waits."""
        for task, on_end in waits:
            self._on_end[task] = on_end
            self.schedule.add(task, self.now())
            self.events.add(task)

    def cancel(self, task: Task) -> None:
        """End a wait, if it has begun and not ended."""
        if task in self._on_end:
            self.schedule.cancel([task], self.now())

    def turn(self) -> None:
        """Go on with whatever is due."""
        for finished in self._executor.finished_by_now():
            self.schedule.finish(finished, self.now())
        moment = self.now()
        self.events.apply(self.schedule, moment)
        for call in self.schedule.calls(moment):
            self._executor.begin(call)
        self.end()

    def end(self) -> None:
        """Report the waits that have ended."""
        for task in self.schedule.ended(self.now()):
            self._on_end.pop(task)(task)

    def fail(self, error: Exception) -> None:
        """End all waits with an error."""
        while self._on_end:
            task, on_end = self._on_end.popitem()
            task.result = error
            on_end(task)

    def deliver(self) -> None:
        """Call what is to be called in the second thread, until there is no more."""
        for call in iter(self._deliveries.get, None):
            _call_logged(call)

    def close(self) -> None:
        """End the threads of the run."""
        self.events.close()
        self._executor.close()
        self.schedule.close()


def _call_logged(call: Callable[[], object]) -> None:
    try:
        call()
    # Whatever a callback raises, the others are called.
    except Exception:
        logger.exception("a callback of a background wait raised")
