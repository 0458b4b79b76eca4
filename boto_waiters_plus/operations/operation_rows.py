"""What the rows of operations in a store say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import ColumnElement, Connection, select

from .database import Database
from .in_memory import COLLECTION
from .operation_pages import LARGEST_PAGE
from .stored_operation import Row, path_of
from .tables import OPEN, OPERATIONS

_PATH: Final = re.compile(rf"{COLLECTION}/([0-9a-f]{{32}})")


class OperationRows:
    """Reads rows of operations.

    Attributes:
        database: the store's.
    """

    database: Database

    def row(self, path: str) -> Row:
        """Return the row of an operation; raise LookupError if there is none."""
        with self.database.reading() as connection:
            return self.row_in(connection, path)

    def row_in(self, connection: Connection, path: str) -> Row:
        """Return the row of an operation as a transaction sees it; see `row`."""
        row = connection.execute(select(OPERATIONS).where(is_at(path))).mappings().first()
        if row is None:
            raise LookupError(f"there is no {path} in {self!r}, or it has expired")
        return dict(row)

    def rows(self, paths: Sequence[str]) -> Mapping[str, Row]:
        """Return the rows of those of these operations that are there."""
        found: dict[str, Row] = {}
        with self.database.reading() as connection:
            for start in range(0, len(paths), LARGEST_PAGE):
                ids = [path.partition("/")[2] for path in paths[start : start + LARGEST_PAGE]]
                query = select(OPERATIONS).where(OPERATIONS.c.id.in_(ids))
                rows = connection.execute(query).mappings()
                found |= {path_of(dict(row)): dict(row) for row in rows}
        return found

    def open_paths(self) -> set[str]:
        """Return the paths of the operations that are open."""
        with self.database.reading() as connection:
            query = select(OPERATIONS.c.id).where(OPERATIONS.c.state == OPEN)
            return {f"{COLLECTION}/{each}" for each in connection.execute(query).scalars()}

    def has_open(self) -> bool:
        """Return whether any operation is open."""
        with self.database.reading() as connection:
            query = select(OPERATIONS.c.id).where(OPERATIONS.c.state == OPEN).limit(1)
            return connection.execute(query).first() is not None


def is_at(path: str) -> ColumnElement[bool]:
    """Return the condition on the row of an operation.

    Raises:
        LookupError: not the path of an operation.
    """
    match = _PATH.fullmatch(path)
    if match is None:
        raise LookupError(f"there is no {path!r}: a path is {COLLECTION}/ and 32 digits")
    return OPERATIONS.c.id == match.group(1)
