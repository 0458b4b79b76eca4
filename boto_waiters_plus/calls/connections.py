"""Connection classes through which a budget reaches the socket in use.

A client gets pool classes of its own before its first bounded call. Nothing outside the client is
changed. The `ConnectionCls` of such a pool is derived, each time it is asked for, from what the
pool's parent class has at that moment, so that recorders (vcrpy, for one, replaces
`AWSHTTPConnectionPool.ConnectionCls`) work whether they start before or after that call.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import urllib3

from ..common.process import frames_of, locals_of
from .budget import CallBudget, current_budget, untrack_socket
from .private_names import (
    SocketMaker,
    asks_socket_maker,
    http_session_of,
    pool_classes_of,
)
from .threads import abandonable_call

LONGEST_TIMEOUT: Final = 86_400.0
"""Seconds; the timeout of a socket has to be less than 25 days."""


class ClientPools:
    """The connections of one client.

    Args:
        client: gets pool classes of its own.
    """

    __slots__ = ("_can_cut_off", "_found")

    def __init__(self, client: Any) -> None:
        parents = _give_own_classes(client)
        retries = client.meta.config.retries or {}
        # The adaptive retry mode may wait for its turn, without a socket.
        self._can_cut_off = bool(parents) and retries.get("mode") != "adaptive"
        self._found = [(parent, _trackable_class(parent)) for parent in parents]

    def can_cut_off(self) -> bool:
        """Return whether the calls of the client can be cut off in the calling thread.

        They cannot where a name that this rests on is missing, through a recorder's connections,
        and in the adaptive retry mode.
        """
        for parent, found in self._found:
            # Looked up at every call: a recorder may have started or stopped since the last.
            if parent.ConnectionCls is not found:
                return self._can_cut_off and all(_trackable_class(each) for each, _ in self._found)
        return self._can_cut_off


# --- the classes -------------------------------------------------------------------------------


class TrackedConnection(SocketMaker):
    """A base of connection classes whose socket is held by the budget of the call."""

    def connect(self) -> None:
        """Connect within the time left."""
        budget = current_budget()
        if budget is None:
            super().connect()
        else:
            _connect_within(budget, self, super().connect)

    def make_socket(self, new_socket: Callable[[], socket.socket]) -> socket.socket:
        """Make the socket, so that it can be shut during the TLS handshake too."""
        budget = current_budget()
        if budget is None:
            return new_socket()
        sock = _new_socket(self, budget, new_socket)
        try:
            # TLS takes the socket away from its object.
            budget.track_socket(self, sock, before_tls=True)
            budget.check()
        except BaseException:
            sock.close()
            raise
        return sock

    @property
    def is_connected(self) -> bool:
        """Whether an idle connection can be used; urllib3 2 asks before it uses one again."""
        untrack_socket(self)
        return super().is_connected

    def request(self, *args: Any, **kwargs: Any) -> None:
        """Send the request, if there is time left."""
        budget = current_budget()
        if budget is None:
            untrack_socket(self)
        else:
            budget.use(self)
            if budget.relies_on_timeouts:
                _limit_response(self, budget)
        super().request(*args, **kwargs)

    def close(self) -> None:
        """Close the connection; a body that is still to be read remains bounded."""
        budget = current_budget()
        if budget is None or not budget.keep_while_closed(self):
            untrack_socket(self)
        super().close()


class _ConnectionClass:
    """The `ConnectionCls` of a pool class; no data descriptor, so that a pool may have its own."""

    def __init__(self, parent: Any) -> None:
        self._parent = parent

    def __get__(self, pool: object, pool_class: type) -> Any:
        return _tracked_class(self._parent.ConnectionCls)


_tracked: Final[dict[Any, Any]] = {}
"""Our connection class by the one it is derived from."""

_pools: Final[dict[Any, Any]] = {}
"""Our pool class by the one it is derived from."""


def _tracked_class(found: Any) -> Any:
    """Return a tracked subclass of a connection class, but a recorder's class as it is."""
    if found not in _tracked:
        if _is_tracked(found) or not _has_own_socket(found):
            return found
        _tracked.setdefault(found, type(found.__name__, (TrackedConnection, found), {}))
    return _tracked[found]


def _trackable_class(parent: Any) -> Any:
    """Return the connection class of a pool class; None for one that cannot be tracked."""
    found = parent.ConnectionCls
    return found if _is_tracked(_tracked_class(found)) else None


def _is_tracked(connection_class: Any) -> bool:
    return isinstance(connection_class, type) and issubclass(connection_class, TrackedConnection)


def _has_own_socket(found: Any) -> bool:
    """Return whether a connection class is urllib3's, or one like it, and no recorder's."""
    if not isinstance(found, type) or not issubclass(found, http.client.HTTPConnection):
        return False
    return not any(hasattr(base.__dict__.get("sock"), "__get__") for base in found.__mro__)


