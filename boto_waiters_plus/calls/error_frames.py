"""The frames that an error came through."""

from __future__ import annotations

import inspect
import threading
import traceback
from types import FrameType
from typing import Final

_SUSPENDED: Final = inspect.CO_ASYNC_GENERATOR | inspect.CO_COROUTINE | inspect.CO_GENERATOR
_LOOP: Final = "asyncio.base_events"
_OURS: Final = "boto_waiters_plus."
_TASK: Final = "boto_waiters_plus.calls.awaited_call"
_THREAD: Final = "boto_waiters_plus.calls.abandonable_call"


def frames_of(error: BaseException) -> list[FrameType]:
    """Return the frames that an error came through when it was raised last, outermost first.

    A test double may raise one error again and again, whose traceback then has the frames of every
    time. The frames of another thread or task that the call used count, too.
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
    above = module_of(frames[-1])
    if frame.f_back in frames or above == _TASK or above == module_of(frame) == _THREAD:
        return True
    caller = frame
    while caller not in frames:
        module = module_of(caller)
        if caller in outside:
            # The event loop starts each task; anything else belongs to an earlier call.
            return module == _LOOP
        if module.startswith(_OURS):
            return False  # An earlier call of the package, in another thread.
        if caller.f_back is None:
            # A thread starts; or a coroutine or generator has ended, and has no caller any more.
            return bool(caller.f_code.co_flags & _SUSPENDED) or module == threading.__name__
        caller = caller.f_back
    return True


def module_of(frame: FrameType) -> str:
    """Return the name of the module whose code runs in a frame."""
    return str(frame.f_globals.get("__name__"))


def modules_of(error: BaseException) -> list[str]:
    """Return the names of the modules of all frames of an error, however often it was raised."""
    return [module_of(frame) for frame, _ in traceback.walk_tb(error.__traceback__)]
