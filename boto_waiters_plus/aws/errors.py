"""Errors of a call: their names, the facts that a wait needs, and which are not its outcome."""

from __future__ import annotations

import ssl
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    EndpointProviderError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    ReadTimeoutError,
    ResponseStreamingError,
    StubResponseError,
)
from botocore.model import OperationModel, Shape
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from ..engine.machine import Facts
from ..runtime.attempt import Attempt
from .private_names import is_retryable

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

CONNECTED = (ReadTimeoutError, ConnectionClosedError, ResponseStreamingError)
"""Errors of a connection that was there; every other transport error may be the lack of one."""

NEVER_SERVED = (501, 505)
"""HTTP statuses of what the service never does: not implemented, version not supported."""

PARSER_LIBRARIES = sys.stdlib_module_names | {"aiobotocore", "botocore", "dateutil"}
"""The top-level packages of the code that runs when a parser reads a response."""

INNERMOST_FRAMES = 60
"""The frames in which infinite recursion is botocore's if one of them is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFacts:
    """The facts of an error that acceptors, messages and the engine need."""

    names: frozenset[str]
    text: str
    """What may be shown: code, HTTP status and request id, or the class and what is behind it."""
    code: str
    message: str | None = None
    status: int | None = None
    response: Mapping[str, Any] = field(default_factory=dict)
    transient: bool
    unconnected: bool = False
    throttled: bool = False
    missing: bool = False

    def attempt(
        self, error: Exception, acceptor: int | None, *, inconclusive: bool = False
    ) -> Attempt:
        """Return the attempt that ended in this error.

        Args:
            error: the exception.
            acceptor: the index of the acceptor that matched it.
            inconclusive: the SDK would have retried, had there been time.
        """
        # The SDK retries a certificate that is not trusted, too.
        is_certificate = self.status is None and not self.transient
        return Attempt(
            facts=Facts(
                acceptor=acceptor,
                transient=self.transient,
                unconnected=self.unconnected,
                answered=bool(self.response) or self.code == ResponseParserError.__name__,
                throttled=self.throttled,
                missing=self.missing,
                inconclusive=inconclusive and not is_certificate,
            ),
            exception=error,
            error=self.text,
            error_code=self.code,
            service_message=self.message,
            last_response=self.response,
        )


def is_of_the_call(error: Exception) -> bool:
    """Return whether an exception is a result of the call or of its transport."""
    if isinstance(error, RAW):
        return False
    return isinstance(error, OF_THE_CALL) or _is_of_the_answer(error)


def _is_of_the_answer(error: Exception) -> bool:
    """Return whether botocore failed on a response that it did not expect.

    A body of the wrong types ends in an AttributeError or TypeError of its parser. A body that is
    nested too deeply, or an endless redirect, ends in a RecursionError. Where other code than the
    parser's own raised the exception, it is not about the response: the handler of a signal that
    arrived while the parser ran, or a hook of the user's.
    """
    modules = [
        frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    if isinstance(error, RecursionError):
        innermost = modules[-INNERMOST_FRAMES:]
        return any(name.startswith("botocore.") for name in innermost)
    if "botocore.parsers" not in modules:
        return False
    inside = modules[modules.index("botocore.parsers") :]
    return all(name.partition(".")[0] in PARSER_LIBRARIES for name in inside)


def error_facts(
    error: Exception, operation: OperationModel | None = None, *, endpoint: str | None = None
) -> ErrorFacts:
    """Return the facts of an error that a call raised.

    Args:
        error: the exception.
        operation: the model of the operation, for the names of its error shapes.
        endpoint: the endpoint of the client, named if the error did not come from the service.
    """
    _redact_user_info(error, endpoint)
    response: Mapping[str, Any] | None = error.response if isinstance(error, ClientError) else None
    if response is None:
        name = type(error).__name__
        where = f"{name} at {_host(endpoint)}" if endpoint else name
        from .error_causes import cause_in_words  # noqa: PLC0415 - only for an error

        cause = cause_in_words(error, operation)
        return ErrorFacts(
            names=frozenset([name]),
            text=f"{where}: {cause}" if cause else where,
            code=name,
            transient=is_transient_transport_error(error),
            unconnected=not isinstance(error, CONNECTED),
        )
    details: Mapping[str, Any] = response.get("Error") or {}
    metadata: Mapping[str, Any] = response.get("ResponseMetadata") or {}
    code, status = str(details.get("Code", "Unknown")), metadata.get("HTTPStatusCode")
    shape = None if operation is None else operation.service_model.shape_for_error_code(code)  # type: ignore[arg-type]  # the stubs say int, the codes are text
    transient, throttled = _transient_and_throttled(error, response, status, shape)
    return ErrorFacts(
        names=frozenset(_names(error, code, details, operation, shape)),
        text=_text(code, status, metadata.get("RequestId")),
        code=code,
        message=details.get("Message") or None,
        status=status,
        response=response,
        transient=transient,
        throttled=throttled,
        missing=status == 404 or says_not_found(code),
    )


def is_transient_transport_error(error: Exception) -> bool:
    """Return whether an error without a response is part of calling, and may pass by itself.

    A certificate that is not trusted stays so.
    """
    retryable, _ = is_retryable(error, None)
    return retryable and not _is_about_certificate(error)


def _is_about_certificate(error: BaseException) -> bool:
    """Return whether the check of a certificate failed, by the errors inside this one."""
    inside: list[Any] = [error]
    seen: set[int] = set()
    while inside:
        each = inside.pop()
        if not isinstance(each, BaseException) or id(each) in seen:
            continue
        if isinstance(each, ssl.SSLCertVerificationError):
            return True
        seen.add(id(each))
        inside += [*each.args, each.__cause__, each.__context__]
        inside += [getattr(each, "kwargs", {}).get("error"), getattr(each, "original_error", None)]
    return False


def _transient_and_throttled(
    error: Exception, response: Mapping[str, Any], status: Any, shape: Shape | None
) -> tuple[bool, bool]:
    """Return whether an error response is a transient error, and whether it is a throttle."""
    transient, throttled = is_retryable(error, response)
    if shape is not None:
        retryable = shape.metadata.get("retryable")
        transient |= retryable is not None
        throttled |= bool((retryable or {}).get("throttling"))
    elif status == 429:
        # What it means is otherwise the model's business: some quotas have this status.
        transient = throttled = True
    is_of_server = isinstance(status, int) and status >= 500 and status not in NEVER_SERVED
    return transient or is_of_server, throttled


def says_not_found(code: str) -> bool:
    """Return whether an error code means that the resource does not exist."""
    endings = ("NotFound", "NotFoundException", "NotFoundFault", "DoesNotExist")
    return code.endswith(endings) or code.startswith("NoSuch")


def _names(
    error: Exception,
    code: str,
    details: Mapping[str, Any],
    operation: OperationModel | None,
    shape: Shape | None,
) -> Iterator[str]:
    """Yield the wire code, the class, the query-compatible code and the modelled shape."""
    yield code
    if type(error) is not ClientError:
        yield type(error).__name__
    if "QueryErrorCode" in details:
        yield str(details["QueryErrorCode"])
    if shape is not None:
        yield shape.name
    # The response to a HEAD request has no body: its status is its only code.
    if code == "404" and operation is not None and operation.http.get("method") == "HEAD":
        yield "NotFound"


def _host(endpoint: str) -> str:
    """Return scheme, host and port; the rest of a URL may hold credentials."""
    url = urlsplit(endpoint)
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}"


def _redact_user_info(error: Exception, endpoint: str | None) -> None:
    """Remove the user name and password of an endpoint from the text of an error about it.

    The error is the cause of the wait's own, and Python prints it in every traceback.
    """
    user_info = urlsplit(endpoint or "").netloc.rpartition("@")[0]
    if not user_info or not isinstance(error, BotoCoreError):
        return

    def redacted(value: Any) -> Any:
        return value.replace(f"{user_info}@", "") if isinstance(value, str) else value

    error.args = tuple(redacted(value) for value in error.args)
    error.kwargs = {name: redacted(value) for name, value in error.kwargs.items()}


def _text(code: str, status: Any, request_id: Any) -> str:
    parts = [f"HTTP {status}"] if status and str(status) != code else []
    if request_id:
        parts.append(f"request id {request_id}")
    return f"{code} ({', '.join(parts)})" if parts else code
