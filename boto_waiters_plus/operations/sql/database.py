"""Waits, leases and calls of a store, in SQL.

*Moments* (`MOMENTS`) are given as seconds from now, negative ones in the past, and returned as
seconds since the epoch by the clock of the store; see `Connections.now`.

The *generation* of a wait is the lease that drives it. Leases are numbers that are never used
twice. Every write of a worker names its lease, and changes only rows that are open and still have
it: once another worker has taken a wait over, a late write of the first matches nothing. A wait
that no lease drives is *free*: its `lease` and `worker` are None.

A wait that has ended may *owe* a call that stops what was begun, until the moment in `owes`; its
`lease` is then that of the worker that makes it.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, and_, bindparam, delete, or_, select, update

from ..stored_row import (
    ENDED,
    FREE,
    OPEN,
    REQUEST_KEY,
    UNDRIVEN,
    KeyInUseError,
    LeaseLostError,
    Position,
    Row,
)
from .connections import Connections, retried
from .tables import CALLS, DEFINITIONS, LEASES, WAITS

MOMENTS: Final = frozenset({"created", "deadline", "ended", "machine_at", "next_attempt", "owes"})

_AT_ONCE: Final = 1000
"""Ids in one statement."""

_DELETED_AT_ONCE: Final = 10_000

_LONGEST_LEASE: Final = 1e10
"""Seconds; the end of a longer one is damaged."""

_DEFINITIONS_LOCK: Final = 0x626F7464
"""The PostgreSQL advisory lock under which unused definitions are deleted."""

_ADD_DEFINITION: Final = sa.text(
    "insert into boto_waiters_definitions (digest, definition) values (:digest, :definition) "
    "on conflict do nothing"
)


class Database(Connections):
    """The waits, leases and calls of a store; see `Connections` for the arguments.

    Each method is one transaction, which takes effect as a whole or not at all; any thread calls
    it, and so does the child of a fork. All raise StoreError where the database cannot be used.
    """

    def limit_time(self, seconds: float | None) -> None:
        """Let a transaction that takes longer raise StoreError; None: the usual limit.

        It counts from now for those under way, from the beginning for later ones. SQLite keeps its
        `LOCK_TIMEOUT`. For signal handlers, whose own thread may be inside a transaction: it takes
        no lock.
        """
        self.limits.set(seconds)

    # --- waits ---------------------------------------------------------------------------

    @retried
    def add(self, rows: Sequence[Row], definitions: Mapping[str, str]) -> builtins.list[Row]:
        """Add open waits with their keys, all or none, as free; return those that were stored.

        A wait whose id is already stored stays as it is, since an earlier call may have stored it;
        so does one whose `request` begins with the same `REQUEST_KEY` characters. Of two such rows
        the first is added. Definitions (by digest) that are already stored stay as they are.

        Raises:
            KeyInUseError: another open wait, or another of `rows`, has the same `exclusive_key`.
            StoreError: the definition of one is neither given nor stored.
        """
        with self.writing() as connection:
            # No definition is deleted until the rows that refer to it are there.
            self._lock_definitions(connection, "pg_advisory_xact_lock_shared")
            there = {row["id"]: row for row in _stored(connection, rows)}
            new = _new_rows(rows, [*there.values()], self.now(connection))
            keys = [row["exclusive_key"] for row in new.values()]
            for part in _parts([key for key in keys if key is not None]):
                _refuse_keys(connection, part)
            if definitions:
                values = [{"digest": d, "definition": each} for d, each in definitions.items()]
                connection.execute(_ADD_DEFINITION, values)
            if new:
                connection.execute(WAITS.insert(), [*new.values()])
            return [*there.values()]

    def get(self, ids: Sequence[str]) -> builtins.list[Row]:
        """Return those of these waits that are there, each once, in any order."""
        with self.reading() as connection:
            return list(_rows_of(connection, ids))

    def claim(
        self, lease: int, seconds: float, most: int, without: Collection[str] = ()
    ) -> tuple[builtins.list[Row], float]:
        """Take over open waits that no live lease drives, the oldest first; renew the lease.

        Each has the `lease` and its `worker` from then on. The open waits of other leases that have
        ended are free again, and only then are those leases lost. No two claim the same wait. Waits
        that owe a stop are claimed too, those of the lease itself among them.

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
        with self.writing() as connection:
            now = self.now(connection)
            # Also locks the row: no worker deletes the lease before its waits are taken.
            if not _is_renewed(connection, lease, now + seconds):
                raise LeaseLostError
            is_dead = sa.not_(_is_live(now))
            dead = connection.execute(select(LEASES.c.id).where(is_dead)).scalars()
            for number in dead.all():
                # The condition again: its worker may have renewed it meanwhile.
                expired = and_(LEASES.c.id == number, is_dead)
                if connection.execute(delete(LEASES).where(expired)).rowcount == 1:
                    connection.execute(update(WAITS).where(_is_driven_by(number)).values(FREE))
            free = select(WAITS.c.id).where(WAITS.c.state == OPEN, WAITS.c.lease.is_(None))
            if without:
                can = [each.not_in([*without]) for each in (WAITS.c.kind, WAITS.c.id)]
                free = free.where(or_(and_(*can), WAITS.c.deadline <= now))
            free = free.order_by(WAITS.c.created).limit(most).with_for_update(skip_locked=True)
            # An id that is no text is damaged, and no statement finds it.
            ids = [each for each in connection.execute(free).scalars() if isinstance(each, str)]
            owing = _owing(connection, lease, now, without)
            if not ids:
                return owing, now
            worker = select(LEASES.c.worker).where(LEASES.c.id == lease).scalar_subquery()
            taken = update(WAITS).where(WAITS.c.id.in_(ids))
            connection.execute(taken.values(lease=lease, worker=worker))
            rows = (
                select(WAITS, DEFINITIONS.c.definition)
                # Without its definition a damaged wait ends too.
                .outerjoin(DEFINITIONS, DEFINITIONS.c.digest == WAITS.c.digest)
                .where(WAITS.c.id.in_(ids))
                .order_by(WAITS.c.created)
            )
            found = connection.execute(rows).mappings()
            return [*map(dict, found), *owing], now

    def renew(self, lease: int, seconds: float) -> bool:
        """Let a lease last that long from now; return False if it is lost."""
        with self.writing() as connection:
            return _is_renewed(connection, lease, self.now(connection) + seconds)

    def write(self, lease: int | None, changes: Sequence[Mapping[str, Any]]) -> int:
        """Change waits that are open and whose generation is this lease; return how many were.

        A change, at most one for each wait, has the `id` and the new values. It ends its wait
        (`state`), hands it back (`lease` and `worker`: None) or does neither. No lease drives a
        wait that has ended. In place of a lease: None, whatever the generation, as for a
        cancellation; `UNDRIVEN`; `ENDED`.
        """
        number = 0
        with self.writing() as connection:
            now = self.now(connection)
            for columns in {frozenset(change) for change in changes}:
                alike = [change for change in changes if change.keys() == columns]
                number += _written(connection, lease, alike, now)
        return number

    def lost(self, lease: int, ids: Collection[str]) -> Collection[str]:
        """Return those of these waits that have ended, are gone, or have another generation.

        `ids` are all that the worker drives, each once: if the lease has as many, none is lost.
        """
        with self.reading() as connection:
            # Usually none is lost, and comparing ten thousand ids every second is expensive.
            count = select(sa.func.count()).select_from(WAITS).where(_is_driven_by(lease))
            if connection.execute(count).scalar_one() == len(ids):
                return ()
            driven = select(WAITS.c.id).where(_is_driven_by(lease))
            return set(ids).difference(connection.execute(driven).scalars())

    @retried
    def reopen(self, row: Row, values: Mapping[str, Any]) -> bool:
        """Open a wait again that has ended as in this row; it is free, whatever `values` say.

        Return False if it is gone or open, or its `state` or `ended` has changed.

        Raises:
            KeyInUseError: another open wait has its exclusive key.
        """
        as_read = [WAITS.c[name] == row[name] for name in ("id", "state", "ended")]
        with self.writing() as connection:
            if row["exclusive_key"] is not None:
                _refuse_keys(connection, [row["exclusive_key"]], row["id"])
            new = {**_moments(values, self.now(connection)), **FREE}
            ended = update(WAITS).where(*as_read, WAITS.c.state != OPEN)
            return connection.execute(ended.values(new)).rowcount == 1

    def list(
        self, filters: Mapping[str, str], before: Position | None, most: int
    ) -> builtins.list[Row]:
        """Return the newest waits, at most so many, that are older than `before`.

        Filters are the values of columns, and all must match; `state` may also be `"done"`.
        """
        query = select(WAITS)
        for name, value in filters.items():
            is_done = (name, value) == ("state", "done")
            query = query.where(WAITS.c.state != OPEN if is_done else WAITS.c[name] == value)
        if before is not None:
            position = sa.tuple_(WAITS.c.created, WAITS.c.id)
            query = query.where(position < sa.tuple_(*before))
        query = query.order_by(WAITS.c.created.desc(), WAITS.c.id.desc()).limit(most)
        with self.reading() as connection:
            return [*map(dict, connection.execute(query).mappings())]

    def open_ids(self, ids: Sequence[str] | None = None) -> set[str]:
        """Return the ids of the waits that are open, or of those among these."""
        query = select(WAITS.c.id).where(WAITS.c.state == OPEN)
        queries = [query]
        if ids is not None:
            queries = [query.where(WAITS.c.id.in_(part)) for part in _parts(ids)]
        with self.reading() as connection:
            return {each for query in queries for each in connection.execute(query).scalars()}

    def ended_ids(self, since: float) -> tuple[set[str], float]:
        """Return the ids of the waits that ended at this moment or later, and the time now.

        Here the moment is a time by the clock of the store. An end whose transaction is still under
        way is not among them.
        """
        query = select(WAITS.c.id).where(WAITS.c.ended >= since)
        with self.reading() as connection:
            now = self.now(connection)
            return set(connection.execute(query).scalars()), now

    @retried
    def expire(self, seconds: float) -> int:
        """Delete waits and calls that ended this long ago, or longer; return their number.

        Definitions that no wait has any more go too; one that a wait is being added with stays.
        """
        number = 0
        for table in (WAITS, CALLS):
            deleted = _DELETED_AT_ONCE
            # Some at a time: others write meanwhile.
            while deleted == _DELETED_AT_ONCE:
                with self.writing() as connection:
                    last = self.now(connection) - seconds
                    old = select(table.c.id).where(table.c.ended <= last).limit(_DELETED_AT_ONCE)
                    statement = delete(table).where(table.c.id.in_(old), table.c.ended <= last)
                    deleted = connection.execute(statement).rowcount
                number += deleted
        with self.writing() as connection:
            self._lock_definitions(connection, "pg_advisory_xact_lock")
            used = select(WAITS.c.id).where(WAITS.c.digest == DEFINITIONS.c.digest).exists()
            connection.execute(delete(DEFINITIONS).where(~used))
        return number

    def _lock_definitions(self, connection: Connection, function: str) -> None:
        if not self.is_local:
            connection.execute(sa.text(f"select {function}(:key)"), {"key": _DEFINITIONS_LOCK})

    # --- calls ---------------------------------------------------------------------------

    @retried
    def add_call(self, row: Row) -> None:
        """Add a call in its first phase. A call whose id is there stays as it is."""
        own = select(CALLS.c.id).where(CALLS.c.id == row["id"])
        with self.writing() as connection:
            if connection.execute(own).first() is None:
                now = self.now(connection)
                connection.execute(CALLS.insert(), _moments(row, now))

    def write_call(self, call_id: str, values: Mapping[str, Any]) -> bool:
        """Change a call that has not ended; return False if it has.

        Calls have no generation: every process that resumes one sends its token. The end (`ended`)
        is written once.
        """
        own = and_(CALLS.c.id == call_id, CALLS.c.ended.is_(None))
        with self.writing() as connection:
            new = _moments(values, self.now(connection))
            return connection.execute(update(CALLS).where(own).values(new)).rowcount == 1

    def calls(self, call_id: str | None = None) -> builtins.list[Row]:
        """Return the call of an id, or those that have not ended, the oldest first.

        Each has its `age` besides: the seconds since it was `created`; None if that is damaged.
        """
        meant = CALLS.c.ended.is_(None) if call_id is None else CALLS.c.id == call_id
        query = select(CALLS).where(meant).order_by(CALLS.c.created, CALLS.c.id)
        with self.reading() as connection:
            now = self.now(connection)
            rows = connection.execute(query).mappings().all()
        return [{**row, "age": _age(row["created"], now)} for row in rows]

    # --- leases --------------------------------------------------------------------------

    def acquire(self, worker: str, seconds: float) -> int:
        """Begin a lease that ends after this many seconds; return its number, never used before.

        Open waits whose lease is not known, because their rows were damaged, are free again.
        """
        with self.writing() as connection:
            # A lease that never was would end in no claim.
            unknown = WAITS.c.lease.in_(_strays(connection, select(LEASES.c.id)))
            connection.execute(update(WAITS).where(WAITS.c.state == OPEN, unknown).values(FREE))
            expires = self.now(connection) + seconds
            values = {"worker": worker, "expires": expires}
            key = connection.execute(LEASES.insert().values(**values)).inserted_primary_key
            assert key is not None, "an insert of one row has a key"
            return int(key[0])

    def leases(self) -> set[int]:
        """Return the leases that have not ended."""
        with self.reading() as connection:
            live = _is_live(self.now(connection))
            return set(connection.execute(select(LEASES.c.id).where(live)).scalars())

    def release(self, lease: int) -> None:
        """End a lease; its open waits are free."""
        with self.writing() as connection:
            # First: it waits for a claim that has taken waits and not ended.
            connection.execute(delete(LEASES).where(LEASES.c.id == lease))
            connection.execute(update(WAITS).where(_is_driven_by(lease)).values(FREE))


