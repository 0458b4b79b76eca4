"""Waits as a schedule knows them, and the calls that it plans for them."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .attempt import AsyncCall, Call, Reply
from .wait_run import WaitRun

if TYPE_CHECKING:
    from .groups import Group, SharedBatch
    from .service_limiter import ClientConnections


class TaskStage(enum.Enum):
    """What a task waits for."""

    DELAYED = enum.auto()
    """The end of a delay."""
    QUEUED = enum.auto()
    """Room for its call."""
    CALLING = enum.auto()
    """The reply to its call."""
    ENDED = enum.auto()
    """Nothing: it is over."""


class Task:
    """One wait among many.

    Args:
        run: the wait.
        call: makes the call of each attempt that is not shared.
        connections: those of the client that is called.
        cancel: ends this wait alone.
        wake: ends a delay of this wait early.
        request: the request of the wait, for calls that are shared.
        group: the waits that one call can answer together with this one.
        ids: the identifiers that the wait asks for, as its group counts them.

    Attributes:
        index: the place among the waits of the run.
        result: the outcome, or the error of a wait that did not succeed; None until it has ended.
    """

    __slots__ = (
        "call",
        "call_made",
        "cancel",
        "connections",
        "delay",
        "due",
        "expiry",
        "group",
        "ids",
        "index",
        "is_alone",
        "is_brought_forward",
        "request",
        "result",
        "run",
        "stage",
        "throttles_seen",
        "until",
        "wake",
        "wake_pending",
        "was_woken",
    )

    def __init__(
        self,
        run: WaitRun,
        call: Call | AsyncCall,
        connections: ClientConnections,
        *,
        cancel: CancelEvent | None = None,
        wake: WakeSignal | Subscribable | None = None,
        request: Any = None,
        group: Group | None = None,
        ids: Sequence[str] = (),
    ) -> None:
        self.run = run
        self.call: Any = call
        self.connections = connections
        self.cancel = cancel
        self.wake = wake
        self.request = request
        self.group = group
        self.ids = ids
        self.index = 0
        self.stage = TaskStage.DELAYED
        self.delay = 0.0
        self.due = 0.0
        """When the delay ends."""
        self.until = math.inf
        """The deadline of the wait."""
        self.expiry: float | None = None
        """When the schedule checks the deadline; None: that is not planned."""
        self.throttles_seen: float = 0
        """Throttles of the client when the delay began."""
        self.call_made = False
        """Whether a call was made for the present attempt."""
        self.wake_pending = False
        """Whether a signal was set while a call was in flight."""
        self.was_woken = False
        """Whether a signal ended the last delay."""
        self.is_brought_forward = False
        """Whether a signal has shortened the present delay."""
        self.is_alone = False
        """Whether the last attempt was an error that would spoil a shared call."""
        self.result: WaiterOutcome[Any] | Exception | None = None

    @property
    def is_queued(self) -> bool:
        """Whether the task waits for room for its call."""
        return self.stage is TaskStage.QUEUED

    def take(self) -> Sequence[Task]:
        """Return the waits that one call is to be made for: this one."""
        return (self,)


class PlannedCall(NamedTuple):
    """A call to be made at once."""

    target: Task | SharedBatch
    """The wait or the waits that it is made for."""
    ends_at: float
    """When it has to be over, by the clock of the run."""

    def time_left(self, now: float) -> float | None:
        """Return the seconds that the call has; None if it is not bounded."""
        return None if self.ends_at == math.inf else max(0.0, self.ends_at - now)


class FinishedCall(NamedTuple):
    """A call that is over."""

    target: Task | SharedBatch
    reply: Reply | None
    """None: the call raised."""
    error: BaseException | None
