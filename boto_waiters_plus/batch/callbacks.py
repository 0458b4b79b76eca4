"""The caller's callbacks: none of them can change how a wait ends, nor hold it up."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from ..calls.clock import current_time, start_timed_thread
from ..calls.watch import monotonic
from ..common.errors import logger, warn
from ..common.process import JobThread

Callback = Callable[[Any], object]

LONGEST_HOLD: Final = 1.0
"""Seconds of real time in which one callback of a background wait stops virtual time."""


class CallbackThread(JobThread):
    """Calls functions one after another, in a thread of their own; what they raise is logged.

    One that blocks holds up the others, and nothing else.
    """

    def __init__(self) -> None:
        super().__init__("callbacks")

    def put(self, job: Callable[[], object]) -> bool:
        """Call a function when its turn comes; here, if no thread can be started."""
        if not super().put(job):
            call_logged(job)
        return True

    def _start(self) -> threading.Thread | None:
        return start_timed_thread(self._run, self._name)

    def _do(self, job: Callable[[], object]) -> None:
        began = monotonic()
        with current_time().idle(lambda: monotonic() - began > LONGEST_HOLD):
            call_logged(job)


def call_logged(function: Callable[[], object]) -> None:
    """Call a function; log what it raises, `SystemExit` too."""
    try:
        function()
    except BaseException:
        logger.exception("a callback of a background wait raised")


class Callbacks:
    """The caller's callbacks; an error of one is logged, and the wait goes on."""

    def __init__(self) -> None:
        self._observers: dict[tuple[int, str], Callback] = {}
        self._failures: Counter[str] = Counter()
        self._first: dict[str, Exception] = {}
        self._has_any = False
        self._put: Callable[[Callable[[], object]], object] | None = None

    def __bool__(self) -> bool:
        """Whether there is anything to call."""
        return self._has_any

    def guarded(self, callback: Callback, name: str) -> Callback:
        """Return the callback without its errors; `name` is its name in messages."""

        def call(argument: Any) -> None:
            try:
                callback(argument)
            # Whatever it raises, the wait goes on.
            except Exception as error:
                self._failed(name, error)

        self._has_any = True
        return call

    def observer(self, callback: Callback, name: str) -> Callback:
        """Return the callback as a wait calls it: guarded, and deferred if callbacks are."""
        key = id(callback), name
        # Thousands of waits with the same callback share one function.
        if key not in self._observers:
            self._observers[key] = partial(self.post, self.guarded(callback, name))
        return self._observers[key]

    def post(self, function: Callback, argument: Any) -> None:
        """Call a function, now or when its turn in the queue comes."""
        if self._put is None:
            function(argument)
        else:
            self._put(partial(function, argument))

    def defer(self, put: Callable[[Callable[[], object]], object]) -> None:
        """Put what is to be called into a queue from now on."""
        self._put = put

    @contextlib.contextmanager
    def called_in_thread(self, failed: Callable[[BaseException], object]) -> Iterator[None]:
        """Call in a thread what is deferred while the block runs.

        Args:
            failed: called with what is not an `Exception`, such as `SystemExit`.
        """
        if not self._has_any:
            yield
            return
        errors: list[BaseException] = []
        context, jobs = contextvars.copy_context(), JobThread("callbacks")

        def call(function: Callable[[], object]) -> None:
            try:
                context.run(function)
            # Raised again in the thread of the caller, which ends the run.
            except BaseException as error:
                errors.append(error)
                failed(error)

        def put(function: Callable[[], object]) -> None:
            # Where no thread can be started, callbacks are called in that of the waits.
            if not jobs.put(partial(call, function)):
                call(function)

        self.defer(put)
        try:
            yield
        finally:
            jobs.join()
        # The waits may have ended before the error came.
        if errors:
            raise errors[0]

    def warn(self) -> None:
        """Warn of the callbacks that raised."""
        for name, error in self._first.items():
            text = f"{name} raised {type(error).__name__}: {error}"
            if self._failures[name] > 1:
                text += f" (the first of {self._failures[name]} errors)"
            warn(text, RuntimeWarning)

    def _failed(self, name: str, error: Exception) -> None:
        self._failures[name] += 1
        if name not in self._first:
            self._first[name] = error
            logger.error("%s raised; the wait goes on", name, exc_info=error)
