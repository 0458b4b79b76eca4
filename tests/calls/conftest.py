"""A clock of calls that a test moves, and connections whose other ends a test has."""

import queue
import socket
import threading
from unittest import mock

import pytest
import urllib3.util.connection
from faults.server import Exchange

from boto_waiters_plus.calls import awaited_call, bounded_call, budget, client_events, watch

MODULES = [awaited_call, bounded_call, budget, client_events, watch]


class Clock:
    """The clock of deadlines, which stands still but for `advance`."""

    def __init__(self):
        self.now = watch.monotonic()

    def __call__(self):
        return self.now

    def advance(self, seconds=1000):
        """Let time pass, and let the watchdog notice."""
        self.now += seconds
        with watch.watchdog.lock:
            watch.watchdog._condition.notify_all()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in MODULES:
        monkeypatch.setattr(module, "monotonic", clock)
    return clock


@pytest.fixture
def late(clock):
    """`late(end)`: a call that returns or raises this after its deadline."""

    def make(end):
        call = mock.Mock(side_effect=[end])
        return lambda: clock.advance() or call()

    return make


@pytest.fixture
def hang(clock):
    """`hang()` takes until after the deadline of a call, and until the end of the test."""
    go_on = threading.Event()

    def hang(**_):
        clock.advance()
        go_on.wait(60)

    yield hang
    go_on.set()


class Peers:
    """The other ends of the connections that clients make: sockets of this process."""

    def __init__(self):
        self.connections = []
        """The clients' ends."""
        self.connect_timeouts = []
        self._sockets = []
        self._accepted = queue.SimpleQueue()

    def connect(self, address, timeout=None, source_address=None, socket_options=()):
        """Connect in place of urllib3."""
        list(socket_options or ())  # a call that is over does not let them be read
        self.connect_timeouts.append(timeout)
        ours, theirs = socket.socketpair()
        if isinstance(timeout, (int, float)):
            ours.settimeout(timeout)
        self._sockets += ours, theirs
        self.connections.append(ours)
        self._accepted.put(theirs)
        return ours

    def accept(self):
        """Return the exchange on the next connection that a client makes."""
        return Exchange(None, self._accepted.get(timeout=60))

    def serve(self, *behaviours):
        """Answer the requests on the next connection by the functions, in turn; the thread."""

        def run():
            exchange = self.accept()
            for behave in behaviours:
                exchange.receive()
                behave(exchange)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def close(self):
        for sock in self._sockets:
            sock.close()


@pytest.fixture
def peers(monkeypatch):
    peers = Peers()
    monkeypatch.setattr(urllib3.util.connection, "create_connection", peers.connect)
    yield peers
    peers.close()
