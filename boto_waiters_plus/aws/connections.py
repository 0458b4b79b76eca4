"""What is put around botocore's connections, so that a scope reaches the socket in use.

Two methods and a property of the classes that botocore makes its connections of get a wrapper
that does nothing where no scope is open. The classes themselves are changed and not
`ConnectionCls` of their pools, for the sake of connections that are older than we are: a call
that finds one of those idle in its pool is bounded like any other. Recorders that put their own
class into `ConnectionCls` are left alone; what they connect themselves is bounded again.

Two waits of botocore that have no socket are bounded too: the pause before a retry, and the
adaptive retry mode's wait for its turn.

All this is process-wide. Where that is not wanted, `use_per_client_connections` does the first
part for one client.
"""

from __future__ import annotations

import contextlib
import contextvars
import http.client
import os
import socket
import threading
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import botocore.awsrequest
import botocore.endpoint
from botocore.exceptions import CapacityNotAvailableError

from .private_names import pools_of, socket_maker, token_bucket
from .watchdog import Aside, Scope, current_scope, let_go

TOKEN_SLICE = 0.1
"""Seconds after which a wait for the adaptive mode's turn looks whether the rate has changed."""


LONGEST_TIMEOUT = 86_400.0
"""Seconds; a socket's timeout has to be less than 25 days."""


def is_process_wide() -> bool:
    """Whether calls of all clients are bounded by what `hook_connections` changes."""
    return _hooks.wanted


def set_process_wide(wanted: bool) -> None:  # noqa: FBT001 - a switch
    """Allow or refuse the process-wide change; refusing takes it back."""
    _hooks.wanted = wanted
    if not wanted:
        unhook_connections()


def hook_connections() -> bool:
    """Let scopes reach the connections of every client; again: does nothing.

    Returns:
        Whether there is a connection class that it can be done to.
    """
    return _hooks.put()


def unhook_connections() -> None:
    """Take back what `hook_connections` did, as far as nobody else has built on it."""
    _hooks.remove()


def use_per_client_connections(client: Any) -> bool:
    """Let scopes reach the connections of one client, and change nothing process-wide.

    Idle connections of the client are closed. The pause before a retry and the adaptive mode's
    wait are not bounded this way, other than by what the retry handler refuses.

    Returns:
        Whether it could be done; it rests on private names of botocore.
    """
    pools = pools_of(client)
    if pools is None:
        return False
    with _hooks.lock:
        wanted = {scheme: _own_pool_class(pool) for scheme, pool in pools.items()}
        changed = {scheme: pool for scheme, pool in wanted.items() if pool is not pools[scheme]}
        pools.update(changed)
    if changed:
        client.close()
    return all(_is_reached(pool.ConnectionCls) for pool in wanted.values())


# --- what happens on a connection ------------------------------------------------------------


def _connect(connection: Any, connect: Callable[[], None]) -> None:
    scope = current_scope()
    if scope is None or scope.connecting is connection:
        connect()
        return
    scope.check()
    let_go(connection)
    with _limited(connection, scope):
        connect()
    # A socket that only `connect` could see, or that TLS over TLS has put another in place of.
    if connection.sock is not None and not scope.holds(connection):
        scope.take(connection, connection.sock)


def _request(connection: Any, request: Callable[..., None], *args: Any, **kwargs: Any) -> None:
    scope = current_scope()
    if scope is None:
        let_go(connection)
    else:
        scope.check()
        if not scope.holds(connection):
            let_go(connection)
            if connection.sock is not None:
                scope.take(connection, connection.sock)
    request(*args, **kwargs)


