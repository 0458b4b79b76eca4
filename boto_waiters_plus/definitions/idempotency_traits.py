"""Tokens that botocore's models do not mark, and the waiters that follow an operation.

Both are listed in `data/idempotency.json`, by the traits `boto.waiters#token` and
`boto.waiters#produces`, which `data/traits.json` defines. `boto-wait check` checks the lists
against the service models.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from .shipped import IDEMPOTENCY_FILE, data_root

TOKEN = "boto.waiters#token"  # noqa: S105 - the id of a trait
PRODUCES = "boto.waiters#produces"

Produces = Mapping[str, Mapping[str, str]]
"""By waiter, by its parameter: a JMESPath expression on `{"input": ..., "output": ...}`."""


def shipped_token_path(shape_id: str) -> tuple[str, ...] | None:
    """Return the members that lead to the unmarked token of an operation; None if none is known.

    Args:
        shape_id: of the operation.
    """
    trait = _shipped().get(shape_id, {}).get(TOKEN)
    return None if trait is None else tuple(trait["path"])


def shipped_produces(shape_id: str) -> Produces:
    """Return the waiters that can follow an operation, and where their parameters come from.

    Args:
        shape_id: of the operation.
    """
    produces: Produces = _shipped().get(shape_id, {}).get(PRODUCES, {})
    return produces


@functools.cache
def _shipped() -> Mapping[str, Mapping[str, Any]]:
    document = json.loads((data_root() / IDEMPOTENCY_FILE).read_text(encoding="utf-8"))
    return {shape_id: shape["traits"] for shape_id, shape in document["shapes"].items()}
