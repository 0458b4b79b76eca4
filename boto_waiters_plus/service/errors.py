"""Errors of a call: their names, and the facts that a wait needs."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    HTTPClientError,
    ParamValidationError,
    ReadTimeoutError,
    ResponseStreamingError,
)
from botocore.exceptions import ConnectionError as NoConnectionError
from botocore.model import OperationModel, Shape
from botocore.parsers import ResponseParserError

from ..calls.errors import OnTheWay, errors_inside, is_passing, on_the_way, unread_response
from ..calls.private_names import is_retryable
from ..engine.machine import Facts
from ..engine.redaction import cut, printable, without_secrets
from ..wait.facts import NO_REASON, Attempt, FoundReason
from .data_model import has_sensitive_output
from .parameters import wrong_parameters
from .shapes import is_sensitive

CONNECTED = (ReadTimeoutError, ConnectionClosedError, ResponseStreamingError)
"""Errors of a connection that was there; every other transport error may be the lack of one."""

_TRANSPORT = (HTTPClientError, NoConnectionError)

MOST_TEXT = 500
"""Characters of the text of an error of botocore."""

NEVER_SERVED = (501, 505)
"""HTTP statuses of what the service never does: not implemented, version not supported."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ErrorFacts:
    """The facts of an error that acceptors, messages and the engine need."""

    kind: type[Exception]
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
    quotes_throttle: bool = False
    """The throttle is that of a service behind this one, which may have done a part of the work."""
    missing: bool = False
    sensitive: bool = False
    """The model calls the message sensitive."""
    on_the_way: OnTheWay | None = None
    """Where the error was raised, if the operation that was called has not answered."""
    _last: Attempt | None = None
    """The last attempt that ended in this error; None where it is not needed again."""

    @property
    def other_call(self) -> str | None:
        """The operation whose call failed, if it is not the one that was called."""
        return None if self.on_the_way is None else self.on_the_way.call

    def attempt(
        self, error: Exception, acceptor: int | None, *, inconclusive: bool = False
    ) -> Attempt:
        """Return the attempt that ended in this error: the last one, if another says the same.

        Args:
            error: the exception.
            acceptor: the index of the acceptor that matched it.
            inconclusive: the SDK would have retried, had there been time.
        """
        last = self._last
        # The same error may be an attempt of several waits.
        if last is None or last.exception is error or inconclusive or last.facts.inconclusive:
            made = Attempt(
                facts=self._facts_under(acceptor, inconclusive=inconclusive),
                exception=error,
                error=self.text,
                error_code=_of_call(self.other_call, self.code),
                other_call=self.other_call,
                reason=NO_REASON if self.sensitive else FoundReason(self.message),
                response=self.response,
            )
            # Of others than those of the service, none says the same as another.
            self._last = None if self.message is None else made
            return made
        last.exception, last.error, last.response = error, self.text, self.response
        last.coalesced = False
        return last

    def _facts_under(self, acceptor: int | None, *, inconclusive: bool) -> Facts:
        is_certificate = self.status is None and not self.transient
        is_answer = (
            bool(self.response)
            or self.status is not None
            or self.code == ResponseParserError.__name__
        )
        return Facts(
            acceptor=acceptor if self.on_the_way is None else None,
            transient=self.transient,
            unconnected=self.unconnected,
            answered=is_answer and self.on_the_way is None,
            throttled=self.throttled,
            missing=self.missing,
            error_names=self.names if self.on_the_way is None else frozenset(),
            # The SDK would retry these as well, but they are what the wait ends in.
            inconclusive=inconclusive and not (self.unconnected or is_certificate),
        )


