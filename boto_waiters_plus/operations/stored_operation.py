"""Operations whose facts are in a store, and the thread that notices their ends."""

from __future__ import annotations

import contextlib
import math
import re
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from ..batch.callbacks import CallbackThread
from ..calls import flow
from ..changes.known_effects import Effect
from ..changes.prepared_call import CallOutcome
from ..changes.stops import Stop, requested, told
from ..common.errors import logger
from ..common.process import ProcessLock, renew_in_forks, start_thread
from ..exceptions import WaiterError
from ..outcome import WaiterOutcome
from ..wait.wording import seconds_text
from .begun import BegunRow, begun_of, stop_at_end, stop_of, unanswered
from .operation import (
    COLLECTION,
    UNDRIVEN_GRACE,
    Operation,
    OperationError,
    StoreError,
    UnableError,
    UnusableError,
    id_of,
    load_operation,
    path_of,
    unreadable,
)
from .representation import cancelled_json, end_of, result_of, row_json, timeout_of, with_stop
from .stored_row import OPEN, UNDRIVEN, Clock, Row, Seal, json_text, monotonic_time
from .stored_wait import ClientDescription

if TYPE_CHECKING:
    from .sql import Database


WATCH_INTERVAL: Final = 0.5
"""Seconds between two checks of the store for operations that ended."""

COMPARE_INTERVAL: Final = 10.0
"""Seconds between two checks of each operation that this process holds.

It takes 10 microseconds for each of them; what ended since the last check is found for all at once.
"""

OVERLAP: Final = 2.0
"""Seconds by which these checks overlap: a transaction takes effect later than its moment."""

CLOSE_GRACE: Final = 10.0
"""Seconds that a check of the store may still take when the store is closed."""


def checked_id(path: str, prefix: str = f"{COLLECTION}/") -> str:
    """Return the id in a path, of which a database may refuse any other text.

    Raises:
        LookupError: nothing has such a path.
    """
    found = re.fullmatch(rf"{prefix}([0-9a-f]{{32}})", path)
    if found is None:
        raise LookupError(f"there is no {path!r}: expected {prefix} and 32 hex digits")
    return found[1]


def is_overdue(row: Row, now: float) -> bool:
    """Return whether a worker should have ended the wait of a row by now."""
    deadline = row["deadline"]
    return isinstance(deadline, float) and deadline < now - UNDRIVEN_GRACE


def end_overdue(
    database: Database, seal: Seal, rows: Iterable[Row], stop: Stop | None = None
) -> bool:
    """End those of these open waits that are overdue and driven by no worker; return if any was.

    Args:
        rows: as they are in the store now.
        stop: what became of the stop of what was begun; None: it is left to a worker.
    """
    _, now = database.ended_ids(math.inf)
    ends = (_overdue_end(row, seal, stop) for row in rows if is_overdue(row, now))
    overdue = [*filter(None, ends)]
    return bool(overdue and database.write(UNDRIVEN, overdue))


def _overdue_end(row: Row, seal: Seal, stop: Stop | None) -> Row | None:
    """Return what changes in the row of a wait that no worker drives past its deadline.

    None: it cannot be read here, so that how it ends is not known.
    """
    error: Exception
    try:
        error = unanswered(row, seal) or timeout_of(row)
    except UnableError:
        return None
    except (OperationError, TypeError, ValueError, KeyError) as found:
        error = unreadable(f"its end cannot be told: {type(found).__name__}")
    kept = stop_at_end(row, "stop_on_timeout", seal, stop)
    return {**end_of(row["id"], error, seal), **kept}


