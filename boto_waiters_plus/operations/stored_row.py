"""A row of a store and the clock of stores, as the domain and its database know them.

Nothing here needs SQLAlchemy. Setting the wall clock moves no lease, and no time that a wait has
left; what has to hold across machines, or a restart of this one, begins with its time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

Row = Mapping[str, Any]
"""Plain values, one for each column of `sql.tables.WAITS`, or of `CALLS`."""

OPEN: Final = "open"
SUCCEEDED: Final = "succeeded"

UNDRIVEN: Final = 0
"""In place of a lease, for `write`: the waits that no lease drives which has not ended."""

ENDED: Final = -1
"""In place of a lease, for `write`: the waits that have ended."""

FREE: Final[Row] = {"lease": None, "worker": None}
"""The values of these columns in a wait that no worker drives."""

REQUEST_KEY: Final = 32
"""Characters at the beginning of `request` that are the same for all rows of one request id."""

Position = tuple[float, str]
"""Where a page of a list begins: `created` and `id` of the last row of the page before."""


class KeyInUseError(Exception):
    """An open wait has the exclusive key; `id` is that of the wait."""

    def __init__(self, wait_id: str) -> None:
        super().__init__(wait_id)
        self.id = wait_id


class LeaseLostError(Exception):
    """The lease was not renewed in time, and its waits are others' now."""


# --- a clock that cannot be set ------------------------------------------------------------------

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
