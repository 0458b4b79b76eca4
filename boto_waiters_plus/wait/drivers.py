"""The drivers of a wait, blocking and awaited, and the pauses between its attempts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..calls.budget import AsyncCall, Call
from ..calls.clock import TimeSource, current_time, either, slices
from ..common.process import call_soon
from ..engine.machine import Cancelled, Pause, Poll, Woken
from ..options import CancelEvent, Subscribable, WakeSignal
from ..outcome import WaiterOutcome
from .wait_run import WaitRun


def pause(
    seconds: float,
    *,
    cancel: CancelEvent | None = None,
    wake: WakeSignal | None = None,
    sleep: Callable[[float], object] | None = None,
) -> Woken | Cancelled:
    """Sleep until an event is set, at most `seconds`; return the event of the machine."""
    source = current_time()
    event = cancel if wake is None else either(wake, cancel)
    if event is None:
        source.sleep(seconds, sleep)
    elif source.sleep_on(seconds, event):
        if wake is None or (cancel is not None and cancel.is_set()):
            return Cancelled()
        return _signalled(wake)
    return Woken()


async def pause_async(
    seconds: float, *, cancel: CancelEvent | None = None, wake: WakeSignal | None = None
) -> Woken | Cancelled:
    """Do what `pause` does in a task; events are checked in slices, a `Signal` calls back."""
    source = current_time()
    if cancel is None and hasattr(wake, "listen"):
        return await _pause_on_signal(source, seconds, wake)
    has_events = cancel is not None or wake is not None
    for piece in slices(seconds) if has_events else [seconds]:
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


# --- the blocking driver -------------------------------------------------------------------------


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


# --- the asyncio driver --------------------------------------------------------------------------


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
