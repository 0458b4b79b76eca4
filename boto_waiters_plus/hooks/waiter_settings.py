"""The settings for a waiter object, however it was made."""

from __future__ import annotations

from typing import Any

from ..service.clients import ClientHook, hook_of
from ..settings import Settings
from ..stock import stock_waiter
from ..stock.defined_waiters import bound_waiter_of
from .state import INSTALLED


def runs_here(waiter: Any, hook: ClientHook) -> bool:
    """Return whether the engine runs a waiter: after `uninstall` only if botocore's loop cannot."""
    return hook.runs_waiters() or bound_waiter_of(waiter) is not None


def settings_of(waiter: Any) -> Settings | None:
    """Return the settings for a waiter object; None where botocore's own loop has to run."""
    hook = hook_of(stock_waiter.client_of(waiter))
    if hook is not None:
        return hook.level.merged() if runs_here(waiter, hook) else None
    is_ours = INSTALLED.on and INSTALLED.runs_waiters
    return INSTALLED.level.own if is_ours else None
