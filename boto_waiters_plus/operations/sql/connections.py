"""The connections of a store: its file or memory, its clock, and the limit on its time."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import socket
import sqlite3
import stat
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextvars import Context
from pathlib import Path
from typing import Any, Final, Literal, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from platformdirs import user_state_path
from sqlalchemy import (
    URL,
    Connection,
    Engine,
    QueuePool,
    StaticPool,
    create_engine,
    event,
    make_url,
    text,
)
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    DisconnectionError,
    IntegrityError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as NoConnectionError

from ...calls.watch import monotonic, watchdog
from ...common.errors import refuse_missing
from ...common.process import after_fork
from ...common.wrong_arguments import Keyword, WrongValueError
from ...options import CancelEvent
from ..operation import StoreError, UnusableError
from ..stored_row import BOOT, Clock, since_boot, steady_time
from .tables import CLOCKS, check_version, create_tables, needs_tables

# --- the file of a store, which nobody but its owner reads or writes -----------------------------

OWNER_ONLY: Final = stat.S_IRUSR | stat.S_IWUSR

_BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""How the names of a database's files end; SQLite gives new ones the mode of the first."""


class PrivateFile:
    """The file of a SQLite database, and those that SQLite puts beside it.

    Args:
        path: its path.
        may_create: whether opening the database creates it.
    """

    def __init__(self, path: str, *, may_create: bool) -> None:
        self._path = path
        self._may_create = may_create

    @classmethod
    def of(cls, url: URL) -> PrivateFile | None:
        """Return the file of a URL; None if the database is in memory."""
        # What SQLite is given: without `uri=true`, all of it is the name of a file.
        (path,), options = url.get_dialect()().create_connect_args(url)
        mode = "rwc"
        if options.get("uri"):
            parts = urlsplit(path)
            path = unquote(parts.path)
            mode = dict(parse_qsl(parts.query)).get("mode", mode)
        if mode == "memory" or path in ("", ":memory:"):
            return None
        # SQLite follows links too, and puts the other files beside the one that they lead to.
        return cls(os.path.realpath(path), may_create=mode == "rwc")

    def create(self, *_: object) -> None:
        """Create the file if it is missing, before SQLite does with the modes of the umask."""
        if not self._may_create:
            return
        # It is there, or SQLite says what is wrong with its folder.
        with contextlib.suppress(OSError):
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
            os.close(os.open(self._path, flags, OWNER_ONLY))

    def restrict(self) -> None:
        """Take the access of others away, if this is the owner's process."""
        for end in _BESIDE:
            path = Path(self._path + end)
            with contextlib.suppress(OSError):
                if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                    path.chmod(OWNER_ONLY)


# --- a limit on the time that a server may take for a transaction, whatever happened to the network
# A connection whose other end is gone, or behind a proxy that forwards nothing, would be waited
# for without an end: the server's own timeouts cannot be seen from here.

TRANSACTION_LIMIT: Final = 10.0
"""Seconds of one transaction."""

CONNECT_LIMIT: Final = 5.0
"""Seconds in which a server has to answer a new connection."""


class TimeLimits:
    """Limits the transactions of an engine, from the checkout of a connection to its return."""

    def __init__(self) -> None:
        self._seconds = TRANSACTION_LIMIT
        self._running: dict[Any, _Limit] = {}

    def begin_on(self, engine: Engine) -> None:
        """Limit the transactions of an engine."""
        event.listen(engine, "checkout", self._checked_out)
        event.listen(engine, "checkin", self._checked_in)
        # A lost one is closed before it returns, and its return no longer says which one it was.
        event.listen(engine, "close", self._checked_in)

    def set(self, seconds: float | None) -> None:
        """Set the limit, also for what is under way; None: the default.

        It takes no lock: the watchdog reads the deadlines at least twice a second.
        """
        self._seconds = TRANSACTION_LIMIT if seconds is None else seconds
        end = monotonic() + self._seconds
        for limit in list(self._running.values()):
            limit.deadline = min(limit.deadline, end)

    def forget(self) -> None:
        """Forget the transactions of the process that this one was forked from."""
        self._running.clear()

    def _checked_out(self, connection: Any, _: Any, __: Any) -> None:
        limit = self._running[connection] = _Limit(connection.fileno(), self._seconds)
        watchdog.watch(limit)
        # The server may have been restarted since the last use; the pool makes another connection.
        try:
            connection.execute("select 1")
            connection.rollback()
        except Exception as error:
            self._checked_in(connection, None)
            raise DisconnectionError from error

    def _checked_in(self, connection: Any, _: Any) -> None:
        limit = self._running.pop(connection, None)
        if limit is not None:
            watchdog.release(limit)


