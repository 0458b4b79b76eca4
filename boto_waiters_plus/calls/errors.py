"""Whose error it is that a call raised.

It is decided in this order:

1. `callers_error`: what the caller's own code raised while a request was sent, such as a signal
   handler or a hook, and the transport took for its own. It is taken out of botocore's.
2. `is_of_the_call`: what is a result of the call. Anything else is a mistake of its caller or of
   other code, and is raised as it is. What botocore's parser makes of a response that it did not
   expect is a result, too.
3. `on_the_way`: what another call raised, on the way to the one that was asked for. Credentials are
   fetched (AssumeRole, GetRoleCredentials), a token is refreshed, an endpoint is asked for, S3
   Express opens a session, a hook raises what it got: such an error tells nothing of the operation.

Any other is of the operation.
"""

from __future__ import annotations

import http.client
import inspect
import socket
import ssl
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, Final, NamedTuple

from botocore import awsrequest, credentials, discovery, endpoint, parsers, tokens, utils
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
from urllib3.exceptions import HTTPError

from ..common.process import frames_of, is_of_handler
from .budget import CallExpired
from .credentials import ClientCredentials
from .private_names import (
    MadeCall,
    attempts_in,
    call_in,
    event_in,
    gets_credentials,
    makes_call,
    module_of,
    response_in,
)
from .threads import abandonable_call

# --- 1: errors of the caller's own code that the transport took for its own ----------------------
# botocore wraps whatever is raised while a request is sent in `HTTPClientError`, and urllib3 takes
# a TimeoutError for the one of its socket. What a signal handler or a hook raised is inside of it.

_TRANSPORT: Final = (OSError, HTTPError, http.client.HTTPException, CallExpired)
_AWAITED: Final = frozenset({
    "aiohttp", "anyio", "asyncio", "h11", "httpcore", "httpcore2", "httpx", "httpx2",
})  # fmt: skip
"""The packages of other errors of the transport."""

_OF_SOCKETS: Final = (ConnectionError, TimeoutError, ssl.SSLError, socket.gaierror, socket.herror)

_PACKAGE: Final = __name__.partition(".")[0]
_LIBRARIES: Final = sys.stdlib_module_names | _AWAITED | {"botocore", "urllib3", _PACKAGE}
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
    error: BaseException, handled: BaseException | None = None, *, contexts: bool = True
) -> Iterator[BaseException]:
    """Yield an error and those that it was made of.

    Args:
        error: the error.
        handled: the error that was being handled before, which is no part of it.
        contexts: whether those that were merely being handled count, which may be about something
            else.
    """
    seen: list[BaseException] = [error]
    for each in seen:  # It grows meanwhile.
        yield each
        details = getattr(each, "kwargs", None)
        told = details.get("error") if isinstance(details, dict) else None
        named = (getattr(each, name, None) for name in ("original_error", "reason"))
        context = each.__context__ if contexts else None
        for cause in (each.__cause__, context, told, *named, *each.args):
            if isinstance(cause, BaseException) and all(cause is not it for it in (handled, *seen)):
                seen.append(cause)


def _is_of_transport(error: Exception) -> bool:
    packages = {_package_of(kind.__module__) for kind in type(error).__mro__}
    return isinstance(error, _TRANSPORT) or not packages.isdisjoint(_AWAITED)


def _is_of_caller(error: Exception) -> bool:
    """Return whether the caller's code raised an error that a library takes for its own."""
    # urllib3 gives its errors the traceback of the one that they were made of.
    if isinstance(error, HTTPError):
        return False
    modules = _modules_of(error)
    if not modules or _package_of(modules[0]) not in _LIBRARIES:
        return False
    # A file that is not found, and the like; no more than an OSError may stand for a network's.
    is_special = isinstance(error, OSError) and type(error) is not OSError
    if is_special and not isinstance(error, _OF_SOCKETS):
        return _package_of(modules[-1]) not in _LIBRARIES
    return is_of_handler(error)


# --- 2: results of a call, and not mistakes of its caller or of other code -----------------------

