"""A store of operations: waits that outlive their process."""

from __future__ import annotations

import builtins
import os
import threading
import uuid
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import URL, Connection, and_, delete, select, update
from sqlalchemy.exc import IntegrityError

from ..arguments import count, seconds
from ..engine.model import WaiterDefinition
from ..many.wait import Wait
from ..runtime.schedule import DEFAULT_THREADS
from .call_rates import call_rates
from .database import Database, wall_time
from .error_codes import problem
from .kept_calls import KeptCalls
from .new_rows import NewRows, conflict
from .operation import CANCELLED_DETAIL, Operation, json_text
from .operation_pages import LARGEST_PAGE, OperationPage, check_text, next_token, page_query
from .operation_rows import OperationRows, is_at
from .starting import background_wait, check_background
from .stored_operation import (
    EndWatcher,
    Row,
    StoredRecord,
    end_as,
    path_of,
    row_json,
)
from .stored_wait import Cipher, ClientDescription, reopened_state
from .tables import DEFINITIONS, OPEN, OPERATIONS, SUCCEEDED
from .worker import MakeClient, Worker, ended_by_sigterm

_STORES: Final[weakref.WeakValueDictionary[str, Store]] = weakref.WeakValueDictionary()
"""The open stores of this process, for operations that are unpickled."""


