"""What a store keeps its waits in: the one interface between the domain and a database.

`memory_backend` and `sql` implement it. Another one has to pass the contracts in
tests/operations/backend_contract.py, by subclasses, and is opened by `Store(backend)`.

A *row* is a mapping of plain values, one for each column of `sql.tables.WAITS`, or of `CALLS`; a
backend looks at few of them (`id`, `state`, `kind`, `digest`, `exclusive_key`, the moments,
`lease`, `worker`) and keeps the others. Each row is given whole to `add`, and comes back whole
from `get`, `list` and `claim`.

*Moments* (`MOMENTS`) are given as seconds from now, negative ones in the past, and returned as
seconds since the epoch by the clock of the backend: that of the server where machines share one,
else `boot_clock.steady_time`, which goes on evenly when the wall clock is set. Processes that share
a backend have to agree on the time: `sql.database` keeps with its rows when that clock began.

The *generation* of a wait is the lease that drives it. Leases are numbers that are never used
twice. Every write of a worker names its lease, and changes only rows that are open and still have
it: once another worker has taken a wait over, a late write of the first matches nothing. A wait
that no lease drives is *free*: its `lease` and `worker` are None.

A wait that has ended may *owe* a call that stops what was begun, until the moment in `owes`; its
`lease` is then that of the worker that makes it.

Several threads call a backend at once, and so does the child of a fork, in which locks that other
threads held would stay locked: see `common.process.ProcessLock`.
"""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from .operation import StoreError

Row = Mapping[str, Any]

OPEN: Final = "open"
SUCCEEDED: Final = "succeeded"

UNDRIVEN: Final = 0
"""In place of a lease, for `write`: the waits that no lease drives which has not ended."""

ENDED: Final = -1
"""In place of a lease, for `write`: the waits that have ended."""

FREE: Final[Row] = {"lease": None, "worker": None}
"""The values of these columns in a wait that no worker drives."""

MOMENTS: Final = frozenset({"created", "deadline", "ended", "machine_at", "next_attempt", "owes"})

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


