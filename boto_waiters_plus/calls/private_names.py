"""The private names of botocore, boto3 and urllib3 that the package uses, each guarded.

`tests/calls/test_private_names.py` fails by name when a release changes one. Nothing public serves
instead:

| name | used for |
|---|---|
| `Waiter._operation_method` | what a waiter object calls, however it was made; users replace it |
| `NormalizedOperationMethod._client_method` | the exception of an attempt, which botocore drops |
| `SingleWaiterConfig._config` | whether delay or max_attempts were changed |
| `client._get_waiter_config` | whether a waiter's model is botocore's own data |
| `boto3.Session._session` | the botocore session of a boto3 session, for its loader |
| `botocore.context` | the waiter's mark in the user agent |
| `botocore.retries.standard` | which errors botocore itself would retry, and \
how soon |
| `OperationModel._operation_model` | whether an operation is marked as one that only reads |
| `client._endpoint`, `URLLib3Session._verify` | the CA bundle of a client, for stored waits |
| `client._request_signer._credentials` | the account of a stored call, where credentials tell it |
| `EventAliaser._emitter`, `HierarchicalEmitter._unique_id_handlers` | whether a Stubber answers \
the calls of a client |

Calls are bounded through connection classes that each client gets for itself:

| name | used for; without it |
|---|---|
| `client._endpoint`, `URLLib3Session._pool_classes_by_scheme` | the client's connection classes; \
calls are made in threads that are abandoned at the deadline |
| `client._request_signer._credentials`, `._auth_token`, \
`DeferredRefreshableToken._should_refresh` | whether a call would refresh the credentials or the \
bearer token first, which takes as long as it takes; such a call may end late |
| `RequestSigner.get_auth_instance(request_credentials=)` | signs with what was just refreshed; \
where that expires soon, the call is made in a thread |
| `RefreshableCredentials._refresh_using`, its `._refresh`, \
`AssumeRoleCredentialFetcher._mfa_prompter`, \
`._assume_kwargs`, `._source_credentials` | MFA codes are asked for in the thread of the caller; \
they are asked for where the refresh runs |
| urllib3's `HTTPConnection._new_conn` | the socket before TLS; a handshake may end late |
| `retries` in the context of a request, its `max` | whether the SDK retries at all; an error at \
the end of the time that it would not retry is taken for one that it would |

Whose error it is, is told by the frames that it came through:

| name | used for; without it |
|---|---|
| `BaseClient._make_api_call`, its `self` and `operation_name` | whether another call than the one \
that was asked for raised an error; told by the name of its operation only |
| `RequestSigner.get_auth_instance` | whether credentials of any class were fetched; told by the \
modules of botocore that fetch them only |
| `BaseEventHooks.emit` and `HierarchicalEmitter._emit`, their `event_name` | whether the request \
had been sent when a hook raised an error; it counts as not sent |
| `Endpoint._send_request`, its `attempts` | whether the SDK had sent a request before; it counts \
as not sent |
| `ResponseParser.parse`, its `response` | status and body of a response that cannot be read; \
neither is told |
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import socket
from collections.abc import Callable, Iterator, Mapping
from types import FrameType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import botocore.client
import botocore.endpoint
import botocore.hooks
import botocore.parsers
import botocore.session
import botocore.waiter
from botocore.credentials import AssumeRoleCredentialFetcher, RefreshableCredentials
from botocore.model import OperationModel
from botocore.signers import RequestSigner

from ..common.process import locals_of

try:
    from botocore.context import start_as_current_context
    from botocore.useragent import register_feature_id
except ImportError:  # botocore before 1.38 has no such marks at all
    start_as_current_context = contextlib.nullcontext  # type: ignore[assignment]  # a context, too
    register_feature_id = str  # type: ignore[assignment]  # takes the same, and does nothing

try:
    from botocore.retries import standard as retries
except ImportError:  # a future botocore: nothing counts as transient then
    retries = None  # type: ignore[assignment]  # asked before it is used


if TYPE_CHECKING:
    from urllib3.connection import HTTPConnection as _Connection
else:
    _Connection = object


@contextlib.contextmanager
def marked_as_waiter() -> Iterator[None]:
    """Requests made inside carry botocore's waiter mark in their user agent."""
    with start_as_current_context():
        register_feature_id("WAITER")
        yield


_NORMALIZED = "botocore.waiter.NormalizedOperationMethod"


def is_stubbed(client: Any) -> bool:
    """Return whether a `botocore.stub.Stubber` answers the calls of a client, in its own order."""
    events = client.meta.events
    handlers = getattr(getattr(events, "_emitter", events), "_unique_id_handlers", None)
    return isinstance(handlers, dict) and "boto_stubber" in handlers


def call_of_waiter(waiter: Any) -> Callable[..., Any]:
    """Return what a waiter object calls for one attempt."""
    operation: Callable[..., Any] = waiter._operation_method  # noqa: SLF001 - see the table above
    return operation


