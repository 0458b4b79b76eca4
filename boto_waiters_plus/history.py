"""The times of earlier waits, in a SQLite file that processes share.

Nothing that goes wrong with the file is an error of a wait: it goes on without the times, and a
line at DEBUG says so once. A thread of its own reads and writes: no disk and no lock holds up a
wait or an event loop.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .common.errors import logger, refuse_missing
from .common.process import JobThread, renew_in_forks
from .common.wrong_arguments import wrong_type
from .engine.delays import EARLY_SHARE, FEWEST_ENDS, KnownTime, LearnedTimes, is_sound_time

if TYPE_CHECKING:
    import sqlite3

    from .engine.machine import Policy
    from .engine.wait_event import WaitEvent


MOST_TIMES: Final = 64
"""The times that are kept of each kind of wait."""

READ_TIMEOUT: Final = 0.1
"""Seconds that a wait stops for its times at most: a disk may hang."""

LOCK_TIMEOUT: Final = 0.01
"""Seconds that a write waits for another process that writes, and with it the reads behind it."""

LOCK_TRIES: Final = 50
"""Writes that meet a lock before the times are dropped."""

GRACE: Final = 1.0
"""Seconds that `entries`, `clear` and the end of the process wait for what is to be written."""

LEFT_ALONE_FOR: Final = 60.0
"""Seconds without an access after one that failed: many waits must not each find out."""

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
_LIST: Final = """select service, waiter, region, kind, from_call, seconds, end from times
    order by id desc"""
_CLEAR: Final = """delete from times
    where service is coalesce(?, service) and waiter is coalesce(?, waiter)"""

_PASSING: Final = ("database is locked", "no such table: times")
"""The errors after which nothing is wrong with the file."""


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


class _FileThread(JobThread):
    """The thread that accesses the files of all histories, in order."""

    def __init__(self) -> None:
        super().__init__("history")
        if hasattr(os, "register_at_fork"):
            # In a child, a file that SQLite had locked in the parent would stay locked.
            os.register_at_fork(before=self._pause, after_in_parent=self._go_on)
        atexit.register(self.join, GRACE)
        # A child of multiprocessing ends without `atexit`.
        with contextlib.suppress(AttributeError, RuntimeError):
            threading._register_atexit(self.join, GRACE)  # type: ignore[attr-defined]  # noqa: SLF001

    def _renew(self) -> None:
        super()._renew()
        self._access = threading.Lock()

    def _do(self, job: Callable[[], object]) -> None:
        with self._access:
            job()

    def _pause(self) -> None:
        self._access.acquire(timeout=READ_TIMEOUT)

    def _go_on(self) -> None:
        # It was not acquired where an access hangs.
        with contextlib.suppress(RuntimeError):
            self._access.release()


_files: Final = _FileThread()


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
        if not isinstance(path, (str, os.PathLike, type(None))):
            raise wrong_type("path", path, "a path")
        self.path = (default_path() if path is None else Path(path)).absolute()
        self._has_told = False
        self._usable_at = 0.0
        renew_in_forks(self._renew)

    def _renew(self) -> None:
        # A parent process writes its times itself.
        self._new: deque[tuple[HistoryKey, str, float]] = deque()

    def times(self, key: HistoryKey) -> tuple[KnownTime, ...]:
        """Return the times under a key, the newest first; empty if they cannot be read at once."""
        if time.perf_counter() < self._usable_at:
            return ()
        found: list[Any] = []
        # No condition: virtual time would pass while a thread waits for one.
        reading = threading.Lock()
        reading.acquire()

        def read() -> None:
            try:
                found.extend(self._rows(_READ, (*key, MOST_TIMES)))
            # Whatever it is: a wait goes on as without a history.
            except Exception as error:
                self._may_try_again(error)
            finally:
                reading.release()

        if _files.put(read) and reading.acquire(timeout=READ_TIMEOUT):
            return tuple(KnownTime(row[0], row[1] != "timeout") for row in found if _is_sound(*row))
        self._may_try_again(TimeoutError("it was not read in time"))
        return ()

    def add(self, key: HistoryKey, end: str, seconds: float) -> None:
        """Keep the time of a wait; `end` is `"success"`, `"failure"` or `"timeout"`.

        It is written in the background, and `times` of the same process returns it from now on.
        """
        if time.perf_counter() >= self._usable_at:
            self._new.append((key, end, seconds))
            _files.put(self._write)

    def entries(self) -> dict[HistoryKey, list[tuple[float, str]]]:
        """Return all times, in seconds and with their ends, by their keys; the newest first.

        Raises:
            sqlite3.Error, OSError: the file is damaged, locked, or cannot be read.
        """
        _files.join(GRACE)
        kept: dict[HistoryKey, list[tuple[float, str]]] = {}
        for *names, from_call, seconds, end in self._rows(_LIST, timeout=GRACE):
            is_key = from_call in (0, 1) and all(isinstance(name, str) for name in names)
            if is_key and _is_sound(seconds, end):
                key = HistoryKey._make([*names, bool(from_call)])
                kept.setdefault(key, []).append((seconds, end))
        return dict(sorted(kept.items()))

    def clear(self, service: str | None = None, waiter: str | None = None) -> int:
        """Delete what is kept, for a service or a waiter alone if these are given.

        Returns:
            The number of times that were deleted.

        Raises:
            sqlite3.Error, OSError: the file is damaged or locked, or cannot be written.
        """
        _files.join(GRACE)
        if not self._has_content():
            return 0
        with closing(self._connected(GRACE)) as connection, connection:
            return connection.execute(_CLEAR, (service, waiter)).rowcount

    def _rows(self, query: str, values: tuple[Any, ...] = (), timeout: float = 0) -> list[Any]:
        if not self._has_content():
            return []
        with closing(self._connected(timeout)) as connection:
            return connection.execute(query, values).fetchall()

    def _write(self, tries: int = LOCK_TRIES) -> None:
        """Write what is new."""
        new = [self._new.popleft() for _ in range(len(self._new))]
        try:
            if new:
                self._insert(new)
        except Exception as error:
            if self._may_try_again(error) and tries > 1:
                self._new.extendleft(reversed(new))
                _files.put(partial(self._write, tries - 1))

    def _insert(self, new: list[tuple[HistoryKey, str, float]]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        self._has_content()
        with closing(self._connected(LOCK_TIMEOUT)) as connection, connection:
            # A damaged history costs less than a wait for the disk.
            connection.execute("pragma synchronous = off")
            connection.executescript(_SCHEMA)
            connection.executemany(_ADD, ((*key, end, seconds) for key, end, seconds in new))
            keys = {key for key, *_ in new}
            connection.executemany(_FORGET, ((*key, -1, MOST_TIMES) for key in keys))

    def _has_content(self) -> bool:
        """Return whether there is anything to read.

        Raises:
            OSError: in the place of the file, or of one that SQLite opens beside it, is something
                else. It may be a FIFO, where SQLite would wait without end.
        """
        # SQLite's own files are beside the target of a symlink; to a missing one it is an error.
        real = os.path.realpath(self.path, strict=self.path.is_symlink())
        for path in (f"{real}-journal", f"{real}-wal", f"{real}-shm", real):
            size = 0
            with contextlib.suppress(FileNotFoundError):
                found = Path(path).stat()
                size = found.st_size
                if not stat.S_ISREG(found.st_mode):
                    raise OSError(f"{path} is not a regular file")
        return size > 0

    def _connected(self, timeout: float) -> sqlite3.Connection:
        # Python may have been built without it.
        import sqlite3  # noqa: PLC0415

        # Where a process was killed while it wrote, only a writer can undo what it had begun.
        connection = sqlite3.connect(f"{self.path.as_uri()}?mode=rw", uri=True, timeout=timeout)
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        return connection

    def _may_try_again(self, error: Exception) -> bool:
        """Return whether the error will pass; else, leave the file alone for a while."""
        if str(error) in _PASSING:
            return True
        self._usable_at = time.perf_counter() + LEFT_ALONE_FOR
        if not self._has_told:
            self._has_told = True
            logger.debug("the history %s cannot be used: %s; waits go on", self.path, error)
        return False


def default_path() -> Path:
    """Return the path of the user's history; raise ImportError without platformdirs."""
    try:
        from platformdirs import user_cache_path  # noqa: PLC0415 - an extra
    except ImportError as error:
        refuse_missing("a history without a path", "history", error)
    return user_cache_path("boto_waiters_plus") / "history.sqlite"


