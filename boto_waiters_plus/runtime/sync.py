"""The blocking driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.machine import Pause, Poll
from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .attempt import Port
from .clock import pause, subscribed
from .wait_run import WaitRun


def drive(
    wait_run: WaitRun,
    port: Port,
    *,
    cancel: CancelEvent | None = None,
    wake: WakeSignal | Subscribable | None = None,
    sleep: Callable[[float], object] | None = None,
) -> WaiterOutcome[Any]:
    """Run a wait in the calling thread.

    Args:
        wait_run: the wait.
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
        decision = wait_run.begin()
        while True:
            match decision:
                case Poll(time_left=time_left):
                    if cancel is not None and cancel.is_set():
                        decision = wait_run.cancel()
                    else:
                        decision = wait_run.answered(port.poll(time_left))
                case Pause(seconds=seconds):
                    decision = wait_run.paused(
                        pause(seconds, cancel=cancel, wake=signal, sleep=sleep)
                    )
                case ending:
                    return wait_run.conclude(ending)
