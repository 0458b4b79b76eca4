"""Smithy waiters for boto3: `client.wait_until_<name>(..., max_wait=300)`."""

from __future__ import annotations

import logging

from .catalog.files import load_definitions
from .deadline import deadline
from .engine.model import WaiterDefinition
from .engine.report import WaitEvent
from .exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterDefinitionError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from .install import enable, install, uninstall, wait_until
from .options import WaitOptions
from .outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome

__version__ = "0.1.0"

__all__ = [
    "ExceptionOutcome",
    "ResponseOutcome",
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
    "deadline",
    "enable",
    "install",
    "load_definitions",
    "uninstall",
    "wait_until",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())