def _is_sound(seconds: Any, end: Any) -> bool:
    """Return whether `add` may have written a row."""
    return is_sound_time(seconds) and end in ENDS


# --- what a wait with `delay_history` takes from the times of earlier waits, and adds to them

user_history = cache(History)
"""Returns the history of the user, one object for all waits."""


def with_times(
    policy: Policy, times: tuple[KnownTime, ...], key: HistoryKey, *, has_longest: bool
) -> Policy:
    """Return a policy whose delays come from times, where these are enough and none was chosen.

    Args:
        policy: the policy of the wait.
        times: the newest first.
        key: what the times are of.
        has_longest: whether the caller gave the `max_delay`.
    """
    ends = sorted(each.seconds for each in times if each.is_end)
    if policy.delays.pace is not None or len(ends) < FEWEST_ENDS:
        return policy
    text = "Waiter %s: delays by %d earlier waits (%s), of which %d ended, half of them in %.1f s"
    middle, named = ends[len(ends) // 2], ", ".join(filter(None, key[:4]))
    logger.debug(text, key.waiter, len(times), named, len(ends), middle)
    delays = policy.delays
    most = delays.max_delay if has_longest else EARLY_SHARE * delays.max_delay
    return policy._replace(delays=delays._replace(learned=LearnedTimes(times, most)))


class TimeKeeper:
    """An observer of one wait that adds its time to a history, unless the first attempt ended it.

    Args:
        history, key: where.
        offset: seconds from what the time counts from to the start of the wait.
    """

    def __init__(self, history: History, key: HistoryKey, offset: float) -> None:
        self._history, self._key, self._offset = history, key, offset
        self._before = self._last = 0.0

    def __call__(self, event: WaitEvent) -> None:
        """Take an event of the wait."""
        if event.kind == "attempt":
            self._before, self._last = self._last, event.elapsed
        elif event.kind in ENDS and event.attempt > 1:
            # The state has changed at some time between the last two attempts.
            middle = (self._before + self._last) / 2
            seconds = event.elapsed if event.kind == "timeout" else middle
            self._history.add(self._key, event.kind, self._offset + seconds)
