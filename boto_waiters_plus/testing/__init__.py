"""For tests of code that waits: virtual time, and assertions that wait."""

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
    if name in ("VirtualClock", "virtual_time"):
        from . import virtual as module
    else:
        from . import assertions as module
    return getattr(module, name)
