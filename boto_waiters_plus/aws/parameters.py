"""The parameters of a wait: copied once, and checked for what no caller intends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from botocore.model import ListShape, OperationModel, StringShape

_MUTABLE: Final = (list, tuple, set, bytearray, Mapping)


def copied(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters that stay as they are whatever the caller does to lists and dicts."""
    return {
        name: _copied(value) if isinstance(value, _MUTABLE) else value
        for name, value in parameters.items()
    }


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return copied(value)
    if isinstance(value, (list, tuple)):
        return [_copied(item) for item in value]
    if isinstance(value, bytearray):
        return bytes(value)
    # Anything else is sent as it is: a file, a stream.
    return set(value) if isinstance(value, set) else value


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


def refuse_empty_id_list(operation: OperationModel, parameters: Mapping[str, Any]) -> None:
    """Refuse a list of identifiers that is empty.

    Raises:
        ValueError: the message names the parameter.
    """
    message = empty_id_list(operation, parameters)
    if message is not None:
        raise ValueError(message)
