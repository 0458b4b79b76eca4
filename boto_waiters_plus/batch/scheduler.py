"""Drive many waits: in the calling thread, in a task, or in a thread beside the caller."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import math
import queue
import threading
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final

from ..calls.client_call import AwaitedCall, BlockingCall
from ..calls.clock import SHUTDOWN_GRACE, SYSTEM_TIME, IdleQueue, current_time
from ..calls.threads import CallersThread, ask_caller_in, run_into, start
from ..calls.watch import monotonic
from ..common.process import call_soon, start_thread
from ..options import CancelEvent
from .limits import slots_of
from .schedule import FinishedCall, Schedule
from .tasks import PlannedCall, Task

LONGEST_BLOCK: Final = 1.0
"""Seconds of one wait for a thread: where Ctrl-C does not end such a wait, it ends by itself."""

LONGEST_SLEEP_IN_BACKGROUND: Final = 3600.0
"""Seconds of one sleep of a thread that something new will wake."""

FORKED: Final = "the threads of this run are gone: did the process fork after the run began?"


class ThreadExecutor:
    """Makes calls in daemon threads, as many as there ever were calls in flight.

    Args:
        now: the clock of the run.
        context: the context variables that the calls see.
        stop: set when replies are no longer needed; calls that watch it end.
        on_finished: called in the thread of a call after it.
        in_background: whether `wake` ends a wait.
    """

    def __init__(
        self,
        now: Callable[[], float],
        context: contextvars.Context | None = None,
        *,
        stop: threading.Event | None = None,
        on_finished: Callable[[], object] | None = None,
        in_background: bool = False,
    ) -> None:
        self._now = now
        self._context = contextvars.copy_context() if context is None else context
        self._stop = threading.Event() if stop is None else stop
        self._on_finished = on_finished
        self._news = threading.Event() if in_background else None
        self._planned: IdleQueue[PlannedCall | None] = IdleQueue()
        # What calls ask in this thread comes among them.
        self._finished: IdleQueue[FinishedCall | Callable[[], None]] = IdleQueue()
        self._taken: list[FinishedCall] = []
        self._caller = CallersThread(self._post)
        ask_caller_in(self._context, self._caller)
        self._threads: list[threading.Thread] = []
        self._calling = 0

    @property
    def is_calling(self) -> bool:
        """Whether any call is in flight, or finished and not fetched."""
        return self._calling > 0

    def begin(self, call: PlannedCall) -> None:
        """Make a call in an idle thread or in a new one."""
        self._calling += 1
        if self._calling > len(self._threads):
            self._start_thread()
        if self._threads:
            self._planned.put(call)
        else:
            # Not even one thread can be started, such as while the interpreter shuts down.
            self._finished.put(self.make(call))

    def finished_by_now(self) -> list[FinishedCall]:
        """Return the calls that are over, without waiting."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._take(self._finished.get_nowait())
        found, self._taken = self._taken, []
        return found

    def wait(self, run: Schedule) -> None:
        """Wait for a reply, for the next turn, or for an event."""
        news = self._news
        if self._calling and not (news and news.is_set()):
            end, seconds = run.next_turn(LONGEST_BLOCK)
            is_over = not self._has_item_within(seconds)
        else:
            end, is_over = self._sleep(run)
        if is_over:
            run.now.is_at_least(end)
        if news:
            # Not before a turn: what is to be done is looked for before it.
            news.clear()

    def wake(self) -> None:
        """End the `wait` that goes on, or the next one."""
        # It does nothing but end the wait for an item.
        self._finished.put(lambda: None)
        if self._news is not None:
            self._news.set()

    def make(self, call: PlannedCall) -> FinishedCall:
        """Make a call in the calling thread."""
        try:
            with self._connection(call):
                # The time left is what is left now, however long the call waited for its thread.
                seconds = call.time_left(self._now())
                call.has_turn = seconds is None or seconds > 0
                made = call.begun()
                assert isinstance(made, BlockingCall), "an awaited call has a task"
                # A context can be entered by one thread at a time, so each call has a copy.
                context = self._context if call.context is None else call.context
                return FinishedCall(call, context.copy().run(made.make, seconds))
        # Raised again in the thread of the run, whatever it is.
        except BaseException as error:
            return FinishedCall(call, error)

    def close(self, grace: float = SHUTDOWN_GRACE) -> None:
        """End all threads; abandon those whose calls have not ended after `grace` seconds."""
        self._stop.set()
        self._caller.close()
        for _ in self._threads:
            self._planned.put(None)
        end = monotonic() + grace
        for thread in self._threads:
            # The garbage collector may close the run, in any thread; one may not have begun.
            if thread is not threading.current_thread() and thread.ident is not None:
                thread.join(max(0.0, end - monotonic()))

    def _has_item_within(self, seconds: float) -> bool:
        """Wait for a call or a question.

        In virtual time, which stands still during a call, wait as long as it takes.
        """
        end = self._now() + seconds
        while True:
            is_real = current_time() is SYSTEM_TIME
            left = max(0.0, end - self._now()) if is_real else LONGEST_BLOCK
            try:
                # No virtual time is stopped once all planned calls have begun.
                with current_time().idle(self._planned.is_unused):
                    item = self._finished.get(timeout=left)
            except queue.Empty:
                self._check_threads()
                if is_real:
                    return False
            else:
                self._take(item)
                return True

    def _sleep(self, run: Schedule) -> tuple[float, bool]:
        """Sleep; return until when, and whether nothing ended that early."""
        source, longest, events = current_time(), math.inf, run.events.watched
        if self._news is not None:
            longest, events = LONGEST_SLEEP_IN_BACKGROUND, [self._news, *events]
        # Only one event can end a sleep; several are checked in turns.
        end, seconds = run.next_turn(longest, check_events=len(events) > 1)
        if not events:
            source.sleep(seconds, None)
        elif _is_set_within(seconds, events[0]):
            run.events.check_at_once()
            return end, False
        return end, True

    def _take(self, item: FinishedCall | Callable[[], None]) -> None:
        """Note a call that is over; do what a call asks for."""
        if isinstance(item, FinishedCall):
            self._calling -= 1
            self._taken.append(item)
        else:
            item()

    def _post(self, answer: Callable[[], None]) -> None:
        self._finished.put(answer)
        if self._on_finished is not None:
            self._on_finished()

    def _connection(self, call: PlannedCall) -> AbstractContextManager[object]:
        """Return a context in which the call has one of its client's connections.

        The run has no more calls in flight than there are, but other runs have some, too.
        """
        client = call.connections.client
        # Calls take no virtual time.
        if client is None or current_time() is not SYSTEM_TIME:
            return contextlib.nullcontext()
        return slots_of(client).one(
            lambda: 0 if self._stop.is_set() else max(0.0, call.until - self._now())
        )

    def _start_thread(self) -> None:
        name = f"call {len(self._threads) + 1}"
        if start_thread(self._work, name, self._threads.append) is None:
            # No more threads can be started; those that there are make all calls.
            self._threads.pop()

    def _check_threads(self) -> None:
        """Raise instead of waiting forever for a reply that will not come."""
        if self._calling and not any(thread.is_alive() for thread in self._threads):
            raise RuntimeError(FORKED)

    def _work(self) -> None:
        while True:
            call = self._planned.get()
            if call is None:
                return
            self._finished.put(self.make(call))
            # Otherwise what the call returned would live on until the next call.
            del call
            if self._on_finished is not None:
                self._on_finished()