class Backend(ABC):
    """Keeps waits, leases and calls. Every method raises StoreError where it cannot.

    Each call is one transaction: it takes effect as a whole or not at all.
    """

    name: str
    """For messages; without a password."""
    url: Any
    """The `sqlalchemy.URL` with which `Store(url)` opens it elsewhere; None if there is none."""
    is_local: bool
    """Whether only processes of this machine can open it."""

    @abstractmethod
    def close(self) -> None:
        """Give up what it holds; every later call raises StoreError."""

    @abstractmethod
    def limit_time(self, seconds: float | None) -> None:
        """Let a call that takes longer raise StoreError; None: its usual limit.

        It counts from now for calls under way, from the beginning for later ones. For signal
        handlers, whose own thread may be inside a call: it takes no lock.
        """

    # --- waits ------------------------------------------------------------------------------

    @abstractmethod
    def add(self, rows: Sequence[Row], definitions: Mapping[str, str]) -> builtins.list[Row]:
        """Add open waits with their keys, all or none; return those that were already stored.

        A wait whose id is already stored stays as it is, since an earlier call may have stored it;
        so does one whose `request` begins with the same `REQUEST_KEY` characters. Of two such rows
        the first is added. Waits are added as free, whatever their
        rows say. Definitions (by digest) that are already stored stay as they are.

        Raises:
            KeyInUseError: another open wait, or another of `rows`, has the same `exclusive_key`.
            StoreError: the definition of one is neither given nor stored.
        """

    @abstractmethod
    def get(self, ids: Sequence[str]) -> builtins.list[Row]:
        """Return those of these waits that are there, each once, in any order."""

    @abstractmethod
    def list(
        self, filters: Mapping[str, str], before: Position | None, most: int
    ) -> builtins.list[Row]:
        """Return the newest waits, at most so many, that are older than `before`.

        Filters are the values of columns, and all must match; `state` may also be `"done"`.
        """

    @abstractmethod
    def open_ids(self, ids: Sequence[str] | None = None) -> set[str]:
        """Return the ids of the waits that are open, or of those among these."""

    @abstractmethod
    def ended_ids(self, since: float) -> tuple[set[str], float]:
        """Return the ids of the waits that ended at this moment or later, and the time now.

        Here the moment is a time by the clock of the backend. An end whose transaction is still
        under way is not among them.
        """

    @abstractmethod
    def reopen(self, row: Row, values: Mapping[str, Any]) -> bool:
        """Open a wait again that has ended as in this row; it is free, whatever `values` say.

        Return False if it is gone or open, or its `state` or `ended` has changed.

        Raises:
            KeyInUseError: another open wait has its exclusive key.
        """

    @abstractmethod
    def expire(self, seconds: float) -> int:
        """Delete waits and calls that ended this long ago, or longer; return their number.

        Definitions that no wait has any more go too; one that a wait is being added with stays.
        """

    # --- leases -----------------------------------------------------------------------------

    @abstractmethod
    def acquire(self, worker: str, seconds: float) -> int:
        """Begin a lease that ends after this many seconds; return its number, never used before.

        Open waits whose lease is not known, because their rows were damaged, are free again.
        """

    @abstractmethod
    def renew(self, lease: int, seconds: float) -> bool:
        """Let a lease last that long from now; return False if it is lost."""

    @abstractmethod
    def claim(
        self, lease: int, seconds: float, most: int, without: Collection[str] = ()
    ) -> tuple[builtins.list[Row], float]:
        """Take over open waits that no live lease drives, the oldest first; renew the lease.

        Each has the `lease` and its `worker` from then on. The open waits of other
        leases that have ended are free again, and only then are those leases lost. No two claim the
        same wait. Waits that owe a stop are claimed too, those of the lease itself among them.

        Args:
            lease, seconds: as for `renew`.
            most: at most so many.
            without: values of `kind` or `id`; their waits are claimed only after their deadline.

        Returns:
            The rows, each with its `definition` besides, and the time now. Those that owe a stop
            come last, with the lease that they had before.

        Raises:
            LeaseLostError: the lease is lost; nothing is taken.
        """

    @abstractmethod
    def write(self, lease: int | None, changes: Sequence[Mapping[str, Any]]) -> int:
        """Change waits that are open and whose generation is this lease; others stay as they are.

        A change has the `id` and the new values. It ends its wait (`state`), hands it back
        (`lease` and `worker`: None) or does neither. No lease drives a wait that has ended.

        Args:
            lease: the worker's; None: whatever the generation, as for a cancellation; `UNDRIVEN`;
                `ENDED`.
            changes: at most one for each wait.

        Returns:
            The number of waits that were changed.
        """

    @abstractmethod
    def lost(self, lease: int, ids: Collection[str]) -> Collection[str]:
        """Return those of these waits that have ended, are gone, or have another generation.

        `ids` are all that the worker drives, each once: if the lease has as many, none is lost.
        """

    @abstractmethod
    def leases(self) -> set[int]:
        """Return the leases that have not ended."""

    @abstractmethod
    def release(self, lease: int) -> None:
        """End a lease; its open waits are free."""

    # --- calls ------------------------------------------------------------------------------

    @abstractmethod
    def add_call(self, row: Row) -> None:
        """Add a call in its first phase. A call whose id is there stays as it is."""

    @abstractmethod
    def write_call(self, call_id: str, values: Mapping[str, Any]) -> bool:
        """Change a call that has not ended; return False if it has.

        Calls have no generation: every process that resumes one sends its token. The end (`ended`)
        is written once.
        """

    @abstractmethod
    def calls(self, call_id: str | None = None) -> builtins.list[Row]:
        """Return the call of an id, or those that have not ended, the oldest first.

        Each has its `age` besides: the seconds since it was `created`; None if that is damaged.
        """


def moments(values: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return values with the moments among them as times."""
    return {
        name: value + now if name in MOMENTS and value is not None else value
        for name, value in values.items()
    }


def rows_to_add(rows: Sequence[Row], there: Sequence[Row], now: float) -> dict[str, dict[str, Any]]:
    """Return, by id, those rows that are not `there` under their id or request, as free waits.

    Raises:
        KeyInUseError: two of them have the same `exclusive_key`.
    """
    known = {None, *(row["id"] for row in there), *map(request_key, there)}
    new: dict[str, dict[str, Any]] = {}
    holders: dict[str, str] = {}
    for row in rows:
        wait_id, request, key = row["id"], request_key(row), row["exclusive_key"]
        if wait_id in known or (request is not None and request in known):
            continue
        known |= {wait_id, request}
        new[wait_id] = {**moments(row, now), **FREE}
        if key is not None and holders.setdefault(key, wait_id) != wait_id:
            raise KeyInUseError(holders[key])
    return new


def request_key(row: Row) -> str | None:
    """Return what the rows of one request id have in common; None: it has none."""
    request: str | None = row["request"]
    return None if request is None else request[:REQUEST_KEY]


def closed(name: str) -> StoreError:
    """Return the error of a backend that is used after `close`."""
    return StoreError(f"store {name} is closed")
