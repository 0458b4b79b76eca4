"""One wait from its first attempt to its outcome: what the drivers share.

A driver is the loop that blocks or awaits; everything it decides is decided here or in the
engine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ..engine.backoff import Random
from ..engine.machine import (
    AttemptsUsedUp,
    Begin,
    CallTimedOut,
    Cancelled,
    Decision,
    Ending,
    Event,
    Failed,
    Machine,
    Pause,
    Policy,
    Raised,
    Responded,
    Succeeded,
    TimedOut,
    WaitCancelled,
)
from ..engine.model import AcceptorState
from ..engine.wait_description import WaitDescription
from ..exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome
from .attempt import Attempt, Judge, Reply, UnfinishedIds
from .clock import SYSTEM_TIME, current_time
from .observers import Observer, Observers
from .wait_log import WaitLog, logger

if TYPE_CHECKING:
    from ..engine.wait_event import EventKind

# Not `random.Random`: after a fork all children would draw the same jitter.
RANDOM: Final = random.SystemRandom()

_NONE_UNFINISHED: Final = UnfinishedIds()
_NO_OBSERVERS: Final = Observers()
_BEGIN: Final = Begin()

Wording = Callable[["WaitRun", Ending], tuple[str, str]]
"""Returns the reason of a wait that did not succeed, and the whole message of its error."""

_ENDS: Final[dict[type[Ending], tuple[EventKind, type[WaiterError]]]] = {
    Failed: ("failure", WaiterFailedError),
    TimedOut: ("timeout", WaiterTimeoutError),
    AttemptsUsedUp: ("timeout", WaiterAttemptsError),
    WaitCancelled: ("cancel", WaiterCancelledError),
}
"""The kind of event and the error of a wait that did not succeed."""


def own_words(run: WaitRun, ending: Ending) -> tuple[str, str]:
    """Return the reason of a wait that did not succeed, and the message of its error."""
    from .wording import reason_of  # noqa: PLC0415 - no wait that succeeds needs it

    reason = reason_of(run, ending)
    return reason, f"Waiter {run.description.waiter} {reason}"


@dataclass(slots=True, eq=False, repr=False)
class WaitRun:
    """One run of a wait.

    Args:
        observers: called with each `WaitEvent`.
        on_attempt: called with the events of attempts only.
        called_at: what `time.monotonic` gave when the caller called, where something may have been
            imported or looked up since: it counts as time of the wait.
    """

    description: WaitDescription
    """What the wait is for."""
    policy: Policy
    """Delays and limits."""
    judge: Judge
    """Tells what a reply means."""
    _: KW_ONLY
    label: object = ""
    """The resource: a text, or what `str` makes the text of when it is needed."""
    show_parameters: bool = True
    """Whether messages may name identifiers of the request."""
    observers: InitVar[Sequence[Observer]] = ()
    on_attempt: InitVar[Observer | None] = None
    called_at: InitVar[float | None] = None
    wording: Wording = own_words
    """Composes the message of a failure."""
    is_raw: Callable[[Exception], bool] | None = None
    """Tells which errors that no acceptor matches are raised as they are."""
    random: Random = RANDOM
    """Draws the jitter."""
    wait_id: int = field(init=False, default=0)
    """A number that no other wait of the process has; 0: nothing was told of the wait."""
    log: WaitLog | None = field(init=False, default=None)
    """The lines of the wait; None: none was written."""
    attempt: Attempt | None = field(init=False, default=None)
    """The last one."""
    answer: Attempt | None = field(init=False, default=None)
    """The last one that was no transient error."""
    last_transient_error: str = field(init=False, default="")
    """The last transient error in words; empty if this process has seen none."""
    has_matched: bool = field(init=False, default=False)
    """Whether an acceptor has matched in any attempt."""
    unanswered_since: float | None = field(init=False, default=None)
    """Seconds from the start to the call that was ended without an answer."""
    unfinished: UnfinishedIds = field(init=False, default=_NONE_UNFINISHED)
    """The identifiers that failed, or had not reached the state when the wait ended."""
    _machine: Machine = field(init=False)
    _now: Callable[[], float] = field(init=False)
    _observers: Observers = field(init=False, default=_NO_OBSERVERS)
    _problems_logged: bool = field(init=False, default=False)
    _has_end_to_tell: bool = field(init=False, default=False)

    def __post_init__(
        self,
        observers: Sequence[Observer],
        on_attempt: Observer | None,
        called_at: float | None,
    ) -> None:
        time = current_time()
        began = called_at if time is SYSTEM_TIME else None
        self._now = time.clock()
        self._machine = Machine(self.description.states, self.policy, now=began)
        if observers or on_attempt is not None:
            self._observers = Observers(observers, () if on_attempt is None else (on_attempt,))

    @property
    def attempts(self) -> int:
        """Calls made."""
        return self._machine.state.attempts

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._machine.state.elapsed

    @property
    def transient_errors(self) -> int:
        """Attempts that ended in a transient error and did not end the wait."""
        return self._machine.state.transient_errors

    @property
    def last_response(self) -> Mapping[str, Any]:
        """The last response, or error response, that was an answer if there is any; or empty."""
        attempt = self.answer or self.attempt
        return {} if attempt is None else attempt.last_response

    @property
    def is_unreachable(self) -> bool:
        """Whether no connection could be made, and the service has never answered."""
        attempt = self.attempt
        is_unconnected = attempt is not None and attempt.facts.unconnected
        return is_unconnected and not self._machine.state.answered

    @property
    def is_last(self) -> bool:
        """Whether the next attempt is the last one."""
        return self._machine.state.last

    @property
    def has_succeeded_once(self) -> bool:
        """Whether the last attempt was a success that others have to follow."""
        return self._machine.state.successes > 0

    def stored_state(self) -> str:
        """Return the state of the wait as JSON, to be resumed by `resume`."""
        return self._machine.to_json()

    def resume(self, state: str, *, digest: str = "", seconds_ago: float = 0) -> None:
        """Go on from a stored state instead of the start; to be called before `begin`.

        Args:
            state: what `stored_state` returned, under the same policy.
            digest: of the definition, as the state has it.
            seconds_ago: the time since then, which counts as time of the wait.

        Raises:
            ValueError: this is not the state of a wait, or one of another definition.
        """
        now, states = self._now() - seconds_ago, self.description.states
        self._machine = Machine.from_json(state, states, self.policy, digest=digest, now=now)

    def observe_attempts(self, observer: Observer) -> None:
        """Add an observer of attempts."""
        self._observers = self._observers.and_of_attempts(observer)

    def begin(self) -> Decision:
        """Return the first decision."""
        self._has_end_to_tell = True
        self._observers.tell("start", self)
        return self.step(_BEGIN)

    def replied(self, reply: Reply) -> Decision:
        """Return the decision after the call that `Poll` asked for."""
        if reply.ended == "deadline":
            if reply.made:
                self.unanswered_since = self.elapsed
            return self.step(CallTimedOut(uncalled=not reply.made))
        if reply.ended == "cancelled":
            return self.step(Cancelled())
        return self.attempted(self.judge.judge(reply))

    def attempted(self, attempt: Attempt) -> Decision:
        """Return the decision after an attempt."""
        self.attempt = attempt
        self.has_matched = self.has_matched or attempt.facts.acceptor is not None
        event = Responded if attempt.exception is None else Raised
        state = self._machine.state
        errors_before = state.transient_errors
        decision = self.step(event(attempt.facts))
        is_transient = state.transient_errors > errors_before
        if is_transient:
            from .wording import passed_error_in_words  # noqa: PLC0415 - few waits need it

            self.last_transient_error = passed_error_in_words(attempt)
        else:
            self.answer = attempt
            self.unfinished = _NONE_UNFINISHED
        if attempt.problems and not self._problems_logged:
            self._problems_logged = True
            text = "Waiter %s: no match, the expression cannot be evaluated: %s"
            logger.debug(text, self.description.waiter, "; ".join(attempt.problems))
        delay = decision.seconds if isinstance(decision, Pause) else None
        self._observers.tell(
            "attempt",
            self,
            next_delay=delay,
            error=attempt.error_code,
            is_transient=is_transient,
        )
        return decision

    def forget_response(self) -> None:
        """Drop the last response, apart from what the message of an error needs of it.

        It is most of the memory of a wait. For waits whose errors are stored without it.
        """
        if self.answer is not None:
            self._find_reason(self.answer)
            self.unfinished = self._unfinished_ids(None)
        for attempt in filter(None, (self.answer, self.attempt)):
            attempt.response = attempt.find_reason = attempt.by_id = None
            attempt.last_response = {}

    def step(self, event: Event) -> Decision:
        """Return the decision after a pause, or after any event but an attempt."""
        return self._machine.step(event, self._now(), self.random)

    def conclude(self, ending: Ending) -> WaiterOutcome[Any]:
        """Return the outcome of a wait that succeeded; raise the error of one that did not."""
        if isinstance(ending, Succeeded):
            self._tell_end("success")
            return self._outcome(ending)
        raw = self._raw_error(ending)
        if raw is not None:
            self.attempt = self.answer = None
            raise raw
        kind, error_class = _ENDS[type(ending)]
        error = self._error(ending, error_class)
        self._tell_end(kind, error=type(error).__name__, message=str(error))
        # The attempt holds the exception, whose traceback holds the frames of this wait.
        self.attempt = self.answer = None
        raise error from error.last_exception

    def interrupted(self, error: BaseException | None = None) -> None:
        """Tell observers of the end of a wait that is not concluded.

        Nothing happens after `conclude`, so that a driver may call it for whatever it raises.

        Args:
            error: ended the wait; None: the wait was cancelled.
        """
        if error is None:
            self._tell_end("cancel")
        else:
            self._tell_end("exception", error=type(error).__name__)

    def _tell_end(
        self, kind: EventKind, *, error: str | None = None, message: str | None = None
    ) -> None:
        if self._has_end_to_tell:
            self._has_end_to_tell = False
            self._observers.tell(kind, self, error=error, message=message)
            # The run may be kept for a while, and the caller's functions are not part of it.
            self._observers = _NO_OBSERVERS

    def _outcome(self, ending: Succeeded) -> WaiterOutcome[Any]:
        attempt, state = self.attempt, self._machine.state
        assert attempt is not None, "a wait succeeds by an attempt"
        facts: dict[str, Any] = {
            "waiter": self.description.waiter,
            "label": str(self.label),
            "attempts": state.attempts,
            "elapsed": state.elapsed,
            "acceptor": self.description.acceptors[ending.acceptor],
            "observed": attempt.observed,
            "coalesced": attempt.coalesced,
        }
        if attempt.exception is not None:
            return ExceptionOutcome(exception=attempt.exception, **facts)
        by_id = {} if attempt.by_id is None else attempt.by_id
        return ResponseOutcome(response=attempt.response, by_id=by_id, **facts)

    def _raw_error(self, ending: Ending) -> Exception | None:
        """Return the error of the last call, if it ends the wait and is raised as it is."""
        if ending != Failed(None) or self.is_raw is None or self.attempt is None:
            return None
        error = self.attempt.exception
        return error if error is not None and self.is_raw(error) else None

    def _error(self, ending: Ending, error_class: type[WaiterError]) -> WaiterError:
        attempt = self.answer or self.attempt
        if attempt is not None:
            self._find_reason(attempt)
        decided = ending.acceptor if isinstance(ending, Failed) else None
        self.unfinished = self._unfinished_ids(decided)
        reason, message = self.wording(self, ending)
        return error_class(
            self.description.waiter,
            reason,
            self.last_response,
            message=message,
            label=str(self.label),
            attempts=self.attempts,
            elapsed=self.elapsed,
            max_wait=self.policy.max_wait if self.policy.count_requests else None,
            acceptor=None if decided is None else self.description.acceptors[decided],
            observed=attempt.observed if attempt else None,
            service_message=attempt.service_message if attempt else None,
            last_exception=self.attempt.exception if self.attempt else None,
            by_id=attempt.by_id if attempt else None,
            failed_ids=self.unfinished.ids,
            transient_errors=self.transient_errors,
        )

    def _unfinished_ids(self, decided: int | None) -> UnfinishedIds:
        """Return the identifiers that the failure acceptor matched, or that no success did."""
        items = self.answer.by_id if self.answer else None
        if items is None:
            return self.unfinished
        states = self.description.states

        def is_meant(index: int | None) -> bool:
            if decided is not None:
                return index == decided
            return index is None or states[index] is not AcceptorState.SUCCESS

        return items.ids_where(is_meant)

    def _find_reason(self, attempt: Attempt) -> None:
        if attempt.service_message is None and attempt.find_reason:
            attempt.service_message = attempt.find_reason(dict(attempt.last_response))
