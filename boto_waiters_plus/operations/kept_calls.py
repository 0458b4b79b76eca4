"""The calls of `idempotency.call_once` in a store."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import select, update

from .database import Database, wall_time
from .tables import CALLS

_COLLECTION: Final = "calls/"


class KeptCalls:
    """What `call_once` takes as `in_store`; see `idempotency.CallStore`."""

    database: Database

    def save_call(self, record: Mapping[str, Any], /) -> str:
        """Keep a call before its first attempt; return its path.

        Raises:
            StoreError: the store cannot be used.
        """
        name = uuid.uuid4().hex
        with self.database.writing() as connection:
            values = {"id": name, "created": wall_time(connection), "record": json.dumps(record)}
            connection.execute(CALLS.insert(), values)
        return _COLLECTION + name

    def finish_call(self, path: str, result: Mapping[str, Any], /) -> None:
        """Keep how a call ended.

        Raises:
            StoreError: the store cannot be used.
        """
        with self.database.writing() as connection:
            values = {"ended": wall_time(connection), "result": json.dumps(result)}
            own = CALLS.c.id == path.removeprefix(_COLLECTION)
            connection.execute(update(CALLS).where(own).values(values))

    def has_call(self, path: str, /) -> bool:
        """Return whether a path is one of a call, existing or not."""
        return path.startswith(_COLLECTION)

    def get_call(self, path: str, /) -> dict[str, Any]:
        """Return a call as JSON: `path`, `done`, the `record`, and the `result` if it ended.

        Raises:
            LookupError: there is no such call.
            StoreError: the store cannot be used.
        """
        own = CALLS.c.id == path.removeprefix(_COLLECTION)
        with self.database.reading() as connection:
            row = connection.execute(select(CALLS).where(own)).mappings().first()
        if row is None:
            raise LookupError(f"there is no call {path}")
        return _call_json(row)

    def open_calls(self) -> list[dict[str, Any]]:
        """Return the calls that have not ended, the oldest first, as `get_call` does.

        Pass `path` and `record` of each to `idempotency.resume_call`, when no process makes the
        call any more.
        """
        still_open = select(CALLS).where(CALLS.c.ended.is_(None)).order_by(CALLS.c.created)
        with self.database.reading() as connection:
            return [_call_json(row) for row in connection.execute(still_open).mappings()]


def _call_json(row: Mapping[Any, Any]) -> dict[str, Any]:
    call = {"path": _COLLECTION + row["id"], "done": row["ended"] is not None}
    call["record"] = json.loads(row["record"])
    if row["result"] is not None:
        call["result"] = json.loads(row["result"])
    return call
