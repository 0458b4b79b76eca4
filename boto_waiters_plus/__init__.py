"""Smithy waiters for boto3: `client.wait_until_<name>(..., max_wait=300)`.

PYTEST_DONT_REWRITE keeps pytest from warning if the package is imported before pytest starts.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Not loaded when it is first used: a test tool that drops what was imported while it ran would
# leave its state behind.
from .hooks.installation import install, uninstall

if TYPE_CHECKING:
    from .changes.effects import effect_of
    from .common.errors import WaiterDefinitionError
    from .deadlines import deadline
    from .definitions.files import load_definitions
    from .engine.model import WaiterDefinition
    from .engine.wait_event import WaitEvent
    from .exceptions import (
        WaiterAttemptsError,
        WaiterCancelledError,
        WaiterError,
        WaiterFailedError,
        WaitersError,
        WaiterTimeoutError,
    )
    from .history import History
    from .hooks.enabling import enable
    from .many import (
        Wait,
        as_completed,
        as_completed_async,
        wait_all,
        wait_all_async,
        wait_any,
        wait_any_async,
    )
    from .operations.begin import begin, begin_async
    from .options import WaitOptions
    from .outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome
    from .service.waits import wait_until, wait_until_async
    from .smithy_options import SMITHY

__version__ = "0.2.0"

__all__ = [
    "SMITHY",
    "ExceptionOutcome",
    "History",
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
    "begin",
    "begin_async",
    "deadline",
    "effect_of",
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

# Loaded when they are first used: `import boto_waiters_plus` costs next to nothing, and a program
# that installs and never waits pays for `install` alone.
_MODULES = {
    "deadlines": ("deadline",),
    "common.errors": ("WaiterDefinitionError",),
    "definitions.files": ("load_definitions",),
    "engine.model": ("WaiterDefinition",),
    "engine.wait_event": ("WaitEvent",),
    "exceptions": (
        "WaiterAttemptsError",
        "WaiterCancelledError",
        "WaiterError",
        "WaiterFailedError",
        "WaiterTimeoutError",
        "WaitersError",
    ),
    "history": ("History",),
    "hooks.enabling": ("enable",),
    "service.waits": ("wait_until", "wait_until_async"),
    "changes.effects": ("effect_of",),
    "many": (
        "Wait",
        "as_completed",
        "as_completed_async",
        "wait_all",
        "wait_all_async",
        "wait_any",
        "wait_any_async",
    ),
    "operations.begin": ("begin", "begin_async"),
    "options": ("WaitOptions",),
    "outcome": ("ExceptionOutcome", "ResponseOutcome", "WaiterOutcome"),
    "smithy_options": ("SMITHY",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


logging.getLogger(__name__).addHandler(logging.NullHandler())
