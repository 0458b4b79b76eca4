"""The errors of this package.

ValueError
  WaiterDefinitionError            a definition that breaks a rule
botocore.exceptions.WaiterError
  WaiterError                      any wait that did not succeed
    WaiterFailedError              a failure state, or an error that no acceptor matched
    WaiterAttemptsError            attempts used up
    WaiterTimeoutError             timed out (a TimeoutError too)
    WaiterCancelledError           cancelled
    WaitersError                   some of many waits did not succeed
"""

from __future__ import annotations

import builtins
import pickle
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import botocore.exceptions

from .common.errors import WaiterDefinitionError
from .engine.acceptors import MatchedAcceptor
from .outcome import FactTable, Rows, wait_rows

__all__ = [
    "WaiterAttemptsError",
    "WaiterCancelledError",
    "WaiterDefinitionError",
    "WaiterError",
    "WaiterFailedError",
    "WaiterTimeoutError",
    "WaitersError",
]

# An exception group holds other errors; Python has no such class before 3.11.
_GROUP: Final[Any] = getattr(builtins, "BaseExceptionGroup", ())


ErrorT = TypeVar("ErrorT", bound="WaiterError")


class WaiterError(FactTable, botocore.exceptions.WaiterError):
    """A wait did not succeed; botocore's `WaiterError`, with the facts as attributes.

    The message names the waiter, the resource and the last state seen. It shows nothing of the
    parameters but the label, and nothing of responses but the state and the service's own words.
    The error can be copied and pickled.

    Attributes:
        waiter: the waiter's name.
        label: the resource: `s3 Bucket=my-bucket`.
        attempts: calls made.
        elapsed: seconds from the start to the end.
        transient_errors: attempts that ended in a transient error (a throttle, an HTTP 5xx, a lost
            connection, a time-out of one request) and were followed by another.
        max_wait: seconds; None if attempts were the only limit.
        acceptor: index and text of the acceptor that decided; None if none did.
        observed: the value of the acceptor's path at the last attempt that was no transient
            error, or the state seen then.
        service_message: the service's own message about the failure, if it gave one; on one line,
            and if it has more than 500 characters, its first 150, " [...] " and its last 350.
        cause_found: what further reads told of a failure, with the same limit; see
            `WaitOptions.explain_failure`.
        last_exception: the error of the last call, if it raised one; otherwise, of a wait that
            neither succeeded nor failed, the last one that `retry_on` named.
        last_response: the last response; if the last call ended in a ClientError, its error
            response; else `{}`. The response of a transient error is used only if there was no
            other.
        by_id: the items of the last response by the identifiers of the request.
        timeline: the last attempts, at most 100; see `WaiterOutcome.timeline`.
        failed_ids: if the wait was for a list of identifiers, those whose own item is in the
            failure state, or, where no failure state ended the wait, those that had not reached
            the state.
    """

    last_value: Any = None
    """The value that a callable of `conditions` returned last; never part of a text."""
    cause_found: str | None = None
    stored_reason: str | None = None
    """The reason as a store keeps it, where this error is not at hand; None: the same."""
    advice: Sequence[str] = ()
    """The end of the message where it names an option that would help, in parts."""
    call: Any = None
    """The `idempotency.CallOutcome` of the call that the wait followed, if it followed one."""
    stop: Any = None
    """What became of the call that stops what was begun (`operation`, `state`, `reason`), where
    `stop_on_timeout` or `stop_on_cancel` asked for it."""
    # Any: botocore's stubs know error responses only, this is a success's too.
    last_response: Any

    def __init__(
        self,
        name: str,
        reason: str,
        last_response: Mapping[str, Any] | None = None,
        *,
        waiter: str | None = None,
        message: str | None = None,
        label: str = "",
        attempts: int = 0,
        elapsed: float = 0.0,
        max_wait: float | None = None,
        acceptor: MatchedAcceptor | None = None,
        observed: Any = None,
        service_message: str | None = None,
        last_exception: Exception | None = None,
        by_id: Mapping[str, Any] | None = None,
        failed_ids: Sequence[str] = (),
        transient_errors: int = 0,
    ) -> None:
        super().__init__(name=name, reason=reason, last_response={})
        if message is not None:
            self.args = (message,)
        self.last_response = dict(last_response or {})
        self.waiter = name if waiter is None else waiter
        self.label = label
        self.attempts = attempts
        self.elapsed = elapsed
        self.max_wait = max_wait
        self.acceptor = acceptor
        self.observed = observed
        self.service_message = service_message
        self.last_exception = last_exception
        self.by_id = {} if by_id is None else by_id
        self.failed_ids = list(failed_ids)
        self.transient_errors = transient_errors

    def _rows(self) -> Rows:
        return [*wait_rows(self), ("message", str(self))]

    def __copy__(self) -> WaiterError:
        copied = type(self)(self.kwargs["name"], self.kwargs["reason"])
        copied.args = self.args
        copied.__dict__.update(self.__dict__)
        copied.__cause__ = self.__cause__
        return copied

    def extended(self, sentence: str, kind: type[ErrorT]) -> ErrorT:
        """Return this error as one of another class, with one more sentence in its message.

        One that begins with a semicolon goes on with the last sentence.
        """

        def with_more(text: str) -> str:
            if sentence.startswith(";"):
                return text.rstrip(". ") + sentence
            return f"{text} {sentence}".rstrip()

        reason = with_more(self.kwargs["reason"])
        error = kind(self.kwargs["name"], reason, message=with_more(str(self)))
        error.__dict__.update({**self.__dict__, "kwargs": error.kwargs, "advice": ()})
        error.stored_reason = self.stored_reason and with_more(self.stored_reason)
        error.__cause__ = self.__cause__
        return error

    # BotoCoreError's own __reduce__ drops everything but `kwargs` and cannot be loaded again.
    def __reduce__(self) -> tuple[Any, ...]:
        facts = {**self.__dict__, "args": self.args, "__cause__": self.__cause__}
        # A transport error may hold a socket, a response a stream: these are left out.
        state = {name: value for name, value in facts.items() if _can_be_pickled(value)}
        return type(self), (self.kwargs["name"], self.kwargs["reason"]), state


