"""Signals that end a worker which runs in the main thread."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def ended_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at SIGTERM and SIGHUP while the block runs, if this is the main thread.

    After the block, the program's own handler of SIGTERM is called.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def handle(number: int, _: Any) -> None:
        received.append(number)
        stop()

    names = ("SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    # One that is ignored stays so, as SIGHUP under nohup.
    numbers = [each for each in numbers if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, handle) for each in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    own = before.get(signal.SIGTERM)
    if received and callable(own):
        own(received[0], None)
