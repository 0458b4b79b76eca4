"""A store of background waits, which outlive their process."""

from __future__ import annotations

import builtins
import contextlib
import os
import signal
import threading
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from ..batch.schedule import DEFAULT_THREADS
from ..batch.wait import Wait
from ..calls.clients import client_behind, is_async
from ..common.arguments import callback, count, flag, seconds, with_methods
from ..common.errors import logger, refuse_missing
from ..common.process import handling_signals
from ..common.wrong_arguments import Keyword, WrongTypeError, WrongValueError
from ..deadlines import no_max_wait
from ..engine.model import WaiterDefinition
from ..options import refuse_short_wait
from ..service.waits import find_waiter, split_keywords
from .begun import begun_of
from .operation import Operation, OperationError, path_of, unreadable
from .operation_pages import (
    LARGEST_PAGE,
    OperationPage,
    check_text,
    page_filters,
    page_position,
    page_token_after,
)
from .stored_operation import OpenStore, StoredOperation, checked_id, end_overdue
from .stored_row import OPEN, SUCCEEDED, Cipher, KeyInUseError, Row, Seal
from .stored_wait import ClientDescription, MakeClient, NewRows, reopened
from .worker import Worker, WorkOptions

if TYPE_CHECKING:
    from .sql import Database

# --- the checks of a wait that runs in the background --------------------------------------------


def background_wait(
    client: Any, waiter: str | WaiterDefinition, max_wait: Any, keywords: dict[str, Any]
) -> Wait:
    """Return a checked wait with a time bound; raises as `start`."""
    states = keywords.pop("until_state"), keywords.pop("state_path")
    bound_waiter, _ = find_waiter(client, waiter, *states)
    _check(client, max_wait)
    options, parameters = split_keywords(bound_waiter, keywords)
    refuse_short_wait(options, max_wait)
    waiter = waiter if states[0] is None else bound_waiter.definition
    return Wait.with_options(client, waiter, parameters, options, max_wait=max_wait)


def check_background(wait: Any) -> None:
    """Raise TypeError for what is no `Wait`, is asynchronous or has no time bound."""
    if not isinstance(wait, Wait):
        raise TypeError(f"waits must be Wait objects, not {type(wait).__name__}")
    try:
        _check(wait.client, wait.max_wait)
    except TypeError as error:
        raise TypeError(f"{wait!r}: {error}") from None


def _check(client: Any, max_wait: Any) -> None:
    if is_async(type(client_behind(client))):
        raise TypeError("client is an aiobotocore client: background waits need a blocking one")
    if max_wait is None:
        raise no_max_wait("a background wait")


# --- the store -----------------------------------------------------------------------------------

CALL_PATH: Final = "calls/"

PHASES: Final = ("started", "answered", "waiting", "finished")
"""The phases of a call: no answer known; answered; waiting for its resource; finished."""

_STORES: Final[weakref.WeakValueDictionary[str, Store]] = weakref.WeakValueDictionary()
"""The open stores of this process, for background waits that are unpickled."""


