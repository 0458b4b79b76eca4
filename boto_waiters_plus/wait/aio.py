"""The asyncio driver."""

from __future__ import annotations

from typing import Any

from ..calls.budget import AsyncCall
from ..engine.machine import Cancelled, Pause, Poll
from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .pauses import pause_async, subscribe, unsubscribe
from .wait_run import WaitRun


async def drive_async(
    run: WaitRun,
    call: AsyncCall,
    *,
    cancel: CancelEvent | None = None,
    wake: WakeSignal | Subscribable | None = None,
) -> WaiterOutcome[Any]:
    """Run a wait as part of the calling task; cancelling the task ends it at once.

    Args:
        run: the wait.
        call: makes the call of each attempt.
        cancel: ends the wait; checked before each call and during pauses.
        wake: ends a pause early.

    Returns:
        The outcome.

    Raises:
        WaiterError: the wait did not succeed. Errors that the call raises pass unchanged.
    """
    signal = None if wake is None else subscribe(wake)
    try:
        decision = run.begin()
        while True:
            match decision:
                case Poll() if cancel is not None and cancel.is_set():
                    decision = run.step(Cancelled(uncalled=True))
                case Poll(time_left):
                    decision = run.replied(await call.make(time_left))
                case Pause(seconds, is_brought_forward):
                    watched = None if is_brought_forward else signal
                    event = await pause_async(seconds, cancel=cancel, wake=watched)
                    if is_brought_forward and signal is not None:
                        signal.clear()
                    decision = run.step(event)
                case ending:
                    return run.conclude(ending)
    except BaseException as error:
        from asyncio import CancelledError  # noqa: PLC0415 - a program without tasks never pays

        is_cancelled = isinstance(error, (CancelledError, GeneratorExit))
        run.interrupted(None if is_cancelled else error)
        raise
    finally:
        if signal is not None:
            unsubscribe(signal)
