"""The connections of a client, which all runs of the process share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from ..calls.clients import PerClient
from ..common.process import after_fork

DEFAULT_CONNECTIONS: Final = 10
"""Calls in flight for a client that does not say how many connections it keeps."""

_SLICE: Final = 0.1
"""Seconds after which a call that waits for its turn looks whether it is still wanted."""


def connections_kept(client: Any) -> int:
    """Return the number of connections that a client keeps; at least 1."""
    kept = getattr(client.meta.config, "max_pool_connections", None)
    return max(1, kept or DEFAULT_CONNECTIONS)


class ClientSlots:
    """As many calls at a time as the client keeps connections, whichever run makes them."""

    def __init__(self, client: Any) -> None:
        self._number = connections_kept(client)
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        # In a child of a fork, the calls of the parent do not end.
        self._free = threading.Semaphore(self._number)

    @contextlib.contextmanager
    def one(self, seconds_left: Callable[[], float]) -> Iterator[None]:
        """Have a slot inside, or none where the time was over before there was one.

        Args:
            seconds_left: returns how long the call may wait for its turn; 0: no longer.
        """
        free, has_one = self._free, False
        while not has_one and (left := seconds_left()) > 0:
            has_one = free.acquire(timeout=min(left, _SLICE))
        try:
            yield
        finally:
            if has_one:
                free.release()


slots_of: Final = PerClient(ClientSlots).of
"""Returns the slots of a client."""
