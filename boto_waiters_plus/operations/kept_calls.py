"""The calls of `idempotency.call_once` in a store."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final

from .backend import Backend, Row
from .sealing import Seal

CALL_PATH: Final = "calls/"

PHASES: Final = ("started", "answered", "waiting", "finished")
"""The phases of a call: no answer known; answered; waiting for its resource; finished."""


class KeptCalls:
    """What `call_once` takes as `in_store`; see `idempotency.CallStore`."""

    backend: Backend
    seal: Seal

    def save_call(self, record: Mapping[str, Any], /) -> str:
        """Keep a call before its first attempt; return its path.

        The record is all that `idempotency.resume_call` needs; its `target` is where the call
        belongs.
        """
        row: dict[str, Any] = dict.fromkeys(("ended", "answer", "result", "target"))
        row |= {"id": uuid.uuid4().hex, "created": 0.0, "phase": PHASES[0]}
        if record.get("target") is not None:
            row["target"] = self.seal.closed(record["target"])
        row["record"] = self.seal.closed(record)
        self.backend.add_call(row)
        return f"{CALL_PATH}{row['id']}"

    def note_call(self, path: str, phase: str, answer: Mapping[str, Any], /) -> bool:
        """Keep how far a call is (`"answered"`, `"waiting"`); return False if it has ended.

        The answer is what the rest of the call needs of it.
        """
        values = {"phase": phase, "answer": self.seal.closed(answer)}
        return self.backend.write_call(path.removeprefix(CALL_PATH), values)

    def finish_call(self, path: str, result: Mapping[str, Any], /) -> None:
        """Keep how a call ended, unless it has ended already."""
        values = {"ended": 0.0, "phase": PHASES[-1], "result": self.seal.closed(result)}
        self.backend.write_call(path.removeprefix(CALL_PATH), values)

    def get_call(self, path: str, /) -> dict[str, Any]:
        """Return a call as JSON.

        Its members are `path`, `done`, `phase`, `age` (seconds), the `record`, and the `target`,
        the `answer` and the `result` if there are any. Setting a clock changes no age, as far as
        the machine or the server has a clock that no one sets.

        Raises:
            LookupError: there is no such call.
            OperationError: it cannot be read.
        """
        rows = self.backend.calls(path.removeprefix(CALL_PATH))
        if not rows:
            raise LookupError(f"there is no call {path}")
        return self._call_json(rows[0])

    def open_calls(self) -> list[dict[str, Any]]:
        """Return the calls that have not ended, the oldest first, as `get_call` does.

        Pass `path` and `record` of each to `idempotency.resume_call`, when no process makes the
        call any more.
        """
        return [self._call_json(row) for row in self.backend.calls()]

    def _call_json(self, row: Row) -> dict[str, Any]:
        call = {"path": CALL_PATH + row["id"], "done": row["ended"] is not None}
        call |= {"phase": row["phase"], "age": row["age"]}
        for name in ("record", "target", "answer", "result"):
            if row[name] is not None:
                call[name] = self.seal.opened(row[name], name)
        return call
