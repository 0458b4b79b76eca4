"""What one awaited call may use: its time and its cancel event."""

from __future__ import annotations

import contextlib
import contextvars
import math
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from ..options import CancelEvent
from .cancel_listener import listen
from .watchdog import monotonic

if TYPE_CHECKING:
    import asyncio


class AwaitedBudget:
    """The time and the cancellation of one awaited call.

    Args:
        seconds: until the deadline; None: no deadline.
    """

    over_because = None
    """Nothing here ends the call: its task does."""

    def __init__(self, seconds: float | None) -> None:
        self.deadline = math.inf if seconds is None else monotonic() + seconds
        self.ended = False
        self.arrived = math.inf
        """When the answer had arrived in full; infinity: it has not."""
        self.refused_retry: Exception | None = None
        """The error that was raised in place of a retry that would not fit."""
        self.handled = sys.exc_info()[1]
        """The error that is being handled when the call begins."""

    @property
    def left(self) -> float:
        """The time left, in seconds."""
        return self.deadline - monotonic()

    @property
    def is_answered(self) -> bool:
        """Whether the answer has arrived in time; what the call still does is to parse it."""
        return self.arrived <= self.deadline and self.arrived < math.inf

    def listen(self, event: CancelEvent, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
        """Return a future that is done when the event is set."""
        self._loop = loop
        self.context: contextvars.Context | None = contextvars.copy_context()
        self._cancelled: asyncio.Future[None] = loop.create_future()
        listen(event, self)
        return self._cancelled

    def cancel(self) -> None:
        """Cancel from the thread of a cancel listener."""
        # The loop may be closed by now, and the call over with it.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._set_cancelled)

    def _set_cancelled(self) -> None:
        if not self._cancelled.done():
            self._cancelled.set_result(None)


awaited_budget: Final[ContextVar[AwaitedBudget | None]] = ContextVar(
    "boto_waiters_plus_awaited_call", default=None
)
"""The budget of the call that the current task awaits."""
