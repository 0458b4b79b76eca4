"""Signals that events of AWS give: the one of a queue, and narrower ones beside it."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from .events import Match, event_of
from .signalling import Board, Subscription
from .source import Inbox, Source


class EventSignal:
    """Wakes waits when an event comes that all its matches take.

    What `SqsSignal` is, and `matching` gives. Any number of waits may share one, from any thread
    and task.
    """

    def __init__(self, exchange: Exchange, matches: tuple[Match, ...]) -> None:
        self._exchange = exchange
        self._matches = matches
        self._board = Board()

    def matching(self, match: str) -> EventSignal:
        """A signal for some of these events, which come by the same thread.

        Args:
            match: a JMESPath expression that has to be true on an event, beside those of this
                signal.

        Raises:
            TypeError, ValueError: it is none.
        """
        return EventSignal(self._exchange, (*self._matches, Match(match)))

    def deliver(self, message: str | Mapping[str, Any]) -> bool:
        """Take a message as if it had come by the queue: in tests, or from a consumer of yours.

        Args:
            message: the body of a message, or the event in it.

        Returns:
            Whether this signal takes it. All signals of the queue are given it.
        """
        if not isinstance(message, (str, Mapping)):
            raise TypeError(
                f"message must be the text of a body or an event, not {type(message).__name__}"
            )
        event = event_of(message) if isinstance(message, str) else message
        self._exchange.wake(event)
        return self._takes(event, {})

    def subscribe(self) -> View:
        """The signal as one wait sees it, from now on. Messages are received while there is one.

        Raises:
            RuntimeError: the signal was closed.
        """
        return View(self._exchange.source, self, self._board)

    def _wake_by(self, event: Any, verdicts: dict[Match, bool]) -> None:
        if self._takes(event, verdicts):
            self._board.notify()

    def _takes(self, event: Any, verdicts: dict[Match, bool]) -> bool:
        for match in self._matches:
            if match not in verdicts:
                verdicts[match] = match.takes(event)
            if not verdicts[match]:
                return False
        return True

    def __reduce__(self) -> Any:
        raise TypeError("a signal belongs to one process: it cannot be pickled or copied")

    def __repr__(self) -> str:
        # The queue and the expressions are parameters of the caller's, and reprs end up in logs.
        return f"{type(self).__name__}({self._exchange.state})"


class View(Subscription):
    """An `EventSignal` as one wait sees it.

    Attributes:
        unsubscribe: ends it; so does the loss of its last reference.
    """

    __slots__ = ("__weakref__", "unsubscribe")

    def __init__(self, source: Source, signal: EventSignal, board: Board) -> None:
        # Before anything is received, so that the first message counts.
        super().__init__(board)
        key = object()
        source.join(key, signal)
        # Runs at most once, whichever of the two comes first.
        self.unsubscribe = weakref.finalize(self, source.leave, key)
        self.unsubscribe.atexit = False


class Exchange:
    """The signals of one queue."""

    def __init__(self, inbox: Inbox) -> None:
        self.source = Source(inbox, lambda body: self.wake(event_of(body)))

    @property
    def state(self) -> str:
        """What a repr may say."""
        return "closed" if self.source.is_closed else f"waits={len(self.source.listeners)}"

    def wake(self, event: Any) -> None:
        """Wake who waits for the event; each expression is evaluated once."""
        verdicts: dict[Match, bool] = {}
        for signal in self.source.everybody():
            signal._wake_by(event, verdicts)  # noqa: SLF001 - of this module
