"""The one thread that receives messages for all who wait for them."""

from __future__ import annotations

import logging
import os
import random
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from ..aws.call_budget import CallEnded
from ..aws.errors import error_facts
from ..options import CancelEvent
from ..runtime.clock import SYSTEM_TIME, current_time
from ..runtime.watchdog import monotonic

logger = logging.getLogger("boto_waiters_plus")

LINGER: Final = 1.0
"""Seconds that a request goes on without anybody to receive for: the next wait often follows."""

SHORTEST_ROUND: Final = 1.0
"""Seconds of a round that took no message away, where the queue does not block by itself."""

FIRST_REST: Final = 1.0
"""Seconds after an error at most; twice as many after each further one."""

LONGEST_REST: Final = 60.0
"""Seconds that the rests grow to."""

RECEIVING: Final = "a signal gets no messages from its queue, its waits only poll"
REMOVING: Final = "a signal cannot delete the messages it had, they will come again"


class Inbox(Protocol):
    """Where messages are received from."""

    def receive(self, stop: CancelEvent) -> Sequence[Any]:
        """Wait for messages.

        Raises:
            CallEnded: the event was set.
            Exception: the request was not answered.
        """
        ...

    def body(self, message: Any) -> str:
        """What a message says."""
        ...

    def remove(self, messages: Sequence[Any]) -> bool:
        """These have done their work; whether they will not come again."""
        ...


class Source:
    """Receives messages in a daemon thread, which runs while there are listeners.

    Args:
        inbox: where they come from.
        deliver: called in the thread with each message's body.

    Attributes:
        listeners: who it receives for, by keys of theirs.
    """

    def __init__(self, inbox: Inbox, deliver: Callable[[str], object]) -> None:
        self._inbox = inbox
        self._deliver = deliver
        self.is_closed = False
        self.reset()
        _sources.add(self)

    def reset(self) -> None:
        """Forget everybody: a child after a fork has neither the thread nor the waits."""
        # Reentrant: a listener may be collected, and leave, at any point.
        self._changed = threading.Condition(threading.RLock())
        self.listeners: dict[object, Any] = {}
        self._thread: threading.Thread | None = None
        self._left_at = 0.0
        self._errors = 0
        # What receiving and removing ended in, each as long as it is so.
        self._troubles: dict[str, Exception] = {}

    @property
    def error(self) -> Exception | None:
        """What a request ended in and none of its kind has mended since."""
        return next(iter(self._troubles.copy().values()), None)

    def join(self, key: object, listener: Any) -> None:
        """Receive for a listener, until it leaves.

        Raises:
            RuntimeError: the source was closed.
        """
        with self._changed:
            if self.is_closed:
                raise RuntimeError("wake_signal was closed: no wait can begin on it")
            self.listeners[key] = listener
            # A test's own time passes while no real second does: there is nothing to wait for.
            if current_time() is SYSTEM_TIME:
                self._see_to_thread()

    def leave(self, key: object) -> None:
        """Receive for a listener no more."""
        with self._changed:
            # First this, for who looks without the lock.
            self._left_at = monotonic()
            self.listeners.pop(key, None)
            self._changed.notify_all()

    def everybody(self) -> set[Any]:
        """The listeners, each once."""
        with self._changed:
            return set(self.listeners.values())

    def close(self) -> None:
        """End the thread and the request it makes; waits that run go on without messages."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def is_set(self) -> bool:
        """Whether nobody wants messages any more; asked while a request runs, and ends it."""
        return self.is_closed or (not self.listeners and monotonic() - self._left_at > LINGER)

    def wait(self, timeout: float | None = None, /) -> bool:
        """Wait until nobody wants messages."""
        with self._changed:
            return self._changed.wait_for(self.is_set, timeout)

    # --- the thread ------------------------------------------------------------------------

    def _see_to_thread(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            return
        self._thread = threading.Thread(
            target=self._run, name="boto_waiters_plus signal", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError as error:
            # The system has no more threads to give. Waits poll, and the next one tries again.
            self._thread = None
            self._note(RECEIVING, error)

    def _run(self) -> None:
        while self._goes_on():
            began = monotonic()
            try:
                has_removed = self._round()
            except CallEnded:
                continue
            # Whatever it is, the waits poll as well: it must not end them, nor be the last try.
            except Exception as error:
                self._note(RECEIVING, error)
                self._rest_after_error()
            else:
                if not has_removed:
                    self._rest(began + SHORTEST_ROUND - monotonic(), lambda: self.is_closed)

    def _goes_on(self) -> bool:
        with self._changed:
            if self._thread is not threading.current_thread():
                return False
            # To linger is for the request in flight alone: none is made for nobody.
            if not self.is_closed and self.listeners:
                return True
            self._thread = None
            return False

    def _round(self) -> bool:
        """Receive once; whether messages came and are gone from the queue."""
        messages = self._inbox.receive(self)
        self._errors = 0
        self._troubles.pop(RECEIVING, None)
        for message in messages:
            self._deliver(self._inbox.body(message))
        return bool(messages) and self._remove(messages)

    def _remove(self, messages: Sequence[Any]) -> bool:
        try:
            has_removed = self._inbox.remove(messages)
        # They have woken whom they had to. Those that stay come again, and wake once more.
        except Exception as error:
            self._note(REMOVING, error)
            return False
        self._troubles.pop(REMOVING, None)
        return has_removed

    def _rest_after_error(self) -> None:
        self._errors += 1
        most = min(LONGEST_REST, FIRST_REST * 2.0 ** min(self._errors - 1, 10))
        # Drawn, so that processes which one outage stopped do not all come back at once.
        seconds = random.uniform(most / 2, most)  # noqa: S311 - no secret
        self._rest(seconds, lambda: self.is_closed or not self.listeners)

    def _rest(self, seconds: float, until: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(until, max(0.0, seconds))

    def _note(self, what: str, error: Exception) -> None:
        if isinstance(error, CallEnded) and isinstance(error.__cause__, Exception):
            error = error.__cause__
        known = self._troubles.get(what)
        # Its frames hold messages.
        self._troubles[what] = error.with_traceback(None)
        code = error_facts(error).code
        # While the interpreter exits there may be nothing left to log to.
        if (known is not None and error_facts(known).code == code) or sys.is_finalizing():
            return
        # The code only: texts of AWS quote the queue and who asked.
        logger.warning("%s (%s)", what, code)


_sources: weakref.WeakSet[Source] = weakref.WeakSet()


def _reset_all() -> None:
    for source in list(_sources):
        source.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)
