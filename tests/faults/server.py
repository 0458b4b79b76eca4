"""A loopback server that answers as it is told: late, slowly, in part, not at all.

`FaultServer(script)` gives the first request to the first behaviour of the script, the second to
the second, and every later one to the last. A behaviour is a function of an `Exchange`; those
here are made by the functions `answer`, `hang`, `drip`, `reset`, `truncate` and so on.

    with FaultServer([hang(after=HEADERS)]) as server:
        client = boto3.client("dynamodb", endpoint_url=server.url, ...)

`BlackHole`, `Refusing` and `handshake` faults are about what comes before the first request.
Runs by itself too: `python server.py` serves healthy answers and prints its port.
"""

import contextlib
import itertools
import re
import socket
import ssl
import struct
import threading
import time
from unittest import mock

BEFORE_HEADERS, HEADERS, BODY = "before headers", "between headers", "mid-body"


class GoneError(Exception):
    """The client closed the connection, or the server stops."""


class Exchange:
    """One request on one connection, to be answered."""

    def __init__(self, server, sock):
        self.server, self.sock = server, sock
        self.request, self.method, self._read = b"", "", b""

    def receive(self):
        """Read the next request; whether there was one."""
        while b"\r\n\r\n" not in self._read:
            if not self._more():
                return False
        head, _, self._read = self._read.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        end = int(length[1]) if length else 0
        while len(self._read) < end:
            if not self._more():
                return False
        self.request = head + b"\r\n\r\n" + self._read[:end]
        self._read = self._read[end:]
        self.method = head.split(b" ", 1)[0].decode()
        return True

    def _more(self):
        chunk = b""
        with contextlib.suppress(OSError):
            chunk = self.sock.recv(65536)
        self._read += chunk
        return bool(chunk)

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise GoneError from error

    def drip(self, data, pause):
        """Send byte by byte, and the last byte for ever."""
        for byte in itertools.chain(data, itertools.repeat(data[-1])):
            self.send(bytes([byte]))
            self.pause(pause)

    def pause(self, seconds):
        if self.server.stopping.wait(seconds):
            raise GoneError

    def hang(self):
        """Say nothing until the client goes."""
        with contextlib.suppress(OSError):
            while self.sock.recv(65536):
                pass
        raise GoneError

    def reset(self):
        """Close with RST."""
        with contextlib.suppress(OSError):
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise GoneError