def _can_be_pickled(value: Any) -> bool:
    # Trying those out would try their causes too, each twice as often as the one before.
    if isinstance(value, WaiterError):
        return True
    if isinstance(value, _GROUP):
        return all(_can_be_pickled(error) for error in value.exceptions)
    try:
        pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes of a moment ago
    # Whatever the pickling of another's object raises, ours must succeed.
    except Exception:
        return False
    return True


class WaiterFailedError(WaiterError):
    """The wait reached a failure state, or a call ended in an error that no acceptor matches."""


class WaiterAttemptsError(WaiterError):
    """The attempts, `max_attempts`, are used up."""


class WaiterTimeoutError(WaiterError, TimeoutError):
    """The time limit of the wait, `max_wait`, is used up."""


class WaiterCancelledError(WaiterError):
    """The wait was stopped by its `cancel_event`."""


class WaitersError(WaiterError):
    """Some of many waits did not succeed.

    On Python 3.11 and later its cause is an ExceptionGroup of the errors, before that the first
    of them.

    Attributes:
        errors: the error of each wait that did not succeed, by its place among the waits.
        outcomes: the outcomes in the order of the waits; None for those that did not succeed.
    """

    def __init__(
        self,
        name: str,
        reason: str,
        last_response: Mapping[str, Any] | None = None,
        *,
        errors: Mapping[int, Exception] | None = None,
        outcomes: Sequence[Any] = (),
        **facts: Any,
    ) -> None:
        super().__init__(name, reason, last_response, **facts)
        self.errors = dict(errors or {})
        self.outcomes = list(outcomes)

    def __reduce__(self) -> tuple[Any, ...]:
        rebuild, arguments, state = super().__reduce__()
        errors = {index: _as_can_be_pickled(error) for index, error in self.errors.items()}
        return rebuild, arguments, {**state, "errors": errors}


def _as_can_be_pickled(error: Exception) -> Exception:
    """The error, or what stands for one that cannot be pickled."""
    if _can_be_pickled(error):
        return error
    return RuntimeError(f"{type(error).__name__}, which could not be pickled")
