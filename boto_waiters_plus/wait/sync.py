"""The blocking driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..calls.budget import Call
from ..engine.machine import Cancelled, Pause, Poll
from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .pauses import pause, subscribe, unsubscribe
from .wait_run import WaitRun


def drive(
    run: WaitRun,
    call: Call,
    *,
    cancel: CancelEvent | None = None,
    wake: WakeSignal | Subscribable | None = None,
    sleep: Callable[[float], object] | None = None,
) -> WaiterOutcome[Any]:
    """Run a wait in the calling thread.

    Args:
        run: the wait.
        call: makes the call of each attempt.
        cancel: ends the wait; checked before each call and during pauses.
        wake: ends a pause early.
        sleep: the caller's function to sleep with.

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
                    decision = run.replied(call.make(time_left))
                case Pause(seconds, is_brought_forward):
                    watched = None if is_brought_forward else signal
                    event = pause(seconds, cancel=cancel, wake=watched, sleep=sleep)
                    if is_brought_forward and signal is not None:
                        signal.clear()
                    decision = run.step(event)
                case ending:
                    return run.conclude(ending)
    except BaseException as error:
        run.interrupted(error)
        raise
    finally:
        if signal is not None:
            unsubscribe(signal)