@contextlib.contextmanager
def _limited(connection: Any, scope: Scope) -> Iterator[None]:
    """Connecting takes no longer than the scope lasts.

    The timeout bounds one address and, as a total, the TLS handshake; the socket options are
    looked at once an address. Neither does for name lookup, which therefore runs aside.
    """
    timeout, options = connection.timeout, getattr(connection, "socket_options", None)
    connection.timeout = limited = _shorter(timeout, scope.left)
    connection.socket_options = _CheckedOptions(scope, options or ())
    scope.connecting = connection

    def make(new_socket: Callable[[], socket.socket]) -> socket.socket:
        sock = _new_socket(connection, scope, new_socket)
        try:
            scope.take(connection, sock)
        except BaseException:
            sock.close()
            raise
        return sock

    try:
        with socket_maker(connection, make) as is_made_by_us:
            if not is_made_by_us and not _is_address(connection.host):
                _look_up(connection, scope)
            yield
    finally:
        scope.connecting = None
        connection.socket_options = options
        if connection.timeout is limited:
            connection.timeout = timeout


def _new_socket(
    connection: Any, scope: Scope, new_socket: Callable[[], socket.socket]
) -> socket.socket:
    # Where only the deadline bounds it, and there is one address, its timeout is enough.
    if _is_address(connection.host) and not scope.cancel_events:
        return new_socket()
    context = contextvars.copy_context()
    return Aside(
        lambda: context.run(new_socket), scope, discard=lambda sock: sock.close(), name="connect"
    ).result()


def _look_up(connection: Any, scope: Scope) -> None:
    """Wait for an answer of the resolver; the connection then asks it again."""
    Aside(
        lambda: socket.getaddrinfo(connection.host, connection.port, 0, socket.SOCK_STREAM),
        scope,
        name="lookup",
    ).result()


def _shorter(timeout: Any, left: float) -> float:
    """The shorter of the two; what is no number is one of the ways to say none, or the default."""
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
    """Socket options that cannot be had any more once the call is over.

    What they raise is an OSError, as if connecting to the address had failed: of any other,
    urllib3 leaves the socket open behind it.
    """

    def __init__(self, scope: Scope, options: Sequence[Any]) -> None:
        self._scope = scope
        self._options = options

    def __iter__(self) -> Iterator[Any]:
        if self._scope.ended or self._scope.verdict is not None:
            raise TimeoutError("no time left for this address")
        return iter(self._options)


# --- where it is put -------------------------------------------------------------------------

_NAMES = ("connect", "request", "is_connected")


def _wrapper(cls: Any, name: str) -> Any:
    """What is put in the place of a connection class's method or property."""
    own = cls.__dict__.get(name)

    def original(connection: Any) -> Any:
        """What it would be on an instance without us: the class's own, or else an inherited."""
        if own is None:
            return getattr(super(cls, connection), name)
        return own.__get__(connection, cls)

    def connect(self: Any) -> None:
        _connect(self, original(self))

    def request(self: Any, *args: Any, **kwargs: Any) -> None:
        _request(self, original(self), *args, **kwargs)

    def is_connected(self: Any) -> Any:
        # Asked by urllib3 2 before it uses an idle connection again.
        scope = current_scope()
        if scope is None or not scope.holds(self):
            let_go(self)
        return original(self)

    return {"connect": connect, "request": request, "is_connected": property(is_connected)}[name]


def _names(cls: Any) -> list[str]:
    return [name for name in _NAMES if hasattr(cls, name)]


def _is_reached(cls: Any) -> bool:
    return isinstance(cls, type) and any("_boto_waiters_plus" in c.__dict__ for c in cls.__mro__)


def _own_pool_class(pool: Any) -> Any:
    """A pool class with connections that scopes reach; the same one, if it has them already."""
    cls: Any = getattr(pool, "ConnectionCls", None)
    if "_boto_waiters_plus" in pool.__dict__ or not _is_plain(cls):
        return pool
    connection_cls = type(cls.__name__, (cls,), {"_boto_waiters_plus": True})
    for name in _names(connection_cls):
        setattr(connection_cls, name, _wrapper(connection_cls, name))
    return type(
        pool.__name__, (pool,), {"ConnectionCls": connection_cls, "_boto_waiters_plus": True}
    )


def _is_plain(cls: Any) -> bool:
    """Whether it is a connection with a socket of its own, and no recorder's."""
    if not isinstance(cls, type) or not issubclass(cls, http.client.HTTPConnection):
        return False
    return not any(hasattr(base.__dict__.get("sock"), "__get__") for base in cls.__mro__)


