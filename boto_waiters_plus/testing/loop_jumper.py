"""Moves virtual time when an event loop has nothing to run."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sized

CHECK_INTERVAL = 0.001
"""Real seconds between two checks whether time may move."""

TURNS_BEFORE_JUMP = 2
"""Idle turns of the event loop before time jumps; the loop polls for input between them."""

TURNS_WITHOUT_INSIGHT = 20
"""The same for a loop that does not show what is ready to run: a task needs a few turns from the
result of a future to its next sleep."""


class LoopJumper:
    """Jumps to the next planned moment when an event loop has nothing else to run.

    Each loop has one. If every sleeping task jumped for itself, the second would jump before the
    task that the first woke has run.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        jump: Callable[[LoopJumper], bool],
        is_held: Callable[[], bool],
    ) -> None:
        self.thread = threading.current_thread()
        self._loop, self._jump, self._is_held = loop, jump, is_held
        self._ready = ready_of(loop)
        self._enough = TURNS_WITHOUT_INSIGHT if self._ready is None else TURNS_BEFORE_JUMP
        self._sleeping: set[asyncio.Future[None]] = set()
        self._idle_turns = 0
        self._turning = False

    @property
    def is_turning(self) -> bool:
        """Whether tasks of the loop sleep."""
        return self._turning and self._loop.is_running()

    @property
    def is_opaque(self) -> bool:
        """Whether the loop does not show what is ready to run."""
        return self._ready is None

    @property
    def is_idle(self) -> bool:
        """Whether the loop has had nothing to run for some turns, and has nothing now."""
        return self._idle_turns >= self._enough and not self._ready

    def is_awake(self) -> None:
        """Note that time moves, and that tasks may wake."""
        self._idle_turns = 0

    def fail(self, error: BaseException) -> set[threading.Thread]:
        """Let the sleeping tasks raise an error; return the thread of the loop if there are any."""
        if not self._sleeping or self._loop.is_closed():
            return set()
        for woken in tuple(self._sleeping):
            self._loop.call_soon_threadsafe(wake, woken, error)
        return {self.thread}

    async def rest(self, woken: asyncio.Future[None]) -> None:
        """Sleep until the future is done."""
        self._sleeping.add(woken)
        self._idle_turns = 0
        self.thread = threading.current_thread()
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._turn)
        try:
            await woken
        finally:
            self._sleeping.discard(woken)
            self._idle_turns = 0

    def _turn(self) -> None:
        if not self._sleeping:
            self._turning = False
            return
        if self._is_held():
            self._idle_turns = 0
            self._loop.call_later(CHECK_INTERVAL, self._turn)
            return
        self._idle_turns = 0 if self._ready else self._idle_turns + 1
        if self._idle_turns < self._enough:
            self._loop.call_soon(self._turn)
            return
        has_jumped = True
        # Raised by the tasks that sleep, and not into the loop, which would only log it.
        with contextlib.suppress(BaseException):
            has_jumped = self._jump(self)
        if has_jumped:
            self._loop.call_soon(self._turn)
        else:
            self._loop.call_later(CHECK_INTERVAL, self._turn)


def ready_of(loop: asyncio.AbstractEventLoop) -> Sized | None:
    """Return the callbacks that are ready in a loop; None: the loop does not show them.

    There is no public API for it; without it, see `TURNS_WITHOUT_INSIGHT`.
    """
    return getattr(loop, "_ready", None)


def wake(woken: asyncio.Future[None], error: BaseException | None = None) -> None:
    """End the sleep of a task, which raises the error if there is one."""
    if woken.done():
        return
    if error is None:
        woken.set_result(None)
    else:
        woken.set_exception(error)
