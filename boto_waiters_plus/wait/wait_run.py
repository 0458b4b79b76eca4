"""One wait from its first attempt to its outcome: what the drivers share.

A driver is the loop that blocks or awaits; everything it decides is decided here or in the
engine.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ..calls.budget import Reply
from ..calls.clock import SYSTEM_TIME, current_time
from ..common.errors import logger, warn
from ..engine import machine
from ..engine.acceptors import AcceptorState
from ..engine.delays import Random
from ..engine.redaction import message_text
from ..exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..outcome import (
    EarlierAttempts,
    ExceptionOutcome,
    Record,
    ResponseOutcome,
    WaiterOutcome,
)
from .facts import (
    NONE_UNFINISHED,
    Attempt,
    FoundReason,
    Judge,
    Observer,
    Observers,
    RunFacts,
    Searched,
    UnfinishedIds,
    failing_on_both,
)

# Not where a wait fails: the import would make the first one of a process late.
from .wording import RefusedPart, advice_after, passed_error_in_words, reason_of, why_held_back

if TYPE_CHECKING:
    from ..common.errors import Caller
    from ..engine.path_interpreter import FailedExpression
    from ..engine.wait_event import EventKind

# Not `random.Random`: after a fork all children would draw the same jitter.
RANDOM: Final = random.SystemRandom()

NEW_FAILURES_TOLD: Final[set[str]] = set()
"""The warnings of new failure states that the process has given: each client has waiters of its
own, and a process may make many clients."""

_NO_OBSERVERS: Final = Observers()

Wording = Callable[["WaitRun", machine.Ending], tuple[str, str]]
"""Returns the reason of a wait that did not succeed, and the whole message of its error."""

_ENDS: Final[dict[type[machine.Ending], tuple[EventKind, type[WaiterError]]]] = {
    machine.Failed: ("failure", WaiterFailedError),
    machine.TimedOut: ("timeout", WaiterTimeoutError),
    machine.AttemptsUsedUp: ("timeout", WaiterAttemptsError),
    machine.WaitCancelled: ("cancel", WaiterCancelledError),
}
"""The kind of event and the error of a wait that did not succeed."""


def default_wording(run: RunFacts, ending: machine.Ending) -> tuple[str, str]:
    """Return the reason of a wait that did not succeed, and the message of its error."""
    reason = reason_of(run, ending)
    return reason, f"Waiter {run.description.waiter} {reason}"


@dataclass(slots=True, eq=False, repr=False)
class WaitRun(RunFacts):
    """One run of a wait.

    Args:
        observers: called with each `WaitEvent`.
        on_attempt: called with the events of attempts only.
        called_at: what `time.monotonic` gave when the caller called, where something may have been
            imported or looked up since: it counts as time of the wait.
    """

    judge: Judge
    """Tells what a reply means."""
    _: KW_ONLY
    observers: InitVar[Sequence[Observer]] = ()
    on_attempt: InitVar[Observer | None] = None
    called_at: InitVar[float | None] = None
    wording: Wording = default_wording
    """Composes the message of a failure."""
    caller: Caller | None = None
    """The line to name in warnings; None: the caller is in the thread of the wait."""
    is_raw: Callable[[Exception], bool] | None = None
    """Tells which errors that no acceptor matches are raised as they are."""
    random: Random = RANDOM
    """Draws the jitter."""
    searched: Searched | None = None
    """Where the search for the cause of a failure begins; None: there is no search."""
    refused: RefusedPart | None = None
    """What the call before the wait refused: the wait is for the rest, and ends in an error."""
    has_matched: bool = field(init=False, default=False)
    """Whether an acceptor has matched in any attempt."""
    _earlier: EarlierAttempts | None = field(init=False, default=None)
    """The answered attempts before the last one."""
    _seen: str | None = field(init=False, default=None)
    """The state that the last attempt saw, or the code of its error."""
    _number: int = field(init=False, default=0)
    """The number of the last attempt."""
    _answered_at: float = field(init=False, default=0.0)
    """Seconds from the start to the answer of the last attempt."""
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
        self._machine = machine.Machine(self.description.states, self.policy, now=began)
        if observers or on_attempt is not None:
            self._observers = Observers(observers, () if on_attempt is None else (on_attempt,))

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
        now, of_wait = self._now() - seconds_ago, (self.description.states, self.policy)
        self._machine = machine.Machine.from_json(state, *of_wait, digest=digest, now=now)

    def observe_attempts(self, observer: Observer) -> None:
        """Add an observer of attempts."""
        self._observers = self._observers.and_of_attempts(observer)

    def begin(self) -> machine.Decision:
        """Return the first decision."""
        self._has_end_to_tell = True
        self._observers.tell("start", self)
        return self.step(machine.Begin())

    def replied(self, reply: Reply) -> machine.Decision:
        """Return the decision after the call that `Poll` or `Explain` asked for."""
        if self.search is not None:
            return self.step(machine.ReadEnded(more=self.search.has_more_after(reply)))
        if reply.ended == "deadline":
            if reply.made:
                self.unanswered_since = self.elapsed
            return self.step(machine.CallTimedOut(uncalled=not reply.made))
        if reply.ended == "cancelled":
            return self.step(machine.Cancelled())
        return self.attempted(self.judge.judge(reply), reply)

    def attempted(self, attempt: Attempt, reply: Reply) -> machine.Decision:
        """Return the decision after an attempt, which is what its reply means."""
        # No local variable: the response of the last attempt is garbage from here on.
        if self.attempt is not None:
            if self._earlier is None:
                self._earlier = EarlierAttempts(self._number)
            self._earlier.add(self._answered_at, self._seen)
        if attempt is not self.attempt:
            self.attempt, self._seen = attempt, attempt.error_code or attempt.seen
        if attempt.facts.acceptor is not None:
            self.has_matched = True
        elif self.description.new_failures:
            self._tell_new_failures(attempt.observed)
        event = machine.Responded if attempt.exception is None else machine.Raised
        decision = self.step(event(attempt.facts), reply)
        state = self._machine.state
        self._number, self._answered_at = state.attempts, state.elapsed
        is_transient, held = self._machine.is_transient, self._machine.held_back
        if is_transient:
            self.last_transient_error = passed_error_in_words(attempt)
        else:
            self.answer = attempt
            self.unfinished = NONE_UNFINISHED
        if attempt.problems:
            self._tell_problems(attempt.problems)
        if attempt.exception is not None:
            self.retried = attempt.exception if attempt.is_retried else self.retried
        # Of most waits there are none.
        elif self.failing != ():
            self.failing = failing_on_both(self.failing, attempt.problems)
        self._observers.tell(
            "attempt",
            self,
            next_delay=decision.seconds if isinstance(decision, machine.Pause) else None,
            error=attempt.error_code,
            is_transient=is_transient,
            message=self.last_transient_error if is_transient else held and why_held_back(self),
        )
        return self._first_read(decision) if isinstance(decision, machine.Explain) else decision

    def _first_read(self, decision: machine.Explain) -> machine.Decision:
        """Return the decision on the first read about a failure: there may be none to make."""
        if self.searched is not None:
            self.search = self.searched.begin_search(self.last_response, self.elapsed)
        has_read = self.search is not None and self.search.has_more_after(None)
        return decision if has_read else self.step(machine.ReadEnded())

    def _tell_problems(self, problems: Sequence[FailedExpression]) -> None:
        """Warn of expressions that fail on the first response, once for all waits of the waiter.

        A function that is given null is silent: what it reads may be in a later response. Of the
        shipped waiters none fails in another way.
        """
        waiter, told = self.description.waiter, self.description.told
        for problem in problems if self.failing is None else ():
            text = f"waiter {waiter}: the expression {problem.path} fails: {problem.why}"
            if problem.is_fault and text not in told:
                told.add(text)
                warn(text, UserWarning, at=self.caller, is_logged=True)
        if not self._problems_logged:
            self._problems_logged = True
            text = "Waiter %s: no match, the expression cannot be evaluated: %s"
            logger.debug(text, waiter, "; ".join(map(str, problems)))

    def _tell_new_failures(self, observed: Any) -> None:
        """Warn, once in a process, of a failure that the definition does not know.

        Without a match it is polled until `max_wait`.
        """
        description = self.description
        states = observed if isinstance(observed, list) else [observed]
        for state in description.new_failures.intersection(
            each for each in states if isinstance(each, str)
        ):
            text = f"waiter {description.waiter} of {description.service}: the state {state} looks "
            text += "like a failure, but no acceptor mentions it, and the wait goes on; upgrade "
            text += "boto_waiters_plus, or define a waiter of the same name with an acceptor for it"
            if text not in NEW_FAILURES_TOLD:
                NEW_FAILURES_TOLD.add(text)
                warn(text, UserWarning, at=self.caller, is_logged=True)

    def forget_response(self) -> None:
        """Drop the last response, apart from what the message of an error needs of it.

        It is most of the memory of a wait. For waits whose errors are stored without it.
        """
        if self.answer is not None:
            self._find_reason(self.answer)
            self.unfinished = self._unfinished_ids(None)
            unmet = self.answer.find_unmet and self.answer.find_unmet()
            self.answer.find_unmet = lambda: unmet
        for attempt in filter(None, (self.answer, self.attempt)):
            attempt.response = attempt.find_reason = attempt.by_id = None
            attempt.reason = FoundReason(attempt.reason.text)

    def step(self, event: machine.Event, reply: Reply | None = None) -> machine.Decision:
        """Return the decision after an event, such as a reply that was judged."""
        now = self._now()
        if reply is not None and self._machine.is_over(now):
            # It was parsed and judged meanwhile, and arrived before.
            now -= reply.age
        return self._machine.step(event, now, self.random)

    def conclude(self, ending: machine.Ending) -> WaiterOutcome[Any]:
        """Return the outcome of a wait that succeeded; raise the error of one that did not."""
        if isinstance(ending, machine.Succeeded) and self.refused is None:
            self.retried = None  # Its traceback holds the frames of this wait.
            self._tell_end("success")
            return self._outcome(ending)
        raw = self._raw_error(ending)
        if raw is not None:
            self._drop_attempts()
            raise raw
        kind, error_class = _ENDS.get(type(ending), _ENDS[machine.Failed])
        error = self._error(ending, error_class)
        if self.refused is not None:
            error = self.refused.added_to(error, error_class, with_ids=self.show_parameters)
        self._tell_end(kind, error=type(error).__name__, message=str(error))
        self._drop_attempts()
        raise error from error.last_exception

    def _drop_attempts(self) -> None:
        """Drop the exceptions, whose tracebacks hold the frames of this wait."""
        for attempt in filter(None, (self.attempt, self.answer)):
            attempt.exception = None  # The judge may keep the attempt.
        self.attempt = self.answer = self.retried = None

    def interrupted(self, error: BaseException | None = None) -> None:
        """Tell observers of the end of a wait that is not concluded.

        Nothing happens after `conclude`, so that a driver may call it for whatever it raises.

        Args:
            error: ended the wait; None: the wait was cancelled.
        """
        # A program without tasks never imports asyncio, which takes 11 ms.
        cancelled = getattr(sys.modules.get("asyncio"), "CancelledError", GeneratorExit)
        if error is None or isinstance(error, (GeneratorExit, cancelled)):
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

    def _outcome(self, ending: machine.Succeeded) -> WaiterOutcome[Any]:
        attempt, state, basis = self.attempt, self._machine.state, None
        assert attempt is not None, "a wait succeeds by an attempt"
        if self.description.bases:
            known = self.description.bases[ending.acceptor]
            basis = known or ("transition" if state.moved else "held")
        facts: dict[str, Any] = {
            "waiter": self.description.waiter,
            "label": str(self.label),
            "attempts": state.attempts,
            "elapsed": state.elapsed,
            "acceptor": self.description.acceptors[ending.acceptor],
            "observed": attempt.observed,
            "basis": basis,
            "coalesced": attempt.coalesced,
            "reported": dict(attempt.reported),
            "timeline_record": self._timeline_record(),
        }
        if attempt.exception is not None:
            return ExceptionOutcome(exception=attempt.exception, **facts)
        by_id = {} if attempt.by_id is None else attempt.by_id
        return ResponseOutcome(response=attempt.response, by_id=by_id, **facts)

    def _raw_error(self, ending: machine.Ending) -> Exception | None:
        """Return the error of the last call, if it ends the wait and is raised as it is."""
        if ending != machine.Failed(None) or self.is_raw is None or self.attempt is None:
            return None
        error = self.attempt.exception
        return error if error is not None and self.is_raw(error) else None

    def _error(self, ending: machine.Ending, error_class: type[WaiterError]) -> WaiterError:
        attempt = self.answer or self.attempt
        if attempt is not None:
            self._find_reason(attempt)
        decided = ending.acceptor if isinstance(ending, machine.Failed) else None
        self.unfinished = self._unfinished_ids(decided)
        if isinstance(ending, machine.Failed):
            self.retried = None
        reason, message = self.wording(self, ending)
        exception, limits = self.attempt.exception if self.attempt else None, self.policy.limits
        max_wait = limits.max_wait if limits.asked_wait is None else limits.asked_wait
        said = attempt.reason.text if attempt else None
        error = error_class(
            self.description.waiter,
            reason,
            self.last_response,
            message=message,
            label=str(self.label),
            attempts=self.attempts,
            elapsed=self.elapsed,
            max_wait=max_wait if limits.count_requests else None,
            acceptor=None if decided is None else self.description.acceptors[decided],
            observed=attempt.observed if attempt else None,
            service_message=said and message_text(said),
            last_exception=exception or self.retried,
            by_id=attempt.by_id if attempt else None,
            failed_ids=self.unfinished.ids,
            transient_errors=self.transient_errors,
        )
        if attempt is not None:
            error.reported = dict(attempt.reported)
        if self.attempt is not None:
            error.timeline_record = self._timeline_record()
        error.advice = advice_after(self, ending)
        cause = self.search.cause if self.search else None
        error.cause_found = cause and message_text(cause)
        if attempt is not None and attempt.reason.hidden_elsewhere is not None:
            attempt.reason = FoundReason(None, attempt.reason.hidden_elsewhere)
            error.stored_reason, _ = self.wording(self, ending)
        return error

    def _timeline_record(self) -> Record:
        return self._earlier, self._number, self._answered_at, self._seen

    def _unfinished_ids(self, decided: int | None) -> UnfinishedIds:
        """Return the identifiers that have failed, or that no success acceptor matched."""
        items = self.answer.by_id if self.answer else None
        if items is None:
            return self.unfinished
        states = (*self.description.states, AcceptorState.RETRY)

        def leads_to(*meant: AcceptorState) -> UnfinishedIds:
            return items.ids_where(lambda index: states[-1 if index is None else index] in meant)

        if decided is None:
            return leads_to(AcceptorState.RETRY, AcceptorState.FAILURE)
        failed = leads_to(AcceptorState.FAILURE)
        if not self.description.bases:
            return failed
        return failed._replace(pending=leads_to(AcceptorState.RETRY).ids)

    def _find_reason(self, attempt: Attempt) -> None:
        if attempt.reason.text is None and attempt.find_reason:
            attempt.reason = attempt.find_reason(dict(attempt.last_response))
