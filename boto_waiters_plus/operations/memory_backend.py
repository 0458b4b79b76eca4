"""A store in the memory of one process, for programs and tests that need no database."""

from __future__ import annotations

import builtins
import contextlib
import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ..common.process import ProcessLock
from .backend import (
    ENDED,
    FREE,
    OPEN,
    UNDRIVEN,
    Backend,
    KeyInUseError,
    LeaseLostError,
    Position,
    Row,
    closed,
    moments,
    request_key,
    rows_to_add,
)
from .boot_clock import Clock, steady_time
from .operation import StoreError

_Rows = dict[str, dict[str, Any]]


class MemoryBackend(Backend):
    """Waits in dictionaries. One lock makes a transaction of each method.

    Args:
        clock: tells the time in place of the real clock.
    """

    name = ":memory:"
    url = None
    is_local = True

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = steady_time if clock is None else clock
        self._lock = ProcessLock()
        self._numbers = itertools.count(1)
        self._is_closed = False
        self._waits: _Rows = {}
        self._definitions: dict[str, str] = {}
        self._calls: _Rows = {}
        # When each lease ends, and its worker.
        self._leases: dict[int, tuple[float, str]] = {}

    def close(self) -> None:
        self._is_closed = True

    def limit_time(self, seconds: float | None) -> None:
        """Do nothing: no method takes long."""

    def add(self, rows: Sequence[Row], definitions: Mapping[str, str]) -> builtins.list[Row]:
        with self._transaction() as now:
            keys = {request_key(row) for row in rows} - {None}
            ids = [row["id"] for row in rows]
            ids += [k for k, row in self._waits.items() if keys and request_key(row) in keys]
            there, known = self.get(ids), {**definitions, **self._definitions}
            new = rows_to_add(rows, there, now)
            for row in new.values():
                _refuse_key(row, self._waits)
                if row["digest"] not in known:
                    raise StoreError(f"store {self.name}: a definition is missing")
            self._definitions = known
            self._waits.update(new)
            return there

    def get(self, ids: Sequence[str]) -> builtins.list[Row]:
        with self._transaction():
            return [dict(self._waits[each]) for each in dict.fromkeys(ids) if each in self._waits]

    def list(
        self, filters: Mapping[str, str], before: Position | None, most: int
    ) -> builtins.list[Row]:
        def matches(row: Row) -> bool:
            is_meant = all(
                row["state"] != OPEN if (name, value) == ("state", "done") else row[name] == value
                for name, value in filters.items()
            )
            return is_meant and (before is None or _position(row) < before)

        with self._transaction():
            found = [row for row in self._waits.values() if matches(row)]
            return [*map(dict, sorted(found, key=_position, reverse=True)[:most])]

    def open_ids(self, ids: Sequence[str] | None = None) -> set[str]:
        with self._transaction():
            names = self._waits if ids is None else self._waits.keys() & set(ids)
            return {each for each in names if self._waits[each]["state"] == OPEN}

    def ended_ids(self, since: float) -> tuple[set[str], float]:
        with self._transaction() as now:
            rows = self._waits.items()
            return {k for k, row in rows if row["ended"] is not None and row["ended"] >= since}, now

    def reopen(self, row: Row, values: Mapping[str, Any]) -> bool:
        with self._transaction() as now:
            _refuse_key(row, self._waits)
            found = self._waits.get(row["id"])
            end = row["state"], row["ended"]
            if found is None or (found["state"], found["ended"]) != end or row["state"] == OPEN:
                return False
            found.update({**moments(values, now), **FREE})
            return True

    def expire(self, seconds: float) -> int:
        number = 0
        with self._transaction() as now:
            for rows in (self._waits, self._calls):
                ended = [key for key, row in rows.items() if row["ended"] is not None]
                old = [key for key in ended if rows[key]["ended"] <= now - seconds]
                number += len(old)
                for key in old:
                    del rows[key]
            used = {row["digest"] for row in self._waits.values()}
            self._definitions = {k: v for k, v in self._definitions.items() if k in used}
        return number

    def acquire(self, worker: str, seconds: float) -> int:
        with self._transaction() as now:
            for row in self._waits.values():
                if row["state"] == OPEN and row["lease"] not in (None, *self._leases):
                    row.update(FREE)
            lease = next(self._numbers)
            self._leases[lease] = now + seconds, worker
            return lease

    def renew(self, lease: int, seconds: float) -> bool:
        with self._transaction() as now:
            if lease not in self._leases:
                return False
            self._leases[lease] = now + seconds, self._leases[lease][1]
            return True

    def claim(
        self, lease: int, seconds: float, most: int, without: Collection[str] = ()
    ) -> tuple[builtins.list[Row], float]:
        without = frozenset(without)
        with self._transaction() as now:
            if not self.renew(lease, seconds):
                raise LeaseLostError
            for dead in [each for each, (end, _) in self._leases.items() if end < now]:
                self.release(dead)
            free = [
                row
                for row in self._waits.values()
                if row["state"] == OPEN and row["lease"] is None
                if without.isdisjoint((row["kind"], row["id"])) or row["deadline"] <= now
            ]
            taken = sorted(free, key=_position)[:most]
            for row in taken:
                row.update(lease=lease, worker=self._leases[lease][1])
            found: builtins.list[Row]
            found = [{**row, "definition": self._definitions.get(row["digest"])} for row in taken]
            for row in self._waits.values():
                if row["state"] != OPEN and row["owes"] is not None and row["owes"] >= now:
                    is_free = row["lease"] == lease or row["lease"] not in self._leases
                    if is_free and without.isdisjoint((row["kind"], row["id"])):
                        found.append(dict(row))
                        row["lease"] = lease
            return found, now

    def write(self, lease: int | None, changes: Sequence[Mapping[str, Any]]) -> int:
        with self._transaction() as now:
            mine = [each for each in changes if self._is_driven_by(lease, each["id"], now)]
            for change in mine:
                self._waits[change["id"]].update(moments(change, now))
            return len(mine)

    def lost(self, lease: int, ids: Collection[str]) -> Collection[str]:
        with self._transaction():
            return [each for each in ids if not self._is_driven_by(lease, each)]

    def leases(self) -> set[int]:
        with self._transaction() as now:
            return {lease for lease, (end, _) in self._leases.items() if end >= now}

    def release(self, lease: int) -> None:
        with self._transaction():
            self._leases.pop(lease, None)
            for wait_id, row in self._waits.items():
                if self._is_driven_by(lease, wait_id):
                    row.update(FREE)

    def add_call(self, row: Row) -> None:
        with self._transaction() as now:
            self._calls.setdefault(row["id"], moments(row, now))

    def write_call(self, call_id: str, values: Mapping[str, Any]) -> bool:
        with self._transaction() as now:
            row = self._calls.get(call_id)
            if row is None or row["ended"] is not None:
                return False
            row.update(moments(values, now))
            return True

    def calls(self, call_id: str | None = None) -> builtins.list[Row]:
        with self._transaction() as now:
            rows = sorted(self._calls.values(), key=_position)
            found = [row for row in rows if row["id" if call_id else "ended"] == call_id]
            return [{**row, "age": now - row["created"]} for row in found]

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[float]:
        """Hold the lock; return the time."""
        with self._lock:
            if self._is_closed:
                raise closed(self.name)
            yield self._clock()

    def _is_driven_by(self, lease: int | None, wait_id: str, now: float = 0.0) -> bool:
        row = self._waits.get(wait_id, {"state": None})
        if row["state"] != OPEN:
            return lease == ENDED and row["state"] is not None
        if lease == UNDRIVEN:
            return self._leases.get(row["lease"], (-math.inf, ""))[0] < now
        return lease in (None, row["lease"])


def _refuse_key(row: Row, waits: _Rows) -> None:
    """Raise KeyInUseError if another open wait has the key of this one."""
    if (key := row["exclusive_key"]) is not None:
        for other in waits.values():
            if (other["exclusive_key"], other["state"]) == (key, OPEN) and other["id"] != row["id"]:
                raise KeyInUseError(other["id"])


def _position(row: Row) -> Position:
    created = row["created"]
    # A damaged row must not keep the others from being sorted.
    return (created if isinstance(created, float) else math.inf), row["id"]
