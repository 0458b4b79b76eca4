"""What one call may use: its time, its cancel events, its socket; and the reply that it gives.

When the time is up or a cancel event is set, the socket in use is shut, and whatever the call was
doing (TLS handshake, headers, body) ends at once in the calling thread.

- The watchdog's lock guards every `SocketHandle`. A socket is shut only while a budget holds it
  and before it is closed, so neither a connection that another call has taken over nor a file
  descriptor that was used again is ever touched (see `untrack_socket` and `keep_while_closed`).
- A budget belongs to the thread that made it. Threads that copy the context are not bounded.
- Time is real time, even where a test replaces `time.monotonic`.
"""

from __future__ import annotations

import _socket  # that of `socket` is replaced by eventlet and gevent
import contextlib
import contextvars
import math
import socket
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from ..common.process import call_soon, is_of_handler
from ..options import CancelEvent
from .watch import LISTEN_AFTER, monotonic, watchdog, when_set

if TYPE_CHECKING:
    import asyncio


T = TypeVar("T")

LONGEST_WAIT: Final = 3600.0
"""Seconds of one system wait: a deadline in years must not overflow the platform's clock."""

_HANDLE: Final = "_boto_waiters_plus_socket"


class CallEnded(Exception):  # noqa: N818 - not an error of the call
    """The call was ended, or kept from going on; what it returned or raised is no answer.

    Args:
        reason: the deadline passed, a cancel event was set, or the SDK was about to retry and
            the retry did not fit into the time left.
    """

    def __init__(self, reason: Literal["deadline", "cancelled", "retry refused"]) -> None:
        super().__init__(reason)
        self.reason: Literal["deadline", "cancelled", "retry refused"] = reason


class CallExpired(Exception):  # noqa: N818 - raised inside the call, in place of its next step
    """The call may not go on."""


@dataclass(slots=True, eq=False, repr=False)
class SocketHandle:
    """A socket that may be shut; guarded by the watchdog's lock."""

    sock: socket.socket | None
    how: int
    """Which directions are shut."""
    is_duplicate: bool = False
    """Whether the socket is a duplicate of the connection's, and has to be closed."""
    is_shut: bool = False

    def give_up(self) -> None:
        """Leave the connection alone from now on."""
        sock, self.sock = self.sock, None
        if self.is_duplicate and sock is not None:
            sock.close()

    def shut(self) -> None:
        """Abort whatever goes on over the socket."""
        # Whatever the socket raises: the watchdog has other calls to end.
        with contextlib.suppress(Exception):
            if self.sock is not None:
                self.is_shut = True
                _shut_down(self.sock, self.how)
        with contextlib.suppress(Exception):
            self.give_up()


def _shut_down(sock: Any, how: int) -> None:
    """Shut a socket, which may be an object of eventlet, gevent or others."""
    if isinstance(sock, _socket.socket):
        # Not by the method of a SSLSocket, which changes the object that another thread reads by.
        _socket.socket.shutdown(sock, how)
        return
    borrowed = _socket.socket(fileno=sock.fileno())
    try:
        borrowed.shutdown(how)
    finally:
        borrowed.detach()


class Budget:
    """The time of one call.

    Args:
        seconds: until the deadline; None: no deadline.
    """

    __slots__ = ("arrived", "deadline", "ended", "handled", "is_only_call", "refused_retry")

    def __init__(self, seconds: float | None) -> None:
        self.deadline = math.inf if seconds is None else monotonic() + seconds
        self.ended = False
        self.arrived = math.inf
        """When the answer had arrived in full; infinity: it has not."""
        self.refused_retry: Exception | None = None
        """The error that was raised in place of a retry that would not fit."""
        self.is_only_call = False
        """Whether nothing repeats the call but the SDK."""
        self.handled = sys.exc_info()[1]
        """The error that is being handled when the call begins."""

    @property
    def left(self) -> float:
        """The time left, in seconds."""
        return self.deadline - monotonic()

    @property
    def is_answered(self) -> bool:
        """Whether the answer has arrived in time; what the call still does is to parse it."""
        return self.arrived <= self.deadline and self.arrived < math.inf


