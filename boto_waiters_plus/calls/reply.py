"""What a call gives, and the protocols of calls that block and calls that are awaited."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .watchdog import monotonic

Ended = Literal["deadline", "cancelled", "retry refused"]
"""Why a call was ended before the operation answered."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one call gave: a response, an error, or neither because it was ended."""

    response: Any = None
    error: Exception | None = None
    ended: Ended | None = None
    """With `"retry refused"` the `error` is the one that the SDK would have retried."""
    made: bool = True
    """False: the time was used up before the call could be made."""
    arrived: float = math.inf
    """When the answer had arrived in full, in time; infinity: it has not, or that is not known."""

    @property
    def age(self) -> float:
        """The seconds since the answer arrived, as far as that is known."""
        return 0.0 if self.arrived == math.inf else monotonic() - self.arrived


class Call(Protocol):
    """A call that blocks."""

    def make(self, time_left: float | None) -> Reply:
        """Make the call, in at most `time_left` seconds (None: no limit).

        An error is a reply if the operation answered with it. Others (bad parameters, a bug in a
        user's hook) are raised. With 0 seconds or less no call is made. A reply that time
        or a cancel event ended is given to no judge.
        """
        ...


class AsyncCall(Protocol):
    """A call that is awaited."""

    async def make(self, time_left: float | None) -> Reply:
        """Make the call; see `Call.make`."""
        ...
