"""Waits that run in the background: one thread for any number of them, added at any time."""

from __future__ import annotations

import contextvars
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from ..calls.clock import current_time, start_timed_thread
from ..calls.threads import forget_caller_in
from ..common.errors import caller, logger
from ..deadlines import leave_deadlines
from ..engine.wait_event import WaitEvent
from .callbacks import Callback, Callbacks, CallbackThread
from .preparation import Grouping, Preparation, marked_context
from .schedule import DEFAULT_THREADS, Schedule
from .scheduler import ThreadExecutor
from .tasks import Task
from .wait import Wait

CLOSE_GRACE: Final = 2.0
"""Seconds that `close` waits for the thread to take what calls have returned."""

TaskEnd = Callable[[Task], object]


class WaitPool:
    """Runs waits in a background thread, each from the moment when it is added.

    Waits of one kind share calls, as in `wait_all`. The thread is started by the first wait and
    ends with the last one; the next wait starts another. It is a daemon thread: waits do not keep a
    process alive.

    Args:
        threads: calls that may be in flight at once.

    Attributes:
        callbacks: the thread of the caller's callbacks, where a slow one delays no attempt.
    """

    def __init__(self, *, threads: int = DEFAULT_THREADS) -> None:
        self.callbacks = CallbackThread()
        self._time = current_time()
        self._threads = threads
        self._stop = threading.Event()
        self._preparation = Preparation(
            stop=self._stop,
            grouping=Grouping(self._stop, by_age=True),
            callbacks=_DeferredCallbacks(self.callbacks),
        )
        self._preparing = threading.Lock()
        self._open: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._failure: str | None = None
        self._actions: deque[Callable[[Schedule], object]] = deque()
        self._executor: ThreadExecutor | None = None
        # Read and written in the background thread only.
        self._on_end: dict[Task, TaskEnd] = {}

    @property
    def is_usable(self) -> bool:
        """Whether waits can be started: the thread has not failed, and its time is in force."""
        return self._failure is None and self._time is current_time()

    def prepared(
        self,
        wait: Wait,
        on_attempt: Callable[[WaitEvent], object],
        *,
        state: str | None = None,
        digest: str = "",
        seconds_ago: float = 0,
        called_at: float | None = None,
    ) -> Task:
        """Return a wait for `add`, which has to follow.

        Args:
            wait: the wait; it has a `max_wait`.
            on_attempt: called in the background thread after each attempt.
            state: the stored state of the wait; None: it begins.
            digest, seconds_ago: the definition of that state, and its age.
            called_at: when the wait begins: what `time.monotonic` gave then; None: with `add`.

        Raises:
            ValueError: `state` is not that of a wait under this definition.
        """
        with self._preparing:
            self._preparation.caller = caller()
            self._preparation.called_at = called_at
            context = marked_context()
            context.run(leave_deadlines)
            forget_caller_in(context)
            (task,) = self._preparation.tasks([wait], context)
            self._open[id(wait.client)] += 1
        if state is not None:
            try:
                task.run.resume(state, digest=digest, seconds_ago=seconds_ago)
            except ValueError:
                self._release(task)
                raise
        task.run.observe_attempts(on_attempt)
        return task

    def add(self, waits: Sequence[tuple[Task, TaskEnd]]) -> None:
        """Start waits together, so that their first attempts may share calls.

        Args:
            waits: each with what is called in the background thread when it has ended.

        Raises:
            RuntimeError: no thread can be started, as during interpreter shutdown.
        """

        def start(run: Schedule) -> None:
            self._on_end.update(waits)
            run.add([task for task, _ in waits])

        self._act(start)

    def cancel(self, task: Task) -> None:
        """End a wait with a `WaiterCancelledError`, if it has begun and not ended."""

        def end(run: Schedule) -> None:
            if task in self._on_end:
                run.cancel([task])

        self._act(end)

    def limit_calls(self, per_second: Mapping[str, float]) -> None:
        """Limit the calls per second to each endpoint of these services, from now on."""
        with self._preparing:
            self._preparation.limit_calls(per_second)

    def close(self) -> None:
        """Drop all waits as they are, without a result; calls in flight end.

        What calls have returned by then is still an attempt.
        """
        self._stop.set()
        self._wake()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(CLOSE_GRACE)

    def _release(self, task: Task) -> None:
        client = task.connections.client
        with self._preparing:
            self._open[id(client)] -= 1
            if not self._open[id(client)]:
                del self._open[id(client)]
                self._preparation.forget(client)

    def _act(self, action: Callable[[Schedule], object]) -> None:
        with self._lock:
            if self._failure is not None:
                raise RuntimeError(self._failure)
            self._actions.append(action)
            if self._thread is None:
                thread = start_timed_thread(self._work, "background")
                if thread is None:
                    self._actions.pop()
                    raise RuntimeError("no thread can be started for a background wait")
                self._thread = thread
        self._wake()

    def _wake(self) -> None:
        # None: the thread has not begun, and looks for what is to be done when it does.
        executor = self._executor
        if executor is not None:
            executor.wake()

    def _work(self) -> None:
        with self._lock:
            # Ctrl-C may have kept `_act` from telling the others that this thread was started.
            if self._thread not in (None, threading.current_thread()):
                return
            self._thread = threading.current_thread()
        run = Schedule(self._threads)
        self._executor = executor = ThreadExecutor(run.now, in_background=True)
        try:
            while not self._stop.is_set():
                while self._actions:
                    self._actions.popleft()(run)
                run.turn(executor, self._tell_end)
                # The clients outlive the run: what it counts for them has to be settled.
                if not run.is_idle:
                    executor.wait(run)
                elif self._has_ended():
                    return
            run.finish(executor.finished_by_now())
        # What a call raised that is no `Exception`: a bug must not leave futures open forever.
        except BaseException as error:
            logger.exception("the background thread of waits failed")
            self._fail(run, error)
        finally:
            executor.close()
            run.close()

    def _tell_end(self, task: Task) -> None:
        self._release(task)
        self._on_end.pop(task)(task)

    def _has_ended(self) -> bool:
        with self._lock:
            if not self._actions:
                self._thread = None
            return self._thread is None

    def _fail(self, run: Schedule, error: BaseException) -> None:
        with self._lock:
            self._failure = f"the background thread failed: {type(error).__name__}"
            actions, self._actions = self._actions, deque()
        for action in actions:
            action(run)
        run.fail(RuntimeError(self._failure))
        for task, on_end in self._on_end.items():
            self._release(task)
            on_end(task)


class _DeferredCallbacks(Callbacks):
    """Gives each wait a guard of its own, which ends with it and reports its first error."""

    def __init__(self, thread: CallbackThread) -> None:
        super().__init__()
        self._thread = thread

    def observer(self, callback: Callback, name: str) -> Callback:
        """Return the callback, guarded and called when its turn in the queue comes."""
        of_wait = Callbacks()
        # In the context of the wait, which is that of its caller.
        of_wait.defer(lambda call: self._thread.put(partial(contextvars.copy_context().run, call)))
        return of_wait.observer(callback, name)