def _own_pool_class(parent: Any) -> Any:
    if parent not in _pools:
        members = {"ConnectionCls": _ConnectionClass(parent)}
        _pools.setdefault(parent, type(parent.__name__, (parent,), members))
    return _pools[parent]


def _give_own_classes(client: Any) -> tuple[Any, ...]:
    """Give the client pool classes of its own; return their parents, or nothing."""
    session = http_session_of(client)
    pools = pool_classes_of(session)
    if pools is None or not _can_drop_pools():
        return ()
    owned = {pool: parent for parent, pool in _pools.items()}
    parents = {scheme: owned.get(pool, pool) for scheme, pool in pools.items()}
    if not all(hasattr(parent, "ConnectionCls") for parent in parents.values()):
        return ()
    pools.update({scheme: _own_pool_class(parent) for scheme, parent in parents.items()})
    # Drops the pools that have connections of the old classes. Calls of other threads keep theirs
    # until they are over.
    session.close()
    return tuple(parents.values())


@functools.cache
def _can_drop_pools() -> bool:
    """Return whether pools can be dropped while calls use them: from urllib3 1.26.16 on."""
    return urllib3.PoolManager(num_pools=1).pools.dispose_func is None


# --- connecting --------------------------------------------------------------------------------


def _connect_within(budget: CallBudget, connection: Any, connect: Callable[[], None]) -> None:
    """Connect in no more than the time left.

    The timeout bounds each address and, as a total, the TLS handshake; the socket options are read
    once for each address. Neither bounds a name lookup, which therefore runs in a thread.
    """
    budget.check()
    untrack_socket(connection)
    timeout, options = connection.timeout, getattr(connection, "socket_options", None)
    connection.timeout = limited = _shorter(timeout, budget.left)
    connection.socket_options = _CheckedOptions(budget, options or ())
    try:
        if not asks_socket_maker(connection) and not _is_address(connection.host):
            # The connection then asks the resolver again.
            place = connection.host, connection.port, 0, socket.SOCK_STREAM
            abandonable_call(lambda: socket.getaddrinfo(*place), budget, name="lookup")
        connect()
    except BaseException as error:
        _close_tls_sockets_of(error)
        raise
    finally:
        connection.socket_options = options
        if connection.timeout is limited:
            connection.timeout = timeout
    budget.use(connection)


def _close_tls_sockets_of(error: BaseException) -> None:
    """Close the TLS socket of a connection that was not made.

    `ssl` before Python 3.13 leaves it open when the other side resets the connection before the
    handshake, and at an interrupt. Nothing but the frames of the error has it, and keeps it as
    long as the error lives.
    """
    for frame in frames_of(error):
        sock = locals_of(frame).get("self")
        if isinstance(sock, ssl.SSLSocket):
            sock.close()


def _limit_response(connection: Any, budget: CallBudget) -> None:
    """Let the next response arrive in the time left, each part of it, or time out."""

    def limited(*args: Any, **kwargs: Any) -> Any:
        connection.__dict__.pop("getresponse", None)
        if connection.sock is not None and not budget.ended:
            connection.timeout = _shorter(connection.timeout, budget.left)
            # urllib3 before 2 has set the timeout of the socket already.
            connection.sock.settimeout(connection.timeout)
        return connection.getresponse(*args, **kwargs)

    connection.getresponse = limited


def _new_socket(
    connection: TrackedConnection, budget: CallBudget, new_socket: Callable[[], socket.socket]
) -> socket.socket:
    # The timeout is enough for one address, unless a cancel event may end the call.
    if _is_address(connection.host) and not budget.cancel_events:
        return new_socket()
    return abandonable_call(new_socket, budget, discard=lambda sock: sock.close(), name="connect")


def _shorter(timeout: Any, left: float) -> float:
    """Return the shorter time; a timeout that is not a number means none, or the default."""
    bounds = [max(left, 0.001), LONGEST_TIMEOUT]
    if timeout is not None and not isinstance(timeout, (int, float)):
        timeout = socket.getdefaulttimeout()
    return min(bounds if timeout is None else [*bounds, timeout])


def _is_address(host: str) -> bool:
    host = host.strip("[]")
    for family in (socket.AF_INET, socket.AF_INET6):
        with contextlib.suppress(OSError, ValueError):
            socket.inet_pton(family, host.partition("%")[0])
            return True
    return False


class _CheckedOptions:
    """Socket options that cannot be read once the call is over.

    Reading them then raises an OSError, as if connecting to the address had failed: after any
    other error urllib3 leaves the socket open.
    """

    def __init__(self, budget: CallBudget, options: Sequence[Any]) -> None:
        self._budget = budget
        self._options = options

    def __iter__(self) -> Iterator[Any]:
        if self._budget.ended or self._budget.over_because is not None:
            raise TimeoutError("no time left for this address")
        return iter(self._options)