def error_facts(
    error: Exception,
    operation: OperationModel | None = None,
    *,
    endpoint: str | None = None,
    last: ErrorFacts | None = None,
) -> ErrorFacts:
    """Return the facts of an error that a call raised.

    Args:
        error: the exception.
        operation: the model of the operation, for the names of its error shapes.
        endpoint: the endpoint of the client, named if the error did not come from the service.
        last: the facts of an error of the operation, which become those of one that says the same.
            Most polls of a long wait for what is not there end in such errors.
    """
    way = on_the_way(error, None if operation is None else operation.name)
    other_call = None if way is None else way.call
    if way is not None:
        # The model is that of another call, and so is the endpoint.
        operation, endpoint = None, getattr(error, "kwargs", {}).get("endpoint_url")
    if not isinstance(error, ClientError):
        name = type(error).__name__
        _redact_user_info(error, endpoint)
        redact_body(error, operation)
        status = unread_response(error).get("status_code")
        is_of_server = _is_of_server(status)
        return ErrorFacts(
            kind=type(error),
            names=frozenset([name]),
            text=_of_call(other_call, _text_of_exception(error, operation, endpoint)),
            code=name,
            # What a success that cannot be read has done is unknown.
            status=status if is_of_server else None,
            transient=is_transient_error(error),
            unconnected=status is None and not isinstance(error, CONNECTED),
            on_the_way=way,
        )
    response: Mapping[str, Any] = error.response
    details: Mapping[str, Any] = response.get("Error") or {}
    metadata: Mapping[str, Any] = response.get("ResponseMetadata") or {}
    status, request_id = metadata.get("HTTPStatusCode"), metadata.get("RequestId")
    if last is not None and way is None and _are_of(last, error, details, status):
        last.text, last.response = _text(last.code, status, request_id), response
        return last
    code = str(details.get("Code", "Unknown"))
    # Of JSON it may be anything.
    safe_code, message = printable(code), str(details.get("Message") or "") or None
    text = _of_call(other_call, _text(safe_code, status, request_id))
    if code == str(status) and message is not None and not _is_message(message, operation):
        message = None
        error.args = (f"An error occurred ({safe_code}), whose message is not shown",)
    shape = None if operation is None else operation.service_model.shape_for_error_code(code)  # type: ignore[arg-type]  # the stubs say int, the codes are text
    transient, throttled = _transient_and_throttled(error, response, status, shape)
    # These say for certain why.
    is_certain = throttled or status in (401, 403, 404) or says_not_found(code)
    quotes = not is_certain and _quotes_throttle(error, str(message or ""))
    return ErrorFacts(
        kind=type(error),
        names=frozenset(_names(error, code, details, operation, shape)),
        text=text,
        code=safe_code,
        message=message,
        status=status,
        response=response,
        transient=transient or quotes,
        throttled=throttled or quotes,
        quotes_throttle=quotes,
        missing=way is None and (status == 404 or says_not_found(code)),
        sensitive=is_sensitive(getattr(shape, "members", {}).get("message")),
        on_the_way=way,
    )


def _are_of(last: ErrorFacts, error: Exception, details: Mapping[str, Any], status: Any) -> bool:
    """Return whether the facts of the last error of the operation are those of this one, too."""
    # A message that is not shown is taken out of each error.
    if type(error) is not last.kind or last.on_the_way is not None or last.message is None:
        return False
    before = last.response.get("Error")
    # A test double may give an object again that it has changed.
    return status == last.status and details == before and details is not before


def _is_message(text: str, operation: OperationModel | None) -> bool:
    """Return whether the message of an error without a code is one.

    Of a body that it cannot read as JSON, botocore takes all for the message.
    """
    body = text.encode(errors="replace")
    return are_words(body) or may_quote(body, operation)


def is_transient_error(error: Exception) -> bool:
    """Return whether an error without a response is part of calling, and may pass by itself.

    A certificate that is not trusted stays so. An answer that cannot be read is one by its status.
    """
    if _is_of_server(unread_response(error).get("status_code")):
        return True
    retryable, _ = is_retryable(error, None)
    if not retryable:
        return is_passing(error)
    return not any(isinstance(each, ssl.SSLCertVerificationError) for each in errors_inside(error))


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
    return transient or _is_of_server(status), throttled


# --- throttles that the message of another error quotes ------------------------------------------
# A service that calls another one may answer with an error of its own, and quote the throttle in
# the message, as "Rate exceeded (ErrorCode: Throttling)" or in the forms of the SDKs.

