"""Calls that botocore makes on the way to the one that was asked for: their errors are their own.

Credentials are fetched (AssumeRole, GetRoleCredentials), a token is refreshed, an endpoint is asked
for, S3 Express opens a session. An error of such a call tells nothing of the operation.
"""

from __future__ import annotations

import http.client
import inspect
import socket
import ssl
import sys
import threading
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Final, NamedTuple

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    EndpointProviderError,
    HTTPClientError,
    MetadataRetrievalError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    StubResponseError,
    TokenRetrievalError,
)
from botocore.exceptions import ConnectionError as NoConnectionError
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from ..common.process import is_of_handler
from .budget import CallExpired
from .threads import abandonable_call

# --- the frames that an error came through -------------------------------------------------------

_SUSPENDED: Final = inspect.CO_ASYNC_GENERATOR | inspect.CO_COROUTINE | inspect.CO_GENERATOR
_LOOP: Final = "asyncio.base_events"
_OURS: Final = "boto_waiters_plus."
_TASK: Final = "boto_waiters_plus.calls.awaited_call"
_THREAD_MODULES: Final = "boto_waiters_plus.calls.threads"


def frames_of(error: BaseException) -> list[FrameType]:
    """Return the frames that an error came through when it was raised last, outermost first.

    A test double may raise one error again and again, whose traceback then has the frames of every
    time. The frames of another thread or task that the call used count, too.
    """
    frames: list[FrameType] = []
    outside: set[FrameType] = set()
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if not frames:
            outside = _callers_of(frame)
        elif not _is_inside(frame, frames, outside):
            break
        frames.append(frame)
    return frames


def _callers_of(frame: FrameType) -> set[FrameType]:
    callers = set()
    caller = frame.f_back
    while caller is not None:
        callers.add(caller)
        caller = caller.f_back
    return callers


def _is_inside(frame: FrameType, frames: list[FrameType], outside: set[FrameType]) -> bool:
    """Return whether a frame was called by the first of these frames, however far below."""
    above = module_of(frames[-1])
    if frame.f_back in frames or above == _TASK or above == module_of(frame) == _THREAD_MODULES:
        return True
    caller = frame
    while caller not in frames:
        module = module_of(caller)
        if caller in outside:
            # The event loop starts each task; anything else belongs to an earlier call.
            return module == _LOOP
        if module.startswith(_OURS):
            return False  # An earlier call of the package, in another thread.
        if caller.f_back is None:
            # A thread starts; or a coroutine or generator has ended, and has no caller any more.
            return bool(caller.f_code.co_flags & _SUSPENDED) or module == threading.__name__
        caller = caller.f_back
    return True


def module_of(frame: FrameType) -> str:
    """Return the name of the module whose code runs in a frame."""
    return str(frame.f_globals.get("__name__"))


def modules_of(error: BaseException) -> list[str]:
    """Return the names of the modules of all frames of an error, however often it was raised."""
    return [module_of(frame) for frame, _ in traceback.walk_tb(error.__traceback__)]


# --- errors of the caller's own code that an HTTP client took for its own ------------------------
# botocore wraps whatever is raised while a request is sent in `HTTPClientError`, and urllib3 takes
# a TimeoutError for the one of its socket. What a signal handler or a hook raised is inside of it.

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


# --- calls that botocore makes on the way to the one that was asked for: their errors are their own

KNOWN: Final = frozenset({
    "AssumeRole", "AssumeRoleWithSAML", "AssumeRoleWithWebIdentity", "AssumeRoot",
    "CreateOAuth2Token", "CreateSession", "CreateToken", "DescribeEndpoints",
    "GetCredentialsForIdentity", "GetFederationToken", "GetRoleCredentials", "GetSessionToken",
})  # fmt: skip
"""Operations by which credentials, tokens, endpoints and sessions are asked for."""

_CLIENTS: Final = ("botocore.client", "aiobotocore.client")
_ENDPOINTS: Final = ("botocore.endpoint", "aiobotocore.endpoint")
_FETCHERS: Final = (
    "botocore.credentials", "botocore.discovery", "botocore.tokens",
    "aiobotocore.credentials", "aiobotocore.discovery", "aiobotocore.tokens",
    "boto_waiters_plus.calls.credentials",
)  # fmt: skip
"""The modules that fetch credentials, endpoints and tokens."""

_READERS: Final = frozenset({
    "aiobotocore.utils", "botocore.awsrequest", "botocore.utils",
    "dateutil.parser._parser", "json", "json.decoder",
})  # fmt: skip
"""The modules that read what was fetched."""

_UNREADABLE: Final = (KeyError, TypeError, ValueError)
"""The errors of those modules."""

_CALL: Final = "_make_api_call"
"""The method of a client that makes a call, and raises the error that the service answered."""

_THREAD: Final = abandonable_call.__name__
"""The function in whose thread credentials are refreshed before a call."""

_FETCHING: Final = "get_auth_instance"
"""The function of a signer that asks credentials of any class for what it signs with."""


class OnTheWay(NamedTuple):
    """Where an error was raised that is not one of the operation that was called."""

    call: str | None
    """The operation whose call raised it; None: no call did."""
    is_sent: bool
    """Whether the SDK had sent the operation before, and was about to send it again."""


