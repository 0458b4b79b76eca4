"""The tables of a store, their version, and how an older one is migrated.

Times are seconds since the epoch; on PostgreSQL they are read from the server's clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    select,
    text,
    update,
)

from .error_codes import StoreError

VERSION: Final = 2

METADATA: Final = MetaData()

SCHEMA: Final = Table("boto_waiters_schema", METADATA, Column("version", Integer, nullable=False))

# Never reused: what a lost lease wrote late must match no row of another.
_LEASE_ID: Final = BigInteger().with_variant(Integer, "sqlite")

LEASES: Final = Table(
    "boto_waiters_leases",
    METADATA,
    Column("id", _LEASE_ID, primary_key=True, autoincrement=True),
    Column("worker", String(200), nullable=False),
    Column("expires", Float(53), nullable=False),
    sqlite_autoincrement=True,
)

DEFINITIONS: Final = Table(
    "boto_waiters_definitions",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("definition", Text, nullable=False),
)

OPERATIONS: Final = Table(
    "boto_waiters_operations",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("created", Float(53), nullable=False),
    Column("deadline", Float(53), nullable=False),
    Column("ended", Float(53)),
    Column("state", String(32), nullable=False),
    # What is waited for.
    Column("label", Text, nullable=False),
    Column("service", String(100), nullable=False),
    Column("waiter", String(200), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("region", String(100)),
    Column("profile", String(200)),
    Column("endpoint", Text),
    Column("client_settings", Text, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("is_encrypted", Boolean, nullable=False),
    Column("options", Text, nullable=False),
    Column("max_wait", Float(53), nullable=False),
    Column("include_response", Boolean, nullable=False),
    Column("exclusive_key", String(200)),
    # How far it is.
    Column("machine", Text, nullable=False),
    Column("machine_at", Float(53), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("elapsed", Float(53), nullable=False),
    Column("state_seen", Text),
    Column("next_attempt", Float(53)),
    Column("lease", _LEASE_ID),
    Column("worker", String(200)),
    Column("clock_jump", Float(53)),
    # How it ended.
    Column("response", Text),
    Column("error", Text),
)

CALLS: Final = Table(
    "boto_waiters_calls",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("created", Float(53), nullable=False),
    Column("ended", Float(53)),
    Column("record", Text, nullable=False),
    Column("result", Text),
)

OPEN: Final = "open"
SUCCEEDED: Final = "succeeded"

Index("boto_waiters_by_age", OPERATIONS.c.created, OPERATIONS.c.id)
Index("boto_waiters_by_lease", OPERATIONS.c.state, OPERATIONS.c.lease, OPERATIONS.c.created)
Index(
    "boto_waiters_exclusive",
    OPERATIONS.c.exclusive_key,
    unique=True,
    sqlite_where=OPERATIONS.c.state == OPEN,
    postgresql_where=OPERATIONS.c.state == OPEN,
)


def _add_calls(connection: Connection) -> None:
    # In SQL, so that later changes of the table stay out. Some stores of version 1 have it.
    connection.exec_driver_sql(
        "create table if not exists boto_waiters_calls (id varchar(32) primary key not null, "
        "created double precision not null, ended double precision, record text not null, "
        "result text)"
    )


MIGRATIONS: Final[Mapping[int, Callable[[Connection], None]]] = {1: _add_calls}
"""By version: what makes the tables of the next version of those of this one."""

_CREATION_LOCK: Final = 0x626F746F
"""The PostgreSQL advisory lock under which tables are created and migrated."""


def needs_preparation(connection: Connection) -> bool:
    """Return whether the tables are missing or of an older version.

    Raises:
        StoreError: the database is no store, or one of a newer version.
    """
    names = set(inspect(connection).get_table_names())
    if SCHEMA.name not in names:
        # A file is a store and nothing else; a server may have other tables.
        is_taken = names if connection.dialect.name == "sqlite" else names & METADATA.tables.keys()
        if is_taken:
            raise StoreError(f"this is another database: it has the table {min(is_taken)}")
        return True
    version = _version(connection)
    if version > VERSION:
        raise StoreError(
            f"its schema has version {version}, this package knows {VERSION}: install a newer "
            "boto-waiters-plus"
        )
    return version < VERSION


def prepare(connection: Connection) -> None:
    """Create the tables, or migrate those of an older version; part of one transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _CREATION_LOCK})
    # Another process may have been first.
    if not needs_preparation(connection):
        return
    if SCHEMA.name not in inspect(connection).get_table_names():
        METADATA.create_all(connection)
        connection.execute(SCHEMA.insert(), {"version": VERSION})
        return
    for version in range(_version(connection), VERSION):
        MIGRATIONS[version](connection)
    connection.execute(update(SCHEMA).values(version=VERSION))


def _version(connection: Connection) -> int:
    version: Any = connection.execute(select(SCHEMA.c.version)).scalar()
    if not isinstance(version, int):
        raise StoreError("it has no schema version")
    return version
