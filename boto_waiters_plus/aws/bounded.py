"""A call of a botocore client that ends at a deadline.

Everything botocore does in the call is bounded: connecting, TLS, the request, headers and body
of the answer, its own retries and the pauses before them. The call runs in the calling thread;
`watchdog` shuts its socket when the time is up, `connections` says which socket that is, and the
handler here refuses retries that would not fit any more.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from ..options import CancelEvent
from ..runtime.attempt import Ended
from ..runtime.clock import current_time
from .aio_call import cut_off
from .connections import hook_connections, is_process_wide, use_per_client_connections
from .private_names import is_retryable, non_throttling_scale
from .watchdog import Aside, Cause, Scope, current_scope, cut, monotonic, run_in_scope

T = TypeVar("T")

LARGEST_STANDARD_PAUSE = 20.0
"""Seconds; the standard retry mode's cap on its own pause."""

LARGEST_RETRY_AFTER = 5.0
"""Seconds that a service may ask the standard retry mode to add."""

LEGACY_DYNAMODB_SCALE = 0.05
"""The legacy retry mode pauses up to 2**n seconds, on DynamoDB up to this share of it."""

RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504, 509})


class CallEnded(Exception):  # noqa: N818 - says what became of the call
    """The call was ended before the operation answered."""

    def __init__(self, reason: Ended) -> None:
        super().__init__(reason)
        self.reason = reason


def bounded_call(
    call: Callable[[], T],
    *,
    client: Any,
    seconds: float | None,
    cancel_event: CancelEvent | None = None,
    in_thread: bool = False,
) -> T:
    """Make a call, and end it at the deadline.

    Args:
        call: what is called, in the calling thread. Of what it does, the requests of botocore
            clients are ended, and nothing else.
        client: the client that it calls; None: not known, then its retries are bounded by the
            deadline but take from its retry quota.
        seconds: real time that it has; None: as long as it takes.
        cancel_event: ends the call when it is set.
        in_thread: make the call in a daemon thread, which is given up at the deadline. Bounds
            whatever the call does, and may leave the thread behind until that is over.

    Returns:
        What the call returned.

    Raises:
        CallEnded: the deadline passed or the event was set, before or while the call ran. The
            exception that the call ended in, if any, is the cause.
    """
    if seconds is None and cancel_event is None:
        return call()
    if cancel_event is not None and cancel_event.is_set():
        raise CallEnded("cancelled")
    if seconds is not None and not seconds > 0:
        raise CallEnded("deadline")
    is_reached = _prepare(client)
    scope = Scope(seconds, cancel_event)
    try:
        if in_thread or not is_reached:
            result = _run_in_thread(scope, call)
        else:
            result = run_in_scope(scope, call)
    except Exception as error:
        _raise_verdict(scope, error)
        raise
    _raise_verdict(scope, None)
    return result


def _raise_verdict(scope: Scope, error: Exception | None) -> None:
    match scope.verdict:
        case Cause.CANCELLED:
            raise CallEnded("cancelled") from error
        case Cause.DEADLINE:
            raise CallEnded("deadline") from error
        case None:
            return


def _run_in_thread(scope: Scope, call: Callable[[], T]) -> T:
    context = contextvars.copy_context()
    inner: list[Scope] = []

    def work() -> T:
        inner.append(Scope(max(scope.left, 0.0)))
        return run_in_scope(inner[0], call)

    def wait() -> T:
        try:
            return Aside(lambda: context.run(work), scope, name="call").result()
        except BaseException:
            # Ctrl-C included: what can be ended of the call ends now.
            for one in inner:
                cut(one, Cause.CANCELLED)
            raise

    return run_in_scope(scope, wait)


# --- the client's retries --------------------------------------------------------------------

_prepared: weakref.WeakSet[Any] = weakref.WeakSet()
_preparing = threading.Lock()


def _new_lock() -> None:
    # In a child after a fork nobody is left to release the one that was held.
    global _preparing  # noqa: PLW0603 - see above
    _preparing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def _prepare(client: Any) -> bool:
    """Register with a client once, and see that its connections are reached; whether they are."""
    if client is not None:
        _register_once(client)
    if is_process_wide():
        return hook_connections()
    return client is not None and use_per_client_connections(client)


def _register_once(client: Any) -> None:
    try:
        is_new = client not in _prepared
    except TypeError:  # A stand-in that is not hashable.
        is_new = False
    if is_new:
        with _preparing:
            if client not in _prepared:
                _register(client)
                _prepared.add(client)


