"""What is behind an error that is not the service's: the system's own words, or an unusable body.

The system's words name no parameter. The beginning of a body is quoted where it is an HTML page or
plain words, as of a proxy; anything else may be an answer of the service, cut off or damaged, which
may hold anything.
"""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.model import OperationModel

from ..engine.redaction import cut
from .data_model import has_sensitive_output

_PAGE = re.compile(
    rb"\s*(<!doctype\s+html[^>]*>\s*)?<(html|head|body|title|center|h1)\b", re.IGNORECASE
)
_WORDS = re.compile(rb"[A-Za-z][^][{}<>\"\\\x00-\x08\x0e-\x1f\x7f-\xff]{,999}")

MOST_CAUSES = 10
"""The length of a chain of causes that is searched."""


def cause_in_words(error: Exception, operation: OperationModel | None) -> str | None:
    """Return what is behind an error: `Connection refused`, or how a body begins; else None.

    Args:
        error: raised by a call, and not an error response of the service.
        operation: the operation; a body is shown only where its answers hold nothing sensitive.
    """
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (line {error.lineno}, column {error.colno})"
    body = unread_response(error).get("body")
    if isinstance(body, bytes) and body and operation is not None:
        if may_quote(body, operation):
            return f"the body begins with {cut(repr(body[:200].decode(errors='replace')))}"
        return f"the body does not fit the model of {operation.name}"
    return next(map(cut, _words_of_the_system(error)), None)


def redact_body(error: Exception, operation: OperationModel | None) -> None:
    """Remove a body that may hold anything from the text of botocore's error about it.

    The error is the cause of the wait's own, and Python prints it in every traceback.
    """
    body = unread_response(error).get("body")
    if isinstance(body, bytes) and not may_quote(body, operation):
        # botocore quotes all of the XML that it cannot parse, behind its own words.
        error.args = tuple(
            each.partition(":\n")[0] if isinstance(each, str) else each for each in error.args
        )


def may_quote(body: bytes, operation: OperationModel | None) -> bool:
    """Return whether a body is no answer of the service, which may hold anything."""
    is_known = operation is not None and not has_sensitive_output(operation)
    return is_known and (are_words(body) or _PAGE.match(body) is not None)


def are_words(body: bytes) -> bool:
    """Return whether a body is plain words: it has nothing that JSON and XML are made of."""
    return _WORDS.fullmatch(body) is not None


def _words_of_the_system(error: BaseException) -> Iterator[str]:
    """Yield the texts of the operating system among the causes of an error.

    Not those of an exception that was merely being handled: it may be about something else.
    """
    chain: list[BaseException] = [error]
    for each in chain:  # It grows meanwhile.
        if isinstance(each, OSError) and isinstance(each.errno, int) and each.strerror:
            yield str(each.strerror)
        details = getattr(each, "kwargs", None)
        told = details.get("error") if isinstance(details, dict) else None
        for cause in (each.__cause__, getattr(each, "reason", None), told, *each.args):
            if not isinstance(cause, BaseException) or len(chain) == MOST_CAUSES:
                continue
            if all(cause is not known for known in chain):
                chain.append(cause)


def unread_response(error: Exception) -> Mapping[str, Any]:
    """Return the response that botocore's parser could not read; empty for any other error."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__") in ("botocore.parsers", "aiobotocore.parsers"):
            response = frame.f_locals.get("response")
            return response if isinstance(response, dict) else {}
    return {}
