"""The frames that an error came through."""

from __future__ import annotations

import traceback
from types import FrameType
from typing import Final

_FROM_A_THREAD: Final = "boto_waiters_plus.calls.abandonable_call"


def frames_of(error: BaseException) -> list[FrameType]:
    """Return the frames that an error came through when it was raised last, outermost first.

    A test double may raise one error again and again, whose traceback then has the frames of every
    time. What was raised in a thread of a call has those of the thread, too.
    """
    frames: list[FrameType] = []
    for frame, _ in traceback.walk_tb(error.__traceback__):
        # That of a coroutine has no caller afterwards.
        is_inside = not frames or frame.f_back in (None, frames[-1])
        if not is_inside and module_of(frame) != _FROM_A_THREAD:
            break
        frames.append(frame)
    return frames


def module_of(frame: FrameType) -> str:
    """Return the name of the module whose code runs in a frame."""
    return str(frame.f_globals.get("__name__"))