def _register(client: Any) -> None:
    def refuse_late_retry(**event: Any) -> None:
        scope = current_scope() or _awaited.get()
        if scope is not None:
            _refuse_late_retry(scope, client, **event)

    service = client.meta.service_model.service_id.hyphenize()
    client.meta.events.register_first(f"needs-retry.{service}", refuse_late_retry)


class _Awaited:
    """What an awaited call may still spend; its task is what ends it."""

    verdict = None

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    @property
    def left(self) -> float:
        return self._end - monotonic()


_awaited: contextvars.ContextVar[_Awaited | None] = contextvars.ContextVar(
    "boto_waiters_plus_awaited_call", default=None
)


async def awaited_call(
    call: Callable[[], Awaitable[T]],
    *,
    client: Any,
    seconds: float | None,
    cancel_event: CancelEvent | None = None,
) -> T:
    """`bounded_call` for an aiobotocore client; a test's own time stands still meanwhile."""
    # What is no call of a client may sleep in a test's own time.
    hold = contextlib.nullcontext() if client is None else current_time().hold()
    with hold, without_late_retries(client, seconds):
        reply = await cut_off(call, seconds, cancel_event)
    if reply.ended is not None:
        raise CallEnded(reply.ended)
    result: T = reply.response
    return result


@contextlib.contextmanager
def without_late_retries(client: Any, seconds: float | None) -> Iterator[None]:
    """Refuse retries of an aiobotocore client that do not fit into the time of an awaited call.

    Cut off in the pause before one, the call would keep what it took from the retry quota.

    Args:
        client: the client that is called inside; None: not known.
        seconds: real time that the call has; None: as long as it takes.
    """
    if client is None or seconds is None:
        yield
        return
    _register_once(client)
    token = _awaited.set(_Awaited(seconds))
    try:
        yield
    finally:
        _awaited.reset(token)


def _refuse_late_retry(
    scope: Scope | _Awaited,
    client: Any,
    *,
    attempts: int,
    operation: Any,
    request_dict: Mapping[str, Any],
    response: tuple[Any, Any] | None = None,
    caught_exception: Exception | None = None,
    **_: Any,
) -> None:
    """Raise what the call would end in, where a retry would not fit into the time left.

    Raised and not answered: botocore before 1.43 takes the answer False for "retry at once",
    and the handlers behind this one would take from the client's retry quota.
    """
    # Not retried anyway, and what follows a response gives its share of the quota back.
    if caught_exception is None and (response is None or response[0].status_code < 300):
        return
    if scope.verdict is None:
        largest = _largest_pause(client, attempts, response, caught_exception)
        if largest is None or largest <= scope.left:
            return
    if caught_exception is not None:
        raise caught_exception
    assert response is not None
    raise _error_of(client, operation, response[1], attempts, request_dict)


def _error_of(
    client: Any,
    operation: Any,
    parsed: dict[str, Any],
    attempts: int,
    request_dict: Mapping[str, Any],
) -> Exception:
    """The error that the client would make of a response."""
    parsed.setdefault("ResponseMetadata", {})["RetryAttempts"] = attempts - 1
    details = parsed.get("Error", {})
    code = (
        request_dict["context"].get("error_code_override")
        or details.get("QueryErrorCode")
        or details.get("Code")
    )
    error: ClientError = client.exceptions.from_code(code)(parsed, operation.name)
    return error


def _largest_pause(
    client: Any,
    attempts: int,
    response: tuple[Any, Any] | None,
    caught_exception: Exception | None,
) -> float | None:
    """The longest pause that botocore may make before the next attempt; None: there is no next.

    The real one is drawn, by a handler that takes from the retry quota first.
    """
    parsed = None if response is None else response[1]
    # Asked for the exception alone where there is no response.
    error = caught_exception or Exception()
    retryable, throttled = is_retryable(error, parsed)
    status = None if response is None else response[0].status_code
    if not retryable and status not in RETRIED_STATUSES:
        return None
    service = client.meta.service_model.service_id.hyphenize()
    mode = (client.meta.config.retries or {}).get("mode")
    growth = 2.0 ** min(attempts - 1, 20)
    if mode not in ("standard", "adaptive"):
        return growth * (LEGACY_DYNAMODB_SCALE if service == "dynamodb" else 1)
    scale = 1.0 if throttled or status == 429 else non_throttling_scale(service)
    pause = min(scale * growth, LARGEST_STANDARD_PAUSE)
    if response is not None and "x-amz-retry-after" in response[0].headers:
        pause += LARGEST_RETRY_AFTER
    return pause
