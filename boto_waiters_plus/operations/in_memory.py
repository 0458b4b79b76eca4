"""`start` and `get`: background waits that live in the memory of one process."""

from __future__ import annotations

import os
import time
import uuid
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from ..batch.background import WaitPool
from ..batch.tasks import Task
from ..batch.wait import Wait
from ..calls.clock import current_time
from ..calls.credentials import refresh_what_asks
from ..changes.stops import Stop
from ..common.process import ProcessLock, renew_in_forks
from ..engine.model import WaiterDefinition
from ..engine.wait_event import WaitEvent
from ..outcome import WaiterOutcome
from .operation import Operation, load_operation, path_of
from .representation import cancelled_json, error_json, operation_json, progress_of, response_json
from .store import background_wait
from .stored_wait import EMPTY

if TYPE_CHECKING:
    from .store import Store


class _Memory:
    """The background waits of this process, and the pool that runs them."""

    def __init__(self) -> None:
        self._lock = ProcessLock()
        self.operations = weakref.WeakValueDictionary[str, Operation]()
        renew_in_forks(self._renew)

    def _renew(self) -> None:
        self._pool: WaitPool | None = None

    def pool(self) -> WaitPool:
        """Return the pool under the time source in force."""
        with self._lock:
            if self._pool is None or not self._pool.is_usable:
                self._pool = WaitPool()
            return self._pool


MEMORY: Final = _Memory()


class MemoryOperation(Operation):
    """A background wait of this process, which `get` finds: a pool runs it, until it has ended.

    Args:
        wait: the wait.
        called_at: what `time.monotonic` gave when the caller called, where somebody may have been
            asked for a code since then; None: now.
        end: the outcome, where there is nothing to wait for; None: the wait is run.
    """

    _stop_made: Stop | None = None
    """What became of the stop of what was begun."""

    def __init__(
        self,
        wait: Wait,
        *,
        called_at: float | None = None,
        end: WaiterOutcome[Any] | None = None,
    ) -> None:
        assert wait.max_wait is not None, "a background wait is bounded"
        now = time.time() - (0.0 if called_at is None else time.monotonic() - called_at)
        # In the columns of a store; replaced, never changed.
        row: dict[str, Any] = {"id": uuid.uuid4().hex, "label": wait.label, "waiter": wait.waiter}
        row |= {"service": wait.bound_waiter.service_name, "region": wait.client.meta.region_name}
        row |= {"created": now, "deadline": now + wait.max_wait, "attempts": 0, "elapsed": 0.0}
        self._row = row | dict.fromkeys((*EMPTY, "exclusive_key"))
        super().__init__(path_of(row))
        self._clock = current_time().clock()
        self._start = self._clock()
        self._process = os.getpid()
        self._task: Task | None = None
        if end is None:
            self._run(wait, called_at)
        else:
            self.end(end)
        MEMORY.operations[self.path] = self

    def _run(self, wait: Wait, called_at: float | None) -> None:
        self._pool = MEMORY.pool()
        self._task = self._pool.prepared(wait, self._attempted, called_at=called_at)
        self._pool.add([(self._task, self._has_ended)])

    def to_json(self) -> dict[str, Any]:
        row = self._row
        if not self.done():
            return operation_json({**row, "elapsed": self._clock() - self._start})
        end = self._ended_as()
        if isinstance(end, WaiterOutcome):
            row = {**row, "response": response_json(end)}
        else:
            error = cancelled_json(self._stop_made) if end is None else error_json(end)
            row = {**row, "error": error}
        return operation_json({**row, "next_attempt": None})

    def __reduce__(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        return load_operation, (get, (self.path,))

    def _attempted(self, event: WaitEvent) -> None:
        self._row = {**self._row, **progress_of(event, time.time())}

    def _has_ended(self, task: Task) -> None:
        # No event told of a last call without an answer.
        run = task.run
        self._row = {**self._row, "attempts": run.attempts, "elapsed": run.elapsed}
        self._task = None
        self._conclude(task.result)

    def _conclude(self, result: WaiterOutcome[Any] | Exception | None) -> None:
        """End as the wait did."""
        self.end(result)

    def _call_back(self, function: Callable[[], object]) -> None:
        self._pool.callbacks.put(function)

    def _cancel_wait(self) -> bool:
        task = self._task
        if task is not None:
            self._cancel_task(task)
        return True

    def _cancel_task(self, task: Task) -> None:
        self._pool.cancel(task)

    def _attend(self) -> None:
        # A forked process has the wait in its memory, but no thread that drives it.
        if os.getpid() != self._process:
            raise RuntimeError(
                f"{self.path} belongs to the process that this one was forked from; look it "
                "up by its path in a store"
            )


def start(
    client: Any,
    waiter: str | WaiterDefinition,
    /,
    *,
    max_wait: Any,
    until_state: str | Iterable[str] | None = None,
    state_path: str | None = None,
    in_store: Store | None = None,
    **keywords: Any,
) -> Operation:
    """Start a wait in the background.

    All background waits of a process share one thread for their schedules and a few for their
    calls, and waits of one kind share calls, as in `wait_all`. Callbacks (`on_attempt`,
    `add_done_callback`) are called in another thread. A `deadline` around the call does not
    bound the wait.

    Args:
        client: a boto3 or botocore client.
        waiter: `"BucketExists"`, `"bucket_exists"`, or a definition.
        max_wait: seconds (or a `timedelta`) to wait at most.
        until_state, state_path: with an operation in place of a waiter; see `wait_until`.
        in_store: a `Store`: the wait outlives this process, and a worker of the store drives it.
            By default it ends with the process.
        keywords: fields of `WaitOptions`, and the operation's parameters. With `in_store` see
            `Store.start` for what can be stored.

    Returns:
        The background wait, a future.

    Raises:
        ValueError: no such waiter, or an option out of range.
        TypeError: an option is of the wrong kind, or the client is asynchronous.
    """
    keywords |= {"until_state": until_state, "state_path": state_path}
    if in_store is not None:
        return in_store.start(client, waiter, max_wait=max_wait, **keywords)
    called_at = time.monotonic()
    wait = background_wait(client, waiter, max_wait, keywords)
    refresh_what_asks(wait.client, wait.max_wait or 0.0)
    return MemoryOperation(wait, called_at=called_at)


def get(path: str) -> Operation:
    """Return a background wait of this process by its path, as long as it is in use.

    Raises:
        LookupError: this process has no such wait.
    """
    operation = MEMORY.operations.get(path)
    if operation is None:
        raise LookupError(
            f"{path} is not in the memory of this process; start it with in_store= to look it up "
            "from others"
        )
    return operation
