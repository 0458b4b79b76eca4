"""Waits as a schedule knows them, and the calls that it plans for them."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .attempt import Reply
from .wait_run import WaitRun

if TYPE_CHECKING:
    from .groups import Group, Sharers
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


@dataclass(slots=True, eq=False, repr=False)
class Task:
    """One wait among many; `task_steps` alone changes it."""

    run: WaitRun
    call: Any
    """The `Call` or `AsyncCall` of each attempt that is not shared."""
    connections: ClientConnections
    """Those of the client that is called."""
    _: KW_ONLY
    cancel: CancelEvent | None = None
    """Ends this wait alone."""
    wake: WakeSignal | Subscribable | None = None
    """Ends a delay of this wait early."""
    group: Group | None = None
    """The waits that one call can answer together with this one."""
    ids: Sequence[str] = ()
    """The identifiers that the wait asks for, as its group counts them."""
    index: int = field(default=0, init=False)
    """The place among the waits of the run."""
    stage: TaskStage = field(default=TaskStage.DELAYED, init=False)
    delay: float = field(default=0.0, init=False)
    due: float = field(default=0.0, init=False)
    """When its delay ends or, without one, its deadline is checked; infinity: never."""
    until: float = field(default=math.inf, init=False)
    """The deadline of the wait."""
    throttles_seen: float = field(default=0, init=False)
    """Throttles of the client when the delay began."""
    call_made: bool = field(default=False, init=False)
    """Whether a call was made for the present attempt."""
    wake_pending: bool = field(default=False, init=False)
    """Whether a signal was set while a call was in flight."""
    was_woken: bool = field(default=False, init=False)
    """Whether a signal ended the last delay."""
    is_brought_forward: bool = field(default=False, init=False)
    """Whether a signal has shortened the present delay."""
    is_alone: bool = field(default=False, init=False)
    """Whether the last attempt was an error that would spoil a shared call."""
    shared: int = field(default=0, init=False)
    """Attempts by shared calls since the last call for this wait alone."""
    result: WaiterOutcome[Any] | Exception | None = field(default=None, init=False)
    """The outcome, or the error of a wait that did not succeed; None until it has ended."""

    @property
    def is_queued(self) -> bool:
        """Whether the task waits for room for its call."""
        return self.stage is TaskStage.QUEUED

    @property
    def tasks(self) -> Sequence[Task]:
        """The waits that a call of this one is for: this one."""
        return (self,)

    def take(self) -> Sequence[Task]:
        """Return the waits that the next call is for: this one."""
        return (self,)


def time_left(target: Task | Sharers, now: float) -> float | None:
    """Return the seconds that a call for these waits has; None if it is not bounded."""
    return None if target.until == math.inf else max(0.0, target.until - now)


class FinishedCall(NamedTuple):
    """A call that is over."""

    target: Task | Sharers
    """The wait or the waits that it was made for."""
    reply: Reply | None
    """None: the call raised."""
    error: BaseException | None
