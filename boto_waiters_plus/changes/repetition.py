"""One call that is repeated until its outcome is known: its run, its errors and what they say."""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from botocore import xform_name
from botocore.model import OperationModel

from ..calls.budget import Reply
from ..calls.client_call import Calls
from ..calls.client_events import only_call
from ..calls.flow import Flow
from ..common.time_bounds import TimeBound
from ..definitions.changes import (
    says_in_progress,
    says_no_change,
    says_propagating,
    shipped_existence,
)
from ..definitions.smithy import aws_namespace
from ..engine.acceptors import AcceptorState, MatchedAcceptor
from ..engine.machine import Delays, Ending, Facts, Limits, Policy
from ..engine.model import WaitDescription
from ..exceptions import WaiterCancelledError, WaiterError, WaiterFailedError, WaiterTimeoutError
from ..options import WaitOptions
from ..outcome import ExceptionOutcome
from ..service.clients import waiters_of
from ..service.errors import NEVER_SERVED, ErrorFacts, error_facts
from ..service.labels import ResourceLabel, label_of
from ..service.pages import read_pages
from ..service.parameters import copied
from ..service.shapes import shape_id_of
from ..wait.drivers import PreparedWait
from ..wait.facts import Attempt
from ..wait.wait_run import WaitRun
from ..wait.wording import reason_of
from .gone import GoneResource

# --- what an error of a mutating call says: repeat it, or why not --------------------------------


class ErrorMeaning(enum.Enum):
    """What an error means for the call."""

    REPEAT = "repeat"
    """Transient: the service did not execute the call, or answers it later."""
    UNKNOWN = "unknown"
    """The call may have been executed: repeat it to learn its outcome."""
    MISMATCH = "mismatch"
    EXPIRED = "expired"
    EXISTS = "exists"
    REFUSED = "refused"
    """For good: validation, access, quotas."""


_SAYS_TOKEN: Final = re.compile(
    r"(client|request|idempoten\w*|creation)[ _-]*token|caller ?reference", re.IGNORECASE
)
_MISMATCH_CODE: Final = re.compile(
    r"Idempoten(t|cy)\w*Mismatch|IdempotencyConflict|ClientTokenConflict|IncompatibleParameter"
)
_MISMATCH_TEXT: Final = re.compile(
    r"different|mismatch|previous|original|already (been )?(in )?use", re.IGNORECASE
)
_EXPIRED_CODE: Final = re.compile(
    r"(ClientToken|RequestToken|IdempotencyToken)\w*(Expired|NotFound)|ExpiredClientToken"
)
_EXPIRED_TEXT: Final = re.compile(
    r"expired|unknown|not found|does not exist|no longer", re.IGNORECASE
)
_QUOTA_CODE: Final = "LimitExceededException"
_RATE_TEXT: Final = re.compile(r"rate|throttl|too many|concurrent|simultaneous", re.IGNORECASE)
_EXISTS_CODE: Final = re.compile(r"Already(Exist|Created|Owned)|Duplicate")
_CONFLICT_CODE: Final = re.compile(r"Conflict|InUse|IdempotencyException")
_EXISTS_TEXT: Final = re.compile(r"already exist|already in use|same name", re.IGNORECASE)


def meaning_of(error: ErrorFacts, namespace: str) -> ErrorMeaning:
    """Return what an error means for a call of the service with this namespace.

    Names decide before messages. A message counts only where it names the token, or where the
    code says that there is a conflict. Which errors mean that another change is in progress, and
    which ones tell under which token a resource was made, is written in `data/idempotency.json`.
    """
    if error.on_the_way is not None:
        return ErrorMeaning.REPEAT if error.transient else ErrorMeaning.REFUSED
    # botocore takes it for a throttle; most services mean a quota, which no repetition raises.
    if error.code == _QUOTA_CODE and not _RATE_TEXT.search(error.message or ""):
        return ErrorMeaning.REFUSED
    if error.quotes_throttle:
        refusal = _meaning_of_refusal(error, namespace)
        return ErrorMeaning.UNKNOWN if refusal is ErrorMeaning.REFUSED else refusal
    if error.throttled:
        return ErrorMeaning.REPEAT
    if error.status is None or (error.status >= 500 and error.status not in NEVER_SERVED):
        return ErrorMeaning.UNKNOWN
    if error.transient:
        return ErrorMeaning.REPEAT
    return _meaning_of_refusal(error, namespace)


