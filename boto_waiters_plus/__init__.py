"""Smithy waiters for boto3: `client.wait_until_<name>(..., max_wait=300)`.

What else is public is in its submodules, which are loaded when they are first used: conditions,
fleet, idempotency, many, operations, progress, signals, telemetry, testing, typed and validation.
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
    from . import conditions as conditions
    from . import fleet as fleet
    from . import idempotency as idempotency
    from . import many as many
    from . import operations as operations
    from . import progress as progress
    from . import signals as signals
    from . import telemetry as telemetry
    from . import testing as testing
    from . import typed as typed
    from . import validation as validation
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
    from .options import SMITHY, WaitOptions
    from .outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome
    from .service.waits import wait_until, wait_until_async

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
    "deadlines": "deadline",
    "common.errors": "WaiterDefinitionError",
    "definitions.files": "load_definitions",
    "engine.model": "WaiterDefinition",
    "engine.wait_event": "WaitEvent",
    "exceptions": "WaiterAttemptsError WaiterCancelledError WaiterError WaiterFailedError "
    "WaiterTimeoutError WaitersError",
    "history": "History",
    "hooks.enabling": "enable",
    "service.waits": "wait_until wait_until_async",
    "changes.effects": "effect_of",
    "many": "Wait as_completed as_completed_async wait_all wait_all_async wait_any wait_any_async",
    "operations.begin": "begin begin_async",
    "options": "SMITHY WaitOptions",
    "outcome": "ExceptionOutcome ResponseOutcome WaiterOutcome",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

_SUBMODULES = (
    *("conditions", "fleet", "idempotency", "many", "operations", "progress", "signals"),
    *("telemetry", "testing", "typed", "validation"),
)
"""The public ones, which are loaded when they are first used, too."""


if not TYPE_CHECKING:  # where every name would be Any

    def __getattr__(name: str) -> Any:
        if name in _SUBMODULES:
            try:
                return import_module(f".{name}", __name__)
            except ImportError as error:
                # An extra is missing: `hasattr` and `help` take no other error.
                raise AttributeError(str(error), name=name) from error
        if name not in _MODULE_OF:
            home = None if name.startswith("_") else _names_of_submodules().get(name)
            hint = f": write `from {home} import {name}`" if home else ""
            problem = f"module {__name__!r} has no attribute {name!r}{hint}"
            # With a name and without an object Python adds no guess of its own.
            raise AttributeError(problem, **({"name": name} if home else {}))
        globals()[name] = value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
        return value


def _names_of_submodules() -> dict[str, str]:
    """Return the public names of the submodules, which are not loaded, with their modules."""
    import re  # noqa: PLC0415 - for a mistake only
    from importlib.util import find_spec  # noqa: PLC0415 - the same

    found: dict[str, str] = {}
    for module in (f"{__name__}.{each}" for each in _SUBMODULES):
        # Where no sources are, `str` returns a text without names.
        source = getattr(getattr(find_spec(module), "loader", None), "get_source", str)(module)
        listed = re.search(r"(?m)^__all__ = \[([^]]*)", source or "")
        found |= dict.fromkeys(re.findall(r"\w+", listed[1]) if listed else (), module)
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES, *(n for n in globals() if n.startswith("__"))})


logging.getLogger(__name__).addHandler(logging.NullHandler())
