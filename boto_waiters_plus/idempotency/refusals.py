"""What an error of a mutating call says: repeat it, or why not."""

from __future__ import annotations

import enum
import re
from typing import Final

from ..aws.errors import ErrorFacts


class Verdict(enum.Enum):
    """What an error means for the call."""

    REPEAT = "repeat"
    """Transient: the service did not execute the call, or answers it later."""
    UNKNOWN = "unknown"
    """The call may have been executed: repeat it to learn its outcome."""
    MISMATCH = "mismatch"
    EXPIRED = "expired"
    EXISTS = "exists"
    REFUSED = "refused"
    """For good: validation, access, quotas."""


_SAYS_TOKEN: Final = re.compile(
    r"(client|request|idempoten\w*|creation)[ _-]*token|caller ?reference", re.IGNORECASE
)
_MISMATCH_CODE: Final = re.compile(
    r"Idempoten(t|cy)\w*Mismatch|IdempotencyConflict|ClientTokenConflict|IncompatibleParameter"
)
_MISMATCH_TEXT: Final = re.compile(
    r"different|mismatch|previous|original|already (been )?(in )?use", re.IGNORECASE
)
_EXPIRED_CODE: Final = re.compile(
    r"(ClientToken|RequestToken|IdempotencyToken)\w*(Expired|NotFound)|ExpiredClientToken"
)
_EXPIRED_TEXT: Final = re.compile(
    r"expired|unknown|not found|does not exist|no longer", re.IGNORECASE
)
_IN_PROGRESS_CODE: Final = re.compile(
    r"IdempotentCallInProgress|RequestAlreadyInProgress|TransactionInProgress"
)
_QUOTA_CODE: Final = "LimitExceededException"
_NEVER: Final = (501, 505)
"""HTTP statuses of what the service never does: not implemented, version not supported."""
_RATE_TEXT: Final = re.compile(r"rate|throttl|too many|concurrent|simultaneous", re.IGNORECASE)
_EXISTS_CODE: Final = re.compile(r"Already(Exist|Created|Owned)|Duplicate")
_CONFLICT_CODE: Final = re.compile(r"Conflict|InUse|IdempotencyException")
_EXISTS_TEXT: Final = re.compile(r"already exist|already in use|same name", re.IGNORECASE)


def verdict_on(error: ErrorFacts) -> Verdict:
    """Return what an error means.

    Names decide before messages. A message counts only where it names the token, or where the
    code says that there is a conflict.
    """
    names, message = " ".join(error.names), error.message or ""
    # botocore takes it for a throttle; most services mean a quota, which no repetition raises.
    if error.code == _QUOTA_CODE and not _RATE_TEXT.search(message):
        return Verdict.REFUSED
    if error.throttled or _IN_PROGRESS_CODE.search(names):
        return Verdict.REPEAT
    if error.status is None or (error.status >= 500 and error.status not in _NEVER):
        return Verdict.UNKNOWN
    if error.retryable:
        return Verdict.REPEAT
    says_token = _SAYS_TOKEN.search(message)
    if _MISMATCH_CODE.search(names) or (says_token and _MISMATCH_TEXT.search(message)):
        return Verdict.MISMATCH
    if _EXPIRED_CODE.search(names) or (says_token and _EXPIRED_TEXT.search(message)):
        return Verdict.EXPIRED
    says_exists = _CONFLICT_CODE.search(names) and _EXISTS_TEXT.search(message)
    if _EXISTS_CODE.search(names) or says_exists:
        return Verdict.EXISTS
    return Verdict.REFUSED
