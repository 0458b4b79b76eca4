"""Errors of the caller's own code that an HTTP client took for its own.

botocore wraps whatever is raised while a request is sent in `HTTPClientError`, and urllib3 takes a
TimeoutError for the one of its socket. What a signal handler or a hook raised is inside of it.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import sys
from collections.abc import Iterator
from typing import Final

from botocore.exceptions import ConnectionError as NoConnectionError
from botocore.exceptions import HTTPClientError
from urllib3.exceptions import HTTPError

from ..common.signal_handlers import is_of_handler
from .call_budget import CallExpired
from .error_frames import modules_of

_TRANSPORT: Final = (OSError, HTTPError, http.client.HTTPException, CallExpired)
_AWAITED: Final = frozenset({
    "aiohttp", "anyio", "asyncio", "h11", "httpcore", "httpcore2", "httpx", "httpx2",
})  # fmt: skip
"""The packages of other errors of the transport."""

_OF_SOCKETS: Final = (ConnectionError, TimeoutError, ssl.SSLError, socket.gaierror, socket.herror)

_LIBRARIES: Final = sys.stdlib_module_names | _AWAITED | {
    "aiobotocore", "botocore", "urllib3", "boto_waiters_plus",
}  # fmt: skip
"""The top-level packages of the code that sends requests."""


def callers_error(error: BaseException, handled: BaseException | None = None) -> Exception | None:
    """Return the error of the caller's own code that this one was made of; None: there is none.

    Args:
        error: what a call raised.
        handled: the error that was being handled when the call began, which is no part of it.
    """
    if not isinstance(error, (HTTPClientError, NoConnectionError)):
        return None
    inner = error.kwargs.get("error")
    # In a test double, it may be anything.
    if not isinstance(inner, Exception):
        return None
    # Of a subclass botocore knows what it is.
    if type(error) is HTTPClientError and not _is_of_transport(inner):
        return inner
    for each in errors_inside(inner, handled):
        if isinstance(each, Exception) and _is_of_caller(each):
            return each
    return None


def errors_inside(
    error: BaseException, handled: BaseException | None = None
) -> Iterator[BaseException]:
    """Yield an error and those that it was made of; see `callers_error`."""
    seen: list[BaseException] = [error]
    for each in seen:  # It grows meanwhile.
        yield each
        details = getattr(each, "kwargs", None)
        told = details.get("error") if isinstance(details, dict) else None
        original = getattr(each, "original_error", None)
        for cause in (each.__cause__, each.__context__, told, original, *each.args):
            if not isinstance(cause, BaseException) or cause is handled:
                continue
            if all(cause is not known for known in seen):
                seen.append(cause)


def _is_of_transport(error: Exception) -> bool:
    packages = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, _TRANSPORT) or not packages.isdisjoint(_AWAITED)


def _is_of_caller(error: Exception) -> bool:
    """Return whether the caller's code raised an error that a library takes for its own."""
    # urllib3 gives its errors the traceback of the one that they were made of.
    if isinstance(error, HTTPError):
        return False
    modules = modules_of(error)
    if not modules or not _is_of_library(modules[0]):
        return False
    # A file that is not found, and the like; no more than an OSError may stand for a network's.
    is_special = isinstance(error, OSError) and type(error) is not OSError
    if is_special and not isinstance(error, _OF_SOCKETS):
        return not _is_of_library(modules[-1])
    return is_of_handler(error)


def _is_of_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES
