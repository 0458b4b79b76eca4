"""Makes the calls of a run in threads."""

from __future__ import annotations

import contextlib
import contextvars
import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

from ..calls.clock import SHUTDOWN_GRACE, SYSTEM_TIME, IdleQueue, current_time
from ..calls.threads import CallersThread, ask_caller_in
from ..calls.watch import monotonic
from ..common.process import start_thread
from .groups import CallGroup, FinishedCall, Task, time_left
from .limits import slots_of

LONGEST_BLOCK: Final = 1.0
"""Seconds of one wait for a thread: where Ctrl-C does not end such a wait, it ends by itself."""


FORKED: Final = "the threads of this run are gone: did the process fork after the run began?"


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


class ThreadCallExecutor:
    """Makes calls in daemon threads, as many as there ever were calls in flight.

    Args:
        now: the clock of the run.
        context: the context variables that the calls see.
        stop: set when replies are no longer needed; calls that watch it end.
        on_finished: called in the thread of a call after it.
    """

    def __init__(
        self,
        now: Callable[[], float],
        context: contextvars.Context | None = None,
        *,
        stop: threading.Event | None = None,
        on_finished: Callable[[], object] | None = None,
    ) -> None:
        self._now = now
        self._context = contextvars.copy_context() if context is None else context
        self._stop = threading.Event() if stop is None else stop
        self._on_finished = on_finished
        self._planned: IdleQueue[Task | CallGroup | None] = IdleQueue()
        # What calls ask in this thread comes among them.
        self._finished: IdleQueue[FinishedCall | Callable[[], None]] = IdleQueue()
        self._caller = CallersThread(self._post)
        ask_caller_in(self._context, self._caller)
        self._threads: list[threading.Thread] = []
        self._calling = 0

    @property
    def is_calling(self) -> bool:
        """Whether any call is in flight, or finished and not fetched."""
        return self._calling > 0

    def begin(self, target: Task | CallGroup) -> None:
        """Make the call for these waits in an idle thread or in a new one."""
        self._calling += 1
        if self._calling > len(self._threads):
            self._start_thread()
        if self._threads:
            self._planned.put(target)
        else:
            # Not even one thread can be started, such as while the interpreter shuts down.
            self._finished.put(self.make(target))

    def finished(self, seconds: float) -> list[FinishedCall]:
        """Return the calls that are over; if there are none, wait up to `seconds` for one.

        In virtual time, which stands still during a call, wait as long as it takes.
        """
        found, end = self.finished_by_now(), self._now() + seconds
        while not found:
            is_real = current_time() is SYSTEM_TIME
            left = max(0.0, end - self._now()) if is_real else LONGEST_BLOCK
            try:
                with self.idle():
                    first = self._finished.get(timeout=left)
            except queue.Empty:
                self._check_threads()
                if is_real:
                    break
            else:
                found = [*self._taken(first), *self.finished_by_now()]
        return found

    def idle(self) -> AbstractContextManager[object]:
        """Return a context that stops no virtual time once all planned calls have begun."""
        return current_time().idle(self._planned.is_unused)

    def finished_by_now(self) -> list[FinishedCall]:
        """Return the calls that are over, without waiting."""
        found: list[FinishedCall] = []
        with contextlib.suppress(queue.Empty):
            while True:
                found += self._taken(self._finished.get_nowait())
        return found

    def _taken(self, item: FinishedCall | Callable[[], None]) -> list[FinishedCall]:
        """Return a call that is over; do what a call asks for."""
        if isinstance(item, FinishedCall):
            self._calling -= 1
            return [item]
        item()
        return []

    def _post(self, answer: Callable[[], None]) -> None:
        self._finished.put(answer)
        if self._on_finished is not None:
            self._on_finished()

    def make(self, target: Task | CallGroup) -> FinishedCall:
        """Make the call for these waits in the calling thread."""
        try:
            with self._connection(target):
                # The time left is what is left now, however long the call waited for its thread.
                seconds = time_left(target, self._now())
                target.has_turn = seconds is None or seconds > 0
                # A context can be entered by one thread at a time, so each call has a copy.
                context = self._context if target.context is None else target.context
                reply = context.copy().run(target.call.make, seconds)
        # Raised again in the thread of the run, whatever it is.
        except BaseException as error:
            return FinishedCall(target, None, error)
        return FinishedCall(target, reply, None)

    def _connection(self, target: Task | CallGroup) -> AbstractContextManager[object]:
        """Return a context in which the call has one of its client's connections.

        The run has no more calls in flight than there are, but other runs have some, too.
        """
        client = target.connections.client
        # Calls take no virtual time.
        if client is None or current_time() is not SYSTEM_TIME:
            return contextlib.nullcontext()
        return slots_of(client).one(
            lambda: 0 if self._stop.is_set() else max(0.0, target.until - self._now())
        )

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
            target = self._planned.get()
            if target is None:
                return
            self._finished.put(self.make(target))
            # Otherwise what the call returned would live on until the next call.
            del target
            if self._on_finished is not None:
                self._on_finished()
