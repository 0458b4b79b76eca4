"""The frames that an error came through."""

from __future__ import annotations

import inspect
import threading
import traceback
from types import FrameType
from typing import Final

_LOOP: Final = "asyncio.base_events"


def frames_of(error: BaseException) -> list[FrameType]:
    """Return the frames that an error came through when it was raised last, outermost first.

    A test double may raise one error again and again, whose traceback then has the frames of every
    time. What was raised in another thread or task meanwhile has the frames of that, too.
    """
    frames: list[FrameType] = []
    outside: set[FrameType] = set()
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if not frames:
            outside = _callers_of(frame)
        elif not _is_inside(frame, frames, outside):
            break
        frames.append(frame)
    return frames


def _callers_of(frame: FrameType) -> set[FrameType]:
    callers = set()
    caller = frame.f_back
    while caller is not None:
        callers.add(caller)
        caller = caller.f_back
    return callers


def _is_inside(frame: FrameType, frames: list[FrameType], outside: set[FrameType]) -> bool:
    """Return whether a frame was called by the first of these frames, however far below."""
    caller = frame
    while caller not in frames:
        if caller in outside:
            # The loop runs each task anew; anything else made a call before.
            return module_of(caller) == _LOOP
        if caller.f_back is None:
            # A thread begins anew, and a coroutine that is over may have no caller.
            is_awaited = bool(caller.f_code.co_flags & inspect.CO_COROUTINE)
            return is_awaited or module_of(caller) == threading.__name__
        caller = caller.f_back
    return True


def module_of(frame: FrameType) -> str:
    """Return the name of the module whose code runs in a frame."""
    return str(frame.f_globals.get("__name__"))


def modules_of(error: BaseException) -> list[str]:
    """Return the names of the modules of the frames of every time, those of the last one first."""
    return [module_of(frame) for frame, _ in traceback.walk_tb(error.__traceback__)]
