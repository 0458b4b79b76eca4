"""The frames that an error came through."""

from __future__ import annotations

import traceback
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
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frames and not _is_inside(frame, frames[-1]):
            break
        frames.append(frame)
    return frames


def _is_inside(frame: FrameType, caller: FrameType) -> bool:
    # That of a coroutine may have no caller afterwards; what raises an error again has it twice.
    if frame.f_back in (None, caller) or frame is caller:
        return True
    # A thread and a task begin anew.
    return module_of(frame) == _OF_A_THREAD or module_of(caller) == _OF_A_TASK


def module_of(frame: FrameType) -> str:
    """Return the name of the module whose code runs in a frame."""
    return str(frame.f_globals.get("__name__"))


def modules_of(error: BaseException) -> list[str]:
    """Return the names of the modules of all its frames, those of the last time first."""
    return [module_of(frame) for frame, _ in traceback.walk_tb(error.__traceback__)]
