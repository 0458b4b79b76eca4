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
