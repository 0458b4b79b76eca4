"""Calls that survive their process: written down before the first attempt."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from botocore.model import ListShape, MapShape, Shape, StructureShape

_BYTES: Final = "$bytes"
_TIME: Final = "$time"


class CallStore(Protocol):
    """What `in_store` takes. Both methods return when what they were given is durable."""

    def save_call(self, record: Mapping[str, Any], /) -> str:
        """Keep a call, as JSON, and return its path."""
        ...

    def finish_call(self, path: str, result: Mapping[str, Any], /) -> None:
        """Keep how a call ended, as JSON; it needs no resuming any more."""
        ...


class StoreStep:
    """One access to a store."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._function = function
        self._arguments = arguments

    def drive(self) -> Any:
        """Access the store."""
        return self._function(*self._arguments)

    async def drive_async(self) -> Any:
        """Access the store in a thread."""
        import asyncio  # noqa: PLC0415 - 11 ms that a program without tasks never pays

        return await asyncio.to_thread(self._function, *self._arguments)


def stored(shape: Shape | None, value: Any, name: str = "") -> Any:
    """Return parameters as JSON.

    Raises:
        ValueError: a parameter is sensitive in the model.
        TypeError: a parameter is no data.
    """
    if shape is not None and shape.metadata.get("sensitive"):
        raise ValueError(f"in_store: {name} is sensitive in the model, and cannot be stored")
    match value:
        case Mapping():
            place = f"{name}." if name else ""
            return {key: stored(_inner(shape, key), v, place + key) for key, v in value.items()}
        case list() | tuple():
            return [stored(_inner(shape), each, name) for each in value]
        case bytes() | bytearray():
            return {_BYTES: base64.b64encode(value).decode()}
        case dt.datetime():
            return {_TIME: value.isoformat()}
        case None | str() | int() | float():
            return value
    raise TypeError(f"in_store: {name} is {type(value).__name__}, and cannot be stored")


def restored(value: Any) -> Any:
    """Return the parameters that were stored as this JSON."""
    match value:
        case {"$bytes": text, **others} if not others:
            return base64.b64decode(text)
        case {"$time": text, **others} if not others:
            return dt.datetime.fromisoformat(text)
        case Mapping():
            return {name: restored(each) for name, each in value.items()}
        case list():
            return [restored(each) for each in value]
    return value


def _inner(shape: Shape | None, name: str = "") -> Shape | None:
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