def _moments(values: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return values with the moments among them as times."""
    return {
        name: value + now if name in MOMENTS and value is not None else value
        for name, value in values.items()
    }


def _age(created: Any, now: float) -> float | None:
    return now - created if isinstance(created, float) else None


def _new_rows(rows: Sequence[Row], there: Sequence[Row], now: float) -> dict[str, dict[str, Any]]:
    """Return, by id, those rows that are not `there` under their id or request, as free waits.

    Raises:
        KeyInUseError: two of them have the same `exclusive_key`.
    """
    known = {None, *(row["id"] for row in there), *map(_request_key, there)}
    new: dict[str, dict[str, Any]] = {}
    holders: dict[str, str] = {}
    for row in rows:
        wait_id, request, key = row["id"], _request_key(row), row["exclusive_key"]
        if wait_id in known or (request is not None and request in known):
            continue
        known |= {wait_id, request}
        new[wait_id] = {**_moments(row, now), **FREE}
        if key is not None and holders.setdefault(key, wait_id) != wait_id:
            raise KeyInUseError(holders[key])
    return new


def _request_key(row: Row) -> str | None:
    """Return what the rows of one request id have in common; None: it has none."""
    request: str | None = row["request"]
    return None if request is None else request[:REQUEST_KEY]


def _parts(items: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), _AT_ONCE):
        yield items[start : start + _AT_ONCE]


def _stored(connection: Connection, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield what is stored under the ids of rows, or under their request ids."""
    yield from _rows_of(connection, [row["id"] for row in rows])
    for part in _parts([*filter(None, map(_request_key, rows))]):
        query = select(WAITS).where(sa.func.substr(WAITS.c.request, 1, REQUEST_KEY).in_(part))
        yield from map(dict, connection.execute(query).mappings())


def _rows_of(connection: Connection, ids: Sequence[str]) -> Iterator[Row]:
    for part in _parts([*dict.fromkeys(ids)]):
        query = select(WAITS).where(WAITS.c.id.in_(part))
        yield from map(dict, connection.execute(query).mappings())


def _refuse_keys(connection: Connection, keys: Sequence[str], besides: str = "") -> None:
    is_open = and_(WAITS.c.exclusive_key.in_(keys), WAITS.c.state == OPEN)
    query = select(WAITS.c.id).where(is_open, WAITS.c.id != besides)
    holder = connection.execute(query).scalar()
    if holder is not None:
        raise KeyInUseError(holder)


def _is_renewed(connection: Connection, lease: int, expires: float) -> bool:
    change = update(LEASES).where(LEASES.c.id == lease).values(expires=expires)
    return connection.execute(change).rowcount == 1


def _is_live(now: float) -> sa.ColumnElement[bool]:
    # SQLite orders text, which a damaged row may have, after all numbers.
    return LEASES.c.expires.between(now, now + _LONGEST_LEASE)


def _strays(
    connection: Connection, leases: sa.Select[tuple[int]]
) -> Sequence[sa.ColumnElement[Any]]:
    """Return the leases that open waits have and that are none of these.

    By a statement of its own: PostgreSQL checks a row again that changed after an update began,
    but by the leases as they were then, and would take a lease that began since for a stray one.
    """
    other = and_(WAITS.c.lease.is_not(None), WAITS.c.lease.not_in(leases))
    query = select(WAITS.c.lease).where(WAITS.c.state == OPEN, other).distinct()
    # Damaged ones are of any type.
    found = connection.execute(query).scalars()
    return [sa.literal(each, sa.types.NULLTYPE) for each in found]


def _owing(
    connection: Connection, lease: int, now: float, without: Collection[str]
) -> builtins.list[Row]:
    """Take over the waits that owe a stop; return them as they were."""
    others = select(LEASES.c.id).where(LEASES.c.id != lease)
    is_free = or_(WAITS.c.lease.is_(None), WAITS.c.lease.not_in(others))
    owing = select(WAITS).where(WAITS.c.owes.between(now, now + _LONGEST_LEASE), is_free)
    can = [each.not_in([*without]) for each in (WAITS.c.kind, WAITS.c.id)]
    owing = owing.where(WAITS.c.state != OPEN, *can).order_by(WAITS.c.id).limit(_AT_ONCE)
    rows = connection.execute(owing.with_for_update(skip_locked=True)).mappings().all()
    taken = WAITS.c.id.in_([row["id"] for row in rows])
    connection.execute(update(WAITS).where(taken).values(lease=lease))
    return [*map(dict, rows)]


def _is_driven_by(lease: int | None) -> Any:
    if lease == ENDED:
        return WAITS.c.state != OPEN
    return and_(WAITS.c.state == OPEN, sa.true() if lease is None else WAITS.c.lease == lease)


def _written(
    connection: Connection, lease: int | None, changes: Sequence[Mapping[str, Any]], now: float
) -> int:
    """Write changes that have the same names."""
    live = select(LEASES.c.id).where(_is_live(now))
    driver = _is_driven_by(lease)
    if lease == UNDRIVEN:
        strays = [WAITS.c.lease == each for each in _strays(connection, live)]
        driver = and_(WAITS.c.state == OPEN, or_(WAITS.c.lease.is_(None), *strays))
    mine = and_(WAITS.c.id == bindparam("its_id"), driver)
    # Under other names than those of columns, which SQLAlchemy keeps for itself.
    rows = [{f"its_{name}": v for name, v in _moments(each, now).items()} for each in changes]
    values: dict[str, Any] = {name: bindparam(f"its_{name}") for name in changes[0] if name != "id"}
    return connection.execute(update(WAITS).where(mine).values(values), rows).rowcount
