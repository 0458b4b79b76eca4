"""Which exceptions a signal handler of the caller's raised, wherever the signal arrived."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from types import FrameType


def is_of_handler(error: BaseException) -> bool:
    """Return whether a signal handler raised an error.

    A handler is given the frame that it interrupts, which is the one below its own. The frames of
    each time that the error was raised are looked at: libraries raise an error again, and hand it
    to generators.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(
        any(given is frames[index] for given in _arguments(handler))
        for index, handler in enumerate(frames[1:])
    )


def _arguments(frame: FrameType) -> Iterator[object]:
    code, values = frame.f_code, frame.f_locals
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 1]:
        value = values.get(name)
        yield from value if isinstance(value, tuple) else (value,)
