"""The asyncio driver."""

from __future__ import annotations

from typing import Any

from ..engine.machine import Pause, Poll
from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .clock import pause_async, subscribed
from .course import Course
from .port import AsyncPort


async def drive_async(
    course: Course,
    port: AsyncPort,
    *,
    cancel: CancelEvent | None = None,
    wake: WakeSignal | Subscribable | None = None,
) -> WaiterOutcome[Any]:
    """Run a wait as part of the calling task; cancelling the task ends it at once.

    Args:
        course: the wait.
        port: what is awaited.
        cancel: ends the wait; looked at before each call and while sleeping.
        wake: ends a pause early.

    Returns:
        The outcome.

    Raises:
        WaiterError: the wait did not succeed. What the port raises comes through as it is.
    """
    with subscribed(wake) as signal:
        decision = course.begin()
        while True:
            match decision:
                case Poll(time_left=time_left):
                    if cancel is not None and cancel.is_set():
                        decision = course.cancel()
                    else:
                        decision = course.answered(await port.poll(time_left))
                case Pause(seconds=seconds):
                    decision = course.paused(await pause_async(seconds, cancel=cancel, wake=signal))
                case ending:
                    return course.conclude(ending)
