"""What the tests of faults share."""

import contextlib
import functools
import gc
import importlib.metadata
import signal
import threading

from faults.server import BlackHole

GENEROUS = 8.0
"""Seconds late on a machine that has other things to do; unbounded, these faults last a minute."""

TELLS_ARRIVALS = tuple(map(int, importlib.metadata.version("botocore").split(".")[:2])) >= (1, 36)
"""Whether botocore tells when an answer has arrived."""


def aside(call):
    """The call in a thread of its own, which ends with the process at the latest."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    return thread


def raised_by(call):
    """What a call raises, if anything."""
    try:
        call()
    except Exception as raised:
        return raised
    return None


def own_threads(*but):
    """The threads of the package whose names do not end so."""
    threads = [t for t in threading.enumerate() if t.name.startswith("boto_waiters_plus")]
    return [thread for thread in threads if not thread.name.endswith(but)]


@functools.cache
def are_black_holes_possible():
    with BlackHole() as hole:
        return hole.holds


@contextlib.contextmanager
def handled(handler, number):
    """Let a signal of this number be handled so."""
    # Python swallows what a handler raises while a finalizer runs.
    gc.disable()
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
        gc.enable()


@contextlib.contextmanager
def alarmed(seconds, handler):
    """Let SIGALRM come to this thread once; pytest-timeout's own goes on afterwards."""
    timer = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        with handled(handler, signal.SIGALRM):
            signal.setitimer(signal.ITIMER_REAL, seconds)
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
