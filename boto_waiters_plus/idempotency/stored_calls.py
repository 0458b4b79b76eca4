"""Calls that survive their process: written down before the first attempt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol


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
