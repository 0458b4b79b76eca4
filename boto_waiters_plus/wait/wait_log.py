"""What a wait writes to the log; it is fed by the same events as the caller's handlers."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..engine.wait_event import WaitEvent

logger = logging.getLogger("boto_waiters_plus")

LONGEST_SILENCE: Final = 60
"""Seconds after which a line is written although the state has not changed."""


@dataclass(slots=True, eq=False, repr=False)
class WaitLog:
    """The lines of one wait.

    INFO has the start of a wait that needs a second attempt, each change of the state seen, a line
    a minute without a change, and the end; DEBUG has every attempt.
    """

    _state: str | None = None
    _transient_error: str | None = None
    """Of the attempts since the last answer."""
    _written_at: float | None = None
    """Seconds since the start of the wait; None: no line has been written."""

    def write(self, event: WaitEvent) -> None:
        """Write what is to be written about an event."""
        match event.kind:
            case "start":
                return
            case "attempt":
                self._attempted(event)
            case "success":
                seen = f": {_seen(event)}" if _seen(event) else ""
                logger.info("%s succeeded%s%s", _who(event), seen, _when(event))
            case _:
                ended = f"was ended by {event.error}" if event.error else "was cancelled"
                logger.info("%s", event.message or f"{_who(event)} {ended}{_when(event)}")

    def _attempted(self, event: WaitEvent) -> None:
        delay = "" if event.next_delay is None else f", next attempt in {event.next_delay:.1f} s"
        if event.transient:
            is_news = event.next_delay is not None and event.error != self._transient_error
            level = logging.INFO if is_news else logging.DEBUG
            text = "%s had a transient error: %s%s%s"
            logger.log(level, text, _who(event), event.error, _when(event), delay)
            self._transient_error = event.error
            return
        self._transient_error = None
        state = _seen(event) or "no state"
        # The end of the wait says the same.
        if event.next_delay is not None and self._is_news(event, state):
            verb = "is waiting" if self._written_at is None else "is still waiting"
            if self._written_at is not None and state != self._state:
                verb = "has changed"
            logger.info("%s %s: %s%s", _who(event), verb, state, _when(event))
            self._state, self._written_at = state, event.elapsed
        logger.debug("%s saw: %s%s%s", _who(event), state, _when(event), delay)

    def _is_news(self, event: WaitEvent, state: str) -> bool:
        written_at = self._written_at
        if written_at is None or state != self._state:
            return True
        return event.elapsed - written_at >= LONGEST_SILENCE


def _who(event: WaitEvent) -> str:
    return f"Waiter {event.waiter} for {event.label}" if event.label else f"Waiter {event.waiter}"


def _seen(event: WaitEvent) -> str | None:
    return event.state or (event.error if event.kind == "attempt" else None)


def _when(event: WaitEvent) -> str:
    return f" (attempt {event.attempt}, {event.elapsed:.1f} s)"
