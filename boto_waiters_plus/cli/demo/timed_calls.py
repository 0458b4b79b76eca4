"""Calls of the demo: timed, each in a thread, with the requests that they make."""

from __future__ import annotations

import shutil
import textwrap
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...engine.redaction import printable
from ...service.waits import wait_until
from .server import MotoServer


def requests_of(client: Any) -> list[Any]:
    """Return a list to which every later HTTP request of the client is added."""
    requests: list[Any] = []
    client.meta.events.register("request-created", lambda request, **_: requests.append(request))
    return requests


class Timed(threading.Thread):
    """A call with its duration and its end, in a thread that the process does not wait for."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
        super().__init__(daemon=True)
        self._call = partial(function, *arguments, **keywords)
        self._started_at = time.monotonic()
        self._ended_at: float | None = None
        self.outcome: Any = None
        """What was returned or raised."""

    def run(self) -> None:
        """Make the call, in the calling thread."""
        self._started_at = time.monotonic()
        try:
            self.outcome = self._call()
        # The demo shows whatever is raised.
        except Exception as error:
            self.outcome = error
        self._ended_at = time.monotonic()

    @property
    def end(self) -> float:
        """When the call ended, or now."""
        return time.monotonic() if self._ended_at is None else self._ended_at

    @property
    def seconds(self) -> float:
        """The seconds that the call took, or has taken so far."""
        return self.end - self._started_at

    @property
    def result(self) -> str:
        """The class of what was returned or raised."""
        return "returned None" if self.outcome is None else type(self.outcome).__name__


class BucketWait(Timed):
    """A wait for a bucket that is created meanwhile, with a client of its own."""

    def __init__(self, server: MotoServer, name: str, *, stock: bool, create_at: float) -> None:
        self.stock, self.create_at = stock, create_at
        self.late = 0.0
        """Seconds from the creation to the end of the wait."""
        self._bucket = name
        # Not the client of the wait, whose requests are counted.
        self._creating, client = server.client("s3"), server.client("s3")
        self.requests = requests_of(client)
        ours = partial(wait_until, client, "BucketExists", max_wait=60)
        super().__init__(client.get_waiter("bucket_exists").wait if stock else ours, Bucket=name)

    def create(self) -> None:
        """Create the bucket that is waited for."""
        self._creating.create_bucket(Bucket=self._bucket)
        self._created_at = time.monotonic()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of the wait."""
        super().join(timeout)
        self.late = self.end - self._created_at


def run_all(waits: Sequence[BucketWait]) -> None:
    """Start all waits, create each bucket at its time, and wait for all ends."""
    began = time.monotonic()
    for wait in waits:
        wait.start()
    for wait in sorted(waits, key=lambda wait: wait.create_at):
        time.sleep(max(0.0, began + wait.create_at - time.monotonic()))
        wait.create()
    for wait in waits:
        wait.join()


def beside(name: str, text: str) -> str:
    """Return a text beside its name, in at most four lines."""
    return textwrap.fill(
        printable(text),
        min(100, shutil.get_terminal_size((100, 40)).columns),
        initial_indent=f"  {name:14}",
        subsequent_indent=" " * 16,
        break_on_hyphens=False,
        max_lines=4,
        placeholder=" ...",
    )
