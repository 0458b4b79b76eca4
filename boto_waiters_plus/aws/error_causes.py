"""What is behind an error that is not the service's: the system's own words, or an unusable body.

Both may be shown (the system's words name no parameter; a body is cut at 200 characters).
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator

from botocore.model import OperationModel

from ..engine.redaction import cut
from .data_model import has_sensitive_output

MOST_CAUSES = 10
"""The length of a chain of causes that is searched."""


def cause_in_words(error: Exception, operation: OperationModel | None) -> str | None:
    """Return what is behind an error: `Connection refused`, or how a body begins; else None.

    Args:
        error: raised by a call, and not an error response of the service.
        operation: the operation; a body is shown only where its answers hold nothing sensitive.
    """
    if isinstance(error, json.JSONDecodeError):
        return f"the text begins with {cut(repr(error.doc[:200]))}"
    body = _body(error)
    if body is not None and operation is not None and not has_sensitive_output(operation):
        return f"the body begins with {cut(repr(body[:200].decode(errors='replace')))}"
    return next(map(cut, _words_of_the_system(error)), None)


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


def _body(error: Exception) -> bytes | None:
    """Return the body that botocore's parser could not read; None if the error is another one."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__") in ("botocore.parsers", "aiobotocore.parsers"):
            response = frame.f_locals.get("response")
            body = response.get("body") if isinstance(response, dict) else None
            return body if isinstance(body, bytes) and body else None
    return None
