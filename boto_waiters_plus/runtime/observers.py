"""The observers of a wait: one stream of events for handlers, progress and the log."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..arguments import caller_stacklevel
from ..engine.wait_event import EventKind, WaitEvent
from .wait_log import WaitLog, logger
from .wording import state_text

if TYPE_CHECKING:
    from .wait_run import WaitRun

Observer = Callable[[WaitEvent], object]


class Observers:
    """The observers of one wait. An error of one is reported once, and the wait goes on.

    Args:
        of_all: called with each event.
        of_attempts: called with the events of attempts only.
    """

    __slots__ = ("_failed", "_log", "_of_all", "_of_attempts")

    def __init__(self, of_all: Sequence[Observer], of_attempts: Sequence[Observer]) -> None:
        self._of_all = tuple(of_all)
        self._of_attempts = tuple(of_attempts)
        self._log: WaitLog | None = None
        self._failed: list[Observer] = []

    def add(self, observer: Observer) -> None:
        """Add an observer of attempts."""
        self._of_attempts = (*self._of_attempts, observer)

    def tell(
        self,
        kind: EventKind,
        run: WaitRun,
        *,
        next_delay: float | None = None,
        error: str | None = None,
        message: str | None = None,
    ) -> None:
        """Give an event to the log and to all that observe it."""
        is_logged = logger.isEnabledFor(logging.INFO)
        observers = self._of_all
        if kind == "attempt" and self._of_attempts:
            observers += self._of_attempts
        if not observers and not is_logged:
            return
        attempt, description = run.attempt, run.description
        event = WaitEvent(
            kind=kind,
            wait_id=run.wait_id,
            label=run.label,
            service=description.service,
            waiter=description.waiter,
            operation=description.operation,
            attempt=run.attempts,
            elapsed=run.elapsed,
            state=state_text(attempt) if attempt else None,
            error=error,
            message=message,
            next_delay=next_delay,
        )
        if is_logged:
            self._log = self._log or WaitLog()
            self._log.write(event)
        for observer in observers:
            self._call(observer, event)

    def _call(self, observer: Observer, event: WaitEvent) -> None:
        try:
            observer(event)
        # Whatever the caller's handler raises, the wait goes on.
        except Exception as error:
            self._report(observer, error)

    def _report(self, observer: Observer, error: Exception) -> None:
        if any(observer is each for each in self._failed):
            return
        self._failed.append(observer)
        is_of_all = any(observer is each for each in self._of_all)
        name = "on_event" if is_of_all else "on_attempt"
        logger.error("%s raised; the wait goes on", name, exc_info=error)
        text = f"{name} raised {type(error).__name__}: {error}; the wait goes on"
        # Where warnings are errors: the outcome matters more, and the error has been logged.
        with contextlib.suppress(RuntimeWarning):
            warnings.warn(text, RuntimeWarning, stacklevel=caller_stacklevel())
