"""The errors of `call_once`.

WaiterError
  CallOnceError                    the call has no certain result, or was refused
    CallRefusedError               the service refused it (a WaiterFailedError too)
      TokenMismatchError           the token was used with other parameters
      TokenExpiredError            the service does not know the token any more
      AlreadyExistsError           such a resource exists
    CallTimeoutError               timed out (a WaiterTimeoutError too)
    CallCancelledError             cancelled (a WaiterCancelledError too)
  LateArrivalError                 the wait that followed saw a resource that is gone
                                   (a WaiterFailedError)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..exceptions import WaiterCancelledError, WaiterError, WaiterFailedError, WaiterTimeoutError


class CallOnceError(WaiterError):
    """A call of `call_once` did not succeed.

    Attributes:
        token: the idempotency token of all attempts; None if the operation has none. Pass it in
            the token's member to repeat the same call.
        token_lifetime: seconds for which the service knows the token, counted from the first
            attempt; None if its documentation states none.
        outcome_unknown: whether an attempt may have been executed all the same.
    """

    token: str | None = None
    token_lifetime: int | None = None
    outcome_unknown: bool = False


class CallRefusedError(CallOnceError, WaiterFailedError):
    """The service refused the call, and would refuse it again."""


class TokenMismatchError(CallRefusedError):
    """The token was used before, with other parameters."""


class TokenExpiredError(CallRefusedError):
    """The service does not know the token, or no longer does."""


class AlreadyExistsError(CallRefusedError):
    """The resource exists already.

    Attributes:
        maybe_ours: whether an earlier attempt, whose outcome is unknown, may have made it, or an
            earlier call under the caller's token.
        made_under_token: whether the service says that a request under the token made it.
        check_operation: the operation that describes the resource; None if none is known.
        check_parameters: the parameters of that operation.
        differences: the parameters in which the resource differs from the call, where
            they were compared.
    """

    maybe_ours: bool = False
    made_under_token: bool = False
    check_operation: str | None = None
    check_parameters: Mapping[str, Any] = {}
    differences: tuple[str, ...] = ()


class CallTimeoutError(CallOnceError, WaiterTimeoutError):
    """The time ran out before the service gave a certain answer.

    Either `max_wait` is over, or the token's lifetime nearly is: a later attempt could be taken
    for a new request, and executed a second time.
    """


class CallCancelledError(CallOnceError, WaiterCancelledError):
    """The `cancel_event` was set before the service gave a certain answer."""


class LateArrivalError(WaiterFailedError):
    """The service answered a repeated call for a resource that is gone by now.

    An earlier attempt under the token made the resource, and it was deleted since, or it failed
    at once. Use a new token to make another one.
    """
