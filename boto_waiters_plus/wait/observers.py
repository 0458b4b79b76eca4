"""The observers of a wait: one stream of events for handlers, progress and the log."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ..common.errors import logger, warn
from .facts import RunFacts, WaitLog

if TYPE_CHECKING:
    from ..engine.wait_event import EventKind, WaitEvent

Observer = Callable[["WaitEvent"], object]

_WAIT_IDS: Final = itertools.count(1)


class Observers:
    """The observers of one wait. An error of one is reported once, and the wait goes on.

    Args:
        of_all: called with each event.
        of_attempts: called with the events of attempts only.
    """

    __slots__ = ("_failed", "_of_all", "_of_attempts")

    def __init__(
        self, of_all: Sequence[Observer] = (), of_attempts: Sequence[Observer] = ()
    ) -> None:
        self._of_all = tuple(of_all)
        self._of_attempts = tuple(of_attempts)
        self._failed: tuple[Observer, ...] = ()

    def and_of_attempts(self, observer: Observer) -> Observers:
        """Return these observers and another one of attempts."""
        return Observers(self._of_all, (*self._of_attempts, observer))

    def tell(
        self,
        kind: EventKind,
        run: RunFacts,
        *,
        next_delay: float | None = None,
        error: str | None = None,
        is_transient: bool = False,
        message: str | None = None,
    ) -> None:
        """Give an event to the log and to all that observe it."""
        observers = self._of_all
        if kind == "attempt" and self._of_attempts:
            observers += self._of_attempts
        is_logged = logger.isEnabledFor(logging.INFO)
        if not observers and not is_logged:
            return
        from ..engine.wait_event import WaitEvent  # noqa: PLC0415 - most waits have no observers

        description = run.description
        run.wait_id = run.wait_id or next(_WAIT_IDS)
        # An end tells of the last attempt that saw the resource.
        attempt = run.attempt if kind == "attempt" else run.answer
        event = WaitEvent(
            kind=kind,
            wait_id=run.wait_id,
            label=str(run.label),
            service=description.service,
            waiter=description.waiter,
            operation=description.operation,
            attempt=run.attempts,
            elapsed=run.elapsed,
            state=attempt.seen if attempt else None,
            reported=dict(attempt.reported) if attempt else {},
            error=error,
            transient=is_transient,
            message=message,
            next_delay=next_delay,
        )
        if is_logged:
            run.log = run.log or WaitLog()
            run.log.write(event)
        for observer in observers:
            self._call(observer, event)

    def _call(self, observer: Observer, event: WaitEvent) -> None:
        try:
            observer(event)
        # Whatever the caller's handler raises, the wait goes on.
        except Exception as error:
            if any(observer is each for each in self._failed):
                return
            self._failed += (observer,)
            is_of_all = any(observer is each for each in self._of_all)
            name = "on_event" if is_of_all else "on_attempt"
            logger.error("%s raised; the wait goes on", name, exc_info=error)
            text = f"{name} raised {type(error).__name__}: {error}; the wait goes on"
            warn(text, RuntimeWarning)
