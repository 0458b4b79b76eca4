"""A TCP proxy that cuts connections at drawn points of the exchange, and the schedules of it."""

import contextlib
import random
import socket
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

from changes.sqlite_service import STAGES, header, read_message

SERVICE = Path(__file__).with_name("sqlite_service.py")


class CuttingProxy:
    """A service behind a proxy; a context manager.

    Args:
        path: the file of the service's database.
        keep_tokens_for: the seconds for which a token outlives its instance.

    Attributes:
        faults: of the next RunInstances requests, one each; the others pass. A fault is a kind and
            a point: `("request", 0.5)` sends half of the request, `("reply", 0.5)` returns half
            of the reply, `("late", 0)` lets the request arrive after the client gave up, and
            `("kill", stage)` kills the process that answers.
        outage: StartBuild requests before this time have the faults that this function draws.
        now: the time of the last StartBuild request, as its header `X-Now` says.
    """

    def __init__(self, path, keep_tokens_for=3600):
        self._path = path
        self._keep_tokens_for = keep_tokens_for
        self.faults = []
        self.outage = (0, None)
        self.now = 0
        self._late = []

    def __enter__(self):
        command = [sys.executable, SERVICE, self._path, str(self._keep_tokens_for)]
        self._service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._to = ("127.0.0.1", int(self._service.stdout.readline()))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        self._service.kill()
        self._service.wait()
        self._service.stdout.close()

    def begin(self, faults):
        """Forget all instances and tokens; the next requests have these faults."""
        self._late = []
        self.faults = list(faults)
        for table in ("tokens", "instances", "builds"):
            self._execute(f"delete from {table}")

    def instances(self):
        """Return the name and the token of each instance."""
        return self._execute("select name, token from instances")

    def builds(self):
        """Return the name and the token of each build."""
        return self._execute("select name, token from builds")

    def tokens(self):
        """Return the tokens that the service keeps."""
        return self._execute("select token from tokens")

    def _execute(self, statement):
        with contextlib.closing(sqlite3.connect(self._path)) as database, database:
            return database.execute(statement).fetchall()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with connection, contextlib.suppress(ConnectionError):
                    self._pass_on(connection)

    def _pass_on(self, connection):
        request = read_message(connection)
        kind, point = None, 0
        if b"Action=RunInstances" in request and self.faults:
            kind, point = self.faults.pop(0)
        if b"CodeBuild_20161006.StartBuild" in request:
            self.now = float(header(request, "x-now"))
            end, draw = self.outage
            kind, point = draw() if self.now < end else (None, 0)
        for late in self._late:
            self._reply_to(late)
        self._late = []
        if kind == "late":
            self._late.append(request)
        elif kind == "request":
            self._reply_to(request[: int(point * len(request))])
        elif kind == "kill":
            first, _, rest = request.partition(b"\r\n")
            self._reply_to(b"%s\r\nX-Kill: %s\r\n%s" % (first, point.encode(), rest))
        else:
            reply = self._reply_to(request)
            connection.sendall(reply[: int(point * len(reply))] if kind == "reply" else reply)

    def _reply_to(self, request):
        with socket.create_connection(self._to) as service:
            service.sendall(request)
            service.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                return read_message(service)
        return b""


def drawn(chance, *, executed):
    """Return a fault after which the request was executed, or was not."""
    kinds = ("reply", "late", "kill") if executed else ("request", "kill")
    kind = chance.choice(kinds)
    if kind == "kill":
        return kind, STAGES[-1] if executed else chance.choice(STAGES[:-1])
    return kind, chance.random()


def schedule(seed, attempts):
    """Return the faults of a seed.

    One to three calls fail, each with all of its `attempts` that the SDK makes; at least one
    attempt of the first call is executed.
    """
    chance = random.Random(seed)
    number = attempts * chance.randrange(1, 4)
    faults = [drawn(chance, executed=chance.random() < 0.5) for _ in range(number)]
    faults[chance.randrange(attempts)] = drawn(chance, executed=True)
    return faults
