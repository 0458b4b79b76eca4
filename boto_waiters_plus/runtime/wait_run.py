"""What the drivers share: one wait's definition, machine, observers, and its end.

A driver is the loop that awaits or does not; everything it decides is decided here or in the
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
    CallExpired,
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
from ..engine.wait_event import WaitEvent
from ..exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from ..outcome import ExceptionOutcome, ResponseOutcome, WaiterOutcome
from .attempt import Attempt
from .clock import current_time

logger = logging.getLogger("boto_waiters_plus")

# Not `random.Random`: after a fork all children would draw the same jitter.
RANDOM: Final = random.SystemRandom()

Observer = Callable[[WaitEvent], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitDescription:
    """What is waited for, as messages and observers name it."""

    waiter: str
    operation: str
    service: str | None
    goal: str
    """What the waiter waits for, in words."""
    acceptors: tuple[MatchedAcceptor, ...]
    states: tuple[AcceptorState, ...]
    digest: str = ""

    @classmethod
    def of(cls, definition: WaiterDefinition, service: str | None = None) -> WaitDescription:
        """What a definition waits for."""
        return cls(
            waiter=definition.name,
            operation=definition.operation,
            service=service,
            goal=definition.goal,
            acceptors=tuple(definition.matched(i) for i in range(len(definition.acceptors))),
            states=definition.states,
            digest=definition.digest,
        )


Wording = Callable[["WaitRun", Ending], str]
"""Gives the reason of a failure its words."""


class WaitRun:
    """One wait from its first look to its end."""

    def __init__(
        self,
        description: WaitDescription,
        policy: Policy,
        *,
        observers: Sequence[Observer] = (),
        wording: Wording | None = None,
        random: Random = RANDOM,
    ) -> None:
        self.description = description
        self.policy = policy
        self.attempt: Attempt | None = None
        self.last_matched: MatchedAcceptor | None = None
        self.last_response: Mapping[str, Any] = {}
        self._machine = Machine(description.states, policy, digest=description.digest)
        self._observers = observers
        self._wording = wording or reason_of
        self._random = random
        self._now = current_time().clock()
        self._problems_logged = False

    def observe_attempts(self, observer: Observer) -> None:
        """Tell one more observer, of attempts only."""

        def on_event(event: WaitEvent) -> None:
            if event.kind == "attempt":
                observer(event)

        self._observers = (*self._observers, on_event)

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
        """Whether the look that comes next is the last one."""
        return self._machine.state.last

    def begin(self) -> Decision:
        """The first decision."""
        self._tell("started")
        return self._step(Begin())

    def answered(self, attempt: Attempt) -> Decision:
        """The call that `Poll` asked for is over."""
        if attempt.cut_off is not None:
            return self._step(CallExpired() if attempt.cut_off == "deadline" else Cancelled())
        now = self._now()
        self.attempt = attempt
        self.last_response = attempt.last_response
        index = attempt.facts.acceptor
        if index is not None:
            self.last_matched = self.description.acceptors[index]
        event = Responded if attempt.exception is None else Raised
        decision = self._step(event(attempt.facts), now)
        self._log(attempt, decision)
        self._tell(
            "attempt",
            attempt=attempt,
            next_delay=decision.seconds if isinstance(decision, Pause) else None,
        )
        return decision

    def paused(self, event: Event) -> Decision:
        """The pause is over, or was ended."""
        return self._step(event)

    def cancel(self) -> Decision:
        """Somebody wants the wait to stop, before the call that was decided on."""
        return self._step(Cancelled(uncalled=True))

    def conclude(self, ending: Ending) -> WaiterOutcome[Any]:
        """The outcome of a wait that succeeded; raises the error of one that did not."""
        words: dict[type[Ending], Any] = {
            Succeeded: "succeeded",
            Failed: "failed",
            TimedOut: "timed out",
            AttemptsUsedUp: "attempts used up",
            WaitCancelled: "cancelled",
        }
        self._tell("ended", attempt=self.attempt, ending=words[type(ending)])
        if isinstance(ending, Succeeded):
            return self._outcome(ending)
        error = self._error(ending)
        # The attempt holds the exception, whose traceback holds the frames of this wait.
        self.attempt = None
        raise error from error.last_exception

    def _step(self, event: Event, now: float | None = None) -> Decision:
        now = self._now() if now is None else now
        return self._machine.step(event, now, self._random)

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
        kinds: dict[type[Ending], type[WaiterError]] = {
            Failed: WaiterFailedError,
            TimedOut: WaiterTimeoutError,
            AttemptsUsedUp: WaiterAttemptsError,
            WaitCancelled: WaiterCancelledError,
        }
        attempt = self.attempt
        if attempt is not None and attempt.service_message is None and attempt.find_reason:
            attempt.service_message = attempt.find_reason(dict(attempt.last_response))
        decided = ending.acceptor if isinstance(ending, Failed) else None
        return kinds[type(ending)](
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
                "%s: counted as no match, cannot be evaluated: %s",
                self.description.waiter,
                "; ".join(attempt.problems),
            )
        logger.debug(
            "%s: attempt %d after %.3f s saw %s, then %s",
            self.description.waiter,
            self.attempts,
            self.elapsed,
            attempt.error or shown(attempt.observed) or "a response",
            decision,
        )

    def _tell(
        self,
        kind: Literal["started", "attempt", "ended"],
        *,
        attempt: Attempt | None = None,
        next_delay: float | None = None,
        ending: Any = None,
    ) -> None:
        if not self._observers:
            return
        event = WaitEvent(
            kind=kind,
            waiter=self.description.waiter,
            operation=self.description.operation,
            service=self.description.service,
            attempts=self.attempts,
            elapsed=self.elapsed,
            observed=shown(attempt.observed) if attempt else None,
            error=attempt.error_code if attempt else None,
            next_delay=next_delay,
            ending=ending,
        )
        for observer in self._observers:
            observer(event)


def reason_of(wait_run: WaitRun, ending: Ending) -> str:
    """What a person needs: what happened, what was waited for, what was seen last, how long."""
    parts = [_what_happened(wait_run, ending)]
    if wait_run.description.goal:
        parts.append(f"waited for: {cut(wait_run.description.goal)}")
    seen = last_seen(wait_run)
    if seen and not isinstance(ending, Failed):
        parts.append(f"last seen: {seen}")
    looks = "1 attempt" if wait_run.attempts == 1 else f"{wait_run.attempts} attempts"
    parts.append(f"{looks} of {wait_run.description.operation} in {wait_run.elapsed:.1f} s")
    return "; ".join(parts)


def _what_happened(wait_run: WaitRun, ending: Ending) -> str:
    match ending:
        case Failed(acceptor=None):
            error = wait_run.attempt.error if wait_run.attempt else None
            return f"An error occurred ({error or 'unknown'}){said(wait_run)}"
        case Failed(acceptor=int(index)):
            text = wait_run.description.acceptors[index].text.partition(" when ")[2]
            return f"terminal failure state: {text}{said(wait_run)}"
        case TimedOut():
            return f"Timed out{_allowed(wait_run.policy)}"
        case AttemptsUsedUp():
            return f"Max attempts exceeded: {wait_run.policy.max_attempts} are used up"
        case _:
            return "cancelled"


def _allowed(policy: Policy) -> str:
    """The seconds a wait had, in words; none where a deadline was past before it began."""
    bounds = [bound for bound in (policy.max_wait, policy.deadline) if bound is not None]
    if not bounds:
        return ": the call had no more time"
    return f": the {round(max(0.0, min(bounds)), 3):.12g} s that were allowed are used up"


def said(wait_run: WaitRun) -> str:
    """The service's own words, to be put behind others."""
    message = wait_run.attempt.service_message if wait_run.attempt else None
    return f": {cut(message)}" if message else ""


def last_seen(wait_run: WaitRun) -> str | None:
    """What the last look gave, in words; None if there was none."""
    if wait_run.attempt is None:
        return None
    if wait_run.attempt.error:
        return f"error {wait_run.attempt.error}{said(wait_run)}"
    seen = shown(wait_run.attempt.observed) or "a response that no acceptor took as the end"
    message = wait_run.attempt.service_message
    return f"{seen} ({cut(message)})" if message else seen
