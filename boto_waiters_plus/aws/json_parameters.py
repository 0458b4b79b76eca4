"""Parameters of operations as JSON, for stores, and back."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from botocore.model import ListShape, MapShape, Shape, StructureShape

_BYTES: Final = "$bytes"
_TIME: Final = "$time"


def as_json(shape: Shape | None, value: Any, name: str = "") -> Any:
    """Return parameters as JSON, which `from_json` reads.

    Raises:
        ValueError: a parameter is sensitive in the model.
        TypeError: a parameter cannot be stored, such as a file.
    """
    if shape is not None and shape.metadata.get("sensitive"):
        raise ValueError(f"{name} is sensitive in the model: it cannot be stored")
    match value:
        case Mapping():
            place = f"{name}." if name else ""
            return {
                key: as_json(inner_shape(shape, key), each, place + key)
                for key, each in value.items()
            }
        case list() | tuple():
            return [as_json(inner_shape(shape), each, name) for each in value]
        case bytes() | bytearray():
            return {_BYTES: base64.b64encode(value).decode()}
        case dt.datetime():
            return {_TIME: value.isoformat()}
        case None | str() | int() | float():
            return value
    raise TypeError(f"{name} cannot be stored: it is {type(value).__name__}")


def from_json(value: Any) -> Any:
    """Return the parameters that were stored as this JSON."""
    match value:
        case {"$bytes": text, **others} if not others:
            return base64.b64decode(text)
        case {"$time": text, **others} if not others:
            return dt.datetime.fromisoformat(text)
        case Mapping():
            return {name: from_json(each) for name, each in value.items()}
        case list():
            return [from_json(each) for each in value]
    return value


def inner_shape(shape: Shape | None, name: str = "") -> Shape | None:
    """Return the shape of a member, an element or a value; None if it is not known."""
    match shape:
        case StructureShape():
            member: Shape | None = shape.members.get(name)
            return member
        case ListShape():
            return shape.member
        case MapShape():
            return shape.value
    return None
