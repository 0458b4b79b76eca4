"""One wait from its first attempt to its outcome: what the drivers share.

A driver is the loop that blocks or awaits; everything it decides is decided here or in the
engine.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

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
from ..engine.model import AcceptorState, MatchedAcceptor, WaiterDefinition
from ..engine.wait_event import EventKind
from ..exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome
from .attempt import Attempt, Judge, Reply, UnfinishedIds
from .clock import current_time
from .observers import Observer, Observers
from .wait_log import logger
from .wording import reason_of

# Not `random.Random`: after a fork all children would draw the same jitter.
RANDOM: Final = random.SystemRandom()

_WAIT_IDS: Final = itertools.count(1)
_NONE_UNFINISHED: Final = UnfinishedIds()


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitDescription:
    """What a wait is for, as messages and observers name it; made once per waiter."""

    waiter: str
    operation: str
    service: str | None
    goal: str
    """What the waiter waits for, in words."""
    acceptors: tuple[MatchedAcceptor, ...]
    states: tuple[AcceptorState, ...]

    @classmethod
    def of(cls, definition: WaiterDefinition, service: str | None = None) -> WaitDescription:
        """Return the description of a waiter."""
        return cls(
            waiter=definition.name,
            operation=definition.operation,
            service=service,
            goal=definition.goal,
            acceptors=tuple(definition.matched(i) for i in range(len(definition.acceptors))),
            states=definition.states,
        )


Wording = Callable[["WaitRun", Ending], tuple[str, str]]
"""Returns the reason of a wait that did not succeed, and the whole message of its error."""

_KINDS: Final[dict[type[Ending], EventKind]] = {
    Succeeded: "success",
    Failed: "failure",
    TimedOut: "timeout",
    AttemptsUsedUp: "timeout",
    WaitCancelled: "cancel",
}

_ERRORS: Final[dict[type[Ending], type[WaiterError]]] = {
    Failed: WaiterFailedError,
    TimedOut: WaiterTimeoutError,
    AttemptsUsedUp: WaiterAttemptsError,
    WaitCancelled: WaiterCancelledError,
}


class WaitRun:
    """One run of a wait.

    Args:
        description: what the wait is for.
        policy: delays and bounds.
        judge: tells what a reply means.
        label: the resource, as text or as a function that makes the text when it is needed.
        show_parameters: whether messages may name identifiers of the request.
        observers: called with each `WaitEvent`.
        on_attempt: called with the events of attempts only.
        wording: composes the message of a failure.
        random: draws the jitter.

    Attributes:
        observe_attempts: adds an observer of attempts.
    """

    def __init__(
        self,
        description: WaitDescription,
        policy: Policy,
        judge: Judge,
        *,
        label: str | Callable[[], str] = "",
        show_parameters: bool = True,
        observers: Sequence[Observer] = (),
        on_attempt: Observer | None = None,
        wording: Wording | None = None,
        random: Random = RANDOM,
    ) -> None:
        self.description = description
        self.policy = policy
        self.judge = judge
        self.show_parameters = show_parameters
        self.wait_id = next(_WAIT_IDS)
        self.attempt: Attempt | None = None
        self.last_matched: MatchedAcceptor | None = None
        self.last_response: Mapping[str, Any] = {}
        self.unanswered_since: float | None = None
        """Seconds from the start to the call that was ended without an answer."""
        self.unfinished = _NONE_UNFINISHED
        """The identifiers that failed, or had not reached the state when the wait ended."""
        self._label = label
        self._machine = Machine(description.states, policy)
        self._observers = Observers(observers, () if on_attempt is None else (on_attempt,))
        self.observe_attempts = self._observers.add
        self._wording = wording or _own_words
        self._random = random
        self._now = current_time().clock()
        self._problems_logged = False
        self._has_end_to_tell = False

    @property
    def label(self) -> str:
        """The resource in a few words."""
        label = self._label
        if not isinstance(label, str):
            self._label = label = label()
        return label

    @property
    def attempts(self) -> int:
        """Calls made."""
        return self._machine.state.attempts

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._machine.state.elapsed

    @property
    def is_last(self) -> bool:
        """Whether the next attempt is the last one."""
        return self._machine.state.last

    def stored_state(self) -> str:
        """Return the state of the wait as JSON, to be resumed by `resume`."""
        return self._machine.to_json()

    def resume(self, state: str, *, seconds_ago: float = 0) -> None:
        """Go on from a stored state instead of the start; to be called before `begin`.

        Args:
            state: what `stored_state` returned, under the same definition and policy.
            seconds_ago: the time since then, which counts as time of the wait.

        Raises:
            ValueError: this is not the state of a wait.
        """
        now = self._now() - seconds_ago
        self._machine = Machine.from_json(state, self.description.states, self.policy, now=now)

    def begin(self) -> Decision:
        """Return the first decision."""
        self._has_end_to_tell = True
        self._observers.tell("start", self)
        return self._step(Begin())

    def replied(self, reply: Reply) -> Decision:
        """Return the decision after the call that `Poll` asked for."""
        if reply.ended == "deadline":
            if reply.made:
                self.unanswered_since = self.elapsed
            return self._step(CallTimedOut(uncalled=not reply.made))
        if reply.ended == "cancelled":
            return self._step(Cancelled())
        return self.attempted(self.judge.judge(reply))

    def attempted(self, attempt: Attempt) -> Decision:
        """Return the decision after an attempt."""
        self.attempt = attempt
        self.last_response = attempt.last_response
        self.unfinished = _NONE_UNFINISHED
        index = attempt.facts.acceptor
        if index is not None:
            self.last_matched = self.description.acceptors[index]
        event = Responded if attempt.exception is None else Raised
        decision = self._step(event(attempt.facts))
        if attempt.problems and not self._problems_logged:
            self._log_problems(attempt.problems)
        delay = decision.seconds if isinstance(decision, Pause) else None
        self._observers.tell("attempt", self, next_delay=delay, error=attempt.error_code)
        return decision

    def forget_response(self) -> None:
        """Drop the last response, apart from what the message of an error needs of it.

        It is most of the memory of a wait. For waits whose errors are stored without it.
        """
        attempt = self.attempt
        if attempt is None:
            return
        self._find_reason(attempt)
        self.unfinished = self._unfinished_ids(None)
        attempt.response = attempt.find_reason = attempt.by_id = None
        attempt.last_response = self.last_response = {}

    def paused(self, event: Event) -> Decision:
        """Return the decision after a pause, or after an event that ended it."""
        return self._step(event)

    def cancel(self) -> Decision:
        """Cancel the wait before the call that was decided on is made."""
        return self._step(Cancelled(uncalled=True))

    def conclude(self, ending: Ending) -> WaiterOutcome[Any]:
        """Return the outcome of a wait that succeeded; raise the error of one that did not."""
        if isinstance(ending, Succeeded):
            self._tell_end("success")
            return self._outcome(ending)
        error = self._error(ending)
        self._tell_end(_KINDS[type(ending)], error=type(error).__name__, message=str(error))
        # The attempt holds the exception, whose traceback holds the frames of this wait.
        self.attempt = None
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

    def _step(self, event: Event) -> Decision:
        return self._machine.step(event, self._now(), self._random)

    def _outcome(self, ending: Succeeded) -> WaiterOutcome[Any]:
        attempt = self.attempt
        assert attempt is not None, "a wait succeeds by an attempt"
        facts: dict[str, Any] = {
            "waiter": self.description.waiter,
            "label": self.label,
            "attempts": self.attempts,
            "elapsed": self.elapsed,
            "acceptor": self.description.acceptors[ending.acceptor],
            "observed": attempt.observed,
            "coalesced": attempt.coalesced,
        }
        if attempt.exception is not None:
            return ExceptionOutcome(exception=attempt.exception, **facts)
        by_id = {} if attempt.by_id is None else attempt.by_id
        return ResponseOutcome(response=attempt.response, by_id=by_id, **facts)

    def _error(self, ending: Ending) -> WaiterError:
        attempt = self.attempt
        if attempt is not None:
            self._find_reason(attempt)
        decided = ending.acceptor if isinstance(ending, Failed) else None
        self.unfinished = self._unfinished_ids(decided)
        reason, message = self._wording(self, ending)
        return _ERRORS[type(ending)](
            self.description.waiter,
            reason,
            self.last_response,
            message=message,
            label=self.label,
            attempts=self.attempts,
            elapsed=self.elapsed,
            max_wait=self.policy.max_wait if self.policy.count_requests else None,
            acceptor=None if decided is None else self.description.acceptors[decided],
            observed=attempt.observed if attempt else None,
            service_message=attempt.service_message if attempt else None,
            last_exception=attempt.exception if attempt else None,
            by_id=attempt.by_id if attempt else None,
            failed_ids=self.unfinished.ids,
        )

    def _unfinished_ids(self, decided: int | None) -> UnfinishedIds:
        """Return the identifiers that the failure acceptor matched, or that no success did."""
        items = self.attempt.by_id if self.attempt else None
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

    def _log_problems(self, problems: Sequence[str]) -> None:
        self._problems_logged = True
        logger.debug(
            "Waiter %s: no match, the expression cannot be evaluated: %s",
            self.description.waiter,
            "; ".join(problems),
        )


def _own_words(run: WaitRun, ending: Ending) -> tuple[str, str]:
    reason = reason_of(run, ending)
    return reason, f"Waiter {run.description.waiter} {reason}"