class Store(OperationRows, KeptCalls):
    """Operations in a SQLite file or on a PostgreSQL server, shared by any number of processes.

    Stored are the operation, its parameters and options, and what is needed to make the client
    again: region, profile, endpoint and settings. Credentials are never stored.

    Args:
        url: a SQLAlchemy URL (`sqlite:///waits.db`, `postgresql://user@host/name`), the path of a
            SQLite file, or `":memory:"`; by default a file in the user's state directory.
        encrypt: encrypts the parameters, from bytes to bytes.
        decrypt: the reverse.

    Raises:
        ValueError: `url` cannot be parsed, or is of another kind of database.
        ImportError: the driver is not installed.
    """

    def __init__(
        self,
        url: str | os.PathLike[str] | URL | None = None,
        *,
        encrypt: Cipher | None = None,
        decrypt: Cipher | None = None,
    ) -> None:
        self.database = Database(url)
        self.encrypt = encrypt
        self.decrypt = decrypt
        self.watcher = EndWatcher(self.rows)
        self._key = self.database.name
        if not self.database.is_shared:
            self._key = uuid.uuid4().hex
        _STORES[self._key] = self

    def __repr__(self) -> str:
        return f"Store({self.database.name!r})"

    def close(self) -> None:
        """Close the connections; operations that are open go on in other processes."""
        self.watcher.close()
        self.database.close()

    def start(
        self,
        client: Any,
        waiter: str | WaiterDefinition,
        /,
        *,
        max_wait: Any,
        profile_name: str | None = None,
        include_response: bool = False,
        exclusive_key: str | None = None,
        **keywords: Any,
    ) -> Operation:
        """Store a wait; a worker (`Store.work`) drives it.

        Args:
            client: a boto3 or botocore client; a worker makes one like it.
            waiter: `"BucketExists"`, `"bucket_exists"`, or a definition.
            max_wait: seconds (or a `timedelta`) from now on, whether or not a worker runs.
            profile_name: the profile that a worker uses; by default that of the client's session,
                if it was made after `install`.
            include_response: whether the response that ends the wait is stored, without members
                that the model calls sensitive.
            exclusive_key: any text; refused while an operation with the same key is open.
            keywords: fields of `WaitOptions` other than functions and events, and the operation's
                parameters.

        Returns:
            The operation, a future.

        Raises:
            ValueError: no such waiter, an option out of range, or a parameter is sensitive.
            TypeError: an option or a parameter cannot be stored.
            OperationError: an operation with this `exclusive_key` is open (`conflict`).
            StoreError: the store cannot be used.
        """
        check_text("exclusive_key", exclusive_key)
        wait = background_wait(client, waiter, max_wait, keywords)
        rows = NewRows(
            self.encrypt, include_response=bool(include_response), profile_name=profile_name
        )
        row = rows.add(wait, exclusive_key)
        with self.database.writing() as connection:
            rows.insert(connection)
        return self._operation(row)

    def start_all(
        self, waits: Iterable[Wait], *, include_response: bool = False
    ) -> builtins.list[str]:
        """Store many waits in one transaction, as `start` does each; return their paths in order.

        Args:
            waits: the waits; each needs a `max_wait`.
            include_response: as for `start`.

        Raises:
            ValueError: a parameter is sensitive.
            TypeError: not a wait, one without `max_wait`, or an option that cannot be stored; the
                message names the wait.
            StoreError: the store cannot be used.
        """
        rows = NewRows(self.encrypt, include_response=bool(include_response), profile_name=None)
        for wait in waits:
            check_background(wait)
            rows.add(wait)
        if rows.rows:
            with self.database.writing() as connection:
                rows.insert(connection)
        return [path_of(row) for row in rows.rows]

    def get(self, path: str) -> Operation:
        """Return an operation by its path.

        Raises:
            LookupError: there is no such operation, or it has expired.
            StoreError: the store cannot be used.
        """
        return self._operation(self.row(path))

    def get_json(self, path: str) -> dict[str, Any]:
        """Return the JSON form of an operation, or of a call of `call_once`; see `get`."""
        return self.get_call(path) if self.has_call(path) else row_json(self.row(path))

    def list(
        self,
        *,
        state: str | None = None,
        service: str | None = None,
        waiter: str | None = None,
        page_size: int = 50,
        page_token: str | None = None,
    ) -> OperationPage:
        """Return a page of operations, the newest first.

        Operations that are started meanwhile move none to another page.

        Args:
            state: `"open"`, `"done"`, `"succeeded"`, or an error code.
            service: the botocore name of a service.
            waiter: the name of a waiter, as `BucketExists`.
            page_size: at most this many, up to 1000.
            page_token: `next_page_token` of the page before, under the same filters.

        Raises:
            ValueError: an argument is wrong.
            StoreError: the store cannot be used.
        """
        size = min(count("page_size", page_size), LARGEST_PAGE)
        query = page_query(state, service, waiter, page_token)
        with self.database.reading() as connection:
            rows = connection.execute(query.limit(size + 1)).mappings().all()
        token = None
        if len(rows) > size:
            token = next_token(dict(rows[size - 1]), state, service, waiter)
        return OperationPage([row_json(dict(row)) for row in rows[:size]], token)

    def cancel(self, path: str) -> bool:
        """End an operation; return False if it has ended already.

        The worker that drives it stops within a second; what it still reports is dropped.

        Raises:
            LookupError: there is no such operation.
            StoreError: the store cannot be used.
        """
        if self.end_by_cancel(path):
            return True
        self.row(path)
        return False

    def resume(self, path: str, *, max_wait: Any = None) -> Operation:
        """Reopen an operation that ended in an error, from the state in which it ended.

        Args:
            path: the operation.
            max_wait: seconds (or a `timedelta`) from now on; by default what was left.

        Raises:
            LookupError: there is no such operation.
            ValueError: it is open or has succeeded, or no time is left.
            StoreError: the store cannot be used.
        """
        more = None if max_wait is None else seconds("max_wait", max_wait)
        with self.database.writing() as connection:
            row = self.row_in(connection, path)
            if row["state"] in (OPEN, SUCCEEDED):
                raise ValueError(
                    f"{path} is {row['state']}: only an operation with an error is resumed"
                )
            left = row["max_wait"] - row["elapsed"] if more is None else more
            if left <= 0:
                raise ValueError(f"{path} has no time left: give max_wait")
            now = wall_time(connection)
            values: dict[str, Any] = dict.fromkeys(("ended", "response", "error", "next_attempt"))
            values |= {"state": OPEN, "machine": reopened_state(row["machine"]), "machine_at": now}
            values |= {"deadline": now + left, "max_wait": row["elapsed"] + left}
            self._update(connection, update(OPERATIONS).where(is_at(path)).values(**values))
        return self._operation({**row, **values})

    def expire(self, older_than: float | timedelta) -> int:
        """Delete the operations that ended more than `older_than` seconds ago; return their number.

        Raises:
            StoreError: the store cannot be used.
        """
        age = seconds("older_than", older_than, zero=True)
        with self.database.writing() as connection:
            ended = and_(
                OPERATIONS.c.state != OPEN, OPERATIONS.c.ended <= wall_time(connection) - age
            )
            number = connection.execute(delete(OPERATIONS).where(ended)).rowcount
            used = select(OPERATIONS.c.digest)
            connection.execute(delete(DEFINITIONS).where(DEFINITIONS.c.digest.not_in(used)))
        return number

    def work(
        self,
        *,
        until_idle: bool = False,
        lease: float | timedelta = 30,
        batch_size: int = 100,
        max_open: int = 10_000,
        threads: int = DEFAULT_THREADS,
        calls_per_second: Mapping[str, float] | None = None,
        worker_name: str | None = None,
        make_client: MakeClient = ClientDescription.make,
        stop_event: threading.Event | None = None,
    ) -> int:
        """Drive the open operations of the store, in any number of processes at once.

        In the main thread SIGTERM ends it: the operations are handed back, and other workers go on
        with them within a second. A worker that dies is succeeded when its lease ends.

        Args:
            until_idle: return as soon as no operation is open and free; by default go on.
            lease: seconds that a worker may be silent before others take over; the wall clocks of
                machines that share a SQLite file may differ by less.
            batch_size: operations that are claimed at once.
            max_open: operations that are driven at once.
            threads: calls in flight at once.
            calls_per_second: of all workers of the store together, by the name of a service; each
                takes an equal share, counted anew every second. Every worker must be given the
                same.
            worker_name: shown in `metadata`; by default the host and the process.
            make_client: makes the client of a `ClientDescription`, such as one with the
                credentials of a role; by default one of a boto3 session with its profile.
            stop_event: ends it when it is set.

        Returns:
            The number of operations that ended here.

        Raises:
            TypeError, ValueError: an argument is wrong.
            StoreError: the store cannot be used; later failures are logged and tried again.
        """
        check_text("worker_name", worker_name)
        worker = Worker(
            self,
            name=worker_name,
            lease=seconds("lease", lease),
            batch_size=count("batch_size", batch_size),
            max_open=count("max_open", max_open),
            threads=count("threads", threads),
            calls_per_second=call_rates(calls_per_second),
            make_client=make_client,
            stop_event=threading.Event() if stop_event is None else stop_event,
        )
        with ended_by_sigterm(worker):
            return worker.run(until_idle=until_idle)

    # --- for operations ---------------------------------------------------------------------

    def shared_url(self) -> URL:
        """Return the URL under which other processes open the store.

        Raises:
            ValueError: it is in memory.
        """
        if not self.database.is_shared:
            raise ValueError("a store in memory cannot be shared by processes: give it a file")
        return self.database.shared_url()

    def ended(self, paths: Sequence[str]) -> builtins.list[Operation]:
        """Return those of these operations that are there and have ended."""
        return [self._operation(r) for r in self.rows(paths).values() if r["state"] != OPEN]

    def end_by_cancel(self, path: str) -> bool:
        """Cancel an operation; return False if it is not open."""
        error = json_text(problem("cancelled", CANCELLED_DETAIL))
        is_open = and_(is_at(path), OPERATIONS.c.state == OPEN)
        with self.database.writing() as connection:
            now = wall_time(connection)
            values = {"state": "cancelled", "error": error, "ended": now, "lease": None}
            change = update(OPERATIONS).where(is_open).values(next_attempt=None, **values)
            is_cancelled = connection.execute(change).rowcount == 1
        self.watcher.check()
        return is_cancelled

    def finder(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        """Return what finds an operation in another process; a password is not part of it."""
        if not self.database.is_shared:
            return find_operation, (None, self._key)
        url = self.database.url.set(password=None)
        return find_operation, (url.render_as_string(), self._key)

    # --- parts --------------------------------------------------------------------------------

    def _update(self, connection: Connection, statement: Any) -> None:
        try:
            connection.execute(statement)
        except IntegrityError:
            raise conflict() from None

    def _operation(self, row: Row) -> Operation:
        def make() -> Operation:
            return Operation(StoredRecord(self, row, self.watcher))

        if row["state"] == OPEN:
            return self.watcher.watched(path_of(row), make)
        operation = make()
        end_as(operation, row)
        return operation


def find_operation(url: str | None, key: str, path: str) -> Operation:
    """Return an operation by its path, from an open store or one that is opened now.

    Raises:
        LookupError: there is no such operation, or no such store.
    """
    store = _STORES.get(key)
    if store is None:
        if url is None:
            raise LookupError(f"{path} is in the memory of another process")
        store = Store(url)
    return store.get(path)
