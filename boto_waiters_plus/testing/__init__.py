"""For tests of code that waits: virtual time, and assertions that wait."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    """Import a name at its first use: the pytest plugin lives here and must cost nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    is_virtual = name in ("VirtualClock", "virtual_time")
    module = importlib.import_module(".virtual" if is_virtual else ".assertions", __name__)
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
