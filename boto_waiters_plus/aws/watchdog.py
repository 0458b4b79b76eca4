"""Scopes, each what one call may still spend, and the thread that cuts the call off.

A scope holds a duplicate of the socket that its call is using. When the time is used up, or
somebody cancels, the watchdog shuts that socket down, and whatever the call was doing on it
(TLS handshake, headers, body) ends at once in the calling thread, which closes its own
connection. The duplicate belongs to the scope and not to the connection: http.client closes the
connection before it reads the body of an answer that says `Connection: close`.

Rules that hold throughout:

- One lock guards every duplicate and every ending. A socket is shut only while the lock is held
  and the scope still holds it, so a connection that went back to its pool, and from there to
  another call, is never touched (see `let_go`).
- A scope belongs to the thread that opened it. Threads that copy the context are not bounded.
- Time is real time, whatever a test does to `time.monotonic`.
"""

from __future__ import annotations

import contextlib
import enum
import importlib.util
import logging
import math
import os
import socket
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from ..options import CancelEvent

logger = logging.getLogger("boto_waiters_plus")

T = TypeVar("T")

LINGER = 0.4
"""Seconds between two looks of an idle watchdog; it ends after two in which nothing was to do."""

CANCEL_SLICE = 0.02
"""Seconds between two looks at the cancel events of calls in flight."""

LONGEST_WAIT = 3600.0
"""Seconds of one system wait: a deadline in years must not overflow the platform's clock."""

_HOLD = "_boto_waiters_plus_hold"


def _untouched_monotonic() -> Callable[[], float]:
    """`time.monotonic` as the interpreter made it.

    Taken from a copy of the module: freezegun and our own virtual time replace the function in
    `time`, freezegun in the namespace of every module that imported it too, and this module may
    be imported while they do.
    """
    spec = importlib.util.find_spec("time")
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    monotonic: Callable[[], float] = copy.monotonic
    return monotonic


monotonic = _untouched_monotonic()


class Over(Exception):  # noqa: N818 - says what is, as StopIteration does
    """The call may not go on."""


class Cause(enum.Enum):
    """Why a scope was cut off."""

    DEADLINE = "deadline"
    CANCELLED = "cancelled"


