"""Tells whether a signal handler raised an exception, wherever the signal arrived."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from types import FrameType


def is_of_handler(error: BaseException) -> bool:
    """Return whether a signal handler raised an error.

    A handler is given the frame that it interrupts, which is the one below its own, and is mostly
    installed still. The frames of each time that the error was raised are looked at: libraries
    raise an error again, and hand it to generators.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if len(frames) < 2:
        return False
    installed = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    return any(
        frame.f_code in installed or any(given is frames[index] for given in _arguments(frame))
        for index, frame in enumerate(frames[1:])
    )


def _code_of(handler: object) -> object:
    """Return the code of a function, a method, a partial function or an object that is called."""
    if not callable(handler) or isinstance(handler, signal.Handlers):
        return None
    function = getattr(handler, "func", handler)
    function = getattr(function, "__func__", function)
    of_class = vars(type(function)).get("__call__")
    return getattr(function, "__code__", getattr(of_class, "__code__", None))


def _arguments(frame: FrameType) -> Iterator[object]:
    code, values = frame.f_code, frame.f_locals
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 1]:
        value = values.get(name)
        yield from value if isinstance(value, tuple) else (value,)
