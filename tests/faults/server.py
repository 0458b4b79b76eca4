"""A loopback server that answers as it is told: late, slowly, in part, not at all.

`FaultServer(script)` gives the first request to the first behaviour of the script, the second to
the second, and every later one to the last. A behaviour is a function of an `Exchange`; those
here are made by the functions `answer`, `hang`, `drip`, `reset`, `truncate` and so on.

    with FaultServer([hang(after=HEADERS)]) as server:
        client = boto3.client("dynamodb", endpoint_url=server.url, ...)

`BlackHole`, `Refusing` and `handshake` faults are about what comes before the first request.
Runs by itself too: `python server.py` serves healthy answers and prints its port.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

BEFORE_HEADERS, HEADERS, BODY = "before headers", "between headers", "mid-body"


class GoneError(Exception):
    """The client closed the connection, or the server stops."""


class Exchange:
    """One request on one connection, to be answered."""

    def __init__(self, server: FaultServer, sock: socket.socket) -> None:
        self.server = server
        self.sock = sock
        self.request = b""
        self.method = ""
        self._read = b""

    def receive(self) -> bool:
        """Read the next request; whether there was one."""
        while b"\r\n\r\n" not in self._read:
            if not self._more():
                return False
        head, _, rest = self._read.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        self._read = rest
        while len(self._read) < length:
            if not self._more():
                return False
        self.request = head + b"\r\n\r\n" + self._read[:length]
        self._read = self._read[length:]
        self.method = head.split(b" ", 1)[0].decode("ascii")
        return True

    def _more(self) -> bool:
        try:
            chunk = self.sock.recv(65536)
        except OSError:
            return False
        self._read += chunk
        return bool(chunk)

    def send(self, data: bytes) -> None:
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise GoneError from error

    def drip(self, data: bytes, pause: float) -> None:
        """Send byte by byte, and the last byte for ever."""
        for index in range(len(data)):
            self.send(data[index : index + 1])
            self.pause(pause)
        while True:
            self.send(data[-1:])
            self.pause(pause)

    def pause(self, seconds: float) -> None:
        if self.server.stopping.wait(seconds):
            raise GoneError

    def hang(self) -> None:
        """Say nothing until the client goes."""
        with contextlib.suppress(OSError):
            while self.sock.recv(65536):
                pass
        raise GoneError

    def reset(self) -> None:
        """Close with RST."""
        with contextlib.suppress(OSError):
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise GoneError


Behaviour = Callable[[Exchange], None]


def response(
    status: int = 200, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> tuple[bytes, bytes]:
    """Head and body of an answer."""
    lines = [f"HTTP/1.1 {status} {'OK' if status < 300 else 'Error'}"]
    lines += [f"{name}: {value}" for name, value in {**(headers or {})}.items()]
    lines += [f"Content-Length: {len(body)}", "x-amzn-RequestId: test", "", ""]
    return "\r\n".join(lines).encode("ascii"), body


def answer(
    status: int = 200,
    body: bytes = b"{}",
    headers: Mapping[str, str] | None = None,
    *,
    after: float = 0,
) -> Behaviour:
    """A whole answer, `after` seconds from the request."""
    head, body = response(status, body, headers)

    def behave(exchange: Exchange) -> None:
        exchange.pause(after)
        exchange.send(head + (b"" if exchange.method == "HEAD" else body))

    return behave


def hang(where: str, body: bytes = b"x" * 100) -> Behaviour:
    """An answer that stops."""
    head, body = response(200, body)
    said = {BEFORE_HEADERS: b"", HEADERS: head[: len(head) // 2], BODY: head + body[:50]}[where]

    def behave(exchange: Exchange) -> None:
        exchange.send(said)
        exchange.hang()

    return behave


def drip(where: str, *, close: bool = False, pause: float = 0.02) -> Behaviour:
    """An answer that never stops, byte by byte."""
    head, _ = response(200, b" " * 100_000, {"Connection": "close"} if close else None)

    def behave(exchange: Exchange) -> None:
        if where == HEADERS:
            exchange.drip(head[:17] + b"x-drip: " + b"x", pause)
        exchange.send(head)
        exchange.drip(b" ", pause)

    return behave


def reset(exchange: Exchange) -> None:
    """The connection is reset instead of an answer."""
    exchange.reset()


def reset_in_body(exchange: Exchange) -> None:
    """The connection is reset in the middle of an answer."""
    head, body = response(200, b" " * 100)
    exchange.send(head + body[:50])
    exchange.pause(0.01)
    exchange.reset()


def close(exchange: Exchange) -> None:
    """The connection is closed instead of an answer."""
    raise GoneError


def raw(data: bytes) -> Behaviour:
    """What is no HTTP."""

    def behave(exchange: Exchange) -> None:
        exchange.send(data)
        raise GoneError

    return behave


def truncate(body: bytes) -> Behaviour:
    """The connection is closed in the middle of the body."""
    head, body = response(200, body)
    return raw(head + body[: len(body) // 2])


# --- instead of a TLS handshake ---


def silent_handshake(exchange: Exchange) -> None:
    """The hello is not answered."""
    exchange.hang()


def dripping_handshake(exchange: Exchange) -> None:
    """The hello is answered byte by byte, and without an end."""
    exchange.sock.recv(65536)
    record = b"\x16\x03\x03\x40\x00" + b"\x02\x00\x3f\xfc\x03\x03"
    exchange.drip(record + b"\x00", 0.02)


def plain_answer(exchange: Exchange) -> None:
    """A server without TLS."""
    exchange.sock.recv(65536)
    exchange.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    raise GoneError


class _TLSSocket(ssl.SSLSocket):
    """A socket that is closed if its client is gone before the handshake.

    CPython asks for the peer first, and may leave the socket open where there is none.
    """

    def getpeername(self) -> object:
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

    def __init__(
        self,
        script: Sequence[Behaviour],
        *,
        tls: ssl.SSLContext | None = None,
        handshake: Behaviour | None = None,
    ) -> None:
        self.script = list(script)
        self.requests: list[bytes] = []
        self.stopping = threading.Event()
        self.accepted = 0
        self._tls = tls
        if tls is not None:
            tls.sslsocket_class = _TLSSocket
        self._handshake = handshake
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.port: int = self._listener.getsockname()[1]
        scheme = "http" if tls is None and handshake is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._accept, name="fault server", daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
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
    def open_connections(self) -> int:
        """Connections that the client has not closed."""
        with self._lock:
            return len(self._open)

    def wait_until_closed(self, seconds: float, but: int = 0) -> bool:
        """Whether all connections but so many are closed in this time."""
        end = time.perf_counter() + seconds
        while self.open_connections > but and time.perf_counter() < end:
            threading.Event().wait(0.005)
        return self.open_connections <= but

    def wait_for_request(self, count: int = 1, seconds: float = 5) -> None:
        """Wait until so many requests have come."""
        end = time.perf_counter() + seconds
        while len(self.requests) < count:
            assert time.perf_counter() < end, f"{len(self.requests)} of {count} requests came"
            threading.Event().wait(0.005)

    def _accept(self) -> None:
        while True:
            sock, _ = self._listener.accept()
            if self.stopping.is_set():
                sock.close()
                return
            self.accepted += 1
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._open.add(sock)
            threading.Thread(
                target=self._serve, args=[sock], name="fault connection", daemon=True
            ).start()

    def _serve(self, raw_sock: socket.socket) -> None:
        sock = raw_sock
        try:
            with contextlib.suppress(GoneError, OSError):
                if self._handshake is not None:
                    self._handshake(Exchange(self, raw_sock))
                if self._tls is not None:
                    # The raw socket stays open, for `stop` to shut it.
                    sock = self._tls.wrap_socket(raw_sock.dup(), server_side=True)
                self._answer(sock)
        finally:
            sock.close()
            raw_sock.close()
            with self._lock:
                self._open.discard(raw_sock)

    def _answer(self, sock: socket.socket) -> None:
        exchange = Exchange(self, sock)
        while exchange.receive():
            with self._lock:
                behaviour = self.script[min(len(self.requests), len(self.script) - 1)]
                self.requests.append(exchange.request)
            behaviour(exchange)


class BlackHole:
    """A port that answers no SYN: its queue is full, and nobody accepts."""

    def __enter__(self):
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(0)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._fillers = []
        for _ in range(3):
            filler = socket.socket()
            filler.settimeout(0)
            filler.connect_ex(("127.0.0.1", self.port))
            self._fillers.append(filler)
        time.sleep(0.05)  # the queue fills in the kernel; nothing tells when
        return self

    def __exit__(self, *_: object) -> None:
        for filler in self._fillers:
            filler.close()
        self._listener.close()

    @property
    def holds(self) -> bool:
        """Whether connecting really hangs here; kernels differ."""
        with socket.socket() as probe:
            probe.settimeout(0.2)
            return probe.connect_ex(("127.0.0.1", self.port)) != 0


class Refusing:
    """A port that refuses connections until `up` is called."""

    def __init__(self, script: Sequence[Behaviour]) -> None:
        self._script = script
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reserved.bind(("127.0.0.1", 0))
        self.port: int = self._reserved.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server: FaultServer | None = None

    def __enter__(self):
        return self

    def up(self) -> None:
        """Listen from now on; again: does nothing."""
        if self._server is not None:
            return
        server = FaultServer(self._script)
        server._listener.close()
        self._reserved.listen(100)
        server._listener, server.port = self._reserved, self.port
        self._server = server.__enter__()

    @property
    def open_connections(self) -> int:
        """As of a `FaultServer`."""
        return 0 if self._server is None else self._server.open_connections

    def wait_until_closed(self, seconds: float, but: int = 0) -> bool:
        """As of a `FaultServer`."""
        return self._server is None or self._server.wait_until_closed(seconds, but)

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.stop()
        self._reserved.close()


@contextlib.contextmanager
def slow_names(
    seconds: float, *, addresses: Sequence[str] = ("127.0.0.1",), host: str = "slow.test"
) -> Iterator[None]:
    """A host whose name takes a while to be looked up, in this process; no addresses: in vain."""
    real = socket.getaddrinfo

    def look_up(name: str | bytes | None, port: object, *args: object, **kwargs: object) -> object:
        if name != host:
            return real(name, port, *args, **kwargs)  # type: ignore[arg-type]  # passed on
        time.sleep(seconds)
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses
        ]

    socket.getaddrinfo = look_up  # type: ignore[assignment]  # the one way in
    try:
        yield
    finally:
        socket.getaddrinfo = real


if __name__ == "__main__":
    import sys

    bodies = [argument.encode() for argument in sys.argv[1:]] or [b"{}"]
    with FaultServer([answer(body=body) for body in bodies]) as running:
        print(running.port, flush=True)  # noqa: T201 - for who started it
        sys.stdin.read()