class Hold:
    """A duplicate of a socket; guarded by the watchdog's lock."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd: int | None = fd

    @property
    def is_live(self) -> bool:
        """Whether the socket can still be shut through this hold."""
        return self._fd is not None

    def close(self) -> None:
        """Give the duplicate up; the connection itself is not touched."""
        fd, self._fd = self._fd, None
        if fd is not None:
            with contextlib.suppress(OSError):
                socket.close(fd)

    def shut(self) -> None:
        """End whatever goes on over the socket."""
        fd, self._fd = self._fd, None
        if fd is not None:
            with contextlib.suppress(OSError), socket.socket(fileno=fd) as duplicate:
                duplicate.shutdown(socket.SHUT_RDWR)


class Scope:
    """What one call may spend.

    Args:
        seconds: until the deadline; None: no deadline.
        cancel_event: cuts the call off when set.
    """

    __slots__ = (
        "_hold",
        "_thread",
        "_wake",
        "cancel_events",
        "cause",
        "connecting",
        "deadline",
        "ended",
    )

    def __init__(self, seconds: float | None, cancel_event: CancelEvent | None = None) -> None:
        self.deadline = math.inf if seconds is None else monotonic() + seconds
        self.cancel_events: tuple[CancelEvent, ...] = (
            () if cancel_event is None else (cancel_event,)
        )
        outer = current_scope()
        if outer is not None:
            self.deadline = min(self.deadline, outer.deadline)
            self.cancel_events += outer.cancel_events
        self.connecting: Any = None
        """The connection that is being made."""
        self.cause: Cause | None = None
        self.ended = False
        self._thread = threading.get_ident()
        self._hold: Hold | None = None
        self._wake: threading.Event | None = None

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - monotonic()

    @property
    def verdict(self) -> Cause | None:
        """Why the call may not go on; None while it may."""
        if self.cause is None and monotonic() >= self.deadline:
            return Cause.DEADLINE
        return self.cause

    @property
    def is_mine(self) -> bool:
        """Whether it is open, and of the calling thread."""
        return not self.ended and self._thread == threading.get_ident()

    def check(self) -> None:
        """Raise `Over` if the call may not go on."""
        if self.ended or self.verdict is not None:
            raise Over("this call may not go on")

    def take(self, connection: Any, sock: socket.socket) -> None:
        """Use `sock`, and no longer the socket of before.

        Raises:
            Over: the call may not go on.
        """
        try:
            fd = socket.dup(sock.fileno())
        except (AttributeError, OSError, TypeError, ValueError):
            return  # Closed already, or no socket at all but a recorder's.
        hold = Hold(fd)
        with _watchdog.lock:
            self._drop()
            if self.ended or self.cause is not None:
                hold.shut()
            else:
                self._hold = hold
        connection.__dict__[_HOLD] = hold
        self.check()

    def holds(self, connection: Any) -> bool:
        """Whether the socket in use is the one of this connection."""
        hold: Hold | None = connection.__dict__.get(_HOLD)
        return hold is not None and hold is self._hold and hold.is_live

    def sleep(self, seconds: float) -> None:
        """Sleep, but only until the call is cut off.

        Raises:
            Over: the call may not go on.
        """
        end = monotonic() + seconds
        self.wait_for(lambda: monotonic() >= end, end)

    def wait_for(self, is_met: Callable[[], bool], end: float = math.inf) -> None:
        """Wait until `is_met` after a `wake`, or until `end`.

        Raises:
            Over: the call may not go on.
        """
        with _watchdog.lock:
            if self._wake is None:
                self._wake = threading.Event()
            wake = self._wake
        while not is_met():
            self.check()
            wake.clear()
            # Asked again: what was met, or over, before the clearing has no one left to say so.
            if is_met() or self.verdict is not None:
                continue
            now = monotonic()
            wake.wait(max(0.0, min(end - now, self.deadline - now, LONGEST_WAIT)))

    def wake(self) -> None:
        """Let `wait_for` look again."""
        wake = self._wake
        if wake is not None:
            wake.set()

    # --- under the watchdog's lock ---

    def cut(self, cause: Cause) -> None:
        """End what is in flight."""
        self.cause = self.cause or cause
        if self._hold is not None:
            self._hold.shut()
        if self._wake is not None:
            self._wake.set()

    def end(self) -> None:
        """The call is over, one way or the other."""
        self.ended = True
        self._drop()
        self.cancel_events = ()
        self.connecting = None

    def _drop(self) -> None:
        if self._hold is not None:
            self._hold.close()
            self._hold = None


def let_go(connection: Any) -> None:
    """Take a connection out of the hands of the call that used it last.

    Whoever is about to use it for another call says so by this; from then on the end of the
    earlier call cannot shut the socket any more.
    """
    hold = connection.__dict__.pop(_HOLD, None)
    if hold is not None:
        with _watchdog.lock:
            hold.close()


class Watchdog:
    """The one thread that cuts calls off: started when there is one to watch, ended when idle."""

    def __init__(self) -> None:
        self._scopes: set[Scope] = set()
        self.reset()

    def reset(self) -> None:
        """Forget everything: in a child after a fork neither lock nor thread is what it was."""
        abandoned = self._scopes
        # Reentrant: a signal handler may run a wait of its own while its thread holds the lock.
        self.lock = threading.RLock()
        self._condition = threading.Condition(self.lock)
        self._scopes = set()
        self._thread: threading.Thread | None = None
        self._looks_at = 0.0
        self._in_use = False
        for scope in abandoned:
            scope.end()

    def watch(self, scope: Scope) -> None:
        """Cut the scope off when its time has come."""
        with self.lock:
            self._scopes.add(scope)
            self._in_use = True
            look_at = monotonic() + CANCEL_SLICE if scope.cancel_events else math.inf
            look_at = min(look_at, scope.deadline)
            if self._thread is None or not self._thread.is_alive():
                self._start()
            elif look_at < self._looks_at:
                self._looks_at = look_at
                self._condition.notify()

    def release(self, scope: Scope) -> None:
        """The call is over."""
        with self.lock:
            self._scopes.discard(scope)
            scope.end()

    def cut(self, scope: Scope, cause: Cause) -> None:
        """Cut a scope off at once."""
        with self.lock:
            if scope in self._scopes:
                self._scopes.discard(scope)
                scope.cut(cause)

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="boto_waiters_plus watchdog", daemon=True)
        self._thread = thread
        self._looks_at = 0.0  # It looks as soon as it runs.
        try:
            thread.start()
        except RuntimeError:
            # No more threads, as while the interpreter exits. The timeouts of sockets remain.
            logger.debug("no watchdog thread: the call is bounded by timeouts alone", exc_info=True)
            self._thread = None

    def _run(self) -> None:
        while True:
            cancelled = self._cancelled()
            with self.lock:
                if self._thread is not threading.current_thread():
                    return
                pause = self._look(cancelled)
                if pause is None:
                    self._thread = None
                    return
                self._condition.wait(pause)

    def _look(self, cancelled: list[Scope]) -> float | None:
        """Cut off what is due; the seconds until the next look, None for the end."""
        now = monotonic()
        for scope in [scope for scope in self._scopes if scope.deadline <= now]:
            self._scopes.discard(scope)
            scope.cut(Cause.DEADLINE)
        for scope in cancelled:
            if scope in self._scopes:
                self._scopes.discard(scope)
                scope.cut(Cause.CANCELLED)
        if not self._scopes and not self._in_use:
            return None
        self._in_use = bool(self._scopes)
        pause = LINGER
        for scope in self._scopes:
            pause = min(pause, scope.deadline - now)
            if scope.cancel_events:
                pause = min(pause, CANCEL_SLICE)
        self._looks_at = now + pause
        return pause

    def _cancelled(self) -> list[Scope]:
        """Scopes whose cancel event is set; asked without the lock, the events are not ours."""
        with self.lock:
            watched = [(scope, scope.cancel_events) for scope in self._scopes]
        return [scope for scope, events in watched if any(_is_set(event) for event in events)]


def _is_set(event: CancelEvent) -> bool:
    try:
        return bool(event.is_set())
    # The caller asks the same event itself and sees the error there.
    except Exception:
        logger.debug("a cancel event could not be asked", exc_info=True)
        return False


_current: ContextVar[Scope | None] = ContextVar("boto_waiters_plus_call", default=None)
_watchdog = Watchdog()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_watchdog.reset)


def current_scope() -> Scope | None:
    """The scope that bounds what the calling thread does now."""
    scope = _current.get()
    return scope if scope is not None and scope.is_mine else None


def run_in_scope(scope: Scope, call: Callable[[], T]) -> T:
    """Make the call under the scope.

    Whoever asks for the verdict must do so at once: a scope that has ended is not cut off later,
    but its clock goes on.
    """
    token = _current.set(scope)
    try:
        _watchdog.watch(scope)
        return call()
    finally:
        _current.reset(token)
        _watchdog.release(scope)


def cut(scope: Scope, cause: Cause) -> None:
    """Cut a scope off now."""
    _watchdog.cut(scope, cause)


class Aside(Generic[T]):
    """A function that runs in a daemon thread of its own, and can be given up.

    Args:
        function: what is run.
        scope: wakes when it is done.
        discard: takes the result that came after it was given up.
        name: of the thread.
    """

    def __init__(
        self,
        function: Callable[[], T],
        scope: Scope,
        *,
        discard: Callable[[T], object] = lambda _: None,
        name: str,
    ) -> None:
        self._function = function
        self._scope = scope
        self._discard = discard
        self._name = name
        self._lock = threading.Lock()
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._is_done = False
        self._is_given_up = False

    def result(self) -> T:
        """Run it and wait for what it returns or raises.

        Raises:
            Over: the scope was cut off before.
        """
        name = f"boto_waiters_plus {self._name}"
        threading.Thread(target=self._run, name=name, daemon=True).start()
        try:
            self._scope.wait_for(lambda: self._is_done)
        except BaseException:
            self._give_up()
            raise
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error
        return self._results.pop()

    def _run(self) -> None:
        results: list[T] = []
        error: BaseException | None = None
        try:
            results.append(self._function())
        # Handed to the thread that waits, whatever it is.
        except BaseException as raised:
            error = raised
        with self._lock:
            if not self._is_given_up:
                self._results, self._error, self._is_done = results, error, True
                results = []
        self._scope.wake()
        for result in results:
            self._discard(result)

    def _give_up(self) -> None:
        with self._lock:
            self._is_given_up = True
            results, self._results, self._error = self._results, [], None
        for result in results:
            self._discard(result)