class _Limit:
    """One transaction, as the watchdog ends it: by shutting down the connection's socket."""

    context: Context | None = None

    def __init__(self, number: int, seconds: float) -> None:
        self.deadline = monotonic() + seconds
        self.listen_at = math.inf
        self.cancel_events: tuple[CancelEvent, ...] = ()
        self.ended = False
        # A copy of its own: the driver may close the other, and the number be given anew.
        self._socket = socket.socket(fileno=socket.dup(number))

    def cancel(self) -> None:
        """Do nothing: it has no cancel events."""

    def cut(self, _: Literal["deadline", "cancelled"], /) -> None:
        """Let the driver see the end of the connection."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Give up the copy of the socket."""
        self.ended = True
        self._socket.close()


# --- a database in memory, which is one connection -----------------------------------------------

LOCK_TIMEOUT: Final = 10.0
"""Seconds to wait for another writer of a SQLite file, or another user of a database in memory."""


class MemoryDatabase(sqlite3.Connection):
    """A SQLite database in memory, which is gone when its connection is.

    SQLAlchemy closes a connection in which a statement was interrupted, as by Ctrl-C.
    """

    @classmethod
    def make(cls) -> MemoryDatabase:
        """Return an empty one."""
        return sqlite3.connect(":memory:", check_same_thread=False, factory=cls)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Re-entrant: a signal handler inside a transaction would wait for its own thread.
        self._lock = threading.RLock()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other thread use it meanwhile."""
        if not self._lock.acquire(timeout=LOCK_TIMEOUT):
            raise NoConnectionError
        try:
            # A second transaction in the first would end it.
            if self.in_transaction:
                raise NoConnectionError
            yield
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the transaction only."""
        self.rollback()

    def end(self) -> None:
        """Delete the database."""
        super().close()


# --- the connections and the clock ---------------------------------------------------------------

_SERVER_SETTINGS: Final = (
    "-c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=30s"
)
"""After these times the server releases what a worker that is cut off from it still holds."""

_KEEPALIVE: Final = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}

_TRIES: Final = 3
"""The most times that a transaction is run if others change what it relies on."""

_OF_PARENT: Final = (
    "it is in the memory of the process that this one was forked from: "
    "open a store here, or give both a file"
)

_T = TypeVar("_T")


class OutdatedError(StoreError):
    """Another transaction has changed what this one relied on."""


