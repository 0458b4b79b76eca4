"""Smithy waiters for boto3: `client.wait_until_<name>(..., max_wait=300)`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from .deadlines import deadline
from .definitions.files import load_definitions
from .engine.model import WaiterDefinition
from .engine.wait_event import WaitEvent
from .exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterDefinitionError,
    WaiterError,
    WaiterFailedError,
    WaitersError,
    WaiterTimeoutError,
)
from .hooks.installation import enable, install, uninstall
from .hooks.waits import wait_until, wait_until_async
from .options import WaitOptions
from .outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome

if TYPE_CHECKING:
    from .many import (
        Wait,
        as_completed,
        as_completed_async,
        wait_all,
        wait_all_async,
        wait_any,
        wait_any_async,
    )

__version__ = "0.1.0"

__all__ = [
    "ExceptionOutcome",
    "ResponseOutcome",
    "Wait",
    "WaitEvent",
    "WaitOptions",
    "WaiterAttemptsError",
    "WaiterCancelledError",
    "WaiterDefinition",
    "WaiterDefinitionError",
    "WaiterError",
    "WaiterFailedError",
    "WaiterOutcome",
    "WaiterTimeoutError",
    "WaitersError",
    "as_completed",
    "as_completed_async",
    "deadline",
    "enable",
    "install",
    "load_definitions",
    "uninstall",
    "wait_all",
    "wait_all_async",
    "wait_any",
    "wait_any_async",
    "wait_until",
    "wait_until_async",
]

_OF_MANY = frozenset(
    (
        "Wait",
        "as_completed",
        "as_completed_async",
        "wait_all",
        "wait_all_async",
        "wait_any",
        "wait_any_async",
    )
)


def __getattr__(name: str) -> Any:
    """What many waits need (asyncio, queues) is imported by who uses it."""
    if name not in _OF_MANY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import many  # noqa: PLC0415 - see above

    return getattr(many, name)


logging.getLogger(__name__).addHandler(logging.NullHandler())
