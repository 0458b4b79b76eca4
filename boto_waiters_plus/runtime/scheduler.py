"""Many waits in one thread that decides, and a few that call."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, Protocol

from ..options import CancelEvent
from .clock import SIGNAL_SLICE, SYSTEM_TIME, current_time
from .schedule import DEFAULT_THREADS, Answer, PlannedCall, Schedule, Task
from .schedule_events import Signals

LONGEST_BLOCK: Final = 1.0
"""Seconds of one wait for the workers: where Ctrl-C does not end such a wait, it ends by itself."""

SHUTDOWN_GRACE: Final = 0.25
"""Seconds that calls which nobody wants any more get to end, before they are left to themselves."""

FORKED: Final = "the threads of this run are gone: was it begun before a fork of the process?"


class Now:
    """The present, for one run.

    What was slept to its end has passed, whatever the clock says: one that stands still must not
    keep waits alive.
    """

    def __init__(self) -> None:
        self._clock = current_time().clock()
        self._ahead = 0.0

    def __call__(self) -> float:
        return self._clock() + self._ahead

    def is_at_least(self, moment: float) -> None:
        """A sleep until `moment` ran to its end."""
        self._ahead += max(0.0, moment - self())


class Crew(Protocol):
    """Who makes the calls."""

    def call(self, call: PlannedCall) -> None:
        """Make a call; does not block."""
        ...

    def answers(self, seconds: float) -> list[Answer]:
        """Calls that are over; if there are none, waits for the first, at most so long."""
        ...

    def close(self) -> None:
        """There will be no more calls, and nobody asks for answers."""
        ...


class Workers:
    """Daemon threads that make the calls: as many as ever ran at once.

    Args:
        context: what the calls see of context variables.
        stop: is set when there is no more use for answers; ports that know it end their calls.
        on_answer: called in a worker's thread after each call.
    """

    def __init__(
        self,
        context: contextvars.Context | None = None,
        *,
        stop: threading.Event | None = None,
        on_answer: Callable[[], object] | None = None,
    ) -> None:
        self._context = contextvars.copy_context() if context is None else context
        self._stop = threading.Event() if stop is None else stop
        self._on_answer = on_answer
        self._calls: queue.SimpleQueue[PlannedCall | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._running = 0
        self._leaving = threading.Lock()
        self._left = 0
        self._all_left = threading.Event()

    @property
    def are_calling(self) -> bool:
        """Whether there are answers to come."""
        return self._running > 0

    def call(self, call: PlannedCall) -> None:
        """Make a call, in a thread that has nothing to do or in a new one."""
        self._running += 1
        if self._running > len(self._threads):
            self._start_thread()
        self._calls.put(call)

    def answers(self, seconds: float) -> list[Answer]:
        """Calls that are over; if there are none, waits for the first, at most so long.

        A clock of a test's own stands still while calls run: then it waits for as long as it
        takes.
        """
        found = self.answers_there()
        while not found:
            is_real = current_time() is SYSTEM_TIME
            try:
                answer = self._answers.get(timeout=seconds if is_real else LONGEST_BLOCK)
            except queue.Empty:
                self._check_threads()
                if is_real:
                    break
            else:
                self._running -= 1
                found = [answer, *self.answers_there()]
        return found

    def answers_there(self) -> list[Answer]:
        """Calls that are over by now."""
        found: list[Answer] = []
        while True:
            try:
                found.append(self._answers.get_nowait())
            except queue.Empty:
                return found
            self._running -= 1

    def answer(self, call: PlannedCall) -> Answer:
        """Make a call in the calling thread."""
        task, time_left = call
        try:
            # A copy each: a context can be entered by one thread at a time only.
            reply = self._context.copy().run(task.call.make, time_left)
        # For the thread that decides, whatever it is.
        except BaseException as error:
            return Answer(task, None, error)
        return Answer(task, reply, None)

    def close(self, patience: float = SHUTDOWN_GRACE) -> None:
        """Let every thread end; one whose call does not end in `patience` is left to itself."""
        self._stop.set()
        for _ in self._threads:
            self._calls.put(None)
        if self._threads and self._all_left.wait(patience):
            for thread in self._threads:
                if thread.is_alive():
                    thread.join(patience)

    def _start_thread(self) -> None:
        name = f"boto_waiters_plus call {len(self._threads) + 1}"
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        # Noted before it runs: Ctrl-C may come in between.
        self._threads.append(thread)
        try:
            thread.start()
        except RuntimeError:
            # The system has no more threads to give: those there are will do.
            self._threads.remove(thread)
            if not self._threads:
                raise

    def _check_threads(self) -> None:
        """Fail rather than wait for ever for what nobody will answer."""
        if self._running and not any(thread.is_alive() for thread in self._threads):
            raise RuntimeError(FORKED)

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            if call is None:
                with self._leaving:
                    self._left += 1
                    if self._left == len(self._threads):
                        self._all_left.set()
                return
            self._answers.put(self.answer(call))
            # What was answered shall not live on here until the next call.
            del call
            if self._on_answer is not None:
                self._on_answer()


class Scheduler:
    """The blocking loop around a schedule.

    Args:
        tasks: the waits; their time begins with `run`.
        threads: calls that may run at once.
        cancels: events that stop all of them.
        crew: who makes the calls; threads of its own if not given.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        threads: int = DEFAULT_THREADS,
        cancels: Sequence[CancelEvent] = (),
        crew: Crew | None = None,
    ) -> None:
        self._tasks = tasks
        self._schedule = Schedule(threads)
        self._signals = Signals(tasks, cancels)
        self._crew = Workers() if crew is None else crew
        self._now = Now()

    def run(self) -> Generator[Task, None, None]:
        """Run the waits.

        Closing the generator stops them all at once, and the calls that run as far as they can be.

        Yields:
            Each as it ends.

        Raises:
            BaseException: a call ended in what is no `Exception`.
        """
        schedule, now = self._schedule, self._now
        try:
            schedule.begin(self._tasks, now())
            while True:
                self._signals.heed(schedule, now())
                schedule.pass_time(now())
                for call in schedule.calls(now()):
                    self._crew.call(call)
                yield from schedule.ended()
                if not schedule.waits:
                    return
                for answer in self._rest():
                    schedule.answered(answer, now())
        finally:
            self._signals.close()
            self._crew.close()

    def cancel_rest(self) -> None:
        """Stop every wait that has not ended; they are still to be yielded."""
        self._schedule.cancel_rest(self._now())

    def _rest(self) -> list[Answer]:
        """Wait for an answer, for the next time of the schedule, or for an event."""
        moment = self._schedule.next_time()
        events = self._signals.events
        if self._schedule.calling:
            end = self._now() + (SIGNAL_SLICE if events else LONGEST_BLOCK)
            end = end if moment is None else min(end, moment)
            answers = self._crew.answers(max(0.0, end - self._now()))
            if not answers:
                self._now.is_at_least(end)
            return answers
        assert moment is not None, "a wait either calls, or pauses"
        self._sleep(moment, events)
        return []

    def _sleep(self, end: float, events: list[CancelEvent]) -> None:
        source, seconds = current_time(), max(0.0, end - self._now())
        if not events:
            source.sleep(seconds, None)
        else:
            # Only one can be slept on; several are looked at in turns.
            seconds = seconds if len(events) == 1 else min(seconds, SIGNAL_SLICE)
            end = self._now() + seconds
            if source.sleep_on(seconds, events[0]):
                self._signals.came()
                return
        self._now.is_at_least(end)


