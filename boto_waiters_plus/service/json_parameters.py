"""Parameters of operations as JSON, for stores, and back."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Mapping
from functools import partial
from typing import Any

from botocore.model import Shape, StructureShape

from ..engine.redaction import is_signed_url
from .shapes import has_sensitive_names, inner_shape, is_sensitive


def as_json(shape: Shape | None, value: Any, name: str = "") -> Any:
    """Return parameters as JSON, which `from_json` reads.

    Raises:
        ValueError: a parameter is sensitive in the model.
        TypeError: a parameter cannot be stored, such as a file.
    """
    if is_sensitive(shape) or has_sensitive_names(shape):
        raise ValueError(f"{name} is sensitive in the model: it cannot be stored")
    match value:
        case Mapping():
            place = f"{name}." if name else ""
            return {
                _escaped(key): as_json(inner_shape(shape, key), each, place + key)
                for key, each in value.items()
            }
        case list() | tuple():
            return [as_json(inner_shape(shape), each, name) for each in value]
        case bytes() | bytearray():
            return {"$bytes": base64.b64encode(value).decode()}
        case dt.datetime():
            return {"$time": value.isoformat()}
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
            return {
                name[1:] if name.startswith("$$") else name: from_json(each)
                for name, each in value.items()
            }
        case list():
            return [from_json(each) for each in value]
    return value


def _escaped(name: str) -> str:
    # The caller's own `$bytes` is not our mark.
    return f"${name}" if name.startswith("$") else name


def without_sensitive(shape: Shape | None, value: Any, *, is_answer: bool = True) -> Any:
    """Return a response, or parameters, without sensitive members, streams and presigned URLs."""
    without = partial(without_sensitive, is_answer=is_answer)
    if is_sensitive(shape) or has_sensitive_names(shape):
        return {} if isinstance(value, Mapping) else None
    if isinstance(value, Mapping):
        return {
            key: without(inner, item)
            for key, item in value.items()
            if (not isinstance(shape, StructureShape) or key in shape.members)
            and not is_sensitive(inner := inner_shape(shape, key), shape, key, is_answer=is_answer)
        }
    if isinstance(value, (list, tuple)):
        inner = inner_shape(shape)
        return [] if is_sensitive(inner) else [without(inner, item) for item in value]
    # A stream cannot be stored.
    is_left_out = hasattr(value, "read") or (isinstance(value, str) and is_signed_url(value))
    return None if is_left_out else value
