"""A proxy that can stop to forward, as a network does that loses everything."""

from __future__ import annotations

import contextlib
import socket
import threading


class BlackHole:
    """A proxy in front of a server; once `is_open` is cleared, nothing passes any more.

    What was sent meanwhile arrives when it is set again.
    """

    def __init__(self, port: int) -> None:
        self.is_open = threading.Event()
        self.is_open.set()
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                client.close()
                continue
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                self.is_open.wait()
                target.sendall(data)
        # A thread may still read from it.
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
        target.close()

    def close(self) -> None:
        """Let everything pass, and take no more connections."""
        self.is_open.set()
        self._listener.close()