RAW: Final = (
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

_OF_THE_CALL: Final = (BotoCoreError, ClientError, HTTPError, parsers.ResponseParserError)
"""Other exceptions come from a user's hook or a mock, and are raised as they are."""

_FETCHERS: Final = frozenset({
    credentials.__name__, discovery.__name__, tokens.__name__, ClientCredentials.__module__,
})  # fmt: skip
"""The modules that fetch credentials, endpoints and tokens."""

_READERS: Final = frozenset({
    awsrequest.__name__, utils.__name__, "dateutil.parser._parser", "json", "json.decoder",
})  # fmt: skip
"""The modules that read what was fetched."""

_UNREADABLE: Final = (KeyError, TypeError, ValueError)
"""The errors of those modules."""

_PARSERS: Final = sys.stdlib_module_names | {"botocore", "dateutil"}
"""The top-level packages of the code that runs when a parser reads a response."""

_INNERMOST: Final = 60
"""The frames in which infinite recursion is botocore's if one of them is."""


def is_of_the_call(error: Exception) -> bool:
    """Return whether an exception is a result of the call or of its transport."""
    if isinstance(error, RAW):
        return False
    return isinstance(error, _OF_THE_CALL) or is_passing(error) or _is_of_the_answer(error)


def is_passing(error: BaseException) -> bool:
    """Return whether credentials could not be fetched, and the next attempt may succeed."""
    if isinstance(error, (CredentialRetrievalError, MetadataRetrievalError, TokenRetrievalError)):
        return True
    if type(error) is not RuntimeError and not isinstance(error, _UNREADABLE):
        return False
    # What was fetched is expired already, or is nothing that botocore can read.
    modules = [module_of(frame) for frame in _last_frames_of(error)]
    while modules and modules[-1] in _READERS:
        modules.pop()
    return bool(modules) and modules[-1] in _FETCHERS


def _is_of_the_answer(error: Exception) -> bool:
    """Return whether botocore failed on a response that it did not expect.

    A body of the wrong types ends in an AttributeError or TypeError of its parser. A body that is
    nested too deeply, or an endless redirect, ends in a RecursionError. Where other code than the
    parser's own raised the exception, it is not about the response: the handler of a signal that
    arrived while the parser ran, or a hook of the user's.
    """
    modules = _modules_of(error)
    if isinstance(error, RecursionError):
        return any(_package_of(module) == "botocore" for module in modules[-_INNERMOST:])
    if modules[-1:] == [endpoint.__name__]:
        # It adds to what was parsed, which was `null`.
        return isinstance(error, AttributeError)
    if parsers.__name__ not in modules:
        return False
    inside = modules[modules.index(parsers.__name__) :]
    return all(_package_of(module) in _PARSERS for module in inside)


def unread_response(error: Exception) -> Mapping[str, Any]:
    """Return the response that botocore's parser could not read; empty for any other error."""
    return next(filter(None, map(response_in, frames_of(error))), {})


# --- 3: calls that botocore makes on the way to the one that was asked for -----------------------

_KNOWN: Final = frozenset({
    "AssumeRole", "AssumeRoleWithSAML", "AssumeRoleWithWebIdentity", "AssumeRoot",
    "CreateOAuth2Token", "CreateSession", "CreateToken", "DescribeEndpoints",
    "GetCredentialsForIdentity", "GetFederationToken", "GetRoleCredentials", "GetSessionToken",
})  # fmt: skip
"""Operations by which credentials, tokens, endpoints and sessions are asked for."""

_AFTER_SENDING: Final = ("needs-retry", "response-received", "before-parse", "after-call")
"""How the events of a call begin whose hooks run when its request may have been sent."""


class OnTheWay(NamedTuple):
    """Where an error was raised that is not one of the operation that was called."""

    call: str | None
    """The operation whose call raised it; None: no call did."""
    is_sent: bool
    """Whether the SDK may have sent the operation before."""
    is_hooked: bool
    """Whether a hook of this operation's events raised it for another call."""


def on_the_way(error: BaseException, called: str | None = None) -> OnTheWay | None:
    """Return where an error was raised, if it was on the way to the operation that was called.

    The name of another operation is not enough: a test double that stands for the service may give
    any to its error. It has to come out of a call inside the call, out of the fetching of
    credentials or out of a hook, or to name an operation that is known to be called on the way. Nor
    is the name of the same operation: a hook may call it with another client.

    Args:
        error: what the call raised.
        called: the name of the operation that was called; None: not known.
    """
    name = error.operation_name if isinstance(error, ClientError) else None
    if name is not None and name == called and _is_of_only_call(error):
        return None  # As nearly all are.
    frames = _last_frames_of(error)
    calls = [call_in(frame) for frame in frames if makes_call(frame)]
    is_fetched = any(module_of(each) in _FETCHERS or gets_credentials(each) for each in frames)
    is_inside = bool(calls) and (is_fetched or not _are_alike(calls[0], calls[-1]))
    inner = calls[-1].operation if is_inside else None
    is_known = called is not None and name != called and name in _KNOWN
    own = {called, *(call.operation for call in calls[:1])} - {None}
    # Two names: what was called was replaced, or is about to refresh the credentials.
    event = _event_around(frames) if len(own) == 1 else None
    # So begin the names of all operations; a double that answers by a hook may have any other.
    is_hooked = event is not None and name not in own and str(name or "")[:1].isupper()
    if not (is_fetched or is_known or is_hooked) and (inner is None or name not in (None, inner)):
        return None
    context = error.__context__
    if name is None and isinstance(context, ClientError):
        # What fetches credentials caught it, and says what to do about it, such as to log in.
        caught_in = _modules_of(context)[:1]
        name = None if _FETCHERS.isdisjoint(caught_in) else context.operation_name
    is_sent = (event or "").startswith(_AFTER_SENDING)
    is_sent |= next(filter(None, map(attempts_in, frames)), 1) > 1
    return OnTheWay(name or inner, is_sent, is_hooked and not (is_fetched or is_known))


def _event_around(frames: list[FrameType]) -> str | None:
    """Return the event of the outermost call in whose hooks an error was raised; None: in none."""
    event, is_called = None, False
    for frame in frames:
        if makes_call(frame):
            if is_called:
                break  # A call inside the call, whose hooks are its own.
            is_called = True
        # What was raised while the request was sent, the hooks about retries raise again.
        event = None if module_of(frame) == endpoint.__name__ else event_in(frame) or event
    return event if is_called else None


def _is_of_only_call(error: BaseException) -> bool:
    """Return whether the only call that an error came through raised it, and no refresh before."""
    names, frame, place = [], None, error.__traceback__
    while place is not None:
        frame, place = place.tb_frame, place.tb_next
        names.append(frame.f_code.co_name)
    if frame is None or names.count(names[-1]) > 1 or abandonable_call.__name__ in names:
        return False
    return makes_call(frame)


def _are_alike(one: MadeCall, other: MadeCall) -> bool:
    """Return whether two calls are of one operation of one client."""
    # Frames may have been cleared, and tell nothing.
    if one is other or None in (*one, *other):
        return True
    return one.client is other.client and one.operation == other.operation


# --- the frames that an error came through -------------------------------------------------------

_SUSPENDED: Final = inspect.CO_ASYNC_GENERATOR | inspect.CO_COROUTINE | inspect.CO_GENERATOR
_LOOP: Final = "asyncio.base_events"


def _last_frames_of(error: BaseException) -> list[FrameType]:
    """Return the frames that an error came through when it was raised last, outermost first.

    A test double may raise one error again and again, whose traceback then has the frames of every
    time. The frames of another thread or task that the call used count, too.
    """
    frames: list[FrameType] = []
    outside: set[FrameType] = set()
    for frame in frames_of(error):
        if not frames:
            outside = {caller for caller, _ in traceback.walk_stack(frame)}
        elif not _is_inside(frame, frames, outside):
            break
        frames.append(frame)
    return frames


def _is_inside(frame: FrameType, frames: list[FrameType], outside: set[FrameType]) -> bool:
    """Return whether a frame was called by the first of these frames, however far below."""
    if frame.f_back in frames or _leads_elsewhere(frames[-1]):
        return True
    caller = frame
    while caller not in frames:
        if caller in outside:
            # The event loop starts each task; anything else belongs to an earlier call.
            return module_of(caller) == _LOOP
        if _is_ours(caller):
            return False  # An earlier call of the package, in another thread.
        if caller.f_back is None:
            # A thread starts; or a coroutine or generator has ended, and has no caller any more.
            is_start = module_of(caller) == threading.__name__
            return is_start or bool(caller.f_code.co_flags & _SUSPENDED)
        caller = caller.f_back
    return True


def _leads_elsewhere(frame: FrameType) -> bool:
    """Return whether a frame of the package may raise what a thread or task of its own raised.

    A thread has no caller, and a task none but the event loop. Before Python 3.12, no coroutine
    that has ended has one.
    """
    code = frame.f_code
    is_coroutine = bool(code.co_flags & inspect.CO_COROUTINE)
    return code is abandonable_call.__code__ or (is_coroutine and _is_ours(frame))


def _is_ours(frame: FrameType) -> bool:
    return _package_of(module_of(frame)) == _PACKAGE


def _modules_of(error: BaseException) -> list[str]:
    """Return the names of the modules of all frames of an error, however often it was raised."""
    return list(map(module_of, frames_of(error)))


def _package_of(module: str) -> str:
    return module.partition(".")[0]
