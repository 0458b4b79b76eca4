"""The background waits of one process or worker, from `Wait` objects to their results."""

from __future__ import annotations

import contextvars
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

from ..batch.background import BackgroundScheduler
from ..batch.callbacks import Callback, Callbacks, CallbackThread
from ..batch.groups import Grouping, Task
from ..batch.preparation import Preparation, marked_context
from ..batch.schedule import DEFAULT_THREADS
from ..batch.wait import Wait
from ..calls.clock import current_time
from ..calls.threads import forget_caller_in
from ..common.errors import caller
from ..deadlines import leave_deadlines
from ..engine.wait_event import WaitEvent


class WaitPool(BackgroundScheduler):
    """Waits in one background thread; those of one kind share calls, as in `wait_all`.

    Args:
        threads: calls that may be in flight at once.

    Attributes:
        callbacks: the thread of the caller's callbacks, where a slow one delays no attempt.
    """

    def __init__(self, *, threads: int = DEFAULT_THREADS) -> None:
        super().__init__(threads=threads, forget=self._release)
        self.callbacks = CallbackThread()
        self._preparation = Preparation(
            stop=self._stop,
            grouping=Grouping(self._stop, by_age=True),
            callbacks=_DeferredCallbacks(self.callbacks),
        )
        self._preparing = threading.Lock()
        self._open: Counter[int] = Counter()

    @property
    def is_usable(self) -> bool:
        """Whether waits can be started under the time source in force."""
        return super().is_usable and self.time is current_time()

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
            (task,) = self._preparation.tasks([wait])
            task.context = _background_context()
            self._open[id(wait.client)] += 1
        if state is not None:
            try:
                task.run.resume(state, digest=digest, seconds_ago=seconds_ago)
            except ValueError:
                self._release(task)
                raise
        task.run.observe_attempts(on_attempt)
        return task

    def limit_calls(self, per_second: Mapping[str, float]) -> None:
        """Limit the calls per second to each endpoint of these services, from now on."""
        with self._preparing:
            self._preparation.limit_calls(per_second)

    def _release(self, task: Task) -> None:
        client = task.connections.client
        with self._preparing:
            self._open[id(client)] -= 1
            if not self._open[id(client)]:
                del self._open[id(client)]
                self._preparation.forget(client)


def _background_context() -> contextvars.Context:
    """Return the context variables of the caller, without a deadline and without the caller."""
    context = marked_context()
    context.run(leave_deadlines)
    forget_caller_in(context)
    return context


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
