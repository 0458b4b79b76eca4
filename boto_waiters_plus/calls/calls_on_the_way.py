"""Calls that botocore makes on the way to the one that was asked for: their errors are their own.

Credentials are fetched (AssumeRole, GetRoleCredentials), a token is refreshed, an endpoint is asked
for, S3 Express opens a session. An error of such a call tells nothing of the operation.
"""

from __future__ import annotations

from types import FrameType
from typing import Final, NamedTuple

from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    MetadataRetrievalError,
    TokenRetrievalError,
)

from .abandonable_call import abandonable_call
from .error_frames import frames_of, module_of, modules_of

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