def client_method_of(operation: Any) -> Callable[..., Any] | None:
    """The client's method behind botocore's own wrapper; None for anything else."""
    kind = type(operation)
    # aiobotocore's is a subclass of its own; anything else is a replacement.
    if f"{botocores(kind.__module__)}.{kind.__name__}" != _NORMALIZED:
        return None
    return getattr(operation, "_client_method", None)


def botocore_session_of(target: Any) -> botocore.session.Session | None:
    """The botocore session of a boto3 or botocore session; None for anything else."""
    session = getattr(target, "_session", target)
    # By the type: mocks and proxies give themselves out for what they stand for.
    return session if issubclass(type(session), botocore.session.Session) else None


def model_of_config(config: Any) -> Mapping[str, Any] | None:
    """The waiters-2 JSON that a waiter's config was made of; None for configs of others."""
    model = getattr(config, "_config", None)
    return model if isinstance(model, Mapping) else None


def is_botocores_model(client: Any, config: Any) -> bool:
    """Return whether a waiter's config was made from botocore's own data for the client."""
    load = getattr(client, "_get_waiter_config", None)
    model = model_of_config(config)
    if load is None or model is None:
        return False
    return any(each is model for each in load().get("waiters", {}).values())


def is_marked_readonly(operation: OperationModel) -> bool:
    """Whether the model says that an operation only reads."""
    return bool(getattr(operation, "_operation_model", {}).get("readonly"))


def is_retryable(error: Exception, response: Mapping[str, Any] | None) -> tuple[bool, bool]:
    """Whether botocore's own retries would take this error, and whether as a throttle."""
    if retries is None:
        return False, False
    if not response:
        return _is_retryable(retries.RetryContext(attempt_number=1, caught_exception=error))
    details = response.get("Error")
    code = str(details.get("Code")) if isinstance(details, dict) else ""
    return _is_retryable_response(code, response.get("ResponseMetadata", {}).get("HTTPStatusCode"))


@functools.lru_cache(maxsize=1024)
def _is_retryable_response(code: str, status: int | None) -> tuple[bool, bool]:
    assert retries is not None, "the caller has asked"
    context = retries.RetryContext(
        attempt_number=1,
        parsed_response={"Error": {"Code": code}},
        # As much of an HTTP response as botocore's check reads.
        http_response=None if status is None else SimpleNamespace(status_code=status),
    )
    return _is_retryable(context)


def _is_retryable(context: Any) -> tuple[bool, bool]:
    throttled = bool(_retry_check("ThrottledRetryableChecker").is_retryable(context))
    transient = throttled or bool(_retry_check("TransientRetryableChecker").is_retryable(context))
    return transient, throttled


@functools.cache
def _retry_check(name: str) -> Any:
    return getattr(retries, name)()


@functools.cache
def has_brief_delays() -> bool:
    """Whether the standard retry mode delays a retry briefly if the error is no throttle.

    In some releases of botocore before 1.44 it delays all retries as it does after throttles.
    """
    backoff = getattr(retries, "ExponentialBackoff", None)
    return callable(backoff) and "throttling_detector" in inspect.signature(backoff).parameters


# --- bounded calls ---------------------------------------------------------------------------


def most_attempts(request: Mapping[str, Any]) -> int | None:
    """Return how often the SDK sends a request at most; None: that is not known yet."""
    most: int | None = request["context"].get("retries", {}).get("max")
    return most


class SocketMaker(_Connection):
    """A base of connection classes that lets a subclass make the socket."""

    def make_socket(self, new_socket: Callable[[], socket.socket]) -> socket.socket:
        """Return the connected socket, before TLS."""
        return new_socket()

    def _new_conn(self) -> socket.socket:
        new_socket: Callable[[], socket.socket] = super()._new_conn
        return self.make_socket(new_socket)


def asks_socket_maker(connection: SocketMaker) -> bool:
    """Return whether the connection makes its socket by `make_socket`."""
    return hasattr(super(SocketMaker, connection), "_new_conn")


def http_session_of(client: Any) -> Any:
    """Return the HTTP session of a client, or None."""
    return getattr(getattr(client, "_endpoint", None), "http_session", None)


def verification_of(client: Any) -> str | bool:
    """Return how a client verifies certificates: the path of a CA bundle, True or False."""
    verify = getattr(http_session_of(client), "_verify", True)
    return verify if isinstance(verify, bool) else str(verify)


def pool_classes_of(session: Any) -> dict[str, Any] | None:
    """Return the dict, by scheme, of the pool classes of an HTTP session, to be changed."""
    pools = getattr(session, "_pool_classes_by_scheme", None)
    return pools if isinstance(pools, dict) and pools else None


