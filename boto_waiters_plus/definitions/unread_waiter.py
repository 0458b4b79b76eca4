"""A waiter of a file, before it is parsed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..engine.model import WaiterDefinition


class UnreadWaiter(NamedTuple):
    """A waiter that is parsed when it is asked for."""

    name: str
    operation: str
    service: str | None
    source: str
    body: Any
    parse: Callable[..., WaiterDefinition]

    def read(self) -> WaiterDefinition:
        """Parse the waiter."""
        name, operation, service, source, body, parse = self
        return parse(name, body, operation=operation, source=source, service=service)
