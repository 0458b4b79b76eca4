"""For tests of code that waits: virtual time, and assertions that wait."""

from importlib import import_module
from typing import Any

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "virtual" if name in ("VirtualClock", "virtual_time") else "assertions"
    return getattr(import_module(f".{module}", __name__), name)