def on_the_way(error: BaseException, called: str | None = None) -> OnTheWay | None:
    """Return where an error was raised, if it was on the way to the operation that was called.

    The name of another operation is not enough: a test double that stands for the service may give
    any to its error. It has to come out of a call inside the call, out of the fetching of
    credentials, or to name an operation that is `KNOWN` to be called on the way. Nor is the name
    of the same operation: a hook may call it with another client.

    Args:
        error: what the call raised.
        called: the name of the operation that was called; None: not known.
    """
    name = error.operation_name if isinstance(error, ClientError) else None
    if name is not None and name == called and _is_of_only_call(error):
        return None  # As nearly all are.
    calls: list[FrameType] = []
    attempts: list[int] = []
    is_fetched = False
    for frame in frames_of(error):
        module, function = module_of(frame), frame.f_code.co_name
        if module in _FETCHERS or function == _FETCHING:
            is_fetched = True
        elif module in _CLIENTS and function == _CALL:
            calls.append(frame)
        elif module in _ENDPOINTS and function == "_send_request":
            attempts.append(frame.f_locals.get("attempts", 1))
    is_inside = bool(calls) and (is_fetched or not _are_alike(calls[0], calls[-1]))
    inner = calls[-1].f_locals.get("operation_name") if is_inside else None
    is_known = called is not None and name != called and name in KNOWN
    if not is_fetched and not is_known and (inner is None or name not in (None, inner)):
        return None
    context = error.__context__
    if name is None and isinstance(context, ClientError) and _fetcher_caught(context):
        # botocore says what to do about the error of that call, such as to log in.
        name = context.operation_name
    return OnTheWay(name or inner, attempts[:1] > [1])


def _fetcher_caught(error: ClientError) -> bool:
    """Return whether the code that fetches credentials caught an error, not the caller's."""
    return any(module in _FETCHERS for module in modules_of(error)[:1])


def _is_of_only_call(error: BaseException) -> bool:
    """Return whether the only call that an error came through raised it, and no refresh before."""
    calls, name, place = 0, "", error.__traceback__
    while place is not None:
        name = place.tb_frame.f_code.co_name
        if name == _CALL:
            calls += 1
        elif name == _THREAD:
            return False
        place = place.tb_next
    return calls == 1 and name == _CALL


def _are_alike(one: FrameType, other: FrameType) -> bool:
    """Return whether two frames are of calls of one operation of one client."""
    names = ("self", "operation_name")
    mine, others = ([frame.f_locals.get(name) for name in names] for frame in (one, other))
    # Frames may have been cleared, and tell nothing.
    if one is other or None in (*mine, *others):
        return True
    return mine[0] is others[0] and bool(mine[1] == others[1])


def is_passing(error: BaseException) -> bool:
    """Return whether credentials could not be fetched, and the next attempt may succeed."""
    if isinstance(error, (CredentialRetrievalError, MetadataRetrievalError, TokenRetrievalError)):
        return True
    if type(error) is not RuntimeError and not isinstance(error, _UNREADABLE):
        return False
    # What was fetched is expired already, or is nothing that botocore can read.
    modules = [module_of(frame) for frame in frames_of(error)]
    while modules and modules[-1] in _READERS:
        modules.pop()
    return bool(modules) and modules[-1] in _FETCHERS


# --- which exceptions are results of a call, and not mistakes of its caller or of other code

RAW = (
    ParamValidationError,
    # Parameters of a wrong type, where the endpoint depends on them.
    EndpointProviderError,
    NoCredentialsError,
    PartialCredentialsError,
    NoRegionError,
    # Those of botocore's Stubber, which say what a test expected.
    StubResponseError,
)
"""Errors that the caller has to fix. They are raised as they are, never as a wait's outcome."""


OF_THE_CALL = (BotoCoreError, ClientError, HTTPError, ResponseParserError)
"""Other exceptions come from a user's hook or a mock, and are raised as they are."""


PARSER_LIBRARIES = sys.stdlib_module_names | {"aiobotocore", "botocore", "dateutil"}
"""The top-level packages of the code that runs when a parser reads a response."""


INNERMOST_FRAMES = 60
"""The frames in which infinite recursion is botocore's if one of them is."""


def is_of_the_call(error: Exception) -> bool:
    """Return whether an exception is a result of the call or of its transport."""
    if isinstance(error, RAW):
        return False
    return isinstance(error, OF_THE_CALL) or is_passing(error) or _is_of_the_answer(error)


def _is_of_the_answer(error: Exception) -> bool:
    """Return whether botocore failed on a response that it did not expect.

    A body of the wrong types ends in an AttributeError or TypeError of its parser. A body that is
    nested too deeply, or an endless redirect, ends in a RecursionError. Where other code than the
    parser's own raised the exception, it is not about the response: the handler of a signal that
    arrived while the parser ran, or a hook of the user's.
    """
    modules = modules_of(error)
    if isinstance(error, RecursionError):
        innermost = modules[-INNERMOST_FRAMES:]
        return any(name.startswith("botocore.") for name in innermost)
    if modules[-1:] == ["botocore.endpoint"]:
        # It adds to what was parsed, which was `null`.
        return isinstance(error, AttributeError)
    if "botocore.parsers" not in modules:
        return False
    inside = modules[modules.index("botocore.parsers") :]
    return all(name.partition(".")[0] in PARSER_LIBRARIES for name in inside)
