"""A wait that is ready to start: its flow of calls and pauses."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..calls.client_call import Calls, CallStep
from ..calls.clock import TimeSource, current_time, either, slices
from ..calls.flow import Flow, run, run_async
from ..common.process import call_soon
from ..engine.machine import Cancelled, Pause, Poll, Woken
from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .wait_run import WaitRun


@dataclass(slots=True, eq=False, repr=False)
class PauseStep:
    """A pause of a wait, as a step of its flow, which is sent the event of the machine."""

    seconds: float
    cancel: CancelEvent | None
    wake: WakeSignal | None
    sleep: Callable[[float], object] | None

    def run(self) -> Woken | Cancelled:
        """Sleep in the calling thread until an event is set, at most `seconds`."""
        source, cancel, wake = current_time(), self.cancel, self.wake
        event = cancel if wake is None else either(wake, cancel)
        if event is None:
            source.sleep(self.seconds, self.sleep)
        elif source.sleep_on(self.seconds, event):
            if wake is None or (cancel is not None and cancel.is_set()):
                return Cancelled()
            return _signalled(wake)
        return Woken()

    async def run_async(self) -> Woken | Cancelled:
        """Do the same in a task; events are checked in slices, a `Signal` calls back."""
        source, cancel, wake = current_time(), self.cancel, self.wake
        if cancel is None and hasattr(wake, "listen"):
            return await _pause_on_signal(source, self.seconds, wake)
        has_events = cancel is not None or wake is not None
        for piece in slices(self.seconds) if has_events else [self.seconds]:
            if cancel is not None and cancel.is_set():
                return Cancelled()
            if wake is not None and wake.is_set():
                return _signalled(wake)
            await source.sleep_async(piece)
        return Woken()


async def _pause_on_signal(source: TimeSource, seconds: float, wake: Any) -> Woken:
    # A program that only blocks never imports asyncio, which takes 11 ms.
    import asyncio  # noqa: PLC0415

    is_over = asyncio.Event()
    stop = wake.listen(partial(call_soon, asyncio.get_running_loop(), is_over.set))
    sleeper = asyncio.ensure_future(source.sleep_async(seconds))
    sleeper.add_done_callback(lambda _: is_over.set())
    try:
        # A notification before `listen` counts too.
        if not wake.is_set():
            await is_over.wait()
        early = wake.is_set() or not sleeper.done()
    finally:
        stop()
        sleeper.cancel()
    await asyncio.gather(sleeper, return_exceptions=True)
    return _signalled(wake) if early else Woken()


def subscribe(wake: WakeSignal | Subscribable) -> WakeSignal:
    """Return the subscription of one wait, if several may share the signal."""
    return wake.subscribe() if isinstance(wake, Subscribable) else wake


def unsubscribe(subscription: WakeSignal) -> None:
    """End the subscription of a wait that is over."""
    end = getattr(subscription, "unsubscribe", None)
    if end is not None:
        end()


def _signalled(wake: WakeSignal) -> Woken:
    wake.clear()
    return Woken(early=True)


# --- the wait ------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class PreparedWait:
    """A wait that is ready to start."""

    wait_run: WaitRun
    send: Callable[[], Any]
    """Makes the bare call of each attempt."""
    calls: Calls
    """How it is made; its cancel event ends the wait."""
    wake: WakeSignal | Subscribable | None = None
    """Ends a pause early."""
    sleep: Callable[[float], object] | None = None
    """The caller's function to sleep with, where the wait blocks."""
    context: Callable[[], AbstractContextManager[object]] = nullcontext
    """Makes the context that the wait runs in."""

    def run(self) -> WaiterOutcome[Any]:
        """Run it in the calling thread, and return the outcome.

        Raises:
            WaiterError: it did not succeed. Errors that the call raises pass unchanged.
        """
        return run(self.flow())

    async def run_async(self) -> WaiterOutcome[Any]:
        """`run` as part of the calling task; cancelling the task ends it at once."""
        return await run_async(self.flow())

    def flow(self) -> Flow[WaiterOutcome[Any]]:
        """Yield the calls and the pauses of the wait; return and raise as `run`."""
        wait_run, send, calls = self.wait_run, self.send, self.calls
        cancel = calls.cancel
        with self.context():
            signal = None if self.wake is None else subscribe(self.wake)
            try:
                decision = wait_run.begin()
                while True:
                    # No `match`, which takes its time at each poll.
                    if cancel is not None and isinstance(decision, Poll) and cancel.is_set():
                        decision = wait_run.step(Cancelled(uncalled=True))
                    elif isinstance(decision, Poll):
                        if wait_run.search is not None:
                            send, calls = wait_run.search.send, self.calls.of_reads()
                        call = CallStep(calls, send, decision.time_left)
                        decision = wait_run.replied((yield call))
                    elif isinstance(decision, Pause):
                        watched = None if decision.is_brought_forward else signal
                        event = yield PauseStep(decision.seconds, cancel, watched, self.sleep)
                        if decision.is_brought_forward and signal is not None:
                            signal.clear()
                        decision = wait_run.step(event)
                    else:
                        return wait_run.conclude(decision)
            except BaseException as error:
                wait_run.interrupted(error)
                raise
            finally:
                if signal is not None:
                    unsubscribe(signal)
