"""The file of a store, which nobody but its owner reads or writes."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from sqlalchemy import URL

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
        path = str(url.database)
        query = dict(url.query)
        if path.startswith("file:"):
            parts = urlsplit(path)
            path = unquote(parts.path)
            query |= dict(parse_qsl(parts.query))
        mode = query.get("mode", "rwc")
        is_file = mode != "memory" and path != ":memory:"
        return cls(path, may_create=mode == "rwc") if is_file else None

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
