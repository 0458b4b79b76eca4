"""A call that blocks, made from asyncio: in a thread each time."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading

from ..options import CancelEvent
from .attempt import Call, Reply
from .call_executor import SHUTDOWN_GRACE
from .clock import current_time, either


class CallAbandonment:
    """Ends the call in flight: the caller's own event is set, or nothing awaits the call any more.

    Args:
        cancel: the caller's own event.
    """

    def __init__(self, cancel: CancelEvent | None) -> None:
        self._abandoned = threading.Event()
        self.event = either(self._abandoned, cancel)
        """The event that the call has to heed."""

    def set(self) -> None:
        """Abandon the call."""
        self._abandoned.set()


class ThreadCall:
    """Makes a blocking call in threads; daemons, and not the loop's own, which are joined at exit.

    Args:
        call: ends at its deadline, and when `abandonment` is set.
        abandonment: is set when the awaiting task is cancelled.
    """

    def __init__(self, call: Call, abandonment: CallAbandonment) -> None:
        self._call = call
        self._abandonment = abandonment

    async def make(self, time_left: float | None) -> Reply:
        """Wait for the call, at most `time_left` seconds; see `Call.make`.

        A call that ignores its deadline and its cancellation is abandoned.
        """
        running = _RunningCall(self._call, time_left)
        with current_time().hold():
            running.start()
            try:
                await running.wait(None if time_left is None else time_left + SHUTDOWN_GRACE)
            except asyncio.CancelledError:
                self._abandonment.set()
                await running.wait(SHUTDOWN_GRACE)
                raise
        if running.is_over:
            return running.result()
        self._abandonment.set()
        return Reply(ended="deadline")


class _RunningCall:
    """One call in its thread."""

    def __init__(self, call: Call, time_left: float | None) -> None:
        self._call = call
        self._time_left = time_left
        self._loop = asyncio.get_running_loop()
        self._over = self._loop.create_future()
        self._reply: Reply | None = None
        self._error: BaseException | None = None
        run = contextvars.copy_context().run
        name = "boto_waiters_plus call"
        self._thread = threading.Thread(target=run, args=[self._work], name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return self._over.done()

    async def wait(self, seconds: float | None) -> None:
        """Wait until the call is over, at most so long."""
        await asyncio.wait({self._over}, timeout=seconds)
        if self.is_over:
            # The thread has nothing left to do.
            self._thread.join(SHUTDOWN_GRACE)

    def result(self) -> Reply:
        """Return the reply, or raise what the call raised."""
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error
        assert self._reply is not None, "the call is over"
        return self._reply

    def _work(self) -> None:
        try:
            self._reply = self._call.make(self._time_left)
        # Handed to the awaiting task, whatever it is.
        except BaseException as error:
            self._error = error
        # The loop may be closed: nothing awaits the reply of a call that was abandoned.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._over.set_result, None)
