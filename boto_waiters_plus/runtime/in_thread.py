"""A port that blocks, polled from asyncio: each call in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading

from ..engine.machine import Facts
from ..options import CancelEvent
from .attempt import Attempt, Port
from .clock import current_time, either
from .scheduler import PATIENCE


class Stop:
    """The end of the call under way: the caller's own event, or that nobody waits any more.

    Args:
        cancel: the caller's own.
    """

    def __init__(self, cancel: CancelEvent | None) -> None:
        self._nobody_waits = threading.Event()
        self.event = either(self._nobody_waits, cancel)
        """What the port has to heed."""

    def set(self) -> None:
        """Nobody waits for the call any more."""
        self._nobody_waits.set()


class ThreadPort:
    """Polls a port in threads; daemons, and not the loop's own few, which are joined at exit.

    Args:
        port: what is polled; it ends its calls at their deadline and when `stop` says so.
        stop: is set when the polling task is cancelled.
    """

    def __init__(self, port: Port, stop: Stop) -> None:
        self._port = port
        self._stop = stop

    async def poll(self, time_left: float | None) -> Attempt:
        """Wait for the call, at most `time_left` seconds; see `Port.poll`.

        A call that ends neither by itself nor when it is told to is left to itself.
        """
        call = _Call(self._port, time_left)
        with current_time().hold():
            call.start()
            try:
                await call.wait(None if time_left is None else time_left + PATIENCE)
            except asyncio.CancelledError:
                self._stop.set()
                await call.wait(PATIENCE)
                raise
        if call.is_over:
            return call.result()
        self._stop.set()
        return Attempt(facts=Facts(acceptor=None), cut_off="deadline")


class _Call:
    """One call in its thread."""

    def __init__(self, port: Port, time_left: float | None) -> None:
        self._port = port
        self._time_left = time_left
        self._loop = asyncio.get_running_loop()
        self._over = self._loop.create_future()
        self._attempt: Attempt | None = None
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
        """Wait until it is over, at most so long."""
        await asyncio.wait({self._over}, timeout=seconds)
        if self.is_over:
            # It has nothing to do but end.
            self._thread.join(PATIENCE)

    def result(self) -> Attempt:
        """What the port gave, or raised."""
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error
        assert self._attempt is not None, "the call is over"
        return self._attempt

    def _work(self) -> None:
        try:
            self._attempt = self._port.poll(self._time_left)
        # Handed to the task that waits, whatever it is.
        except BaseException as error:
            self._error = error
        # The loop may be closed: nobody asks for the answer of a call that was left to itself.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._over.set_result, None)