class CallBudget(Budget):
    """The time, the cancel events and the socket of one call.

    Args:
        seconds: until the deadline; None: no deadline.
        cancel_event: ends the call when it is set.
    """

    __slots__ = (
        "_connection",
        "_handle",
        "_wake",
        "cancel_events",
        "context",
        "credentials",
        "is_endless",
        "listen_at",
        "reason",
        "relies_on_timeouts",
        "thread_id",
    )

    def __init__(self, seconds: float | None, cancel_event: CancelEvent | None = None) -> None:
        super().__init__(seconds)
        self.cancel_events: tuple[CancelEvent, ...] = (
            () if cancel_event is None else (cancel_event,)
        )
        outer = current_budget()
        if outer is not None:
            self.deadline = min(self.deadline, outer.deadline)
            self.cancel_events += outer.cancel_events
        self.is_endless = self.deadline == math.inf and not self.cancel_events
        """Whether nothing ends the call."""
        self.context = contextvars.copy_context() if self.cancel_events else None
        """What the events see."""
        self.listen_at = monotonic() + LISTEN_AFTER if self.cancel_events else math.inf
        self.reason: Literal["deadline", "cancelled"] | None = None
        """Why the call was cut off."""
        self.credentials: Any = None
        """What requests are signed with; None: what the client has."""
        self.relies_on_timeouts = False
        """Whether timeouts of sockets have to end the call, because nothing can cut it off."""
        self.thread_id = threading.get_ident()
        """The thread that makes the call."""
        self._handle: SocketHandle | None = None
        self._connection: Any = None
        self._wake: threading.Event | None = None

    @property
    def over_because(self) -> Literal["deadline", "cancelled"] | None:
        """Why the call may not go on; None while it may."""
        if self.reason is None and monotonic() >= self.deadline:
            return "deadline"
        return self.reason

    def check(self) -> None:
        """Raise `CallExpired` if the call may not go on."""
        if self.ended or self.reason is not None or monotonic() >= self.deadline:
            raise CallExpired("this call may not go on")

    def wait_for(self, is_met: Callable[[], bool]) -> None:
        """Wait until `is_met`, which is asked again after each `wake`.

        Raises:
            CallExpired: the call may not go on.
        """
        with watchdog.lock:
            if self._wake is None:
                self._wake = threading.Event()
            wake = self._wake
        while not is_met():
            self.check()
            wake.clear()
            # Asked again: nothing wakes for what happened before the event was cleared.
            if not is_met() and self.over_because is None:
                wake.wait(max(0.0, min(self.left, LONGEST_WAIT)))

    def wake(self) -> None:
        """Let `wait_for` ask again."""
        wake = self._wake
        if wake is not None:
            wake.set()

    def cancel(self) -> None:
        """Cut the call off because a cancel event is set."""
        watchdog.cut(self, "cancelled")

    # --- the socket in use ---

    def use(self, connection: Any) -> None:
        """Hold the socket of a connection that is about to be used.

        Raises:
            CallExpired: the call may not go on.
        """
        self.check()
        sock, handle = connection.sock, self._handle
        if sock is not None and (handle is None or handle.sock is not sock):
            self.track_socket(connection, sock)

    def track_socket(self, connection: Any, sock: Any, *, before_tls: bool = False) -> None:
        """Hold the socket of a connection, and no longer the one before.

        Args:
            connection: the connection.
            sock: its socket.
            before_tls: hold a duplicate, because the socket object is about to change hands, and
                shut it for reading only: `ssl` takes a socket that is shut both ways for one that
                was never connected, and makes no handshake. A handshake sends too little to be
                stopped there.
        """
        how = socket.SHUT_RD if before_tls else socket.SHUT_RDWR
        handle = SocketHandle(sock if isinstance(sock, socket.socket) else None, how)
        if before_tls or handle.sock is None:
            copy = self._duplicate(sock)
            if copy is not None:
                handle.sock, handle.is_duplicate = copy, True
        namespace = connection.__dict__
        earlier, before = namespace.get(_HANDLE), self._handle
        if earlier is not None and earlier.sock is not None:
            untrack_socket(connection)
        # A cut sets the reason first and reads the handle then.
        namespace[_HANDLE] = self._handle = handle
        self._connection = connection
        if before is not None or self.reason is not None:
            with watchdog.lock:
                if before is not None:
                    before.give_up()
                if self.reason is not None:
                    handle.shut()

    def keep_while_closed(self, connection: Any) -> bool:
        """Hold a duplicate of the socket of a connection that is about to be closed.

        http.client closes the connection before it reads the body of a response that says
        `Connection: close`.

        Returns:
            Whether the budget holds the socket of the connection.
        """
        handle = self._handle
        if handle is None or connection.__dict__.get(_HANDLE) is not handle:
            return False
        sock = handle.sock
        if sock is not None and not handle.is_duplicate:
            copy = self._duplicate(sock)
            with watchdog.lock:
                handle.sock, handle.is_duplicate = copy, True
                if self.reason is not None:
                    handle.shut()
            if copy is None:
                self.relies_on_timeouts = True
                sock.settimeout(max(0.001, min(self.left, LONGEST_WAIT)))
        return True

    def _duplicate(self, sock: Any) -> socket.socket | None:
        """Return a duplicate of a socket; None if there is none to be had."""
        try:
            fd = socket.dup(sock.fileno())
        # No file descriptor is left; or it is closed already, or a recorder's and no socket.
        except (AttributeError, OSError, TypeError, ValueError) as error:
            if is_of_handler(error):
                raise
            return None
        try:
            return socket.socket(fileno=fd)
        except OSError as error:
            socket.close(fd)
            if is_of_handler(error):
                raise
            return None

    # --- with the watchdog's lock held ---

    def cut(self, reason: Literal["deadline", "cancelled"]) -> None:
        """Abort what is in flight."""
        self.reason = self.reason or reason
        if self._handle is not None:
            self._handle.shut()
        if self._wake is not None:
            self._wake.set()

    def end(self) -> None:
        """Give up what the call holds; it is over."""
        self.ended = True
        self.cancel_events = ()
        if self._handle is not None:
            self._handle.give_up()

    # --- afterwards ---

    def close_shut_connection(self) -> None:
        """Close the connection whose socket was shut, which its pool would keep."""
        with watchdog.lock:
            connection, handle = self._connection, self._handle
            self._connection = self._handle = None
            if handle is None or not handle.is_shut:
                return
            if connection.__dict__.get(_HANDLE) is not handle:
                return  # Another call has taken the connection over and connects it anew.
            sock, connection.sock = connection.sock, None
        if sock is not None:
            sock.close()