class _EndpointTime(types.ModuleType):
    """`time` for `botocore.endpoint`: its pauses before a retry end with the scope."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def sleep(self, seconds: float) -> None:
        scope = current_scope()
        # Who has put another sleep in place wants it called.
        if scope is None or not isinstance(time.sleep, types.BuiltinFunctionType):
            time.sleep(seconds)
        else:
            scope.sleep(seconds)


class _Hooks:
    """What is changed process-wide, and what was there before."""

    def __init__(self) -> None:
        self.wanted = True
        self.new_lock()
        self._put: list[tuple[Any, str, Any, Any]] = []
        self._namespaces: list[tuple[Mapping[str, Any], str, Any]] = []
        self._ours: dict[tuple[Any, str], Any] = {}
        self._time = _EndpointTime("time")
        self._classes = [
            cls
            for name in ("AWSHTTPConnection", "AWSHTTPSConnection")
            if _is_plain(cls := getattr(botocore.awsrequest, name, None))
        ]

    def new_lock(self) -> None:
        """Of a child after a fork too: nobody is left there to release one that was held."""
        self.lock = threading.RLock()

    def put(self) -> bool:
        if not self.wanted or not self._classes:
            return False
        if not self._is_in_place():
            with self.lock:
                self.remove()
                self._put_all()
                self._namespaces = [(vars(o), name, ours) for o, name, ours, _ in self._put]
        return True

    def remove(self) -> None:
        with self.lock:
            for owner, name, ours, before in self._put:
                if owner.__dict__.get(name) is not ours:
                    continue
                if before is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, before)
            self._put, self._namespaces = [], []
            for (cls, name), ours in self._ours.items():
                if cls.__dict__.get(name) is ours:
                    delattr(cls, name)
            if getattr(botocore.endpoint, "time", None) is self._time:
                botocore.endpoint.time = time  # type: ignore[attr-defined]  # its import

    def _is_in_place(self) -> bool:
        # Asked before every call of a wait: no generator, and no look-up of `__dict__`.
        put = self._namespaces
        for namespace, name, ours in put:
            if namespace.get(name) is not ours:
                return False
        return bool(put)

    def _put_all(self) -> None:
        for cls in self._classes:
            for name in _names(cls):
                before = cls.__dict__.get(name)
                ours = self._ours.get((cls, name))
                if ours is None or before not in (None, ours):
                    ours = _wrapper(cls, name)
                if before is None:
                    # Kept: a mock that was opened before and closed after puts it back unasked.
                    self._ours[cls, name] = ours
                setattr(cls, name, ours)
                self._put.append((cls, name, ours, None if before is ours else before))
        if getattr(botocore.endpoint, "time", None) is time:
            botocore.endpoint.time = self._time  # type: ignore[attr-defined]  # its import
            self._put.append((botocore.endpoint, "time", self._time, time))
        bucket = token_bucket()
        if bucket is not None:
            acquire = bucket.acquire
            bucket.acquire = ours = _bounded_acquire(acquire)
            self._put.append((bucket, "acquire", ours, acquire))


def _bounded_acquire(acquire: Callable[..., Any]) -> Callable[..., Any]:
    def bounded_acquire(self: Any, amount: float = 1, block: bool = True) -> Any:  # noqa: FBT001, FBT002 - as it is
        scope = current_scope()
        if scope is None or not block:
            return acquire(self, amount, block)
        while not _acquired(acquire, self, amount):
            missing = (amount - self.available_capacity) / self.max_rate
            scope.sleep(min(max(missing, 0.001), TOKEN_SLICE))
        return True

    return bounded_acquire


def _acquired(acquire: Callable[..., Any], bucket: Any, amount: float) -> bool:
    try:
        acquire(bucket, amount, block=False)
    except CapacityNotAvailableError:
        return False
    return True


_hooks = _Hooks()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_hooks.new_lock)
