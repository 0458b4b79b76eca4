"""Mutating calls that are safe to repeat: `call_once`, its asyncio twin, and `token_for`."""

from __future__ import annotations

from .changes.call import call_once, call_once_async, resume_call, resume_call_async
from .changes.call_errors import (
    AlreadyExistsError,
    CallCancelledError,
    CallOnceError,
    CallRefusedError,
    CallTimeoutError,
    LateArrivalError,
    TokenExpiredError,
    TokenMismatchError,
)
from .changes.call_target import token_for
from .changes.prepared_call import CallOutcome
from .changes.stored_calls import CallStore

__all__ = [
    "AlreadyExistsError",
    "CallCancelledError",
    "CallOnceError",
    "CallOutcome",
    "CallRefusedError",
    "CallStore",
    "CallTimeoutError",
    "LateArrivalError",
    "TokenExpiredError",
    "TokenMismatchError",
    "call_once",
    "call_once_async",
    "resume_call",
    "resume_call_async",
    "token_for",
]
