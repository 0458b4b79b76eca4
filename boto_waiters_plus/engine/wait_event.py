"""What observers are told of a wait: plain facts that may be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WaitEnding = Literal["succeeded", "failed", "timed out", "attempts used up", "cancelled", "raised"]
"""How a wait ended. `raised`: by an error that is no reply of the operation, such as missing
credentials, a bug in the caller's hook or callable, or Ctrl-C. `cancelled`: by `cancel_event`, by
the cancellation of the task, or with the batch around the wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitEvent:
    """One step of a wait, as `on_attempt` and `on_event` get it.

    Every wait that begins has exactly one event `started` and one `ended`, however it ends.
    """

    kind: Literal["started", "attempt", "ended"]
    waiter: str
    operation: str
    service: str | None = None
    attempts: int = 0
    """Calls made so far."""
    elapsed: float = 0.0
    """Seconds since the start."""
    observed: str | None = None
    """The state seen, as text, where it may be shown."""
    error: str | None = None
    """Code or class name of the error of the attempt, or of the one that ended the wait."""
    next_delay: float | None = None
    """Seconds until the next attempt; None if there is none."""
    ending: WaitEnding | None = None
    """How the wait ended (`ended` only)."""
