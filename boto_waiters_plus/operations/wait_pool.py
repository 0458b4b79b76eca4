"""The background waits of one process or worker, from `Wait` objects to their results."""

from __future__ import annotations

import contextvars
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ..aws.private_names import marked_as_waiter
from ..engine.wait_event import WaitEvent
from ..many.callbacks import Callbacks
from ..many.grouping import Grouping
from ..many.preparation import Preparation
from ..many.wait import Wait
from ..runtime.background import BackgroundScheduler, TaskEnd
from ..runtime.clock import current_time
from ..runtime.schedule import DEFAULT_THREADS
from ..runtime.tasks import Task


class WaitPool:
    """Waits in one background thread; those of one kind share calls, as in `wait_all`.

    Args:
        threads: calls that may be in flight at once.
    """

    def __init__(self, *, threads: int = DEFAULT_THREADS) -> None:
        self._stop = threading.Event()
        # A fresh context: the deadline around the first wait is not that of the others.
        context = contextvars.Context().run(_marked_context)
        self._scheduler = BackgroundScheduler(context, threads=threads, stop=self._stop)
        callbacks = Callbacks()
        callbacks.defer(self._scheduler.deliveries)
        self._preparation = Preparation(
            bound=None,
            stop=self._stop,
            grouping=Grouping(self._stop),
            callbacks=callbacks,
            progress=None,
            is_async=False,
        )
        self._lock = threading.Lock()
        self._open: Counter[int] = Counter()

    @property
    def is_usable(self) -> bool:
        """Whether waits can be started under the time source in force."""
        return self._scheduler.is_usable and self._scheduler.time is current_time()

    def prepared(
        self,
        wait: Wait,
        on_attempt: Callable[[Task, WaitEvent], object],
        on_end: TaskEnd,
        *,
        state: str | None = None,
        seconds_ago: float = 0,
    ) -> tuple[Task, TaskEnd]:
        """Return a wait for `start`, which has to follow.

        Args:
            wait: the wait; it has a `max_wait`.
            on_attempt: called in the background thread after each attempt.
            on_end: called there when the wait has ended.
            state: the stored state of the wait; None: it begins.
            seconds_ago: the age of that state.

        Raises:
            ValueError: `state` is not that of a wait.
        """
        with self._lock:
            (task,) = self._preparation.tasks([wait])
            self._open[id(wait.client)] += 1

        def ended(task: Task) -> None:
            self._forget(wait)
            on_end(task)

        if state is not None:
            try:
                task.run.resume(state, seconds_ago=seconds_ago)
            except ValueError:
                self._forget(wait)
                raise
        task.run.observe_attempts(lambda event: on_attempt(task, event))
        return task, ended

    def start(self, waits: Sequence[tuple[Task, TaskEnd]]) -> None:
        """Start waits together, so that their first attempts may share calls.

        Raises:
            RuntimeError: no thread can be started.
        """
        self._scheduler.add(waits)

    def limit_calls(self, per_second: Mapping[str, float]) -> None:
        """Limit the calls per second to each endpoint of these services, from now on."""
        with self._lock:
            self._preparation.limit_calls(per_second)

    def cancel(self, task: Task) -> None:
        """End a wait, if it has not ended."""
        self._scheduler.cancel(task)

    def deliver(self, function: Callable[[], object]) -> None:
        """Call a function in the thread for callbacks, where a slow one delays no attempt."""
        self._scheduler.deliveries.put(function)

    def close(self) -> None:
        """Drop all waits as they are; calls in flight end."""
        self._scheduler.close()

    def _forget(self, wait: Wait) -> None:
        with self._lock:
            key = id(wait.client)
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
                self._preparation.forget(wait.client)


def _marked_context() -> contextvars.Context:
    with marked_as_waiter():
        return contextvars.copy_context()
