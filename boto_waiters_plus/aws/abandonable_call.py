"""A function that runs in a thread of its own and can be left behind there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from ..runtime.process import start_thread
from .call_budget import CallBudget

T = TypeVar("T")


class AbandonableCall(Generic[T]):
    """A function that runs in a daemon thread, and is abandoned when the budget is used up.

    Args:
        function: what runs; in the calling thread if no thread can be started.
        budget: bounds the wait for the function.
        discard: takes a result that comes after the function was abandoned.
        name: of the thread.
    """

    def __init__(
        self,
        function: Callable[[], T],
        budget: CallBudget,
        *,
        discard: Callable[[T], object] = lambda _: None,
        name: str,
    ) -> None:
        self._function = function
        self._budget = budget
        self._discard = discard
        self._name = name
        self._lock = threading.RLock()
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._is_done = False
        self._is_abandoned = False

    def result(self) -> T:
        """Run the function; return what it returns, or raise what it raises.

        Raises:
            CallExpired: the budget was used up before.
        """
        if start_thread(self._run, self._name) is None:
            self._budget.relies_on_timeouts = True
            return self._function()
        try:
            self._budget.wait_for(lambda: self._is_done)
        except BaseException:
            self._abandon()
            raise
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error
        return self._results.pop()

    def _run(self) -> None:
        results: list[T] = []
        error: BaseException | None = None
        try:
            results.append(self._function())
        # The waiting thread raises it, whatever it is.
        except BaseException as raised:
            error = raised
        with self._lock:
            if not self._is_abandoned:
                self._results, self._error, self._is_done = results, error, True
                results = []
        self._budget.wake()
        for result in results:
            self._discard(result)

    def _abandon(self) -> None:
        with self._lock:
            self._is_abandoned = True
            results, self._results, self._error = self._results, [], None
        for result in results:
            self._discard(result)
