"""What `data/idempotency.json` tells of operations and errors, by traits of `data/traits.json`.

- `boto.waiters#token`: the tokens that botocore's models do not mark.
- `boto.waiters#tokenLifetime`: how long a service knows a token.
- `boto.waiters#inProgress`: the errors that say that another change is in progress.
- `boto.waiters#describedBy`: the call that tells who made a resource that exists.
- `boto.waiters#alreadyExists`: the errors that themselves say who made it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from .shipped import data_root, shipped_traits

IDEMPOTENCY_FILE = "idempotency.json"

TOKEN = "boto.waiters#token"  # noqa: S105 - the id of a trait
TOKEN_LIFETIME = "boto.waiters#tokenLifetime"  # noqa: S105 - the same
IN_PROGRESS = "boto.waiters#inProgress"
DESCRIBED_BY = "boto.waiters#describedBy"
ALREADY_EXISTS = "boto.waiters#alreadyExists"


def shipped_token_path(shape_id: str) -> tuple[str, ...] | None:
    """Return the members that lead to the unmarked token of an operation; None if none is known.

    Args:
        shape_id: of the operation.
    """
    trait = _shipped().get(shape_id, {}).get(TOKEN)
    return None if trait is None else tuple(trait["path"])


def shipped_token_lifetime(shape_id: str) -> int | None:
    """Return the seconds for which a service knows a token; None if none are documented.

    Args:
        shape_id: of the operation.
    """
    trait = _shipped().get(shape_id, {}).get(TOKEN_LIFETIME)
    return None if trait is None else int(trait["seconds"])


def shipped_description(shape_id: str) -> Mapping[str, Any] | None:
    """Return the call that tells who made an existing resource; None if none is known.

    Args:
        shape_id: of the operation that was to make the resource.
    """
    return _shipped().get(shape_id, {}).get(DESCRIBED_BY)


def shipped_existence(
    namespace: str, names: Iterable[str], response: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return what an error says about who made a resource; None if it says nothing.

    Args:
        namespace: of the service: `com.amazonaws.route53`.
        names: of the error: its code, and the names that the model has for it.
        response: the error response.
    """
    for name in names:
        found: Any = _shipped().get(f"{namespace}#{name}", {}).get(ALREADY_EXISTS)
        if found and all(response.get(k) == v for k, v in found.get("members", {}).items()):
            return found  # type: ignore[no-any-return] # what `data/traits.json` says it is
    return None


def says_in_progress(namespace: str, names: Iterable[str], message: str) -> bool:
    """Return whether an error says that another change of the resource is in progress.

    Args:
        namespace: of the service: `com.amazonaws.route53`.
        names: of the error: its code, and the names that the model has for it.
        message: of the service.
    """
    of_any_service: Any = _document()["metadata"][IN_PROGRESS]
    text = message.lower()
    is_said = any(words in text for words in of_any_service["words"])
    traits = [_shipped().get(f"{namespace}#{name}", {}).get(IN_PROGRESS) for name in names]
    found = [each for each in traits if each] or [
        of_any_service["codes"][name] for name in names if name in of_any_service["codes"]
    ]
    return any(is_said or not each.get("decidedByMessage", False) for each in found)


def says_propagating(operation: str, code: str, message: str) -> bool:
    """Return whether an error says that a new role or policy is not visible to a service yet.

    Args:
        operation: that was called: its shape id, or its name, as an error has it.
        code: of the error.
        message: of the service.
    """
    text = message.lower()
    propagating = shipped_traits("propagating.json", "boto.waiters#propagating")
    return any(
        known["code"] == code and any(words in text for words in known["words"])
        for shape_id, known in propagating.items()
        if operation in (shape_id, shape_id.partition("#")[2])
    )


@functools.cache
def _shipped() -> Mapping[str, Mapping[str, Any]]:
    return {shape_id: shape["traits"] for shape_id, shape in _document()["shapes"].items()}


@functools.cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = json.loads((data_root() / IDEMPOTENCY_FILE).read_bytes())
    return document
