"""The asyncio driver."""

from __future__ import annotations

from typing import Any

from ..engine.machine import Pause, Poll
from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .attempt import AsyncPort
from .clock import pause_async, subscribed
from .wait_run import WaitRun


async def drive_async(
    wait_run: WaitRun,
    port: AsyncPort,
    *,
    cancel: CancelEvent | None = None,
    wake: WakeSignal | Subscribable | None = None,
) -> WaiterOutcome[Any]:
    """Run a wait as part of the calling task; cancelling the task ends it at once.

    Args:
        wait_run: the wait.
        port: what is awaited.
        cancel: ends the wait; looked at before each call and while sleeping.
        wake: ends a pause early.

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
                        decision = wait_run.answered(await port.poll(time_left))
                case Pause(seconds=seconds):
                    decision = wait_run.paused(
                        await pause_async(seconds, cancel=cancel, wake=signal)
                    )
                case ending:
                    return wait_run.conclude(ending)