def _is_set_within(seconds: float, event: CancelEvent) -> bool:
    try:
        return current_time().sleep_on(seconds, event)
    # The check of the events ends the waits of one that fails.
    except Exception:
        return True


class LoopExecutor:
    """Makes calls of either kind: awaited ones, and in threads those that block.

    In virtual time the latter are made at once: time would not stand still for a thread while
    other tasks sleep.

    Args:
        now: the clock of the run.
        context: the context variables that the calls see.
        stop: set when replies are no longer needed.
    """

    def __init__(
        self,
        now: Callable[[], float],
        context: contextvars.Context | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._now = now
        self._context = contextvars.copy_context() if context is None else context
        self._loop = asyncio.get_running_loop()
        self._awaited: set[asyncio.Task[None]] = set()
        self._finished: list[FinishedCall] = []
        self._changed = asyncio.Event()
        notify = partial(call_soon, self._loop, self._changed.set)
        self._threads = ThreadExecutor(now, self._context, stop=stop, on_finished=notify)

    def begin(self, call: PlannedCall) -> None:
        """Make a call, without waiting until it is over."""
        if call.is_awaited:
            self._context.copy().run(self._start, self._await(call))
        elif current_time() is SYSTEM_TIME:
            self._threads.begin(call)
        else:
            self._add(self._threads.make(call))

    def finished_by_now(self) -> list[FinishedCall]:
        """Return the calls that are over, without waiting."""
        self._changed.clear()
        found, self._finished = self._finished, []
        return [*found, *self._threads.finished_by_now()]

    async def wait(self, run: Schedule) -> None:
        """Wait for a reply, or for the next turn."""
        if self._changed.is_set():
            # Other tasks of the loop have their turn, however fast the replies come.
            await current_time().sleep_async(0)
            return
        end, seconds = run.next_turn()
        if seconds == math.inf:
            await self._changed.wait()
            return
        sleeper = self._start(current_time().sleep_async(seconds))
        sleeper.add_done_callback(self._has_slept)
        try:
            await self._changed.wait()
            if sleeper.done():
                run.now.is_at_least(end)
        finally:
            sleeper.cancel()

    async def close(self) -> None:
        """End the calls that are awaited, and those in threads as far as possible."""
        # This blocks the loop, so only for threads that have nothing left to do.
        self._threads.close(0 if self._threads.is_calling else SHUTDOWN_GRACE)
        for task in self._awaited:
            task.cancel()
        await asyncio.gather(*self._awaited, return_exceptions=True)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that `close` ends."""
        task = self._loop.create_task(work)
        self._awaited.add(task)
        task.add_done_callback(self._awaited.discard)
        return task

    async def _await(self, call: PlannedCall) -> None:
        try:
            call.has_turn = True
            made = call.begun()
            assert isinstance(made, AwaitedCall), "a call that blocks has a thread"
            finished = FinishedCall(call, await made.make(call.time_left(self._now())))
        # Raised again in the task of the run, whatever it is.
        except BaseException as error:
            finished = FinishedCall(call, error)
        self._add(finished)

    def _add(self, finished: FinishedCall) -> None:
        self._finished.append(finished)
        self._changed.set()

    def _has_slept(self, sleeper: asyncio.Task[None]) -> None:
        if not sleeper.cancelled():
            self._changed.set()


# --- the drivers ---------------------------------------------------------------------------------

Sink = Callable[[Task], object]
"""Takes each wait when it has ended."""


def turns(
    run: Schedule, tasks: Sequence[Task], executor: ThreadExecutor, sink: Sink
) -> Generator[None, None, None]:
    """Run many waits in the calling thread, which has its turn after each of the schedule's.

    Closing the generator ends them all at once, and the calls in flight as far as possible.

    Raises:
        BaseException: a call raised this, and it is not an `Exception`.
    """
    try:
        run.add(tasks)
        while run.turn(executor, sink):
            yield
            executor.wait(run)
        yield
    finally:
        executor.close()
        run.close()


async def run_waits_async(
    run: Schedule, tasks: Sequence[Task], executor: LoopExecutor, sink: Sink
) -> None:
    """Run many waits as part of the calling task; see `turns`."""
    try:
        run.add(tasks)
        while run.turn(executor, sink):
            await executor.wait(run)
    finally:
        # Before the `await`, which may be cancelled.
        run.close()
        await executor.close()


def run_in_thread(
    work: Callable[[], object], stop: threading.Event, ready: IdleQueue[Any]
) -> Generator[Any, None, None]:
    """Yield what is put into a queue while a run goes on in a thread of its own.

    So it goes on while the caller is busy.

    Args:
        work: the run; it ends soon after `stop` is set.
        stop: set when the generator is closed.
        ready: the queue; what calls ask the caller comes among the rest, and an error is raised.
    """
    notify = partial(ready.put, None)
    thread, over, calling = start(work, "schedule", ready.put, notify)
    if thread is None:
        run_into(over, work, notify)
    try:
        yield from _items(ready, thread)
        over.result()
    finally:
        stop.set()
        calling.close()
        # A callback may close the run, and so may the garbage collector, in any thread.
        if thread is not None and thread is not threading.current_thread():
            thread.join()


def _items(ready: IdleQueue[Any], thread: threading.Thread | None) -> Iterator[Any]:
    while True:
        was_alive = thread is not None and thread.is_alive()
        try:
            item = ready.get(timeout=LONGEST_BLOCK)
        except queue.Empty:
            if not was_alive:
                raise RuntimeError(FORKED) from None
            continue
        if item is None:
            return
        if isinstance(item, BaseException):
            # Of a callback.
            raise item
        yield item
