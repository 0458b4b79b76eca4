"""One wait from its first attempt to its outcome: what the drivers share.

A driver is the loop that blocks or awaits; everything it decides is decided here or in the
engine.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

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
from ..engine.redaction import cut, shown
from ..engine.wait_event import WaitEnding, WaitEvent
from ..exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome
from .attempt import Attempt, Judge, Reply
from .clock import current_time

logger = logging.getLogger("boto_waiters_plus")

# Not `random.Random`: after a fork all children would draw the same jitter.
RANDOM: Final = random.SystemRandom()

Observer = Callable[[WaitEvent], object]


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


Wording = Callable[["WaitRun", Ending], str]
"""Returns the reason of a wait that did not succeed."""

_ENDINGS: Final[dict[type[Ending], WaitEnding]] = {
    Succeeded: "succeeded",
    Failed: "failed",
    TimedOut: "timed out",
    AttemptsUsedUp: "attempts used up",
    WaitCancelled: "cancelled",
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
        observers: called with each `WaitEvent`.
        on_attempt: called with the events of attempts only.
        wording: composes the reason of a failure.
        random: draws the jitter.
    """

    def __init__(
        self,
        description: WaitDescription,
        policy: Policy,
        judge: Judge,
        *,
        observers: Sequence[Observer] = (),
        on_attempt: Observer | None = None,
        wording: Wording | None = None,
        random: Random = RANDOM,
    ) -> None:
        self.description = description
        self.policy = policy
        self.judge = judge
        self.attempt: Attempt | None = None
        self.last_matched: MatchedAcceptor | None = None
        self.last_response: Mapping[str, Any] = {}
        self._machine = Machine(description.states, policy)
        self._observers = observers
        self._attempt_observers = () if on_attempt is None else (on_attempt,)
        self._wording = wording or reason_of
        self._random = random
        self._now = current_time().clock()
        self._problems_logged = False
        self._has_end_to_tell = False

    def observe_attempts(self, observer: Observer) -> None:
        """Add an observer of attempts."""
        self._attempt_observers = (*self._attempt_observers, observer)

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
        if self._observers:
            self._has_end_to_tell = True
            self._notify(self._observers, "started")
        return self._step(Begin())

    def replied(self, reply: Reply) -> Decision:
        """Return the decision after the call that `Poll` asked for."""
        if reply.ended == "deadline":
            return self._step(CallTimedOut(uncalled=not reply.made))
        if reply.ended == "cancelled":
            return self._step(Cancelled())
        return self.attempted(self.judge.judge(reply))

    def attempted(self, attempt: Attempt) -> Decision:
        """Return the decision after an attempt."""
        self.attempt = attempt
        self.last_response = attempt.last_response
        index = attempt.facts.acceptor
        if index is not None:
            self.last_matched = self.description.acceptors[index]
        event = Responded if attempt.exception is None else Raised
        decision = self._step(event(attempt.facts))
        if logger.isEnabledFor(logging.DEBUG):
            self._log(attempt, decision)
        if self._observers or self._attempt_observers:
            delay = decision.seconds if isinstance(decision, Pause) else None
            observers = (*self._observers, *self._attempt_observers)
            self._notify(observers, "attempt", attempt=attempt, next_delay=delay)
        return decision

    def paused(self, event: Event) -> Decision:
        """Return the decision after a pause, or after an event that ended it."""
        return self._step(event)

    def cancel(self) -> Decision:
        """Cancel the wait before the call that was decided on is made."""
        return self._step(Cancelled(uncalled=True))

    def conclude(self, ending: Ending) -> WaiterOutcome[Any]:
        """Return the outcome of a wait that succeeded; raise the error of one that did not."""
        self._tell_end(_ENDINGS[type(ending)])
        if isinstance(ending, Succeeded):
            return self._outcome(ending)
        error = self._error(ending)
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
            self._tell_end("cancelled")
        else:
            self._tell_end("raised", type(error).__name__)

    def _tell_end(self, ending: WaitEnding, error: str | None = None) -> None:
        if self._has_end_to_tell:
            # Before the observers are called: the error of one ends the wait once more.
            self._has_end_to_tell = False
            attempt = self.attempt
            self._notify(self._observers, "ended", attempt=attempt, ending=ending, error=error)

    def _step(self, event: Event) -> Decision:
        return self._machine.step(event, self._now(), self._random)

    def _outcome(self, ending: Succeeded) -> WaiterOutcome[Any]:
        attempt = self.attempt
        assert attempt is not None, "a wait succeeds by an attempt"
        facts: dict[str, Any] = {
            "waiter": self.description.waiter,
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
        if attempt is not None and attempt.service_message is None and attempt.find_reason:
            attempt.service_message = attempt.find_reason(dict(attempt.last_response))
        decided = ending.acceptor if isinstance(ending, Failed) else None
        return _ERRORS[type(ending)](
            self.description.waiter,
            self._wording(self, ending),
            self.last_response,
            attempts=self.attempts,
            elapsed=self.elapsed,
            max_wait=self.policy.max_wait if self.policy.count_requests else None,
            acceptor=None if decided is None else self.description.acceptors[decided],
            observed=attempt.observed if attempt else None,
            service_message=attempt.service_message if attempt else None,
            last_exception=attempt.exception if attempt else None,
        )

    def _log(self, attempt: Attempt, decision: Decision) -> None:
        if attempt.problems and not self._problems_logged:
            self._problems_logged = True
            logger.debug(
                "%s: no match, the expression cannot be evaluated: %s",
                self.description.waiter,
                "; ".join(attempt.problems),
            )
        delay = f", next attempt in {decision.seconds:.3f} s" if isinstance(decision, Pause) else ""
        logger.debug(
            "%s: attempt %d after %.3f s: %s%s",
            self.description.waiter,
            self.attempts,
            self.elapsed,
            attempt.error or shown(attempt.observed) or "a response",
            delay,
        )

    def _notify(
        self,
        observers: Sequence[Observer],
        kind: Literal["started", "attempt", "ended"],
        *,
        attempt: Attempt | None = None,
        next_delay: float | None = None,
        ending: WaitEnding | None = None,
        error: str | None = None,
    ) -> None:
        event = WaitEvent(
            kind=kind,
            waiter=self.description.waiter,
            operation=self.description.operation,
            service=self.description.service,
            attempts=self.attempts,
            elapsed=self.elapsed,
            observed=shown(attempt.observed) if attempt else None,
            error=error or (attempt.error_code if attempt else None),
            next_delay=next_delay,
            ending=ending,
        )
        for observer in observers:
            observer(event)


def reason_of(run: WaitRun, ending: Ending) -> str:
    """Return what happened, what was waited for, the last state seen and the attempts made."""
    parts = [_what_happened(run, ending)]
    if run.description.goal:
        parts.append(f"waited for: {cut(run.description.goal)}")
    state = last_state_seen(run)
    if state and not isinstance(ending, Failed):
        parts.append(f"last state seen: {state}")
    parts.append(f"{attempts_made(run.attempts, run.description.operation)} in {run.elapsed:.1f} s")
    return "; ".join(parts)


def attempts_made(attempts: int, operation: str) -> str:
    """Return the number of attempts in words."""
    return f"{attempts} attempt{'' if attempts == 1 else 's'} of {operation}"


def timed_out_after(policy: Policy) -> str:
    """Return how long a wait that timed out was allowed to last, in words."""
    bounds = [bound for bound in (policy.max_wait, policy.deadline) if bound is not None]
    if not bounds or min(bounds) <= 0:
        return "timed out: no time was left"
    return f"timed out after {round(min(bounds), 3):.12g} s"


def service_message_suffix(run: WaitRun) -> str:
    """Return the service's message as the end of a sentence; empty if there is none."""
    message = run.attempt.service_message if run.attempt else None
    return f": {cut(message)}" if message else ""


def last_state_seen(run: WaitRun) -> str | None:
    """Return what the last attempt gave, in words; None if there was none."""
    if run.attempt is None:
        return None
    if run.attempt.error:
        return f"error {run.attempt.error}{service_message_suffix(run)}"
    state = run.attempt.state or shown(run.attempt.observed)
    state = state or "a response that matched no acceptor"
    message = run.attempt.service_message
    return f"{state} ({cut(message)})" if message else state


def _what_happened(run: WaitRun, ending: Ending) -> str:
    match ending:
        case Failed(acceptor=None):
            error = run.attempt.error if run.attempt else None
            return f"An error occurred ({error or 'unknown'}){service_message_suffix(run)}"
        case Failed(acceptor=int(index)):
            text = run.description.acceptors[index].text.partition(" when ")[2]
            return f"terminal failure state: {text}{service_message_suffix(run)}"
        case TimedOut():
            return timed_out_after(run.policy)
        case AttemptsUsedUp():
            return f"Max attempts exceeded: max_attempts is {run.policy.max_attempts}"
        case _:
            return "cancelled"
