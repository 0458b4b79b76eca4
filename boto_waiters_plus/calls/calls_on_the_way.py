"""Calls that botocore makes on the way to the one that was asked for: their errors are their own.

Credentials are fetched (AssumeRole, GetRoleCredentials), a token is refreshed, an endpoint is asked
for, S3 Express opens a session. An error of such a call tells nothing of the operation.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    MetadataRetrievalError,
    TokenRetrievalError,
)

from .error_frames import frames_of, module_of

KNOWN: Final = frozenset({
    "AssumeRole", "AssumeRoleWithSAML", "AssumeRoleWithWebIdentity", "AssumeRoot",
    "CreateOAuth2Token", "CreateSession", "CreateToken", "DescribeEndpoints",
    "GetCredentialsForIdentity", "GetFederationToken", "GetRoleCredentials", "GetSessionToken",
})  # fmt: skip
"""Operations by which credentials, tokens, endpoints and sessions are asked for."""

_CLIENTS: Final = ("botocore.client", "aiobotocore.client")
_ENDPOINTS: Final = ("botocore.endpoint", "aiobotocore.endpoint")
_FETCHERS: Final = (
    "botocore.credentials", "botocore.tokens", "aiobotocore.credentials", "aiobotocore.tokens",
)  # fmt: skip


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
    credentials, or to name an operation that is `KNOWN` to be called on the way.

    Args:
        error: what the call raised.
        called: the name of the operation that was called; None: not known.
    """
    name = error.operation_name if isinstance(error, ClientError) else None
    if name is not None and name == called and name not in KNOWN:
        return None  # As nearly all are.
    calls: list[str] = []
    attempts: list[int] = []
    is_fetched = False
    for frame in frames_of(error):
        module, function = module_of(frame), frame.f_code.co_name
        if module in _FETCHERS:
            is_fetched = True
        elif module in _CLIENTS and function == "_make_api_call":
            calls.append(frame.f_locals["operation_name"])
        elif module in _ENDPOINTS and function == "_send_request":
            attempts.append(frame.f_locals.get("attempts", 1))
    inner = calls[-1] if calls and (is_fetched or calls[-1] != calls[0]) else None
    is_known = called is not None and name != called and name in KNOWN
    if not is_fetched and not is_known and (inner is None or name not in (None, inner)):
        return None
    return OnTheWay(name or inner, attempts[:1] > [1])


def is_passing(error: BaseException) -> bool:
    """Return whether credentials could not be fetched, and the next attempt may succeed."""
    if isinstance(error, (CredentialRetrievalError, MetadataRetrievalError, TokenRetrievalError)):
        return True
    if type(error) is not RuntimeError:
        return False
    # What was fetched is expired already.
    frames = frames_of(error)
    return bool(frames) and module_of(frames[-1]) in _FETCHERS
