"""What a batch needs of a wait on a callable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ..engine.model import WaitDescription
from ..options import CancelEvent, WaitOptions
from ..settings import Observer
from ..wait.wait_run import WaitRun


class CallableWait(ABC):
    """One wait on a callable among many: `conditions.ConditionWait`."""

    __slots__ = ()

    max_wait: float | None
    label: str
    waiter: str
    is_async: bool
    options: WaitOptions
    merged_options: WaitOptions

    @property
    @abstractmethod
    def description(self) -> WaitDescription:
        """What the wait is for, as messages and observers name it."""

    @abstractmethod
    def run_and_call(
        self,
        max_wait: float | None,
        function: str,
        *,
        observers: Sequence[Observer],
        on_attempt: Observer | None,
        cancel_event: CancelEvent,
    ) -> tuple[WaitRun, Any]:
        """Return a run of the wait, and the call of each attempt.

        Args:
            max_wait: seconds.
            function: the function that runs the batch.
            observers: called with each event.
            on_attempt: called with the events of attempts.
            cancel_event: ends a call that can be ended.
        """