def _meaning_of_refusal(error: ErrorFacts, namespace: str) -> ErrorMeaning:
    names, message = " ".join(error.names), error.message or ""
    existence = shipped_existence(namespace, error.names, error.response)
    if existence is not None:
        is_mismatch = existence.get("madeUnder") == "otherParameters"
        return ErrorMeaning.MISMATCH if is_mismatch else ErrorMeaning.EXISTS
    says_token = _SAYS_TOKEN.search(message)
    if _MISMATCH_CODE.search(names) or (says_token and _MISMATCH_TEXT.search(message)):
        return ErrorMeaning.MISMATCH
    if _EXPIRED_CODE.search(names) or (says_token and _EXPIRED_TEXT.search(message)):
        return ErrorMeaning.EXPIRED
    if _CONFLICT_CODE.search(names) and _EXISTS_TEXT.search(message):
        return ErrorMeaning.EXISTS
    if says_in_progress(namespace, error.names, message):
        return ErrorMeaning.REPEAT
    if _EXISTS_CODE.search(names):
        return ErrorMeaning.EXISTS
    return ErrorMeaning.REFUSED


# --- the errors of `call_once` -------------------------------------------------------------------
# WaiterError
#   CallOnceError                    the call has no certain result, or was refused
#     CallRefusedError               the service refused it (a WaiterFailedError too)
#       TokenMismatchError           the token was used with other parameters
#       TokenExpiredError            the service does not know the token any more
#       AlreadyExistsError           such a resource exists
#     CallTimeoutError               timed out (a WaiterTimeoutError too)
#     CallCancelledError             cancelled (a WaiterCancelledError too)
#   LateArrivalError                 the wait that followed saw a resource that is gone
#                                    (a WaiterFailedError)


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

    An earlier attempt under the token made the resource, and it was deleted since. Use a new token
    to make another one.
    """


# --- the run, on the engine of the waits ---------------------------------------------------------

MIN_DELAY: Final = 2
"""Seconds. The specification's default."""
MAX_DELAY: Final = 30
"""Seconds. Less than the specification's default, which is meant for polling."""

SAFE_SHARE_OF_LIFETIME: Final = 0.95
"""No attempt outlives this share of its token's lifetime: the service's clock is not ours."""


