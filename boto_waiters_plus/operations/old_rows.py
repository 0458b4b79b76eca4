"""Rows of waits and calls that an older version wrote, in the form of this version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from ..engine.machine import State
from ..options import WaitOptions, policy_for
from .backend import OPEN, SUCCEEDED, Row
from .error_codes import OperationError, problem
from .sealing import MARK, json_text, loaded
from .stored_wait import definition_from_json, kind_of, policy_json

_GONE: Final = ("is_encrypted", "options", "max_wait", "clock_jump")


def upgraded(row: Row, definitions: Mapping[str, str], now: float) -> dict[str, Any]:
    """Return a row of a wait or a call of version 1 or 2 as one of version 3.

    A wait that is open goes on under the options and the defaults of its version. One that cannot
    be read ends `now` with an error, and stops no other. The definitions are by digest.
    """
    if "record" in row:
        phase = "started" if row["ended"] is None else "finished"
        return {**row, "phase": phase, "target": None, "answer": None}
    new = {name: value for name, value in row.items() if name not in _GONE}
    new |= {"request": None, "last_error": None, "lease": None, "policy": "{}"}
    new["kind"] = kind_of(row)
    if row["is_encrypted"]:
        new["parameters"] = MARK + row["parameters"]
    try:
        if row["state"] != SUCCEEDED:
            new |= _resolved(row, definitions.get(row["digest"], "{}"))
    except (OperationError, ValueError, TypeError, AttributeError) as error:
        if row["state"] == OPEN:
            detail = f"stored by an older version, and cannot be read: {error}"
            new |= {"state": "unreadable", "ended": now, "next_attempt": None}
            new["error"] = json_text(problem("unreadable", detail))
    return new


def _resolved(row: Row, definition: str) -> dict[str, Any]:
    given = loaded(row["options"], "options")
    # The default of these versions.
    options = WaitOptions(**{"retry_transient": False, **given})
    policy = policy_for(definition_from_json(definition), options, row["max_wait"])
    machine = {**asdict(State()), **loaded(row["machine"], "state"), "definition": row["digest"]}
    return {"policy": policy_json(policy, options), "machine": json_text(machine)}
