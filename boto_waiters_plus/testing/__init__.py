"""For tests of code that waits: no real time passes, and assertions that take their time."""

from .assertions import (
    assert_always,
    assert_always_async,
    assert_eventually,
    assert_eventually_async,
    refute_eventually,
    refute_eventually_async,
)
from .virtual import VirtualClock, virtual_time

__all__ = [
    "VirtualClock",
    "assert_always",
    "assert_always_async",
    "assert_eventually",
    "assert_eventually_async",
    "refute_eventually",
    "refute_eventually_async",
    "virtual_time",
]
