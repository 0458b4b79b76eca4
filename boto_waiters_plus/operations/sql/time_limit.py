"""A limit on the time that a server may take for a transaction, whatever happened to the network.

A connection whose other end is gone, or behind a proxy that forwards nothing, would be waited for
without an end: the server's own timeouts cannot be seen from here.
"""

from __future__ import annotations

import contextlib
import math
import socket
from contextvars import Context
from typing import Any, Final, Literal

from sqlalchemy import Engine, event
from sqlalchemy.exc import DisconnectionError

from ...calls.watch import monotonic, watchdog
from ...options import CancelEvent

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
