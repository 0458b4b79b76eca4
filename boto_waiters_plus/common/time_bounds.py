"""How long a wait may last; beside `arguments`, which `install` needs and this it does not."""

from __future__ import annotations

from typing import Any, NamedTuple


class TimeBound(NamedTuple):
    """How long a wait may last, and what its caller has written for it."""

    seconds: float
    asked: float | None = None
    """The caller's `max_wait`, where `seconds` are what is left of it; None: they are all."""
    end: str | None = None
    """What ends before `max_wait`, or was given in its place: `deadline(15)`."""

    @property
    def limits(self) -> dict[str, Any]:
        """The members of a policy."""
        return {"max_wait": self.seconds, "asked_wait": self.asked, "ended_by": self.end}

    def left(self, seconds: float) -> TimeBound:
        """Return this bound once there are so many seconds left of it."""
        whole = self.seconds if self.asked is None and self.end is None else self.asked
        return TimeBound(seconds, whole, self.end)

    def within(self, other: TimeBound | None) -> TimeBound:
        """Return the lesser of two bounds; None is no bound."""
        return self if other is None or self.seconds <= other.seconds else other
