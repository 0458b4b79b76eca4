"""An awaited call that is cut off at its deadline."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable

from ..drivers.port import Attempt
from ..engine.machine import Facts


async def cut_off(attempt: Callable[[], Awaitable[Attempt]], seconds: float | None) -> Attempt:
    """The attempt, or that its time ran out; with the task, the call's connection is let go of.

    Not `asyncio.wait_for`: its TimeoutError could be one that the call itself raised.
    """
    # 11 ms that a program which only blocks never pays.
    import asyncio  # noqa: PLC0415

    if seconds is None:
        return await attempt()
    task = asyncio.ensure_future(attempt())
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if done:
            return task.result()
    finally:
        if not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
    return Attempt(facts=Facts(acceptor=None), cut_off="deadline")