def response(status=200, body=b"", headers=None):
    """Head and body of an answer."""
    lines = [f"HTTP/1.1 {status} {'OK' if status < 300 else 'Error'}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    lines += [f"Content-Length: {len(body)}", "x-amzn-RequestId: test", "", ""]
    return "\r\n".join(lines).encode(), body


# --- behaviours: functions of an exchange ---


def saying(data, then):
    """Send something, and then behave so."""

    def behave(exchange):
        exchange.send(data)
        then(exchange)

    return behave


def answer(status=200, body=b"{}", headers=None, *, after=0):
    """A whole answer, `after` seconds from the request."""
    head, body = response(status, body, headers)

    def behave(exchange):
        exchange.pause(after)
        exchange.send(head + (b"" if exchange.method == "HEAD" else body))

    return behave


def hang(where):
    """An answer that stops."""
    head, body = response(body=b"x" * 100)
    said = {BEFORE_HEADERS: b"", HEADERS: head[: len(head) // 2], BODY: head + body[:50]}
    return saying(said[where], Exchange.hang)


def drip(where, *, close=False, pause=0.02):
    """An answer that never stops, byte by byte."""
    head, _ = response(body=b" " * 100_000, headers={"Connection": "close"} if close else None)
    said, dripped = (b"", head[:17] + b"x-drip: x") if where == HEADERS else (head, b" ")
    return saying(said, lambda exchange: exchange.drip(dripped, pause))


reset = Exchange.reset
"""The connection is reset instead of an answer."""


def reset_in_body(exchange):
    """The connection is reset in the middle of an answer."""
    head, body = response(body=b" " * 100)
    exchange.send(head + body[:50])
    exchange.pause(0.01)
    exchange.reset()


def close(exchange):
    """The connection is closed instead of an answer."""
    raise GoneError


def truncate(body):
    """The connection is closed in the middle of the body."""
    head, body = response(body=body)
    return saying(head + body[: len(body) // 2], close)


# --- instead of a TLS handshake ---

silent_handshake = Exchange.hang
"""The hello is not answered."""


def dripping_handshake(exchange):
    """The hello is answered byte by byte, and without an end."""
    exchange.sock.recv(65536)
    exchange.drip(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03\x00", 0.02)


def plain_answer(exchange):
    """A server without TLS."""
    exchange.sock.recv(65536)
    exchange.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    raise GoneError


class _TLSSocket(ssl.SSLSocket):
    """A socket that is closed if its client is gone before the handshake.

    CPython asks for the peer first, and may leave the socket open where there is none.
    """

    def getpeername(self):
        try:
            return super().getpeername()
        except OSError:
            self.close()
            raise ConnectionAbortedError from None


class FaultServer:
    """Serves a script on a port of the loopback interface, a thread a connection.

    Args:
        script: behaviours, one a request; the last one stays.
        tls: wraps connections.
        handshake: what happens on a connection before, or instead of, TLS.
    """

    def __init__(self, script, *, tls=None, handshake=None):
        self.script, self.requests, self.stopping = list(script), [], threading.Event()
        self._tls, self._handshake = tls, handshake
        if tls is not None:
            tls.sslsocket_class = _TLSSocket
        self._lock, self._open = threading.Lock(), set()
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"{'https' if tls or handshake else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._accept, name="fault server", daemon=True)

    def __enter__(self):
        self.up()
        return self

    def up(self):
        """Listen from now on; again: does nothing."""
        if self._thread.ident is None:
            self._listener.listen(200)
            self._thread.start()

    def __exit__(self, *_):
        """Close everything."""
        self.stopping.set()
        with contextlib.suppress(OSError):
            # Wakes the thread that accepts.
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            self._thread.join(5)
        self._listener.close()
        with self._lock:
            for sock in self._open:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
        self.wait_until_closed(5)

    @property
    def open_connections(self):
        """Connections that the client has not closed."""
        with self._lock:
            return len(self._open)

    def wait_until_closed(self, seconds):
        """Whether all connections are closed in this time."""
        end = time.perf_counter() + seconds
        while self.open_connections and time.perf_counter() < end:
            threading.Event().wait(0.005)
        return not self.open_connections

    def wait_for_request(self, count=1, seconds=5):
        """Wait until so many requests have come."""
        end = time.perf_counter() + seconds
        while len(self.requests) < count:
            assert time.perf_counter() < end, f"{len(self.requests)} of {count} requests came"
            threading.Event().wait(0.005)

    def _accept(self):
        while True:
            sock, _ = self._listener.accept()
            if self.stopping.is_set():
                sock.close()
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._open.add(sock)
            threading.Thread(target=self._serve, args=[sock], daemon=True).start()

    def _serve(self, raw_sock):
        sock = raw_sock
        try:
            with contextlib.suppress(GoneError, OSError):
                if self._handshake is not None:
                    self._handshake(Exchange(self, raw_sock))
                if self._tls is not None:
                    # The raw socket stays open, for the end of the server to shut it.
                    sock = self._tls.wrap_socket(raw_sock.dup(), server_side=True)
                self._answer(sock)
        finally:
            sock.close()
            raw_sock.close()
            with self._lock:
                self._open.discard(raw_sock)

    def _answer(self, sock):
        exchange = Exchange(self, sock)
        while exchange.receive():
            with self._lock:
                behaviour = self.script[min(len(self.requests), len(self.script) - 1)]
                self.requests.append(exchange.request)
            behaviour(exchange)


class Refusing(FaultServer):
    """A port that refuses connections until `up` is called."""

    def __enter__(self):
        return self


class BlackHole:
    """A port that answers no SYN: its queue is full, and nobody accepts."""

    def __enter__(self):
        self._sockets = [socket.socket() for _ in range(4)]
        listener, *fillers = self._sockets
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        self.address = listener.getsockname()
        self.url = f"http://127.0.0.1:{self.address[1]}"
        for filler in fillers:
            filler.settimeout(0)
            filler.connect_ex(self.address)
        time.sleep(0.05)  # the queue fills in the kernel; nothing tells when
        return self

    def __exit__(self, *_):
        for sock in self._sockets[::-1]:
            sock.close()

    @property
    def holds(self):
        """Whether connecting really hangs here; kernels differ."""
        with socket.socket() as probe:
            probe.settimeout(0.2)
            return probe.connect_ex(self.address) != 0


def slow_names(seconds, *, addresses=("127.0.0.1",), host="slow.test"):
    """A host whose name takes a while to be looked up, in this process; no addresses: in vain."""
    real = socket.getaddrinfo

    def look_up(name, port, *args, **kwargs):
        if name != host:
            return real(name, port, *args, **kwargs)
        time.sleep(seconds)
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    return mock.patch("socket.getaddrinfo", look_up)


if __name__ == "__main__":
    import sys

    bodies = [argument.encode() for argument in sys.argv[1:]] or [b"{}"]
    with FaultServer([answer(body=body) for body in bodies]) as running:
        print(running.port, flush=True)  # noqa: T201 - for who started it
        sys.stdin.read()
