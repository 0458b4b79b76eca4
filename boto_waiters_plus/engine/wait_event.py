"""What observers are told of a wait: plain facts that may be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitEvent:
    """One step of a wait, as `on_attempt` and `on_event` get it."""

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
    """Code or class name of the error of the attempt."""
    next_delay: float | None = None
    """Seconds until the next attempt; None if there is none."""
    ending: Literal["succeeded", "failed", "timed out", "attempts used up", "cancelled"] | None = (
        None
    )
    """How the wait ended (`ended` only)."""