def untrack_socket(connection: Any) -> None:
    """Take a connection from the budget of the call that used it last.

    Every call does so before it uses a connection, so that the end of the earlier call cannot
    shut the socket any more.
    """
    handle = connection.__dict__.pop(_HANDLE, None)
    if handle is not None and handle.sock is not None:
        with watchdog.lock:
            handle.give_up()


_current: ContextVar[CallBudget | None] = ContextVar("boto_waiters_plus_call", default=None)


def current_budget() -> CallBudget | None:
    """Return the budget of the call that the calling thread makes, if any."""
    budget = _current.get()
    if budget is None or budget.ended or budget.thread_id != threading.get_ident():
        return None
    return budget


def run_within(budget: CallBudget, call: Callable[[], T]) -> T:
    """Make the call, which is cut off when the budget is used up.

    The budget's `over_because` has to be read at once: its clock goes on.
    """
    token = _current.set(budget)
    try:
        if not budget.is_endless and not watchdog.watch(budget):
            budget.relies_on_timeouts = True
        return call()
    finally:
        _current.reset(token)
        watchdog.release(budget)
        if budget.reason is not None:
            budget.close_shut_connection()


# --- what one awaited call may use: its time and its cancel event --------------------------------


class AwaitedBudget(Budget):
    """The time and the cancellation of one awaited call.

    Args:
        seconds: until the deadline; None: no deadline.
    """

    over_because = None
    """Nothing here ends the call: its task does."""

    def listen(self, event: CancelEvent, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
        """Return a future that is done, because it is cancelled, when the event is set."""
        self.context: contextvars.Context | None = contextvars.copy_context()
        self._loop, self._cancelled = loop, loop.create_future()
        when_set(event, self)
        return self._cancelled

    def cancel(self) -> None:
        """Cancel from the thread of a cancel listener."""
        call_soon(self._loop, self._cancelled.cancel)


awaited_budget: Final[ContextVar[AwaitedBudget | None]] = ContextVar(
    "boto_waiters_plus_awaited_call", default=None
)
"""The budget of the call that the current task awaits."""


# --- what a call gives ---------------------------------------------------------------------------

Ended = Literal["deadline", "cancelled", "retry refused"]
"""Why a call was ended before the operation answered."""


@dataclass(slots=True)
class Reply:
    """What one call gave: a response, an error, or neither because it was ended.

    Never changed, but not frozen: each poll makes one.
    """

    response: Any = None
    error: Exception | None = None
    ended: Ended | None = None
    """With `"retry refused"` the `error` is the one that the SDK would have retried."""
    made: bool = True
    """False: the time was used up before the call could be made."""
    arrived: float = math.inf
    """When the answer had arrived in full, in time; infinity: it has not, or that is not known."""

    @property
    def age(self) -> float:
        """The seconds since the answer arrived, as far as that is known."""
        return 0.0 if self.arrived == math.inf else monotonic() - self.arrived
