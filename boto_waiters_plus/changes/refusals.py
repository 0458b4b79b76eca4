"""What an error of a mutating call says: repeat it, or why not."""

from __future__ import annotations

import enum
import re
from typing import Final

from ..definitions.changes import says_in_progress, shipped_existence
from ..service.errors import NEVER_SERVED, ErrorFacts


class ErrorMeaning(enum.Enum):
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
_QUOTA_CODE: Final = "LimitExceededException"
_RATE_TEXT: Final = re.compile(r"rate|throttl|too many|concurrent|simultaneous", re.IGNORECASE)
_EXISTS_CODE: Final = re.compile(r"Already(Exist|Created|Owned)|Duplicate")
_CONFLICT_CODE: Final = re.compile(r"Conflict|InUse|IdempotencyException")
_EXISTS_TEXT: Final = re.compile(r"already exist|already in use|same name", re.IGNORECASE)


def meaning_of(error: ErrorFacts, namespace: str) -> ErrorMeaning:
    """Return what an error means for a call of the service with this namespace.

    Names decide before messages. A message counts only where it names the token, or where the
    code says that there is a conflict. Which errors mean that another change is in progress, and
    which ones tell under which token a resource was made, is written in `data/idempotency.json`.
    """
    if error.on_the_way is not None:
        return ErrorMeaning.REPEAT if error.transient else ErrorMeaning.REFUSED
    # botocore takes it for a throttle; most services mean a quota, which no repetition raises.
    if error.code == _QUOTA_CODE and not _RATE_TEXT.search(error.message or ""):
        return ErrorMeaning.REFUSED
    if error.throttled:
        return ErrorMeaning.REPEAT
    if error.status is None or (error.status >= 500 and error.status not in NEVER_SERVED):
        return ErrorMeaning.UNKNOWN
    if error.transient:
        return ErrorMeaning.REPEAT
    return _meaning_of_refusal(error, namespace)


def _meaning_of_refusal(error: ErrorFacts, namespace: str) -> ErrorMeaning:
    names, message = " ".join(error.names), error.message or ""
    existence = shipped_existence(namespace, error.names, error.response)
    if existence is not None:
        is_mismatch = existence.get("madeUnder") == "otherParameters"
        return ErrorMeaning.MISMATCH if is_mismatch else ErrorMeaning.EXISTS
    says_token = _SAYS_TOKEN.search(message)
    if _MISMATCH_CODE.search(names) or (says_token and _MISMATCH_TEXT.search(message)):
        return ErrorMeaning.MISMATCH
    if _EXPIRED_CODE.search(names) or (says_token and _EXPIRED_TEXT.search(message)):
        return ErrorMeaning.EXPIRED
    if _CONFLICT_CODE.search(names) and _EXISTS_TEXT.search(message):
        return ErrorMeaning.EXISTS
    if says_in_progress(namespace, error.names, message):
        return ErrorMeaning.REPEAT
    if _EXISTS_CODE.search(names):
        return ErrorMeaning.EXISTS
    return ErrorMeaning.REFUSED
