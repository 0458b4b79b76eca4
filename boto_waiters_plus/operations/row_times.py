"""The times of ended rows, for waits with `delay_history` in the same store."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from ..batch.wait import Wait
from ..engine.learned_delays import KnownTime, is_sound_time
from ..engine.machine import Policy
from ..history import MOST_TIMES
from ..wait.learned_policy import with_times
from .backend import SUCCEEDED, Backend, Row
from .begun_rows import begun_of
from .error_codes import OperationError
from .sealing import Seal, loaded

_IS_END: Final = {SUCCEEDED: True, "failed": True, "timed_out": False, "attempts_used_up": False}
"""By the state of a row: whether the wait ended, or its time."""

KEY: Final = ("service", "waiter", "region")


class RowTimes:
    """The times of the ended rows of a store, read once for each kind of wait."""

    def __init__(self, backend: Backend, seal: Seal) -> None:
        self._backend, self._seal = backend, seal
        self._known: dict[tuple[Any, ...], tuple[KnownTime, ...]] = {}

    def policy(self, row: Row, wait: Wait, *, is_begun: bool) -> Policy:
        """Return the policy of a wait, with the times of its kind if its row asks for them."""
        asked = loaded(row["policy"], "policy")
        if not asked.get("delay_history"):
            return wait.policy
        names = [*(row[name] or "" for name in KEY), asked.get("delay_kind") or ""]
        key = (*names, is_begun)
        if key not in self._known:
            filters = {name: row[name] for name in KEY if row[name] is not None}
            ended = self._backend.list({"state": "done", **filters}, None, MOST_TIMES)
            self._known[key] = tuple(self._times(ended, names[3], is_begun=is_begun))
        has_longest = bool(asked.get("max_delay_given"))
        return with_times(wait.policy, self._known[key], names, has_longest=has_longest)

    def _times(self, rows: list[Row], kind: str, *, is_begun: bool) -> Iterator[KnownTime]:
        for row in rows:
            # A damaged row tells nothing.
            with contextlib.suppress(OperationError, TypeError, AttributeError):
                seconds, is_end = row["elapsed"], _IS_END.get(row["state"])
                if is_end is None or row["attempts"] < 2 or not is_sound_time(seconds):
                    continue
                own = loaded(row["policy"], "policy").get("delay_kind") or ""
                if own == kind and (begun_of(row, self._seal) is not None) is is_begun:
                    yield KnownTime(seconds, is_end)
