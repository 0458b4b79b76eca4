"""A clock that cannot be set, for leases and for the time that waits have left.

Setting the wall clock moves neither. What has to hold across machines, or across a restart of this
one, begins with the wall clock's time. It stands alone: databases and waits have it in common.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

Clock = Callable[[], float]
"""Returns the time in seconds; it goes on evenly."""


def _boot() -> str | None:
    """Return what names the time since the machine's last start; None if nothing does."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        # A container may see another time since the start.
        with contextlib.suppress(OSError):
            boot += " " + str(Path("/proc/self/ns/time").readlink())
        return boot
    return None


def since_boot() -> float:
    """Return the seconds since the machine started, those of a suspension included."""
    # Looked up, because only Linux has the first, and Windows neither.
    for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"):
        if hasattr(time, name):
            return time.clock_gettime(getattr(time, name))
    return time.monotonic()


BOOT: Final = _boot()
"""The name of the machine's last start, the same in all processes; None where there is none."""

START: Final = time.time() - since_boot()
"""When the machine started, by the wall clock as this process found it."""


def steady_time() -> float:
    """Return the time as seconds since the epoch, whatever is done to the wall clock later."""
    return START + since_boot()


def monotonic_time() -> float:
    """Return `time.monotonic()`, looked up at each call because virtual time replaces it."""
    return time.monotonic()
