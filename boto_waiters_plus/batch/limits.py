"""How many calls may be in flight: by service, by client, and after a throttle."""

from __future__ import annotations

import contextlib
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ..calls.clients import PerClient
from ..common.process import renew_in_forks

LONGEST_HOLD: Final = 1.0
"""Seconds that a call in flight counts after a throttle: one that hangs must not hold up others."""

LONGEST_CATCHING_UP: Final = 0.1
"""Seconds whose calls a loop that was late may make at once, under a limit per second."""


@dataclass(slots=True, eq=False, repr=False)
class ServiceLimiter:
    """The share of the threads that the calls to one service endpoint may take.

    Where several services are waited on, no service has more calls in flight than there are
    threads left for the others, so that one that hangs cannot take all of them.
    """

    waits: int = field(init=False, default=0)
    """Waits on the service that have not ended."""
    calling: int = field(init=False, default=0)
    """Calls in flight."""
    calls_per_second: float = field(init=False, default=math.inf)
    """Calls that may begin in a second; infinity: any number."""
    _next_call: float = field(init=False, default=-math.inf)

    def begin_call(self, now: float) -> None:
        """Count a call that begins."""
        self.calling += 1
        earliest = max(self._next_call, now - LONGEST_CATCHING_UP)
        self._next_call = earliest + 1 / self.calls_per_second

    def free_at(self, now: float) -> float:
        """Return when the limit per second has room for another call."""
        return now if self.calls_per_second == math.inf else max(now, self._next_call)


@dataclass(slots=True, eq=False, repr=False)
class ClientConnections:
    """The calls of one client: those that are queued, and how many may be in flight.

    After a throttle half as many calls may be in flight, and one more after each round without
    one. Other clients are not affected: they may belong to another account.
    """

    service: ServiceLimiter
    """The service endpoint that the client calls."""
    limit: int
    """The number of connections that the client keeps; at least 1."""
    client: Any = None
    """The client; None: a callable."""
    queued: deque[Any] = field(init=False, default_factory=deque)
    """The waits and groups that wait for room, in order; None: the first of `unplanned`."""
    unplanned: deque[Any] = field(init=False, default_factory=deque)
    """Waits whose first attempt is not queued yet, in the order given."""
    in_turn: bool = field(init=False, default=False)
    """The schedule has the client among those whose turn comes."""
    calling: int = field(init=False, default=0)
    """Calls in flight."""
    throttles: int = field(init=False, default=0)
    """Answers that were a throttle."""
    _window: float = field(init=False, default=math.inf)
    _holding: dict[object, float] = field(init=False, default_factory=dict)
    """The calls that count towards the window and when each began, in this order."""

    def begin_call(self, call: object, now: float) -> None:
        """Count a call that begins."""
        self.calling += 1
        self.service.begin_call(now)
        self._holding[call] = now

    def end_call(self, call: object, *, throttled: bool | None) -> None:
        """Count a call that is over.

        Args:
            call: the call.
            throttled: whether the answer was a throttle; None: there was no answer.
        """
        if throttled:
            self.throttles += 1
            self._window = max(1.0, min(self._window, len(self._holding)) / 2)
        elif throttled is not None and self._window < math.inf:
            self._window += 1 / self._window
        self.calling -= 1
        self.service.calling -= 1
        self._holding.pop(call, None)

    def free_at(self, now: float) -> float:
        """Return when the client has room for another call; infinity: when a call has ended."""
        if self.calling >= self.limit:
            return math.inf
        if self._window == math.inf:
            return now
        holding = self._holding
        while holding:
            call = next(iter(holding))
            if now < holding[call] + LONGEST_HOLD:
                break
            del holding[call]
        if len(holding) + 1 <= self._window:
            return now
        return next(iter(holding.values())) + LONGEST_HOLD


# --- the connections of a client, which all runs of the process share ----------------------------

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
        renew_in_forks(self._renew)

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
