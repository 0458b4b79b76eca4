"""Operations whose facts are in a store, and the thread that notices their ends."""

from __future__ import annotations

import contextlib
import json
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from ..outcome import WaiterOutcome
from ..runtime.process import start_thread
from .error_codes import OperationError, StoreError
from .in_memory import COLLECTION
from .operation import Operation
from .representation import (
    OperationFacts,
    WaitProgressFacts,
    error_from_json,
    operation_json,
    outcome_from_json,
)
from .tables import OPEN, SUCCEEDED

WATCH_INTERVAL: Final = 0.5
"""Seconds between two checks of the store for operations that this process holds."""

CLOSE_GRACE: Final = 10.0
"""Seconds that a check of the store may still take when the store is closed."""

Row = Mapping[str, Any]


class RowSource(Protocol):
    """The store that an operation belongs to."""

    def row(self, path: str) -> Row:
        """Return the row of an operation."""
        ...

    def end_by_cancel(self, path: str) -> bool:
        """Cancel an operation; return False if it has ended."""
        ...

    def finder(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        """Return what finds an operation of the store again, without its path."""
        ...


class StoredRecord:
    """The facts of an operation in a store.

    Args:
        store: has the row.
        row: the row as it was read.
        watcher: keeps an operation that has callbacks, until it has ended.
    """

    def __init__(self, store: RowSource, row: Row, watcher: EndWatcher) -> None:
        self.path = path_of(row)
        self._store = store
        self._row = row
        self._watcher = watcher

    def to_json(self, ended: dict[str, Any] | None) -> dict[str, Any]:
        """Return the JSON form, read from the store unless it is final."""
        if ended is None or self._row["state"] == OPEN:
            self._row = self._store.row(self.path)
        return row_json(self._row)

    def cancel(self) -> bool:
        """End the wait in the store."""
        return self._store.end_by_cancel(self.path)

    def reduced(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        """Return what finds the operation again."""
        find, arguments = self._store.finder()
        return find, (*arguments, self.path)

    def has_callback(self, operation: Operation) -> None:
        """Keep the operation: the caller that added a callback may drop it."""
        self._watcher.keep(operation)


class EndWatcher:
    """Notices the ends of operations that are open, in one thread while any of them is held.

    Args:
        read: returns the rows of these paths that are there.
    """

    def __init__(self, read: Callable[[Sequence[str]], Mapping[str, Row]]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._open: weakref.WeakValueDictionary[str, Operation] = weakref.WeakValueDictionary()
        self._kept: dict[str, Operation] = {}
        self._news = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def watched(self, path: str, make: Callable[[], Operation]) -> Operation:
        """Return the operation of a path that is watched, or watch a new one."""
        with self._lock:
            operation = self._open.get(path)
            # One that is done was reopened since.
            if operation is None or operation.done():
                operation = self._open[path] = make()
            if self._thread is None:
                self._thread = start_thread(self._run, "operations")
        return operation

    def keep(self, operation: Operation) -> None:
        """Hold an operation until it has ended."""
        with self._lock:
            if operation.path in self._open:
                self._kept[operation.path] = operation

    def check(self) -> None:
        """Check the store at once."""
        self._news.set()

    def close(self) -> None:
        """End the thread."""
        self._is_closed = True
        self._news.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(CLOSE_GRACE)

    def _run(self) -> None:
        while self._end_what_has_ended():
            self._news.wait(WATCH_INTERVAL)
            self._news.clear()

    def _end_what_has_ended(self) -> bool:
        """End the operations that have ended; return False if there is none left to watch."""
        with self._lock:
            found = dict(self._open)
            if not found or self._is_closed:
                self._thread = None
                return False
        # The database may come back.
        with contextlib.suppress(StoreError):
            rows = self._read(list(found))
            for path, operation in found.items():
                row = rows.get(path)
                if row is None or row["state"] != OPEN:
                    self._end(path, operation, row)
        return True

    def _end(self, path: str, operation: Operation, row: Row | None) -> None:
        with self._lock:
            if self._open.get(path) is operation:
                del self._open[path]
                self._kept.pop(path, None)
        if row is None:
            operation.end(OperationError("not_found", f"{path} is no longer in the store"))
        else:
            end_as(operation, row)


def end_as(operation: Operation, row: Row) -> None:
    """End an operation as its row says."""
    result = result_of(row)
    if result is None:
        operation.end_cancelled()
    else:
        operation.end(result)


def result_of(row: Row) -> WaiterOutcome[Any] | Exception | None:
    """Return the outcome or the error of a row that is done; None if it was cancelled."""
    if row["state"] == SUCCEEDED:
        return outcome_from_json(json.loads(row["response"]))
    body = json.loads(row["error"])
    return None if body["code"] == "cancelled" else error_from_json(body)


def path_of(row: Row) -> str:
    """Return the path of the operation of a row."""
    return f"{COLLECTION}/{row['id']}"


def row_json(row: Row) -> dict[str, Any]:
    """Return a row as the schema of AEP-151 has an operation."""
    facts = OperationFacts(
        path=path_of(row),
        label=row["label"],
        waiter=row["waiter"],
        service=row["service"],
        region=row["region"],
        created=row["created"],
        deadline=row["deadline"],
    )
    progress = WaitProgressFacts(
        attempts=row["attempts"],
        elapsed=row["elapsed"],
        state_seen=row["state_seen"],
        next_attempt=row["next_attempt"],
        worker=row["worker"],
        clock_jump=row["clock_jump"],
    )
    response, error = (
        None if row[n] is None else json.loads(row[n]) for n in ("response", "error")
    )
    return operation_json(facts, progress, response=response, error=error)
