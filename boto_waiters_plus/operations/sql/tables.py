"""The tables of a store, and their version.

Times are seconds since the epoch by the clock of the store; see `Database.now`.
"""

from __future__ import annotations

from typing import Any, Final, cast

import sqlalchemy as sa
from sqlalchemy import event

from ..operation import StoreError, UnusableError
from ..stored_row import OPEN, REQUEST_KEY

VERSION: Final = 3

METADATA: Final = sa.MetaData()

SCHEMA: Final = sa.Table(
    "boto_waiters_schema", METADATA, sa.Column("version", sa.Integer, nullable=False)
)

CLOCKS: Final = sa.Table(
    "boto_waiters_clocks",
    METADATA,
    # What is added to the seconds since the start of a machine.
    sa.Column("offset", sa.Float(53), nullable=False),
    sa.Column("boot", sa.String(200), primary_key=True),
)

# Never reused: what a lost lease wrote late must match no row of another.
_LEASE_ID: Final = sa.BigInteger().with_variant(sa.Integer, "sqlite")

LEASES: Final = sa.Table(
    "boto_waiters_leases",
    METADATA,
    sa.Column("id", _LEASE_ID, primary_key=True, autoincrement=True),
    sa.Column("worker", sa.String(200), nullable=False),
    sa.Column("expires", sa.Float(53), nullable=False),
    sqlite_autoincrement=True,
)

DEFINITIONS: Final = sa.Table(
    "boto_waiters_definitions",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("definition", sa.Text, nullable=False),
)

WAITS: Final = sa.Table(
    "boto_waiters_operations",
    METADATA,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("deadline", sa.Float(53), nullable=False),
    sa.Column("ended", sa.Float(53)),
    sa.Column("state", sa.String(32), nullable=False),
    # What is waited for.
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("service", sa.String(100), nullable=False),
    sa.Column("waiter", sa.String(200), nullable=False),
    sa.Column("digest", sa.String(64), sa.ForeignKey(DEFINITIONS.c.digest), nullable=False),
    # What a worker has to be able to do: make this client, know this operation.
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("region", sa.String(100)),
    sa.Column("profile", sa.String(200)),
    sa.Column("endpoint", sa.Text),
    sa.Column("client_settings", sa.Text, nullable=False),
    sa.Column("parameters", sa.Text, nullable=False),
    sa.Column("policy", sa.Text, nullable=False),
    sa.Column("include_response", sa.Boolean, nullable=False),
    sa.Column("exclusive_key", sa.String(200)),
    # A digest of the request id, and one of what was asked for under it.
    sa.Column("request", sa.String(64)),
    # How far it is.
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("machine_at", sa.Float(53), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("elapsed", sa.Float(53), nullable=False),
    sa.Column("state_seen", sa.Text),
    sa.Column("reported", sa.Text),
    sa.Column("next_attempt", sa.Float(53)),
    sa.Column("lease", _LEASE_ID),
    sa.Column("worker", sa.String(200)),
    sa.Column("last_error", sa.Text),
    # How it ended.
    sa.Column("response", sa.Text),
    sa.Column("error", sa.Text),
    # Until when it owes the call that stops what was begun.
    sa.Column("owes", sa.Float(53)),
)

CALLS: Final = sa.Table(
    "boto_waiters_calls",
    METADATA,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("ended", sa.Float(53)),
    sa.Column("phase", sa.String(20), nullable=False),
    sa.Column("target", sa.Text),
    sa.Column("record", sa.Text, nullable=False),
    sa.Column("answer", sa.Text),
    sa.Column("result", sa.Text),
)

sa.Index("boto_waiters_by_age", WAITS.c.created, WAITS.c.id)
sa.Index("boto_waiters_by_lease", WAITS.c.state, WAITS.c.lease, WAITS.c.created)
sa.Index("boto_waiters_by_digest", WAITS.c.digest)
sa.Index("boto_waiters_by_end", WAITS.c.ended)
sa.Index("boto_waiters_by_debt", WAITS.c.owes)
# As text, which both databases take: an `Index` would import the dialects of both, 2 MB.
_UNIQUE: Final = (
    f"boto_waiters_exclusive on {WAITS.name} (exclusive_key) where state = '{OPEN}'",
    f"boto_waiters_requests on {WAITS.name} (substr(request, 1, {REQUEST_KEY}))",
)
for _index in _UNIQUE:
    event.listen(WAITS, "after_create", cast("Any", sa.DDL)(f"create unique index {_index}"))

_CREATION_LOCK: Final = 0x626F746F
"""The PostgreSQL advisory lock under which tables are created."""


def needs_tables(connection: sa.Connection) -> bool:
    """Return whether the tables are missing.

    Raises:
        StoreError: the database is no store, or one of another version.
    """
    names = set(sa.inspect(connection).get_table_names())
    if SCHEMA.name not in names:
        # A file is a store and nothing else; a server may have other tables.
        is_taken = names if connection.dialect.name == "sqlite" else names & METADATA.tables.keys()
        if is_taken:
            raise StoreError(f"this is another database: it has the table {min(is_taken)}")
        return True
    check_version(connection)
    return False


def create_tables(connection: sa.Connection) -> None:
    """Create the tables, as part of one transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("select pg_advisory_xact_lock(:key)"), {"key": _CREATION_LOCK})
    # Another process may have been first.
    if needs_tables(connection):
        METADATA.create_all(connection)
        connection.execute(SCHEMA.insert(), {"version": VERSION})


def check_version(connection: sa.Connection) -> None:
    """Check the version of the tables, which stays the same until the end of the transaction.

    Raises:
        StoreError: it is not that of this package.
    """
    version: Any = connection.execute(sa.select(SCHEMA.c.version)).scalar()
    if not isinstance(version, int):
        raise StoreError("it has no schema version")
    if version != VERSION:
        needed = "install a newer boto-waiters-plus"
        if version < VERSION:
            needed = "use a new store, or install an older boto-waiters-plus to go on with this one"
        raise UnusableError(
            f"its schema has version {version}, this package knows {VERSION}: {needed}"
        )
