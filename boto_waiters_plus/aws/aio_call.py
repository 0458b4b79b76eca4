"""An awaited call that is cut off at its deadline, or when somebody cancels the wait."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..options import CancelEvent
from ..runtime.attempt import Ended, Reply
from ..runtime.clock import SIGNAL_SLICE

if TYPE_CHECKING:
    import asyncio


async def cut_off(
    attempt: Callable[[], Awaitable[Any]],
    seconds: float | None,
    cancel: CancelEvent | None = None,
) -> Reply:
    """The attempt, or that it was cut off; with its task, the call's connection is let go of.

    Not `asyncio.wait_for`: its TimeoutError could be one that the call itself raised.

    Args:
        attempt: what is awaited, in a task of its own.
        seconds: real time that it has; None: as long as it takes.
        cancel: ends it when set; looked at in turns, it may be another thread's.
    """
    if seconds is None and cancel is None:
        return Reply(await attempt())
    # 11 ms that a program which only blocks never pays.
    import asyncio  # noqa: PLC0415

    task = asyncio.ensure_future(attempt())
    try:
        cause = await _cause_to_end(task, seconds, cancel)
        if cause is None:
            return Reply(task.result())
    finally:
        await _end(task)
    return Reply(ended=cause)


async def _cause_to_end(
    task: asyncio.Future[Any], seconds: float | None, cancel: CancelEvent | None
) -> Ended | None:
    """Wait for a task; why not any longer, or None if it is done."""
    import asyncio  # noqa: PLC0415 - see above

    now = asyncio.get_running_loop().time
    end = math.inf if seconds is None else now() + seconds
    slice_ = math.inf if cancel is None else SIGNAL_SLICE
    while True:
        done, _ = await asyncio.wait({task}, timeout=max(0.0, min(end - now(), slice_)))
        if done:
            return None
        if cancel is not None and cancel.is_set():
            return "cancelled"
        # The timer of the loop may come a little early; where it has no slices it has come.
        if cancel is None or now() >= end:
            return "deadline"


async def _end(task: asyncio.Future[Any]) -> None:
    """Cancel a task and wait until it is over.

    A cancellation that arrives meanwhile is somebody else's, and passes once it is.
    """
    import asyncio  # noqa: PLC0415 - see above

    interrupt: asyncio.CancelledError | None = None
    while not task.done():
        task.cancel()
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            interrupt = error
    if not task.cancelled():
        # What it raised is taken note of; who wants it has it by now.
        task.exception()
    if interrupt is not None:
        raise interrupt
