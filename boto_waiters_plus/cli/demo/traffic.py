"""What goes over a client's wire, counted by botocore's public events."""

from __future__ import annotations

import threading
from typing import Any


class StoppedError(Exception):
    """The demo is over before this wait is."""


class Traffic:
    """Counts the operation calls and the HTTP requests of one client.

    Args:
        client: the client; nothing else may use it.
        stop: once set, the client's next call raises `StoppedError`.
    """

    def __init__(self, client: Any, stop: threading.Event) -> None:
        self.attempts = 0
        """Operation calls: what a waiter counts as an attempt."""
        self.requests = 0
        """HTTP requests, each of the SDK's own retries included."""
        self._stop = stop
        client.meta.events.register("before-call", self._on_call)
        client.meta.events.register("request-created", self._on_request)

    def _on_call(self, **_: Any) -> None:
        # The one public place where a wait of botocore's, which nothing can cancel, can be ended.
        if self._stop.is_set():
            raise StoppedError
        self.attempts += 1

    def _on_request(self, **_: Any) -> None:
        self.requests += 1
