"""The terminal at which somebody may be asked for a code."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Iterator
from typing import Any, Final

try:
    import termios
except ImportError:  # Windows, whose terminals are no files
    termios = None  # type: ignore[assignment]  # asked for where there are such files only

from .call_budget import CallExpired

_prompts: Final[list[None]] = []
"""One for each open prompt that turns the echo on again by itself."""


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """Mark a prompt as open that turns the echo on again by itself."""
    _prompts.append(None)
    try:
        yield
    finally:
        _prompts.pop()


@contextlib.contextmanager
def terminal_kept() -> Iterator[None]:
    """Turn the echo of the terminal on again if a prompt is left behind there.

    What runs in a thread may prompt by itself, and so may a process that it starts.
    """
    terminal = _opened()
    if terminal is None:
        yield
        return
    try:
        had_echo = _has_echo(_attributes_of(terminal))
        try:
            yield
        except BaseException as error:
            # Any other error has ended the prompt, too.
            is_left = isinstance(error, CallExpired) or not isinstance(error, Exception)
            if is_left and had_echo and not _prompts:
                _turn_echo_on(terminal)
            raise
    finally:
        os.close(terminal)


def _opened() -> int | None:
    """Open the terminal of the process; None: it has none."""
    try:
        return os.open(os.ctermid(), os.O_RDWR)
    except (AttributeError, OSError):
        return None


def _turn_echo_on(terminal: int) -> None:
    attributes = _attributes_of(terminal)
    # A process in the background would be stopped for it.
    if attributes is None or _has_echo(attributes) or not _is_in_foreground(terminal):
        return
    assert termios is not None, "a system with terminals that are files"
    attributes[3] |= termios.ECHO
    with contextlib.suppress(termios.error):
        termios.tcsetattr(terminal, termios.TCSANOW, attributes)


def _has_echo(attributes: list[Any] | None) -> bool:
    assert termios is not None, "a system with terminals that are files"
    return attributes is not None and bool(attributes[3] & termios.ECHO)


def _attributes_of(terminal: int) -> list[Any] | None:
    assert termios is not None, "a system with terminals that are files"
    try:
        return termios.tcgetattr(terminal)
    except termios.error:  # It is gone.
        return None


def _is_in_foreground(terminal: int) -> bool:
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # It is not the one that controls the process.
        return True


def can_answer() -> bool:
    """Return whether there is a terminal, or else an answer or its end: no pipe is waited for."""
    if not hasattr(os, "ctermid"):
        return True
    if (terminal := _opened()) is not None:
        os.close(terminal)
        return True
    try:
        return sys.stdin.isatty() or bool(select.select([sys.stdin], [], [], 0)[0])
    # What stands in for it cannot be asked.
    except (AttributeError, OSError, TypeError, ValueError):
        return True
