"""Parameters that make a wait mean something else than its caller intended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botocore.model import ListShape, OperationModel, StringShape


def empty_id_list(operation: OperationModel, parameters: Mapping[str, Any]) -> str | None:
    """Return a message about a list of identifiers that is empty; None if there is none.

    Most services answer an empty list with all resources there are.
    """
    for name, value in parameters.items():
        if not isinstance(value, (list, tuple)) or value:
            continue
        shape = operation.input_shape
        member = None if shape is None else shape.members.get(name)
        item = member.member if isinstance(member, ListShape) else None
        # A choice of what to include may well be empty.
        if isinstance(item, StringShape) and not item.enum:
            return (
                f"{name} is empty; {operation.name} would match every resource. "
                "Pass at least one value."
            )
    return None
