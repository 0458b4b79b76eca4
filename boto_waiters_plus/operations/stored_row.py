"""A row of a store, as the domain and its database know it; nothing here needs SQLAlchemy."""

from __future__ import annotations

from collections.abc import Mapping
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