_ANSWERED, _REPEATED, _UNCHANGED, _GONE = 0, 1, 2, 3
_MAY_BE_BUSY: Final = (ErrorMeaning.REPEAT, ErrorMeaning.REFUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalRules:
    """Which refusals of a call are repeated, and which are outcomes."""

    has_token: bool
    """Whether the service executes the call once, however often it is sent."""
    once: bool
    """Whether nothing is repeated but what the next two name."""
    propagation_wait: float
    """Seconds in which a refusal is repeated that a new role explains."""
    busy_wait: float | None
    """Seconds in which one is repeated that says that another change is in progress; None: as any
    other that is transient."""
    no_change_ok: bool
    """Whether the refusal of a call that changes nothing is an outcome."""
    is_one_change: bool
    """Whether the call asks for one change, at most."""
    gone: GoneResource | None
    """What the call takes away, where the refusal that says that it is gone is an outcome."""


class Repetition:
    """A call of one operation, repeated within a deadline, and the judge of its replies.

    Args:
        client: the client.
        operation: the operation.
        parameters: sent with every attempt, each time as a copy.
        bound: the time for all attempts.
        options: of the caller: the cancel event, and whether the label has parameters.
        first_is_unknown: whether the call may have been executed before.
        rules: for refusals.
        method: what is called; None: the client's method.
        token_left: the seconds in which the token may be sent.
        all_pages: whether the pages of a list are read as one.
    """

    def __init__(
        self,
        client: Any,
        operation: OperationModel,
        parameters: Mapping[str, Any],
        *,
        bound: TimeBound,
        options: WaitOptions,
        first_is_unknown: bool,
        rules: RefusalRules,
        method: Any = None,
        token_left: float = math.inf,
        all_pages: bool = False,
    ) -> None:
        self._client = client
        self._parameters = parameters
        self._rules = rules
        name = xform_name(operation.name)
        self._method = getattr(client, name) if method is None else method
        if all_pages and client.can_paginate(name):
            self._method = lambda **given: read_pages(client, operation, given)
        words = bound if bound.seconds <= token_left else TimeBound(bound.seconds)
        limits = Limits(**words.limits, deadline=token_left)
        policy = Policy(Delays(min_delay=MIN_DELAY, max_delay=MAX_DELAY), limits)
        settings = waiters_of(client).settings
        options, _, observers = settings.resolve(options, bound, lambda *_: policy)
        self._cancel_event = options.cancel_event
        self.run = WaitRun(
            _description(operation),
            policy,
            self,
            label=label_of(ResourceLabel(operation), parameters, options),
            observers=observers,
            wording=_wording,
        )
        self._shape_id = shape_id_of(operation)
        self._namespace = aws_namespace(str(operation.service_model.service_id))
        endpoint = client.meta.endpoint_url
        self._facts = partial(error_facts, operation=operation, endpoint=endpoint)
        self._outcome_unknown = first_is_unknown
        """Whether an earlier attempt may have been executed. A retry of the SDK is one, too."""
        self._is_in_flight = False
        """Whether a call was made whose reply was not judged: it was cut off."""
        self._response: Any = None
        self._meaning: ErrorMeaning | None = None
        self.error_names: frozenset[str] = frozenset()
        """Of the last error."""

    @property
    def time_left(self) -> float:
        """Seconds until the deadline, as of the last step."""
        return float(self.run.policy.limits.max_wait or 0) - self.run.elapsed

    def answer(self) -> Flow[Any]:
        """Make the call until its outcome is known, and return the response.

        Where there was nothing to change, what is returned is the outcome that says so.

        As part of a task, the calls of aiobotocore clients are awaited, others made in threads.

        Raises:
            CallOnceError: it did not succeed. The token and the check are not filled in.
        """
        calls = Calls(client=self._client, cancel=self._cancel_event)
        wait = PreparedWait(wait_run=self.run, send=self._send, calls=calls)
        try:
            outcome = yield from wait.flow()
        except WaiterError as error:
            return self._ended(error)
        return outcome if isinstance(outcome, ExceptionOutcome) else self._response

    def _send(self) -> Any:
        self._is_in_flight = True
        if self._rules.once:
            only_call()
        # A copy for each attempt: handlers of botocore change what they are given.
        return self._method(**copied(self._parameters))

    def _ended(self, error: WaiterError) -> Any:
        """Return the response that arrived at the last moment, or raise an error of this module."""
        if self._response is not None:
            return self._response
        kind: type[CallOnceError] = _ERRORS.get(self._meaning, CallRefusedError)
        if isinstance(error, WaiterTimeoutError):
            kind = CallTimeoutError
        elif isinstance(error, WaiterCancelledError):
            kind = CallCancelledError
        outcome_unknown = self._outcome_unknown or self._is_in_flight
        raised = error.extended(_UNKNOWN if outcome_unknown else "", kind)
        raised.outcome_unknown = outcome_unknown
        raise raised from error.last_exception

    def judge(self, reply: Reply) -> Attempt:
        """Return the attempt that ended in this response or error."""
        self._is_in_flight = False
        gone = self._rules.gone
        if reply.error is None and gone is not None:
            refusal = gone.refusal_in(reply.response)
            if refusal is not None and gone.is_told_by(self._facts(refusal)):
                reply = replace(reply, error=refusal)
        if reply.error is None:
            self._response, self._outcome_unknown = reply.response, False
            return Attempt(facts=Facts(acceptor=_ANSWERED), response=reply.response)
        facts = self._facts(reply.error)
        self.error_names = facts.names
        self._meaning = meaning_of(facts, self._namespace)
        # The SDK repeats what it got no certain answer to, and keeps only the last answer.
        retries = facts.response.get("ResponseMetadata", {}).get("RetryAttempts", 0)
        way = facts.on_the_way
        is_sent = retries > 0 if way is None else way.is_sent
        self._outcome_unknown |= self._meaning is ErrorMeaning.UNKNOWN or is_sent
        attempt = facts.attempt(reply.error, None)
        # Nothing else of the error counts: what is repeated is decided here.
        attempt.facts = Facts(
            acceptor=self._acceptor(facts, self._meaning),
            throttled=facts.throttled,
            inconclusive=reply.ended is not None,
        )
        return attempt

    def _acceptor(self, facts: ErrorFacts, meaning: ErrorMeaning) -> int | None:
        """Return the acceptor that matches an error; None: the call is refused."""
        rules, is_unknown = self._rules, self._outcome_unknown
        is_repeated = not rules.once and meaning in (ErrorMeaning.REPEAT, ErrorMeaning.UNKNOWN)
        if facts.on_the_way is not None:
            return _REPEATED if is_repeated else None
        code, message = facts.code, facts.message or ""
        of_busy = rules.busy_wait if meaning in _MAY_BE_BUSY else None
        names = self._namespace, facts.names
        if of_busy is not None and says_in_progress(*names, message, is_asked=True):
            # The change in progress may be that of an earlier attempt.
            is_safe = rules.has_token or not is_unknown
            is_repeated = is_safe and self.run.elapsed < of_busy
        ids = [f"{self._namespace}#{name}" for name in facts.names]
        # Nor may that change have ended where nothing is left to change.
        is_one = rules.is_one_change
        if rules.no_change_ok and not is_unknown and says_no_change(ids, message, is_one=is_one):
            return _UNCHANGED
        # An earlier attempt may have taken it away as well.
        if meaning is ErrorMeaning.REFUSED and rules.gone and rules.gone.is_told_by(facts):
            return _GONE
        if self.run.elapsed < rules.propagation_wait:
            is_repeated |= says_propagating(self._shape_id, code, message)
        return _REPEATED if is_repeated else None


_UNKNOWN: Final = "The outcome is unknown: an attempt without an answer may have been executed."

_ERRORS: Final[Mapping[ErrorMeaning | None, type[CallOnceError]]] = {
    ErrorMeaning.MISMATCH: TokenMismatchError,
    ErrorMeaning.EXPIRED: TokenExpiredError,
    ErrorMeaning.EXISTS: AlreadyExistsError,
}


def _wording(run: WaitRun, ending: Ending) -> tuple[str, str]:
    reason = reason_of(run, ending)
    return reason, f"{run.description.operation} {reason}"


def _description(operation: OperationModel) -> WaitDescription:
    return WaitDescription(
        waiter=operation.name,
        operation=operation.name,
        service=operation.service_model.service_name,
        goal="",
        acceptors=(
            MatchedAcceptor(_ANSWERED, "success when the service answers"),
            MatchedAcceptor(
                _REPEATED, "retry when an error is transient or leaves the outcome open"
            ),
            MatchedAcceptor(_UNCHANGED, "success when there is nothing to change"),
            MatchedAcceptor(_GONE, "success when the resource is gone already"),
        ),
        states=(AcceptorState.SUCCESS, AcceptorState.RETRY, *(AcceptorState.SUCCESS,) * 2),
        bases=(None, None, "unchanged", "goal"),
    )
