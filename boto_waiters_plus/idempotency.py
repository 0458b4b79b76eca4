"""Mutating calls that are safe to repeat: `call_once`, its asyncio twin, and `token_for`."""

from __future__ import annotations

from .changes.call import call_once, call_once_async, resume_call, resume_call_async
from .changes.prepared_call import CallOutcome
from .changes.repetition import (
    AlreadyExistsError,
    CallCancelledError,
    CallOnceError,
    CallRefusedError,
    CallTimeoutError,
    LateArrivalError,
    TokenExpiredError,
    TokenMismatchError,
)
from .changes.target import CallStore, token_for

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
