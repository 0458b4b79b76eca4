"""Operations whose facts are in a store, and the thread that notices their ends."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from ..outcome import WaiterOutcome
from ..runtime.process import ProcessLock, after_fork, start_thread
from .backend import OPEN, Backend, Row
from .error_codes import OperationError, StoreError
from .operation import Operation, id_of, path_of
from .representation import result_of, row_json

if TYPE_CHECKING:
    from .store import Store

WATCH_INTERVAL: Final = 0.5
"""Seconds between two checks of the store for operations that this process holds."""

CLOSE_GRACE: Final = 10.0
"""Seconds that a check of the store may still take when the store is closed."""


class StoredOperation(Operation):
    """An operation of a store, made from its row; it is done at once if its wait has ended."""

    def __init__(self, store: Store, row: Row) -> None:
        super().__init__(path_of(row))
        self._store = store
        self._row = row
        if row["state"] != OPEN:
            self.end_as(row)

    def to_json(self) -> dict[str, Any]:
        if not self.done() or self._row["state"] == OPEN:
            self._row = self._store.row(self.path)
        return row_json(self._row, self._store.seal)

    def add_done_callback(self, fn: Callable[[Future[WaiterOutcome[Any]]], object]) -> None:
        """Call a function with the operation when it is done, or at once if it is."""
        # The caller may drop the operation.
        self._store.watcher.keep(self)
        super().add_done_callback(fn)

    def __reduce__(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        find, arguments = self._store.finder()
        return find, (*arguments, self.path)

    def end_as(self, row: Row | None) -> None:
        """End as the row says; None: the row is gone."""
        if row is None:
            problem = f"{self.path} is no longer in the store"
            self.end(OperationError("not_found", problem))
        else:
            self.end(result_of(row, self._store.seal))

    def _cancel_wait(self) -> bool:
        return self._store.end_by_cancel(self.path)

    def _attend(self) -> None:
        # Again: this process may have been forked since.
        self._store.watcher.watched(self.path, lambda: self)

    def _hindrance(self) -> str:
        backend = self._store.backend
        with contextlib.suppress(StoreError):
            rows = backend.get([id_of(self.path)])
            if rows and rows[0]["lease"] not in backend.leases():
                return (
                    ": no worker drives it: call work() of the store in a thread or a process, or "
                    "run `boto-wait operations work`"
                )
        return ""


class EndWatcher:
    """Notices the ends of operations that are open, in one thread while any of them is held."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lock = ProcessLock()
        self._open = weakref.WeakValueDictionary[str, StoredOperation]()
        self._kept: dict[str, StoredOperation] = {}
        self._news = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        after_fork(self._forget_thread)

    def watched(self, path: str, make: Callable[[], StoredOperation]) -> StoredOperation:
        """Return the operation of a path that is watched, or watch a new one.

        Raises:
            StoreError: the store is closed.
        """
        with self._lock:
            if self._is_closed:
                raise self._closed()
            operation = self._open.get(path)
            # If the operation is done, its wait has been reopened since.
            if operation is None or operation.done():
                operation = self._open[path] = make()
            if self._thread is None:
                self._thread = start_thread(self._run, "operations")
        return operation

    def keep(self, operation: StoredOperation) -> None:
        """Hold an operation until it has ended."""
        with self._lock:
            if operation.path in self._open:
                self._kept[operation.path] = operation

    def check(self) -> None:
        """Check the store at once."""
        self._news.set()

    def close(self) -> None:
        """End the thread; what is held ends with an error, because its end will not be seen."""
        self._is_closed = True
        self._news.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(CLOSE_GRACE)
        with self._lock:
            held = list(self._open.values())
            self._open.clear()
            self._kept.clear()
        for operation in held:
            operation.end(self._closed())

    def _closed(self) -> StoreError:
        name = self._backend.name
        return StoreError(f"store {name} is closed; its open waits go on in other processes")

    def _forget_thread(self) -> None:
        self._news = threading.Event()
        self._thread = None

    def _run(self) -> None:
        while self._end_what_has_ended():
            self._news.wait(WATCH_INTERVAL)
            self._news.clear()

    def _end_what_has_ended(self) -> bool:
        """End the operations that have ended; return False if there is none left to watch."""
        with self._lock:
            found = {id_of(path): operation for path, operation in self._open.items()}
            if not found or self._is_closed:
                self._thread = None
                return False
        # The database may come back.
        with contextlib.suppress(StoreError):
            ended = found.keys() - self._backend.open_ids([*found])
            rows = {row["id"]: row for row in self._backend.get([*ended])} if ended else {}
            for each in ended:
                found[each].end_as(rows.get(each))
                with self._lock:
                    path = found[each].path
                    if self._open.get(path) is found[each]:
                        del self._open[path]
                        self._kept.pop(path, None)
        return True
