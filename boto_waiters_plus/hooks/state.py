"""What is installed in this process, and the levels of settings above it.

It stands alone, below all other hooks, which share it.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

from ..common.process import ProcessLock
from ..settings import PROCESS_LEVEL, HookedSession

PATCHED_MODULES: Final = (
    "botocore.session",
    "botocore.waiter",
    "aiobotocore.session",
    "aiobotocore.waiter",
)
"""The modules in which `install` patches a function each; never imported for it."""


class Installation:
    """The state that `install` and `uninstall` change, always under `lock`."""

    def __init__(self) -> None:
        self.lock = ProcessLock()
        self.on = False
        self.runs_waiters = True
        """Waiter objects run on the engine."""
        self.registered_with: Any = None
        """The module botocore with which our initializer of sessions is registered."""
        self.patches: Any = None
        """The module that patches, once it was imported."""
        self.level = PROCESS_LEVEL
        self.session_hooks: weakref.WeakKeyDictionary[Any, HookedSession] = (
            weakref.WeakKeyDictionary()
        )


INSTALLED: Final = Installation()
