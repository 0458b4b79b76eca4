"""Operations that live in the memory of one process."""

from __future__ import annotations

import time
import uuid
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ..engine.redaction import printable
from ..engine.wait_event import WaitEvent
from ..many.wait import Wait
from ..runtime.clock import current_time
from ..runtime.process import ProcessLock, after_fork
from ..runtime.tasks import Task
from .operation import Operation
from .representation import OperationFacts, WaitProgressFacts, operation_json
from .wait_pool import WaitPool

COLLECTION: Final = "operations"


class _Memory:
    """The operations of this process, and the pool that runs them."""

    def __init__(self) -> None:
        self.lock = ProcessLock()
        self.operations: weakref.WeakValueDictionary[str, Operation] = weakref.WeakValueDictionary()
        self._pool: WaitPool | None = None
        after_fork(self._forget_pool)

    def pool(self) -> WaitPool:
        """Return the pool under the time source in force."""
        with self.lock:
            if self._pool is None or not self._pool.is_usable:
                self._pool = WaitPool()
            return self._pool

    def _forget_pool(self) -> None:
        self._pool = None


_MEMORY: Final = _Memory()


class MemoryRecord:
    """The facts of an operation in memory.

    Args:
        facts: what does not change.
        pool: runs the wait.
    """

    def __init__(self, facts: OperationFacts, pool: WaitPool) -> None:
        self.path = facts.path
        self._facts = facts
        self._pool = pool
        self._progress = WaitProgressFacts()
        self._clock = current_time().clock()
        self._start = self._clock()
        self.task: Task | None = None

    def attempted(self, _: Task, event: WaitEvent) -> None:
        """Note how far the wait is."""
        self._progress = progress_of(event, time.time())

    def has_ended(self, task: Task) -> None:
        """Note the attempts of the whole wait: no event told of a last call without an answer."""
        run = task.run
        self._progress = replace(self._progress, attempts=run.attempts, elapsed=run.elapsed)

    def to_json(self, ended: dict[str, Any] | None) -> dict[str, Any]:
        """Return the JSON form."""
        progress = self._progress
        if ended is None:
            progress = replace(progress, elapsed=self._clock() - self._start)
        else:
            progress = replace(progress, next_attempt=None)
        return operation_json(self._facts, progress, **(ended or {}))

    def cancel(self) -> bool:
        """End the wait."""
        if self.task is not None:
            self._pool.cancel(self.task)
        return True

    def has_callback(self, operation: Operation) -> None:
        """Do nothing: the pool holds the operation until it has ended."""

    def reduced(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        """Return what finds the operation again."""
        return get, (self.path,)


def start_in_memory(wait: Wait) -> Operation:
    """Start a background wait in this process."""
    pool = _MEMORY.pool()
    record = MemoryRecord(facts_of(wait, new_path(), time.time()), pool)
    operation = Operation(record)

    def ended(task: Task) -> None:
        result = task.result
        assert result is not None, "the task has ended"
        record.has_ended(task)
        pool.deliver(lambda: operation.end(result))

    prepared = pool.prepared(wait, record.attempted, ended)
    record.task = prepared[0]
    pool.start([prepared])
    with _MEMORY.lock:
        _MEMORY.operations[record.path] = operation
    return operation


def get(path: str) -> Operation:
    """Return an operation of this process by its path, as long as it is in use.

    Raises:
        LookupError: this process has no such operation.
    """
    operation = _MEMORY.operations.get(path)
    if operation is None:
        raise LookupError(
            f"{path} is not in the memory of this process; start it with in_store= to look it up "
            "from others"
        )
    return operation


def new_path() -> str:
    """Return a path that no other operation has."""
    return f"{COLLECTION}/{uuid.uuid4().hex}"


def facts_of(wait: Wait, path: str, created: float) -> OperationFacts:
    """Return what does not change about the operation of a wait."""
    service = wait.bound.service_name
    assert wait.max_wait is not None, "a background wait is bounded"
    return OperationFacts(
        path=path,
        label=wait.label,
        waiter=wait.waiter,
        service=service,
        region=wait.client.meta.region_name,
        created=created,
        deadline=created + wait.max_wait,
    )


def progress_of(event: WaitEvent, now: float) -> WaitProgressFacts:
    """Return how far a wait is after an attempt that ended at `now` of the wall clock."""
    state = f"error {event.error}" if event.error else event.state
    return WaitProgressFacts(
        attempts=event.attempt,
        elapsed=event.elapsed,
        # No database stores a lone surrogate, and PostgreSQL no NUL.
        state_seen=None if state is None else printable(state),
        next_attempt=None if event.next_delay is None else now + event.next_delay,
    )
