"""What is installed in this process, and the levels of settings above it."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

from ..runtime.process import ProcessLock
from ..settings import PROCESS_LEVEL

if TYPE_CHECKING:
    from .sessions import SessionHook


class Installation:
    """The state that `install` and `uninstall` change, always under `lock`."""

    def __init__(self) -> None:
        self.lock = ProcessLock()
        self.on = False
        self.runs_waiters = True
        """Waiter objects run on the engine."""
        self.level = PROCESS_LEVEL
        self.session_hooks: weakref.WeakKeyDictionary[Any, SessionHook] = (
            weakref.WeakKeyDictionary()
        )


INSTALLED: Final = Installation()
