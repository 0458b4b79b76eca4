"""What the database of a store notes of each write to a wait, whichever process makes it."""

from __future__ import annotations

from collections import Counter

import sqlalchemy

TABLE = "create table test_changes (id varchar(32), kind varchar(10), moment double precision)"
KINDS = {
    "insert": ("insert", "1 = 1"),
    "claim": ("update of lease", "new.lease is not null and old.lease is null"),
    "attempt": ("update of attempts", "new.attempts > old.attempts and new.state = old.state"),
    "end": ("update of state", "old.state = 'open' and new.state != 'open'"),
    "repeated": ("update of attempts", "new.attempts <= old.attempts"),
    "late": ("update", "old.state != 'open'"),
}
"""By kind of write: the statements that make it, and when they do."""

MOMENTS = {
    "sqlite": "(julianday('now') - 2440587.5) * 86400.0",
    "postgresql": "extract(epoch from clock_timestamp())",
}
"""The time of a write: that of the machine, which no worker can step."""


class StoreWrites:
    """The writes to the waits of a store, noted by triggers.

    Args:
        url: a SQLAlchemy URL, or the path of a SQLite file; the store's tables are there.
    """

    def __init__(self, url: str) -> None:
        url = url if "://" in url else f"sqlite:///{url}"
        # The server may have been restarted.
        self._engine = sqlalchemy.create_engine(url, pool_pre_ping=True)
        kind = self._engine.dialect.name
        statements = [TABLE]
        for name, (statement, condition) in KINDS.items():
            values = f"insert into test_changes values (new.id, '{name}', {MOMENTS[kind]})"  # noqa: S608 - of KINDS
            note = f"begin {values}; end"
            if kind == "postgresql":
                function = f"create function test_{name}() returns trigger as $$ begin"
                statements.append(f"{function} {values}; return new; end $$ language plpgsql")
                note = f"execute function test_{name}()"
            statements.append(
                f"create trigger test_{name} after {statement} on boto_waiters_operations "
                f"for each row when ({condition}) {note}"
            )
        with self._engine.begin() as connection:
            for each in statements:
                connection.exec_driver_sql(each)

    def counts(self) -> Counter[str]:
        """Return how often each kind of write was made, and how many waits have each state."""
        found: Counter[str] = Counter()
        for column, table in (("kind", "test_changes"), ("state", "boto_waiters_operations")):
            rows = self.rows(f"select {column}, count(*) from {table} group by {column}")  # noqa: S608 - of these
            found.update({str(name): int(str(number)) for name, number in rows})
        return found

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return the rows of a query."""
        with self._engine.connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(query)]

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()