def run_in_thread(
    run: Generator[Task, None, None], stop: threading.Event
) -> Generator[Task, None, None]:
    """What a run yields, while the run goes on in a thread of its own.

    Args:
        run: of a `Scheduler` that `stop` cancels.
        stop: is set when the generator is closed.

    Yields:
        The tasks as they end, whenever they are asked for.
    """
    ended: queue.SimpleQueue[Task | BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            for task in run:
                ended.put(task)
        # For the thread that asks, whatever it is.
        except BaseException as error:
            ended.put(error)
        else:
            ended.put(None)

    context = contextvars.copy_context()
    thread = threading.Thread(
        target=context.run, args=(work,), name="boto_waiters_plus schedule", daemon=True
    )
    thread.start()
    try:
        yield from _items(ended, thread)
    finally:
        stop.set()
        # A callback may close the run, and so may the garbage collector, in any thread.
        if thread is not threading.current_thread():
            thread.join()


def _items(
    ended: queue.SimpleQueue[Task | BaseException | None], thread: threading.Thread
) -> Iterator[Task]:
    while True:
        was_alive = thread.is_alive()
        try:
            item = ended.get(timeout=LONGEST_BLOCK)
        except queue.Empty:
            if not was_alive:
                raise RuntimeError(FORKED) from None
            continue
        if item is None:
            return
        if isinstance(item, BaseException):
            raise item
        yield item
