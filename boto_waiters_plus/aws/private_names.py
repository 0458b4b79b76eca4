"""Every name of botocore that is not public and that we lean on, each guarded.

`tests/aws/test_private_names.py` fails by name when a botocore changes one. Why there is no
public way:

| name | used for |
|---|---|
| `Waiter._operation_method` | what a waiter object calls, however it was built; users replace it |
| `NormalizedOperationMethod._client_method` | the exception of a poll, which botocore drops |
| `SingleWaiterConfig._config` | whether somebody changed delay or max_attempts since |
| `client._get_waiter_config` | whether a waiter's model is botocore's own data |
| `boto3.Session._session` | the botocore session, for its loader, of a session to enable |
| `botocore.context` | the mark of a waiter in the user agent |
| `botocore.retries.standard` | which errors botocore itself would retry |

Bounded calls rest on `botocore.awsrequest.AWSHTTP(S)Connection` and their `connect` and `request`,
which are public. These make them more exact, and may be missing:

| name | used for; without it |
|---|---|
| urllib3's `HTTPConnection._new_conn` | the socket before TLS; a handshake may end late |
| `ExponentialBackoff._DEFAULT_BACKOFF_CONFIG` | the longest pause before a retry; fewer retries |
| `ExponentialBackoff._SERVICE_BACKOFF_CONFIG` | the same |
| `botocore.endpoint.time` | ending the pause before a retry; it ends by itself |
| `botocore.retries.bucket.TokenBucket` | ending the adaptive mode's wait; it ends by itself |
| `client._endpoint`, `Endpoint.http_session` | bounding one client alone; no such option |
| `URLLib3Session._pool_classes_by_scheme` | the same |
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import botocore.session
import botocore.waiter

try:
    from botocore.context import start_as_current_context
    from botocore.useragent import register_feature_id
except ImportError:  # botocore before 1.38 has no such marks at all
    start_as_current_context = None  # type: ignore[assignment]  # asked before it is used
    register_feature_id = None  # type: ignore[assignment]  # the same

try:
    from botocore.retries import bucket
except ImportError:  # a botocore to come
    bucket = None  # type: ignore[assignment]  # asked before it is used

try:
    from botocore.retries import standard as retries
except ImportError:  # a botocore to come: nothing counts as transient then
    retries = None  # type: ignore[assignment]  # asked before it is used


@contextlib.contextmanager
def marked_as_waiter() -> Iterator[None]:
    """Requests made inside carry botocore's waiter mark in their user agent."""
    if start_as_current_context is None or register_feature_id is None:
        yield
        return
    with start_as_current_context():
        register_feature_id("WAITER")
        yield


# aiobotocore's is a subclass of its own; anything else is somebody's replacement.
_NORMALIZED = {
    ("botocore.waiter", "NormalizedOperationMethod"),
    ("aiobotocore.waiter", "NormalizedOperationMethod"),
}


def operation_of(waiter: Any) -> Callable[..., Any]:
    """What a waiter object calls for one look."""
    operation: Callable[..., Any] = waiter._operation_method  # noqa: SLF001 - see the table above
    return operation


def client_method_of(operation: Any) -> Callable[..., Any] | None:
    """The client's method behind botocore's own wrapper; None for anything else."""
    kind = type(operation)
    if (kind.__module__, kind.__name__) not in _NORMALIZED:
        return None
    return getattr(operation, "_client_method", None)


def botocore_session_of(target: Any) -> botocore.session.Session | None:
    """The botocore session of a boto3 or botocore session; None for anything else."""
    session = getattr(target, "_session", target)
    return session if isinstance(session, botocore.session.Session) else None


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


def is_retryable(error: Exception, response: Mapping[str, Any] | None) -> tuple[bool, bool]:
    """Whether botocore's own retries would take this error, and whether as a throttle."""
    if retries is None:
        return False, False
    status = (response or {}).get("ResponseMetadata", {}).get("HTTPStatusCode")
    context = retries.RetryContext(
        attempt_number=1,
        parsed_response=response,
        http_response=None if status is None else _Status(status),
        caught_exception=None if response else error,
    )
    throttled = bool(retries.ThrottledRetryableChecker().is_retryable(context))
    return throttled or bool(retries.TransientRetryableChecker().is_retryable(context)), throttled


class _Status:
    """As much of an HTTP response as botocore's check looks at."""

    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


# --- bounded calls ---------------------------------------------------------------------------


def non_throttling_scale(service: str) -> float:
    """Seconds that the standard retry mode's first pause after no throttle lasts at most."""
    backoff = getattr(retries, "ExponentialBackoff", None)
    services = getattr(backoff, "_SERVICE_BACKOFF_CONFIG", {})
    default = getattr(backoff, "_DEFAULT_BACKOFF_CONFIG", {})
    scales = {**default, **services.get(service, {})}
    return float(scales.get("non_throttling_base_scale", 1))


def token_bucket() -> Any:
    """The class whose `acquire` waits for the adaptive retry mode's turn; None: there is none."""
    return getattr(bucket, "TokenBucket", None)


@contextlib.contextmanager
def socket_maker(
    connection: Any, make: Callable[[Callable[[], socket.socket]], socket.socket]
) -> Iterator[bool]:
    """Let `make` make the socket of a connection, given the function that would have made it.

    Yields:
        Whether it will be asked.
    """
    new_socket = getattr(connection, "_new_conn", None)
    if new_socket is None:
        yield False
        return
    before = connection.__dict__.get("_new_conn")
    connection._new_conn = lambda: make(new_socket)  # noqa: SLF001 - see the table above
    try:
        yield True
    finally:
        if before is None:
            del connection._new_conn  # noqa: SLF001 - see the table above
        else:
            connection._new_conn = before  # noqa: SLF001 - see the table above


def pools_of(client: Any) -> dict[str, Any] | None:
    """The pool classes that a client makes its connections by, by scheme, to be changed."""
    session = getattr(getattr(client, "_endpoint", None), "http_session", None)
    pools = getattr(session, "_pool_classes_by_scheme", None)
    return pools if isinstance(pools, dict) and pools else None
