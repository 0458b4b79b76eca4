"""The frames that an error came through."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Final

_OF_A_THREAD: Final = "boto_waiters_plus.calls.abandonable_call"
_OF_A_TASK: Final = "boto_waiters_plus.calls.awaited_call"


def frames_of(error: BaseException) -> list[FrameType]:
    """Return the frames that an error came through when it was raised last, outermost first.

    A test double may raise one error again and again, whose traceback then has the frames of every
    time. What was raised in a thread or a task of a call has those of it, too.
    """
    frames: list[FrameType] = []
    for frame in all_frames_of(error):
        if frames and not _is_inside(frame, frames):
            break
        frames.append(frame)
    return frames


def all_frames_of(error: BaseException) -> list[FrameType]:
    """Return the frames of every time that an error was raised, those of the last time first."""
    return [frame for frame, _ in traceback.walk_tb(error.__traceback__)]


def _is_inside(frame: FrameType, callers: Sequence[FrameType]) -> bool:
    # What raises an error again has it twice.
    if frame.f_back is callers[-1] or any(frame is each for each in callers):
        return True
    # That of a coroutine may have no caller afterwards; that of a module never has.
    if frame.f_back is None and frame.f_code.co_flags & inspect.CO_COROUTINE:
        return True
    # A thread and a task begin anew.
    return module_of(frame) == _OF_A_THREAD or module_of(callers[-1]) == _OF_A_TASK


def module_of(frame: FrameType) -> str:
    """Return the name of the module whose code runs in a frame."""
    return str(frame.f_globals.get("__name__"))


def modules_of(error: BaseException) -> list[str]:
    """Return the names of the modules of all frames; see `all_frames_of`."""
    return [module_of(frame) for frame in all_frames_of(error)]