def account_of(client: Any) -> str | None:
    """Return the account of a client's credentials; None where they do not tell it.

    The property of credentials that can be refreshed would refresh them, over the network.
    """
    credentials = getattr(getattr(client, "_request_signer", None), "_credentials", None)
    kept = getattr(credentials, "__dict__", {})
    account = kept.get("_account_id") or kept.get("account_id")
    return account if isinstance(account, str) else None


class Refresh(NamedTuple):
    """A refresh of credentials or of a token."""

    is_needed: Callable[[], Any]
    make: Callable[[], Any]
    """Refreshes them if it is needed, and returns them as they are then."""


def refresh_of(client: Any) -> Refresh | None:
    """Return the refresh of a client's credentials; None if they are never refreshed.

    Those of a client that sends a bearer token are that token.
    """
    signer = getattr(client, "_request_signer", None)
    if getattr(signer, "signature_version", None) == "bearer":
        kept, names = getattr(signer, "_auth_token", None), ("_should_refresh", "get_frozen_token")
    else:
        kept = getattr(signer, "_credentials", None)
        names = ("refresh_needed", "get_frozen_credentials")
    is_needed, make = (getattr(kept, name, None) for name in names)
    return Refresh(is_needed, make) if callable(is_needed) and callable(make) else None


def signs_with_given_credentials() -> bool:
    """Return whether botocore signs with credentials that are given in the context of a request."""
    parameters = inspect.signature(RequestSigner.get_auth_instance).parameters
    return "request_credentials" in parameters


def prompters_of(client: Any) -> Iterator[tuple[Any, str]]:
    """Yield what asks for MFA codes for a client, with the attribute that has the prompter.

    A role may be assumed with the credentials of another role.
    """
    credentials = getattr(getattr(client, "_request_signer", None), "_credentials", None)
    while isinstance(credentials, RefreshableCredentials):
        fetcher = _fetcher_behind(getattr(credentials, "_refresh_using", None))
        if getattr(fetcher, "_assume_kwargs", {}).get("SerialNumber"):
            yield fetcher, "_mfa_prompter"
        credentials = getattr(fetcher, "_source_credentials", None)


def _fetcher_behind(refresh: Any) -> Any:
    """Return what assumes a role; None: nothing does."""
    owner = getattr(refresh, "__self__", refresh)
    if not isinstance(owner, AssumeRoleCredentialFetcher):
        # With an MFA code, an object in between sees to it that it is asked for once.
        owner = getattr(getattr(owner, "_refresh", None), "__self__", None)
    is_known = isinstance(owner, AssumeRoleCredentialFetcher) and hasattr(owner, "_mfa_prompter")
    return owner if is_known else None


# --- frames --------------------------------------------------------------------------------------


class MadeCall(NamedTuple):
    """A call that a client makes; what its frame does not tell any more is None."""

    client: Any
    operation: str | None


def botocores(module: str) -> str:
    """Return the name of the module of botocore that one of aiobotocore stands in for.

    aiobotocore may be absent, so that its modules cannot be asked. They are named as botocore's.
    """
    return module.removeprefix("aio") if module.startswith("aiobotocore.") else module


def module_of(frame: FrameType) -> str:
    """Return the name of the module whose code runs in a frame; see `botocores`."""
    return botocores(str(frame.f_globals.get("__name__")))


def makes_call(frame: FrameType) -> bool:
    """Return whether a client makes a call in a frame, which raises the error that is answered."""
    return _runs("_make_api_call", botocore.client, frame)


def call_in(frame: FrameType) -> MadeCall:
    """Return the call that a client makes in a frame."""
    values = locals_of(frame)
    return MadeCall(values.get("self"), values.get("operation_name"))


def gets_credentials(frame: FrameType) -> bool:
    """Return whether a signer asks credentials of any class in a frame for what it signs with."""
    return frame.f_code.co_name == "get_auth_instance"


def event_in(frame: FrameType) -> str | None:
    """Return the event whose hooks run below a frame, or `unknown`; None: no hooks do."""
    if module_of(frame) != botocore.hooks.__name__:
        return None
    return str(locals_of(frame).get("event_name", "unknown"))


def attempts_in(frame: FrameType) -> Any:
    """Return how often a request was sent from a frame, or was about to be; 0: it sends none."""
    is_sending = _runs("_send_request", botocore.endpoint, frame)
    return locals_of(frame).get("attempts", 1) if is_sending else 0


def response_in(frame: FrameType) -> Mapping[str, Any] | None:
    """Return the response that a parser reads in a frame; None: it reads none."""
    is_parsing = _runs("parse", botocore.parsers, frame)
    response = locals_of(frame).get("response") if is_parsing else None
    return response if isinstance(response, dict) else None


def _runs(function: str, module: ModuleType, frame: FrameType) -> bool:
    return frame.f_code.co_name == function and module_of(frame) == module.__name__
