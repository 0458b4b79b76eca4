"""A call that blocks, made from asyncio: in a thread each time."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

from ..common.process import call_soon
from .budget import Call, Reply
from .clock import SHUTDOWN_GRACE, current_time
from .threads import start


class ThreadCall:
    """Makes a blocking call in threads; daemons, and not the loop's own, which are joined at exit.

    Args:
        call: ends at its deadline, and when `abandoned` is set.
        abandoned: is set when nothing awaits the call any more.
    """

    def __init__(self, call: Call, abandoned: threading.Event) -> None:
        self._call = call
        self._abandoned = abandoned

    async def make(self, time_left: float | None) -> Reply:
        """Wait for the call, at most `time_left` seconds; see `Call.make`.

        A call that ignores its deadline and its cancellation is abandoned.
        """
        loop = asyncio.get_running_loop()
        over = loop.create_future()
        notify = partial(call_soon, loop, partial(over.set_result, None))
        make = partial(self._call.make, time_left)
        with current_time().hold():
            # Inside: a call that sleeps in virtual time lets go of it.
            thread, future, caller = start(make, "call", loop.call_soon_threadsafe, notify)
            if thread is None:
                raise RuntimeError("can't start new thread")
            longest = None if time_left is None else time_left + SHUTDOWN_GRACE
            try:
                await asyncio.wait({over}, timeout=longest)
                while not over.done() and getattr(self._call, "is_answered", False):
                    await asyncio.wait({over}, timeout=SHUTDOWN_GRACE)
            except asyncio.CancelledError:
                self._abandoned.set()
                await asyncio.wait({over}, timeout=SHUTDOWN_GRACE)
                raise
            finally:
                caller.close()
                if over.done():
                    # The thread has nothing left to do.
                    thread.join(SHUTDOWN_GRACE)
        if not over.done():
            self._abandoned.set()
            return Reply(ended="deadline")
        try:
            return future.result()
        finally:
            # The traceback of an error has this frame.
            del future
