"""The lease of a worker: which operations it drives, and whether it still may write.

An operation carries the id of the lease that drives it. Ids are never used twice, and every write
of a worker names its own: once another worker has taken an operation over, no late write of the
first matches it. A lease that was not renewed in time is deleted by the worker that finds it, and
its operations are free again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, select, update

from .database import Database, wall_time
from .stored_operation import Row
from .tables import DEFINITIONS, LEASES, OPEN, OPERATIONS


class LeaseLostError(Exception):
    """The lease was not renewed in time, and its operations are others' now."""


class Lease:
    """The lease of one worker.

    Args:
        database: where the lease is kept.
        worker: the name of the worker.
        seconds: how long the lease lasts after each renewal.

    Attributes:
        number: the id; it changes when a lost lease is replaced.
    """

    def __init__(self, database: Database, worker: str, seconds: float) -> None:
        self._database = database
        self._worker = worker
        self._seconds = seconds
        self.number = 0

    def acquire(self) -> None:
        """Begin a new lease."""
        with self._database.writing() as connection:
            expires = wall_time(connection) + self._seconds
            values = {"worker": self._worker, "expires": expires}
            key = connection.execute(LEASES.insert().values(**values)).inserted_primary_key
            assert key is not None, "an insert of one row has a key"
            self.number = key[0]

    def renew(self, clock_jump: float | None = None) -> float | None:
        """Renew the lease; return the wall-clock time, or None if the lease is lost.

        Args:
            clock_jump: seconds by which the wall clock jumped; noted on the operations.
        """
        with self._database.writing() as connection:
            now = wall_time(connection)
            mine = LEASES.c.id == self.number
            change = update(LEASES).where(mine).values(expires=now + self._seconds)
            if connection.execute(change).rowcount != 1:
                return None
            if clock_jump is not None:
                driven = update(OPERATIONS).where(self._is_driven())
                connection.execute(driven.values(clock_jump=clock_jump))
            return now

    def claim(self, most: int) -> tuple[list[Row], float]:
        """Take over operations that no worker drives; return their rows and the time.

        Each row also has `definition`.

        Raises:
            LeaseLostError: the lease is gone; under its number, operations would be taken from
                everybody.
        """
        with self._database.writing() as connection:
            now = wall_time(connection)
            # Also locks the row: no worker deletes the lease before its operations are taken.
            mine = update(LEASES).where(LEASES.c.id == self.number)
            if connection.execute(mine.values(expires=now + self._seconds)).rowcount != 1:
                raise LeaseLostError
            dead = connection.execute(select(LEASES.c.id).where(LEASES.c.expires < now)).scalars()
            for number in dead.all():
                # The condition again: its worker may have renewed it meanwhile.
                expired = and_(LEASES.c.id == number, LEASES.c.expires < now)
                if connection.execute(delete(LEASES).where(expired)).rowcount == 1:
                    driven = update(OPERATIONS).where(OPERATIONS.c.lease == number)
                    connection.execute(driven.values(lease=None))
            free = (
                select(OPERATIONS.c.id)
                .where(OPERATIONS.c.state == OPEN, OPERATIONS.c.lease.is_(None))
                .order_by(OPERATIONS.c.created)
                .limit(most)
                .with_for_update(skip_locked=True)
            )
            ids = connection.execute(free).scalars().all()
            if not ids:
                return [], now
            taken = update(OPERATIONS).where(OPERATIONS.c.id.in_(ids))
            connection.execute(taken.values(lease=self.number, worker=self._worker))
            rows = (
                select(OPERATIONS, DEFINITIONS.c.definition)
                .join(DEFINITIONS, DEFINITIONS.c.digest == OPERATIONS.c.digest)
                .where(OPERATIONS.c.id.in_(ids))
                .order_by(OPERATIONS.c.created)
            )
            return [dict(row) for row in connection.execute(rows).mappings()], now

    def workers(self) -> int:
        """Return the number of workers of the store that are alive, this one included."""
        with self._database.reading() as connection:
            is_valid = LEASES.c.expires >= wall_time(connection)
            query = select(func.count()).select_from(LEASES).where(is_valid)
            return max(1, int(connection.execute(query).scalar_one()))

    def write(self, changes: Sequence[Mapping[str, Any]], ages: Sequence[float]) -> int:
        """Write to operations; those that the lease does not drive stay as they are.

        Args:
            changes: the new values of each, all with the same names, and its `id`. Times among
                them are seconds from the moment that they describe.
            ages: the seconds since that moment, for each change.

        Returns:
            The number of operations that were written to.
        """
        columns = [name for name in changes[0] if name != "id"]
        values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in columns}
        mine = and_(OPERATIONS.c.id == bindparam("its_id"), self._is_driven())
        with self._database.writing() as connection:
            now = wall_time(connection)
            rows = [
                {
                    "its_id": change["id"],
                    **{f"new_{name}": _moment(name, change[name], now - age) for name in columns},
                }
                for change, age in zip(changes, ages, strict=True)
            ]
            return connection.execute(
                update(OPERATIONS).where(mine).values(**values), rows
            ).rowcount

    def driven(self) -> Collection[str]:
        """Return the ids of the open operations that the lease drives."""
        with self._database.reading() as connection:
            query = select(OPERATIONS.c.id).where(self._is_driven())
            return set(connection.execute(query).scalars())

    def number_driven(self) -> int:
        """Return the number of the open operations that the lease drives."""
        with self._database.reading() as connection:
            query = select(func.count()).select_from(OPERATIONS).where(self._is_driven())
            return int(connection.execute(query).scalar_one())

    def release(self) -> None:
        """Hand everything back at once, and end the lease."""
        with self._database.writing() as connection:
            values: dict[str, Any] = {"lease": None, "worker": None}
            connection.execute(update(OPERATIONS).where(self._is_driven()).values(**values))
            connection.execute(delete(LEASES).where(LEASES.c.id == self.number))

    def _is_driven(self) -> Any:
        return and_(OPERATIONS.c.lease == self.number, OPERATIONS.c.state == OPEN)


_MOMENTS = frozenset({"machine_at", "ended", "next_attempt"})


def _moment(name: str, value: Any, described: float) -> Any:
    return described + value if name in _MOMENTS and value is not None else value