_THROTTLES: Final = (
    r"(?:^|[.:(\['\"]\s*)(?:Rate [Ee]xceeded|(?:EC2 )?Request limit exceeded)"
    # A word or a quotation mark after it would make it a sentence about something else.
    r"(?=[\s.)]*$|[.,)]|['\"]?\s\(|['\"]\}|\s+status code)"
    r"|^Too [Mm]any [Rr]equests(?=[\s.]*$|,|\s\(Service:)"
    r"| reasons \[(?:None, )*(?:ThrottlingError|ProvisionedThroughputExceeded)[^\]C]*\]"
)
_QUOTED_CODE: Final = (
    r"(?:[Ee]rror ?[Cc]ode[:=] ?|An error occurred \()(?:\w+\.)?(\w+)(?=[;,.)]|\s*$)"
    r"|(?:^|[\s(:'\"])(\w+(?:Exception|Exceeded)|SlowDown): "
)
_MAY_QUOTE: Final = ("throttl", "exceeded", "too many", "toomany", "slowdown")
"""In lower case. Most messages have none of these."""


def _quotes_throttle(error: Exception, message: str) -> bool:
    """Return whether a message quotes the throttle of another service.

    One that only speaks of rates, or of what is named for throttles, does not.
    """
    message = message[:10_000]  # It may be megabytes.
    text = message.lower()
    if not any(each in text for each in _MAY_QUOTE):
        return False
    if re.search(_THROTTLES, message):
        return True
    codes = {code or other for code, other in re.findall(_QUOTED_CODE, message)}
    # botocore takes the code of quotas for a throttle.
    of_throttles = codes - {"LimitExceededException"}
    return any(is_retryable(error, {"Error": {"Code": code}})[1] for code in of_throttles)


def _is_of_server(status: Any) -> bool:
    return isinstance(status, int) and status >= 500 and status not in NEVER_SERVED


_ABSENT: Final = r"(NotFound|NotExists?)(Exception|Fault|Error)?\Z|\ANoSuch|Non[eE]xistent"


def says_not_found(code: str) -> bool:
    """Return whether an error code means that the resource does not exist."""
    endings = ("NotFound", "NotFoundException", "NotFoundFault", "DoesNotExist")
    return code.endswith(endings) or code.startswith("NoSuch")


def says_absent(code: str) -> bool:
    """Return whether an error code means so, in whatever words."""
    return re.search(_ABSENT, code) is not None


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


def _of_call(other_call: str | None, text: str) -> str:
    """Return the text of an error, with the call that failed if it is not the one of the wait."""
    return text if other_call is None else f"{other_call} failed with {text}"


def _text_of_exception(
    error: Exception, operation: OperationModel | None, endpoint: str | None
) -> str:
    """Return what may be shown of an error without a response.

    Args:
        error: the exception.
        operation: the operation that was called; None: not known.
        endpoint: the one that was called; None: not known.
    """
    name = type(error).__name__
    is_botocores = isinstance(error, BotoCoreError) and not isinstance(error, _TRANSPORT)
    if is_botocores or is_passing(error):
        # The client's endpoint has no part in it.
        return f"{name}: {cut(without_secrets(told_by(error)), MOST_TEXT)}"
    where = f"{name} at {_host(endpoint)}" if endpoint else name
    cause = cause_in_words(error, operation)
    return f"{where}: {cause}" if cause else where


def told_by(error: Exception) -> str:
    """Return the text of an exception; without the values of parameters that botocore refused."""
    return wrong_parameters(error) if isinstance(error, ParamValidationError) else str(error)


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
        parts.append(f"request id {printable(str(request_id))}")
    return f"{code} ({', '.join(parts)})" if parts else code


# --- what is behind an error that is not the service's: the system's own words, or an unusable body
# The system's words name no parameter. The beginning of a body is quoted where it is an HTML page
# or plain words, as of a proxy; anything else may be an answer of the service, cut off or damaged,
# which may hold anything.

_PAGE = rb"(?i)\s*(<!doctype\s+html[^>]*>\s*)?<(html|head|body|title|center|h1)\b"
_WORDS = rb"[A-Za-z][^][{}<>\"\\\x00-\x08\x0e-\x1f\x7f-\xff]{,999}"

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
    return is_known and (are_words(body) or re.match(_PAGE, body) is not None)


def are_words(body: bytes) -> bool:
    """Return whether a body is plain words: it has nothing that JSON and XML are made of."""
    return re.fullmatch(_WORDS, body) is not None


def _words_of_the_system(error: BaseException) -> Iterator[str]:
    """Yield the texts of the operating system among the causes of an error."""
    for each in islice(errors_inside(error, contexts=False), MOST_CAUSES):
        if isinstance(each, OSError) and isinstance(each.errno, int) and each.strerror:
            yield str(each.strerror)
