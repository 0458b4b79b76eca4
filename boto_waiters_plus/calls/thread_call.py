"""A call that blocks, made from asyncio: in a thread each time."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading

from .budget import Call, Reply
from .clock import SHUTDOWN_GRACE, current_time
from .threads import CallersThread, ask_caller_in


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
        ended: list[Reply | BaseException] = []

        def work() -> None:
            try:
                ended.append(self._call.make(time_left))
            # Handed to the awaiting task, whatever it is.
            except BaseException as error:
                ended.append(error)
            # The loop may be closed: nothing awaits the reply of a call that was abandoned.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(over.set_result, None)

        with current_time().hold():
            # Inside: a call that sleeps in virtual time lets go of it.
            context, name = contextvars.copy_context(), "boto_waiters_plus call"
            caller = CallersThread(loop.call_soon_threadsafe)
            ask_caller_in(context, caller)
            thread = threading.Thread(target=context.run, args=[work], name=name, daemon=True)
            thread.start()
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
        return _returned(ended.pop())


def _returned(result: Reply | BaseException) -> Reply:
    if isinstance(result, Reply):
        return result
    try:
        raise result
    finally:
        # Its traceback has this frame.
        del result