class OpenStore(ABC):
    """What operations and workers need of their store."""

    def __init__(self, database: Database, seal: Seal, clock: Clock | None) -> None:
        self.database, self.seal = database, seal
        self.clock = monotonic_time if clock is None else clock
        self.watcher = EndWatcher(database, seal, self.clock)

    def __repr__(self) -> str:
        return f"Store({self.database.name!r})"

    def row(self, path: str) -> Row:
        """Return the row of a background wait; raise LookupError if there is none."""
        rows = self.current(self.database.get([checked_id(path)]))
        if not rows:
            raise LookupError(f"there is no {path} in {self!r}, or it has expired")
        return rows[0]

    def json_of(self, row: Row) -> dict[str, Any]:
        """Return the row of a background wait as `operation_json` does."""
        body = row_json(row, self.seal)
        if "error" in body and (stop := stop_of(row, self.seal)) is not None:
            body["error"] = with_stop(body["error"], stop)
        return body

    def current(self, rows: Sequence[Row]) -> list[Row]:
        """Return rows without the debts that are over, and without workers that are gone."""
        driven = [row for row in rows if row["state"] == OPEN and row["worker"] is not None]
        if driven:
            # A row keeps the name of a worker that was killed until another one takes it.
            live = self.database.leases()
            gone = {row["id"] for row in driven if row["lease"] not in live}
            rows = [{**row, "worker": None} if row["id"] in gone else row for row in rows]
        if all(row["owes"] is None for row in rows):
            return [*rows]
        _, now = self.database.ended_ids(math.inf)
        return [row if _owes(row, now) else {**row, "owes": None} for row in rows]

    def end_by_cancel(self, path: str) -> bool:
        """Cancel a background wait; return False if it is not open."""
        end: dict[str, Any] = {"id": checked_id(path), "state": "cancelled", "ended": 0.0}
        end |= {"error": json_text(cancelled_json(None)), "lease": None, "next_attempt": None}
        for row in self.database.get([end["id"]]):
            is_driven = row["lease"] is not None and row["lease"] in self.database.leases()
            end |= stop_at_end(row, "stop_on_cancel", self.seal, is_driven=is_driven)
            if is_driven and end.get("owes"):
                # Its worker stops what was begun.
                end["lease"] = row["lease"]
        is_cancelled = self.database.write(None, [end]) == 1
        self.watcher.check()
        return is_cancelled

    @abstractmethod
    def finder(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        """Return what finds a background wait in another process; a password is not part of it."""


class StoredOperation(Operation):
    """An operation of a store, made from its row; it is done at once if its wait has ended."""

    client: Any = None
    """Has made the call of `begin`; None: another process has."""
    made_call: CallOutcome | None = None
    """That call, in the process that has made it."""

    def __init__(self, store: OpenStore, row: Row) -> None:
        super().__init__(path_of(row))
        self._store = store
        self._row = row
        if row["state"] != OPEN:
            self.end_as(row)

    @property
    def call(self) -> CallOutcome | None:
        """The call of `begin`; None before its answer, and for any other wait.

        Its response has all members in the process that made it; elsewhere no sensitive ones.

        Raises:
            OperationError: it cannot be read (here): `unreadable`.
        """
        if self.made_call is None and (begun := self._begun()):
            return begun.call
        return self.made_call

    @property
    def effect(self) -> Effect | None:
        """What is waited for after the call of `begin`; None for any other wait.

        Raises:
            OperationError: as `call`.
        """
        begun = self._begun()
        return None if begun is None else begun.effect

    def stop(self) -> Any:
        """Make the call that stops what was begun, with the credentials of this process.

        Returns:
            As `stop` of an operation without a store.

        Raises:
            NotImplementedError: nothing is known that stops it, or the call has no answer yet.
            OperationError: as `call`.
            ClientError, WaiterError: as `stop` of an operation without a store.
        """
        row, begun = self._latest_row(), self._begun()
        if begun is None or not begun.answer or begun.trait.stop is None:
            raise NotImplementedError(f"nothing is known that stops what {self.path} has begun")
        end = None if row["state"] == OPEN else result_of(row, self._store.seal)
        client = self.client or ClientDescription.of_row(row).make()
        return flow.run(requested(begun.effect_on(client), end))

    @property
    def _stops_on_cancel(self) -> bool:  # type: ignore[override]  # its row tells
        with contextlib.suppress(StoreError, LookupError, OperationError):
            return (begun := self._begun()) is not None and begun.stop_on_cancel
        return False

    def _wait_for_end(self, timeout: float | None) -> None:
        super()._wait_for_end(timeout)
        error: Any = self._ended_as()
        if getattr(error, "stop", None) and error.stop.state == "owed":
            with contextlib.suppress(StoreError, LookupError):
                error.stop = stop_of(self._latest_row(), self._store.seal) or error.stop

    def _begun(self) -> BegunRow | None:
        return begun_of(self._latest_row(), self._store.seal)

    def _latest_row(self) -> Row:
        # Of one that owes a stop, a worker may have made it since.
        if not self.done() or self._row["state"] == OPEN or self._row["owes"] is not None:
            self._row = self._store.row(self.path)
        return self._row

    def to_json(self) -> dict[str, Any]:
        return self._store.json_of(self._latest_row())

    def add_done_callback(self, fn: Callable[[Future[WaiterOutcome[Any]]], object]) -> None:
        """Call a function with the operation when it is done, or at once if it is."""
        # The caller may drop the operation.
        self._store.watcher.keep(self)
        super().add_done_callback(fn)

    def _call_back(self, function: Callable[[], object]) -> None:
        self._store.watcher.callbacks.put(function)

    def __reduce__(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        find, arguments = self._store.finder()
        return load_operation, (find, (*arguments, self.path))

    def end_as(self, row: Row | None) -> None:
        """End as the row says; None: the row is gone."""
        if row is None:
            problem = f"{self.path} is no longer in the store"
            self.end(OperationError("not_found", problem))
        else:
            result, stop = result_of(row, self._store.seal), stop_of(row, self._store.seal)
            # Of a damaged row only the error is told.
            with contextlib.suppress(OperationError):
                begun = begun_of(row, self._store.seal)
                if begun and begun.answer and isinstance(result, WaiterError):
                    result.call = self.made_call or begun.call
            if isinstance(result, OperationError):
                result.stop = stop
            elif isinstance(result, WaiterError) and stop is not None:
                result = told(result, stop)
            self.end(result)

    def _cancel_wait(self) -> bool:
        return self._store.end_by_cancel(self.path)

    def _attend(self) -> None:
        # Again: this process may have been forked since.
        self._store.watcher.watched(self.path, lambda: self)

    def is_overdue(self, now: float) -> bool:
        """Return whether a worker should have ended the wait by now, as far as is known here."""
        return is_overdue(self._row, now)

    def _hindrance(self) -> str:
        database = self._store.database
        with contextlib.suppress(StoreError, TypeError):
            for row in database.get([id_of(self.path)]):
                _, now = database.ended_ids(math.inf)
                silent_for = seconds_text(round(now - row["machine_at"], 1))
                silence = f"nothing was written for {silent_for} s"
                if row["lease"] not in database.leases():
                    return (
                        f": no worker drives it, {silence}: call work() of the store in a thread "
                        "or a process, or run `boto-wait operations work`"
                    )
                # A worker that was killed keeps its lease for a while.
                due = row["machine_at"] if row["next_attempt"] is None else row["next_attempt"]
                if now - due >= UNDRIVEN_GRACE:
                    return f": its worker {row['worker']} may be gone, {silence}"
        return ""


def _owes(row: Row, now: float) -> bool:
    return isinstance(row["owes"], float) and row["owes"] >= now


class EndWatcher:
    """Notices the ends of operations that are open, in one thread while any of them is held."""

    def __init__(self, database: Database, seal: Seal, clock: Clock) -> None:
        self._database = database
        self._seal = seal
        self._clock = clock
        self.callbacks = CallbackThread()
        self._lock = ProcessLock()
        self._open = weakref.WeakValueDictionary[str, StoredOperation]()
        self._kept: dict[str, StoredOperation] = {}
        self._stopping: set[str] = set()
        self._is_closed = False
        renew_in_forks(self._renew)

    def _renew(self) -> None:
        self._news = threading.Event()
        self._thread: threading.Thread | None = None

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
        self._end_all(self._closed())

    def _end_all(self, error: StoreError) -> None:
        with self._lock:
            held = list(self._open.values())
            self._open.clear()
            self._kept.clear()
        for operation in held:
            operation.end(error)

    def _closed(self) -> StoreError:
        name = self._database.name
        return StoreError(f"store {name} is closed; its open waits go on in other processes")

    def _run(self) -> None:
        # The time of the last look at the ends, and when all are compared again.
        since, compare_at = None, 0.0
        while not self._has_nothing_open():
            try:
                if since is None or self._clock() >= compare_at:
                    since = self._compare()
                    compare_at = self._clock() + COMPARE_INTERVAL
                else:
                    ended, since = self._database.ended_ids(since - OVERLAP)
                    self._end(ended)
            except StoreError as error:
                # The database may come back, its old schema or another process's memory will not.
                if isinstance(error, UnusableError):
                    self._end_all(error)
            # What a function of the caller raises, such as `decrypt`, must leave nothing open.
            except BaseException as error:
                logger.exception("the thread of stored operations failed")
                kind = type(error).__name__
                self._end_all(StoreError(f"store {self._database.name} cannot be read: {kind}"))
            self._news.wait(WATCH_INTERVAL)
            self._news.clear()

    def _has_nothing_open(self) -> bool:
        """Return whether there is nothing to watch; the thread ends then."""
        with self._lock:
            if self._open and not self._is_closed:
                return False
            self._thread = None
            return True

    def _compare(self) -> float:
        """End what has ended, is gone or is overdue; return the time before."""
        _, now = self._database.ended_ids(math.inf)
        with self._lock:
            found = {id_of(path): operation for path, operation in self._open.items()}
        still_open = self._database.open_ids([*found])
        self._end(found.keys() - still_open)
        overdue = [each for each in still_open if found[each].is_overdue(now)]
        # As they are now: one may have been reopened, with another deadline.
        rows = self._database.get(overdue) if overdue else []
        others = [row for row in rows if not self._is_stopped_here(row, found[row["id"]], now)]
        if others and end_overdue(self._database, self._seal, others):
            self._news.set()
        return now

    def _is_stopped_here(self, row: Row, operation: StoredOperation, now: float) -> bool:
        """Whether this process has made the call of a row, and stops what it has begun."""
        begun = None
        if operation.client is not None and is_overdue(row, now):
            with contextlib.suppress(OperationError):
                begun = begun_of(row, self._seal)
        if begun is None or not (begun.answer and begun.stop_on_timeout):
            return False

        def end(stop: Stop) -> None:
            self._stopping.discard(row["id"])
            with contextlib.suppress(StoreError):
                end_overdue(self._database, self._seal, [row], stop)
            self._news.set()

        if row["id"] not in self._stopping:
            self._stopping.add(row["id"])
            begun.stop_in_thread(operation.client, end)
        return True

    def _end(self, ids: Collection[str]) -> None:
        """End the operations among these that are held, as their rows say."""
        held = {each: path for each in ids if (path := path_of({"id": each})) in self._open}
        rows = {row["id"]: row for row in self._database.get([*held])} if held else {}
        for wait_id, path in held.items():
            operation, row = self._open.get(path), rows.get(wait_id)
            # It may have been reopened.
            if operation is None or (row is not None and row["state"] == OPEN):
                continue
            operation.end_as(row)
            with self._lock:
                if self._open.get(path) is operation:
                    del self._open[path]
                    self._kept.pop(path, None)
