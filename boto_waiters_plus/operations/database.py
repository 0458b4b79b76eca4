"""The connection to the database of a store."""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from platformdirs import user_state_path
from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from .error_codes import StoreError
from .tables import needs_preparation, prepare

LOCK_TIMEOUT: Final = 10.0
"""Seconds to wait for another writer of a SQLite file."""

_IN_MEMORY: Final = ":memory:"


class Database:
    """A SQLite file, SQLite in memory, or a PostgreSQL server.

    The tables are created or migrated at first use.

    Args:
        url: a SQLAlchemy URL, the path of a file, `":memory:"`, or None for a file in the user's
            state directory.

    Raises:
        ValueError: not a URL, or of another kind of database.
        ImportError: the driver is not installed.

    Attributes:
        name: the URL without the password, for messages.
    """

    def __init__(self, url: str | os.PathLike[str] | URL | None) -> None:
        self.url = _parsed(url)
        self.name = self.url.render_as_string(hide_password=True)
        if not self.is_shared:
            self.name = _IN_MEMORY
        self._engine = _engine(self.url)
        # For a store that is dropped without `close`.
        weakref.finalize(self, self._engine.dispose)
        self._is_ready = False

    @property
    def is_shared(self) -> bool:
        """Whether another process can open it."""
        return self.url.database not in (None, "", _IN_MEMORY)

    def shared_url(self) -> URL:
        """Return the URL with the absolute path of a file."""
        if self.url.get_backend_name() != "sqlite":
            return self.url
        return self.url.set(database=str(Path(str(self.url.database)).resolve()))

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Return a connection for one transaction that only reads.

        Raises:
            StoreError: the database cannot be used.
        """
        with self._transaction(self._engine) as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Return a connection for one transaction, which is rolled back after an exception.

        Raises:
            StoreError: the database cannot be used.
        """
        with self._transaction(self._engine.execution_options(writes=True)) as connection:
            yield connection

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    @contextlib.contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        try:
            if not self._is_ready:
                self._prepare()
            with engine.begin() as connection:
                yield connection
        except StoreError as error:
            raise StoreError(f"store {self.name}: {error}") from None
        # Without the cause: the details of a driver may quote what was to be stored.
        except DBAPIError as error:
            raise StoreError(f"store {self.name}: {_first_line(error.orig)}") from None
        except NoConnectionError:
            raise StoreError(f"store {self.name}: all connections are in use") from None
        except SQLAlchemyError as error:
            raise StoreError(f"store {self.name}: {type(error).__name__}") from None

    def _prepare(self) -> None:
        with self._engine.begin() as connection:
            has_to = needs_preparation(connection)
        if has_to:
            if self.url.get_backend_name() == "sqlite":
                # Kept in the file: readers do not block the writer, nor it them.
                with contextlib.closing(self._engine.raw_connection()) as connection:
                    connection.cursor().execute("PRAGMA journal_mode=WAL")
            with self._engine.execution_options(writes=True).begin() as connection:
                prepare(connection)
        self._is_ready = True


def wall_time(connection: Connection) -> float:
    """Return the wall-clock time; that of the server where several machines share a store."""
    if connection.dialect.name == "postgresql":
        moment: Any = connection.execute(
            text("select extract(epoch from clock_timestamp())::float8")
        ).scalar_one()
        return float(moment)
    return time.time()


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
            raise ValueError("url: the path of the store is empty")
        return URL.create("sqlite", database=path if path == _IN_MEMORY else str(Path(path)))
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # The text of either may quote the URL, and a password in it.
        raise ValueError("url: the URL of the store cannot be parsed") from None
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in ("sqlite", "postgresql+psycopg"):
        raise ValueError(f"url: a store is sqlite or postgresql+psycopg, not {parsed.drivername}")
    return parsed


def _engine(url: URL) -> Engine:
    # A text of SQLAlchemy's must not quote parameters.
    options: dict[str, Any] = {"hide_parameters": True, "poolclass": QueuePool}
    if url.get_backend_name() == "sqlite":
        timeout = {} if "timeout" in url.query else {"timeout": LOCK_TIMEOUT}
        options["connect_args"] = {"check_same_thread": False, **timeout}
        if url.database in (None, "", _IN_MEMORY):
            # Each connection would have a database of its own.
            options |= {"pool_size": 1, "max_overflow": 0}
    else:
        # The server may have been restarted since the last use.
        options["pool_pre_ping"] = True
    try:
        engine = create_engine(url, **options)
    except ModuleNotFoundError as error:
        raise ImportError(
            "a store on PostgreSQL requires psycopg; install it with: "
            "pip install 'boto-waiters-plus[store-postgresql]'"
        ) from error
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _no_implicit_begin)
        event.listen(engine, "begin", _begin)
    return engine


def _no_implicit_begin(connection: Any, _: Any) -> None:
    """Leave it to `_begin` to begin transactions; the driver would begin some too late."""
    connection.isolation_level = None


def _begin(connection: Connection) -> None:
    # Two readers that both went on to write would each wait for the other.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
