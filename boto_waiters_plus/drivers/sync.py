"""The blocking driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.machine import Pause, Poll
from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .clock import pause, subscribed
from .course import Course
from .port import Port


def drive(
    course: Course,
    port: Port,
    *,
    cancel: CancelEvent | None = None,
    wake: WakeSignal | Subscribable | None = None,
    sleep: Callable[[float], object] | None = None,
) -> WaiterOutcome[Any]:
    """Run a wait in the calling thread.

    Args:
        course: the wait.
        port: what is called.
        cancel: ends the wait; looked at before each call and while sleeping.
        wake: ends a pause early.
        sleep: the caller's own way to sleep.

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
                        decision = course.answered(port.poll(time_left))
                case Pause(seconds=seconds):
                    decision = course.paused(
                        pause(seconds, cancel=cancel, wake=signal, sleep=sleep)
                    )
                case ending:
                    return course.conclude(ending)