class Connections:
    """The connections to SQLite in memory or in a file, or to a PostgreSQL server.

    The tables are created at first use. Each process has connections of its own, also after a fork;
    a database in memory stays that of the parent, because SQLite may have been at work there.

    Args:
        url: a SQLAlchemy URL, the path of a file, ":memory:", or None for a file in the user's
            state directory.
        clock: tells the time in place of the real clock.

    Raises:
        ValueError: not a URL, or of another kind of database.
        ImportError: the driver is not installed.
    """

    def __init__(
        self, url: str | os.PathLike[str] | URL | None, clock: Clock | None = None
    ) -> None:
        own = _parsed(url)
        self.is_local = own.get_backend_name() == "sqlite"
        """Whether only processes of this machine can open it."""
        self._file = PrivateFile.of(own) if self.is_local else None
        is_in_memory = self.is_local and self._file is None
        if is_in_memory and own.database not in (None, "", ":memory:"):
            raise WrongValueError(_URL, ": a store in memory is ':memory:'")
        self._memory = MemoryDatabase.make() if is_in_memory else None
        self.url = None if is_in_memory else own
        """With which `Store(url)` opens it elsewhere; None if it is in memory."""
        self.name = ":memory:" if is_in_memory else own.render_as_string(hide_password=True)
        """For messages; without a password."""
        self._clock = clock
        self.limits = TimeLimits()
        self._engine = _engine(own, self.limits, self._file, self._memory)
        # For a store that is dropped without `close`.
        end = self._engine.dispose if self._memory is None else self._memory.end
        # Threads of the program may use a database in memory to the end of the process.
        weakref.finalize(self, end).atexit = not is_in_memory
        after_fork(self._forget_connections)
        self._is_ready = False
        self._is_closed = False
        self._is_of_parent = False
        self._offset: float | None = None

    def reading(self) -> contextlib.AbstractContextManager[Connection]:
        """Return a connection for one transaction that only reads.

        Raises:
            StoreError: the database cannot be used.
        """
        return self._transaction(self._engine)

    def writing(self) -> contextlib.AbstractContextManager[Connection]:
        """Return a connection for one transaction, which is rolled back after an exception.

        Raises:
            OutdatedError: a key is there already, or a row that is referred to is gone.
            StoreError: the database cannot be used.
        """
        return self._transaction(self._engine.execution_options(writes=True))

    def now(self, connection: Connection) -> float:
        """Return the time: the server's, or that of a clock that cannot be set.

        That clock adds the time since the machine's start, the same in all its processes, to the
        time of that start. The file keeps the latter, which is taken from the wall clock once for
        each start of each machine.
        """
        if self._clock is not None:
            return self._clock()
        if not self.is_local:
            query = text("select extract(epoch from clock_timestamp())::float8")
            return float(connection.execute(query).scalar_one())
        if BOOT is None:
            return steady_time()
        offset = self._offset
        if offset is None:
            this_boot = CLOCKS.c.boot == BOOT
            offset = connection.execute(CLOCKS.select().where(this_boot)).scalar_one_or_none()
            if not isinstance(offset, (float, type(None))):
                raise StoreError("its clock cannot be read")
        if offset is None:
            offset = time.time() - since_boot()
            if not connection.get_execution_options().get("writes"):
                return offset + since_boot()
            connection.execute(CLOCKS.insert(), {"boot": BOOT, "offset": offset})
        self._offset = offset
        return offset + since_boot()

    def close(self) -> None:
        """Close the connections; every later transaction raises StoreError."""
        self._is_closed = True
        if self._memory is None:
            self._engine.dispose()

    def _forget_connections(self) -> None:
        # They are the parent's: to close them would end them there.
        self._engine.dispose(close=False)
        self.limits.forget()
        self._is_of_parent = self._memory is not None

    @contextlib.contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        if self._is_closed:
            raise StoreError(f"store {self.name} is closed")
        try:
            if self._is_of_parent:
                raise UnusableError(_OF_PARENT)
            with contextlib.nullcontext() if self._memory is None else self._memory.alone():
                if not self._is_ready:
                    self._prepare()
                with engine.begin() as connection:
                    # A newer package may migrate a store that is open here.
                    check_version(connection)
                    yield connection
        except IntegrityError as error:
            raise OutdatedError(f"store {self.name}: {_first_line(error.orig)}") from None
        except StoreError as error:
            raise type(error)(f"store {self.name}: {error}") from None
        # Without the cause: the details of a driver may quote what was to be stored.
        except DBAPIError as error:
            raise StoreError(f"store {self.name}: {_first_line(error.orig)}") from None
        except NoConnectionError:
            raise StoreError(f"store {self.name}: all connections are in use") from None
        except SQLAlchemyError as error:
            raise StoreError(f"store {self.name}: {type(error).__name__}") from None

    def _prepare(self) -> None:
        with self._engine.begin() as connection:
            has_to = needs_tables(connection)
        # Not before it is known to be a store: the file may be another program's.
        if self._file is not None:
            self._file.restrict()
        if has_to:
            if self._file is not None:
                self._keep_log_ahead()
            with self._engine.execution_options(writes=True).begin() as connection:
                create_tables(connection)
        self._is_ready = True

    def _keep_log_ahead(self) -> None:
        """Let readers and the writer not block each other; the file keeps this setting."""
        end = time.monotonic() + LOCK_TIMEOUT
        with contextlib.closing(self._engine.raw_connection()) as connection:
            # SQLite does not wait here while another process does the same.
            while time.monotonic() < end:
                with contextlib.suppress(sqlite3.OperationalError):
                    connection.cursor().execute("PRAGMA journal_mode=WAL")
                    break
                time.sleep(0.05)