class Store(OpenStore):
    """Background waits in a SQLite file or on PostgreSQL, shared by any number of processes.

    Those in memory (`":memory:"`) belong to this store and its process; the child of a fork has
    none of them.

    Stored are the operation, its parameters and policy, and what is needed to make the client
    again: region, profile, endpoint and settings. Credentials are never stored. Every method raises
    `StoreError` if the store cannot be used.

    Args:
        url: a SQLAlchemy URL (`sqlite:///waits.db`, `postgresql://user@host/name`), the path of a
            SQLite file, or `":memory:"`; by default a file in the user's state directory.
        encrypt: encrypts what is kept of requests and responses, from bytes to bytes.
        decrypt: the reverse.
        clock: for tests: tells the seconds by which deadlines, leases and checks go here, in place
            of the real clock.

    Raises:
        ValueError: `url` cannot be parsed, or is of another kind of database.
        ImportError: the driver is not installed.
    """

    def __init__(
        self,
        url: str | os.PathLike[str] | Any | None = None,
        *,
        encrypt: Cipher | None = None,
        decrypt: Cipher | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(_database(url, clock), Seal(encrypt, decrypt), clock)
        self._key = uuid.uuid4().hex if self.database.url is None else self.database.name
        _STORES[self._key] = self

    def close(self) -> None:
        """Close the connections; waits that are open go on in other processes.

        Those that this process holds end with a `StoreError`.
        """
        self.watcher.close()
        self.database.close()

    def start(
        self,
        client: Any,
        waiter: str | WaiterDefinition,
        /,
        *,
        max_wait: Any,
        until_state: str | Iterable[str] | None = None,
        state_path: str | None = None,
        profile_name: str | None = None,
        include_response: bool = False,
        exclusive_key: str | None = None,
        request_id: str | None = None,
        **keywords: Any,
    ) -> Operation:
        """Store a wait, which a worker (`Store.work`) drives; return it as a future.

        Args:
            client: a boto3 or botocore client; a worker makes one like it.
            waiter: `"BucketExists"`, `"bucket_exists"`, or a definition.
            max_wait: seconds (or a `timedelta`) from now on, whether or not a worker runs.
            until_state, state_path: with an operation in place of a waiter; see `wait_until`.
            profile_name: the profile that a worker uses; by default that of the client's session,
                if it was made after `install`.
            include_response: whether the response that ends the wait is stored, without members
                that the model calls sensitive.
            exclusive_key: any text; refused while a wait with the same key is open.
            request_id: any text; starting again with the same id and arguments returns the same
                wait, as long as the store has it.
            keywords: fields of `WaitOptions` other than functions and events, and the operation's
                parameters.

        Raises:
            ValueError: no such waiter, an option out of range, or a parameter is sensitive.
            TypeError: an option or a parameter cannot be stored.
            ParamValidationError: botocore would refuse the parameters.
            OperationError: a wait with this `exclusive_key` is open (`conflict`), or
                `request_id` was used with other arguments (`request_mismatch`).
        """
        keywords |= {"until_state": until_state, "state_path": state_path}
        wait = background_wait(client, waiter, max_wait, keywords)
        rows = NewRows(self.seal, include_response, profile_name)
        rows.add(wait, exclusive_key, request_id)
        return self.operation(self.add_one(rows)[0])

    def start_all(
        self,
        waits: Iterable[Wait],
        *,
        include_response: bool = False,
        profile_name: str | None = None,
    ) -> builtins.list[str]:
        """Store many waits in one transaction, as `start` does each; return their paths in order.

        Args:
            waits: the waits; each needs a `max_wait`.
            include_response, profile_name: as for `start`.

        Raises:
            ValueError: a parameter is sensitive.
            TypeError: not a wait, one without `max_wait`, or an option that cannot be stored; the
                message names the wait.
        """
        rows = self.rows_of(waits, include_response=include_response, profile_name=profile_name)
        return self.add_rows(rows)

    def get(self, path: str) -> Operation:
        """Return a background wait by its path; raise LookupError if it is not there any more."""
        return self.operation(self.row(path))

    def get_json(self, path: str) -> dict[str, Any]:
        """Return the JSON form of a background wait, or of a call of `call_once`; see `get`."""
        if path.startswith(CALL_PATH):
            return self.get_call(path)
        row = self.row(path)
        if row["state"] == OPEN and end_overdue(self.database, self.seal, [row]):
            row = self.row(path)
        return self.json_of(row)

    def list(
        self,
        *,
        state: str | None = None,
        service: str | None = None,
        waiter: str | None = None,
        exclusive_key: str | None = None,
        page_size: int = 50,
        page_token: str | None = None,
    ) -> OperationPage:
        """Return a page of background waits, the newest first.

        Waits that are started in the meantime do not shift the others to another page.

        Args:
            state: `"open"`, `"done"`, `"succeeded"`, or an error code.
            service: the botocore name of a service.
            waiter: the name of a waiter, such as `BucketExists`.
            exclusive_key: the key that was given to `start`.
            page_size: at most this many, up to 1000.
            page_token: `next_page_token` of the page before, under the same filters.

        Raises:
            ValueError: an argument is wrong.
        """
        size = min(count("page_size", page_size), LARGEST_PAGE)
        filters = page_filters(
            state=state, service=service, waiter=waiter, exclusive_key=exclusive_key
        )
        before = None if page_token is None else page_position(page_token, filters)
        rows = self.database.list(filters, before, size + 1)
        open_rows = [row for row in rows if row["state"] == OPEN]
        if open_rows and end_overdue(self.database, self.seal, open_rows):
            rows = self.database.list(filters, before, size + 1)
        rows = self.current(rows)
        token = page_token_after(rows[size - 1], filters) if len(rows) > size else None
        return OperationPage([self.json_of(row) for row in rows[:size]], token)

    def cancel(self, path: str) -> bool:
        """End a background wait; return False if it has ended already.

        The worker that drives it stops within a second; what it still reports is dropped. With
        `stop_on_cancel` a worker then stops what was begun; without one the row leaves it to the
        next for 10 minutes.

        Raises:
            LookupError: there is no such wait.
        """
        if self.end_by_cancel(path):
            return True
        self.row(path)
        return False

    def resume(
        self, path: str, *, max_wait: Any = None, max_attempts: int | None = None
    ) -> Operation:
        """Reopen a background wait that ended in an error, from the state in which it ended.

        Args:
            path: the wait's.
            max_wait: seconds (or a `timedelta`) from now on; by default what was left.
            max_attempts: attempts from now on; by default what was left.

        Raises:
            LookupError: there is no such wait.
            ValueError: it is open or has succeeded, no time or no attempts are left, or its call
                of `begin` got no answer and cannot be repeated, or does not tell what to poll.
            OperationError: its state cannot be read, or its `exclusive_key` is in use.
        """
        time_left = None if max_wait is None else seconds("max_wait", max_wait)
        attempts = None if max_attempts is None else count("max_attempts", max_attempts)
        row = self.row(path)
        begun = None
        with contextlib.suppress(OperationError):
            begun = begun_of(row, self.seal)
        if begun is not None and not (begun.answer or begun.is_repeatable):
            raise ValueError(f"{path}: {begun.operation} got no answer, and cannot be repeated")
        if begun is not None and begun.answer and not (begun.polled or begun.trait.parameters):
            method = begun.operation
            raise ValueError(f"{path}: only the process that called {method} knew what to poll")
        if row["state"] not in (OPEN, SUCCEEDED):
            try:
                if self.database.reopen(row, reopened(row, time_left, attempts)):
                    return self.operation(self.row(path))
            except ValueError as error:
                raise WrongValueError(f"{path}: ", *getattr(error, "parts", error.args)) from None
            except KeyInUseError as error:
                raise _conflict(error) from None
            row = self.row(path)
        raise ValueError(f"{path} has the state {row['state']}: only one with an error is resumed")

    def expire(self, older_than: float | timedelta) -> int:
        """Delete the background waits, and the calls of `call_once`, that ended long ago.

        Returns their number; `older_than` is in seconds (or a `timedelta`) since their end.
        """
        return self.database.expire(seconds("older_than", older_than, zero=True))

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
        """Drive the open waits of the store, in any number of processes at once.

        In the main thread SIGTERM and SIGHUP end it: the waits are handed back, and other
        workers go on with them within a second. Another worker replaces one that dies when its
        lease ends.

        What a worker cannot do (it has no credentials or no such profile, or its botocore lacks
        the operation or a parameter), it leaves to others; a wait that no worker can drive ends
        with that error at its deadline.

        Args:
            until_idle: return as soon as no wait is open that this worker may and can drive;
                by default go on.
            lease: seconds that a worker may be silent before others take over; the wall clocks of
                machines that share a SQLite file must differ by less than that.
            batch_size: waits that are claimed at once.
            max_open: waits that are driven at once.
            threads: calls in flight at once.
            calls_per_second: the limit for all workers of the store together, by the name of a
                service; each worker takes an equal share, recalculated every second. Every worker
                must be given the same limits.
            worker_name: shown in `metadata`; by default the host and the process.
            make_client: makes the client of a `ClientDescription`, such as one with the
                credentials of a role; by default one of a boto3 session with its profile.
            stop_event: an event that ends this method when it is set.

        Returns:
            The number of waits that ended here.

        Raises:
            TypeError, ValueError: an argument is wrong.
            StoreError: the store cannot be used when it begins, a newer package has migrated it,
                or the open waits could not be handed back, which are free when the lease ends;
                other failures are only logged.
        """
        options = WorkOptions(lease, batch_size, max_open, threads, calls_per_second, make_client)
        check_text("worker_name", worker_name)
        flag("until_idle", until_idle)
        stop = threading.Event() if stop_event is None else stop_event
        with_methods("stop_event", stop, "is_set", "wait")
        worker = Worker(self, options, name=worker_name, stop_event=stop)
        with ended_by_signals(worker.stop):
            return worker.run(until_idle=until_idle)

    def save_call(self, record: Mapping[str, Any], /) -> str:
        """Keep a call before its first attempt; return its path.

        The record is all that `idempotency.resume_call` needs; its `target` is where the call
        belongs.
        """
        row: dict[str, Any] = dict.fromkeys(("ended", "answer", "result", "target"))
        row |= {"id": uuid.uuid4().hex, "created": 0.0, "phase": PHASES[0]}
        if record.get("target") is not None:
            row["target"] = self.seal.closed(record["target"])
        row["record"] = self.seal.closed(record)
        self.database.add_call(row)
        return f"{CALL_PATH}{row['id']}"

    def note_call(self, path: str, phase: str, answer: Mapping[str, Any], /) -> bool:
        """Keep how far a call is (`"answered"`, `"waiting"`); return False if it has ended.

        The answer is what the rest of the call needs of it.
        """
        values = {"phase": phase, "answer": self.seal.closed(answer)}
        return self.database.write_call(checked_id(path, CALL_PATH), values)

    def finish_call(self, path: str, result: Mapping[str, Any], /) -> None:
        """Keep how a call ended, unless it has ended already."""
        values = {"ended": 0.0, "phase": PHASES[-1], "result": self.seal.closed(result)}
        self.database.write_call(checked_id(path, CALL_PATH), values)

    def get_call(self, path: str, /) -> dict[str, Any]:
        """Return a call as JSON.

        Its members are `path`, `done`, `phase`, `age` (seconds), the `record`, and the `target`,
        the `answer` and the `result` if there are any. Setting a clock changes no age, as far as
        the machine or the server has a clock that no one sets.

        Raises:
            LookupError: there is no such call.
            OperationError: it cannot be read.
        """
        rows = self.database.calls(checked_id(path, CALL_PATH))
        if not rows:
            raise LookupError(f"there is no call {path}")
        return self._call_json(rows[0])

    def open_calls(self) -> builtins.list[dict[str, Any]]:
        """Return the calls that have not ended, the oldest first, as `get_call` does.

        Pass `path` and `record` of each to `idempotency.resume_call`, when no process makes the
        call any more. A call that cannot be read is left out, with a warning in the log.
        """
        return [*filter(None, map(self._readable_call, self.database.calls()))]

    def rows_of(
        self, waits: Iterable[Wait], *, include_response: bool, profile_name: str | None = None
    ) -> NewRows:
        """Return the rows of waits, for `add_rows`; raises as `start_all`."""
        rows = NewRows(self.seal, include_response, profile_name)
        for wait in waits:
            check_background(wait)
            rows.add(wait)
        return rows

    def add_rows(self, rows: NewRows) -> builtins.list[str]:
        """Store rows; those that an earlier try has stored stay. Return their paths in order."""
        if rows.rows:
            self._add(rows)
        return [path_of(row) for row in rows.rows]

    def add_one(self, rows: NewRows) -> tuple[Row, bool]:
        """Store the one row of `rows`; return it as it is stored, and whether it is new.

        Raises:
            OperationError: as `start`.
        """
        (row,) = rows.rows
        there = self._add(rows)
        if there and there[0]["request"] != row["request"]:
            path = path_of(there[0])
            problem = f"{path} was started with other arguments"
            raise OperationError("request_mismatch", problem, path)
        return (there[0], False) if there else (self.row(path_of(row)), True)

    def ended(self, ids: Iterable[str]) -> builtins.list[Operation]:
        """Return those of these waits that are there and have ended."""
        rows = self.database.get([*ids])
        return [self.operation(row) for row in rows if row["state"] != OPEN]

    def finder(self) -> tuple[Callable[..., Operation], tuple[Any, ...]]:
        url = self.database.url
        text = None if url is None else url.set(password=None).render_as_string()
        return find_operation, (text, self._key)

    def _call_json(self, row: Row) -> dict[str, Any]:
        call = {"path": CALL_PATH + row["id"], "done": row["ended"] is not None}
        call |= {"phase": row["phase"], "age": row["age"]}
        for name in ("record", "target", "answer", "result"):
            if row[name] is not None:
                call[name] = self.seal.opened(row[name], name)
        if row["age"] is None:
            raise unreadable("its age cannot be read")
        return call

    def _readable_call(self, row: Row) -> dict[str, Any] | None:
        try:
            return self._call_json(row)
        except OperationError as error:
            logger.warning("%s%s: %s", CALL_PATH, row["id"], error)
            return None

    def _add(self, rows: NewRows) -> builtins.list[Row]:
        try:
            return self.database.add(rows.rows, rows.definitions)
        except KeyInUseError as error:
            raise _conflict(error) from None

    def operation(self, row: Row) -> StoredOperation:
        """Return the background wait of a row."""
        if row["state"] != OPEN:
            return StoredOperation(self, row)
        return self.watcher.watched(path_of(row), lambda: StoredOperation(self, row))


def find_operation(url: str | None, key: str, path: str) -> Operation:
    """Return a background wait by its path, from an open store or one that is opened now."""
    store = _STORES.get(key)
    if store is None:
        if url is None:
            raise LookupError(f"{path} is in the memory of another process")
        store = Store(url)
    return store.get(path)


def _database(url: Any, clock: Callable[[], float] | None) -> Database:
    if clock is not None:
        callback("clock", clock)
    if not (url is None or isinstance(url, (str, os.PathLike)) or hasattr(url, "database")):
        problem = f" must be a URL or a path, not {type(url).__name__}"
        raise WrongTypeError(Keyword("url"), problem)
    try:
        from .sql import Database  # noqa: PLC0415 - an extra
    except ImportError as error:
        is_file = not str(url).startswith(("postgresql:", "postgresql+"))
        refuse_missing("a store", "store" if is_file else "store-postgresql", error)
    return Database(url, clock)


def _conflict(error: KeyInUseError) -> OperationError:
    path = path_of({"id": error.id})
    return OperationError("conflict", f"{path} with this exclusive_key is open", path)


@contextlib.contextmanager
def ended_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at SIGTERM and SIGHUP while the block runs, if this is the main thread.

    After the block, the program's own handler of SIGTERM is called.
    """
    received: list[int] = []

    def handle(number: int, _: Any) -> None:
        received.append(number)
        stop()

    known = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
    # One that is ignored stays so, as SIGHUP under nohup.
    numbers = [each for each in known if each and signal.getsignal(each) is not signal.SIG_IGN]
    with handling_signals(numbers, handle) as before:
        yield
    own = before.get(signal.SIGTERM)
    if received and callable(own):
        own(received[0], None)
