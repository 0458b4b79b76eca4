"""The times of earlier waits, in a SQLite file that processes share.

Nothing that goes wrong with the file is an error of a wait: it goes on without the times, and a
line at DEBUG says so once.
"""

from __future__ import annotations

import logging
import math
import os
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .engine.learned_delays import KnownTime

if TYPE_CHECKING:
    import sqlite3


logger = logging.getLogger("boto_waiters_plus")

MOST_TIMES: Final = 64
"""The times that are kept of each kind of wait."""

LOCK_TIMEOUT: Final = 0.2
"""Seconds to wait for another process that writes."""

LEFT_ALONE_FOR: Final = 60.0
"""Seconds without an access after one that failed: many waits must not each wait for the lock."""

ENDS: Final = ("success", "failure", "timeout")
"""The kinds of events that a time is kept of."""

_SCHEMA: Final = """create table if not exists times (id integer primary key, service text,
        waiter text, region text, kind text, from_call integer, end text, seconds real);
    create index if not exists keys on times (service, waiter, region, kind, from_call);
"""
_OF_KEY: Final = """from times where service = ? and waiter = ? and region = ? and kind = ?
    and from_call = ? order by id desc limit ?"""
_READ: Final = "select seconds, end " + _OF_KEY
_ADD: Final = "insert into times values (null, ?, ?, ?, ?, ?, ?, ?)"
_FORGET: Final = "delete from times where id in (select id " + _OF_KEY + " offset ?)"  # noqa: S608 - of constants
_LIST: Final = "select service, waiter, region, kind, from_call, seconds, end from times"
_CLEAR: Final = """delete from times
    where service = coalesce(?, service) and waiter = coalesce(?, waiter)"""


class HistoryKey(NamedTuple):
    """What waits have in common that are expected to take about as long."""

    service: str
    """The botocore name of the service; empty: there is none."""
    waiter: str
    region: str
    kind: str
    """The `delay_kind`; empty: none was given."""
    from_call: bool
    """Whether the times count from the call of `begin`."""


class History:
    """The times from the start of waits to their ends, for `delay_history`.

    The last 64 of each service, waiter, region and `delay_kind` are kept, without parameters and
    identifiers. Threads and processes may share the file, which only its owner may read.

    Args:
        path: of the file; default: `history.sqlite` in the user's cache directory.

    Raises:
        ImportError: there is no `path`, and platformdirs is not installed.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = default_path() if path is None else Path(path)
        self._has_told = False
        self._usable_at = 0.0

    def times(self, key: HistoryKey) -> tuple[KnownTime, ...]:
        """Return the times under a key, the newest first; empty if they cannot be read."""
        if time.monotonic() < self._usable_at:
            return ()
        try:
            if not self.path.exists():
                return ()
            with closing(_connected(self.path, "ro")) as connection:
                rows = connection.execute(_READ, (*key, MOST_TIMES)).fetchall()
        # Whatever it is: a wait goes on as without a history.
        except Exception as error:
            self._leave_alone(error)
            return ()
        return tuple(KnownTime(row[0], row[1] != "timeout") for row in rows if _is_sound(*row))

    def add(self, key: HistoryKey, end: str, seconds: float) -> None:
        """Keep the time of a wait; `end` is `"success"`, `"failure"` or `"timeout"`."""
        if time.monotonic() < self._usable_at:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(_connected(self.path)) as connection, connection:
                # A damaged history costs less than a wait for the disk.
                connection.execute("pragma synchronous = off")
                connection.executescript(_SCHEMA)
                connection.execute(_ADD, (*key, end, seconds))
                connection.execute(_FORGET, (*key, -1, MOST_TIMES))
        except Exception as error:
            self._leave_alone(error)

    def entries(self) -> dict[HistoryKey, list[tuple[float, str]]]:
        """Return all times, in seconds and with their ends, by their keys.

        Raises:
            sqlite3.Error, OSError: the file is damaged, locked, or cannot be read.
        """
        if not self.path.exists():
            return {}
        kept: dict[HistoryKey, list[tuple[float, str]]] = {}
        with closing(_connected(self.path, "ro")) as connection:
            for *columns, seconds, end in connection.execute(_LIST):
                if _is_sound(seconds, end):
                    kept.setdefault(HistoryKey(*columns), []).append((seconds, end))
        return dict(sorted(kept.items()))

    def clear(self, service: str | None = None, waiter: str | None = None) -> int:
        """Delete what is kept, for a service or a waiter alone if these are given.

        Returns:
            The number of times that were deleted.

        Raises:
            sqlite3.Error: the file is not there, damaged or locked, or cannot be written.
        """
        with closing(_connected(self.path)) as connection, connection:
            return connection.execute(_CLEAR, (service, waiter)).rowcount

    def _leave_alone(self, error: Exception) -> None:
        self._usable_at = time.monotonic() + LEFT_ALONE_FOR
        if not self._has_told:
            self._has_told = True
            logger.debug("the history %s cannot be used: %s; waits go on", self.path, error)


def default_path() -> Path:
    """Return the path of the user's history; raise ImportError without platformdirs."""
    try:
        from platformdirs import user_cache_path  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError(
            "a history without a path requires platformdirs; install it with: "
            "pip install 'boto-waiters-plus[history]'"
        ) from error
    return user_cache_path("boto_waiters_plus") / "history.sqlite"


def _connected(path: Path, mode: str = "rw") -> sqlite3.Connection:
    # Python may have been built without it.
    import sqlite3  # noqa: PLC0415

    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=LOCK_TIMEOUT)


def _is_sound(seconds: Any, end: Any) -> bool:
    """Return whether `add` may have written a row."""
    return isinstance(seconds, float) and 0 < seconds < math.inf and end in ENDS
