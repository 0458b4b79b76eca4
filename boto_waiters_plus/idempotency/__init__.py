"""Mutating calls that are safe to repeat: `call_once`, its asyncio twin, and `token_for`."""

from __future__ import annotations

from .call import CallOutcome, call_once, call_once_async
from .call_errors import (
    AlreadyExistsError,
    CallOnceError,
    CallRefusedError,
    CallTimeoutError,
    LateArrivalError,
    TokenExpiredError,
    TokenMismatchError,
)
from .stable_tokens import token_for

__all__ = [
    "AlreadyExistsError",
    "CallOnceError",
    "CallOutcome",
    "CallRefusedError",
    "CallTimeoutError",
    "LateArrivalError",
    "TokenExpiredError",
    "TokenMismatchError",
    "call_once",
    "call_once_async",
    "token_for",
]