def retried(method: Callable[..., _T]) -> Callable[..., _T]:
    """Repeat a transaction that met another one: what it relied on is read again."""

    @functools.wraps(method)
    def call(*arguments: Any) -> _T:
        for _ in range(_TRIES - 1):
            with contextlib.suppress(OutdatedError):
                return method(*arguments)
        return method(*arguments)

    return call


_URL: Final = Keyword("url")


def _parsed(url: str | os.PathLike[str] | URL | None) -> URL:
    if isinstance(url, URL):
        return url
    if url is None:
        folder = user_state_path("boto_waiters_plus")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        url = folder / "operations.db"
    if not isinstance(url, str) or "://" not in url:
        path = os.fspath(url)
        if not path:
            raise WrongValueError(_URL, ": the path of the store is empty")
        parsed = URL.create("sqlite", database=str(path))
    else:
        try:
            parsed = make_url(url)
        except (ArgumentError, ValueError):
            # The text of either may quote the URL, and a password in it.
            raise WrongValueError(_URL, ": the URL of the store cannot be parsed") from None
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in ("sqlite", "postgresql+psycopg"):
        kind = parsed.drivername
        raise WrongValueError(_URL, f": a store is sqlite or postgresql+psycopg, not {kind}")
    path = str(parsed.database or ":memory:")
    if parsed.drivername == "sqlite" and path != ":memory:" and not path.startswith("file:"):
        # The same file, from whatever directory it is opened.
        parsed = parsed.set(database=str(Path(path).absolute()))
    return parsed


def _engine(
    url: URL, limits: TimeLimits, file: PrivateFile | None, memory: MemoryDatabase | None
) -> Engine:
    # SQLAlchemy's messages must not quote parameters.
    options: dict[str, Any] = {"hide_parameters": True, "poolclass": QueuePool}
    if memory is not None:
        options |= {"creator": lambda: memory, "poolclass": StaticPool}
    is_sqlite = url.get_backend_name() == "sqlite"
    arguments: dict[str, Any] = {"timeout": LOCK_TIMEOUT}
    if not is_sqlite:
        limit = int(CONNECT_LIMIT)
        arguments = {"connect_timeout": limit, "options": _SERVER_SETTINGS, **_KEEPALIVE}
    # Options in the URL take precedence.
    arguments = {name: value for name, value in arguments.items() if name not in url.query}
    if is_sqlite:
        arguments["check_same_thread"] = False
    try:
        engine = create_engine(url, connect_args=arguments, **options)
    except ImportError as error:
        # Of psycopg's own, too, where it finds no libpq.
        refuse_missing("a store", "store-postgresql", error)
    if is_sqlite:
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _begin)
    if file is not None:
        event.listen(engine, "do_connect", file.create)
    elif memory is None:
        limits.begin_on(engine)
    return engine


def _on_connect(connection: Any, _: Any) -> None:
    # `_begin` begins transactions; the driver would begin some too late.
    connection.isolation_level = None
    # A damaged row says something else, and its neighbours can be read.
    connection.text_factory = lambda data: str(data, "utf-8", "replace")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    # Two readers that both went on to write would each wait for the other.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
