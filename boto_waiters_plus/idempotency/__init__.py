"""Mutating calls that are safe to repeat: `call_once`, its asyncio twin, and `token_for`."""

from __future__ import annotations

from .call import call_once, call_once_async, resume_call, resume_call_async
from .call_errors import (
    AlreadyExistsError,
    CallCancelledError,
    CallOnceError,
    CallRefusedError,
    CallTimeoutError,
    LateArrivalError,
    TokenExpiredError,
    TokenMismatchError,
)
from .prepared_call import CallOutcome
from .stable_tokens import token_for
from .stored_calls import CallStore

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
