"""One wait as a step object: events in, decisions out.

The driver makes the machine, steps it with `Begin`, and then does what each decision says until
one ends the wait:

    Poll        make the call, step with Responded or Raised
    Explain     make another read instead, step with ReadEnded
    Pause       sleep, step with Woken
    otherwise   the wait is over

Two rules hold throughout. The machine never sees a response or an exception, only `Facts` about
them. And a pause counts for at least as long as it was meant to last, whatever the clock says, so
that a clock that stands still or goes back cannot keep a wait alive.
"""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ..common.values import Value
from .acceptors import AcceptorState
from .delays import Random, jittered_delay, last_delay, learned_delay
from .redaction import is_number

if TYPE_CHECKING:
    from .delays import LearnedTimes

SHORTEST_PAUSE = 0.001
"""Seconds. A delay of 0 must not become a loop that neither sleeps nor ends."""

LONGEST_PAUSE = 1e9
"""Seconds. Longer delays from a caller's `delay_pace` are cut to this."""

LEAST_LATE_RESERVE = 0.25
"""Seconds that the `late` rule keeps for the last call, however fast earlier calls were."""

SLOWEST_ANSWER_MARGIN = 1.5
"""The last call may take this many times as long as the slowest call so far."""

SHORTEST_EARLY_SPACING = 1.0
"""Seconds between two attempts of a wait that signals bring forward, unless min_delay is less."""

ROUNDING = 1e-9
"""The share by which a sum of pauses may miss its limit through floating point alone."""

MOST_READS = 2
"""Reads that explain a failure."""

LONGEST_READS = 2.0
"""Seconds that these may last together."""

CLOCK_STEPS = 4
"""The measured length of an exact pause may miss its length by this many steps of the clock's
floating-point numbers."""

Pace = Literal["fixed"] | Callable[[int], float] | None
"""How the delay between two attempts is found.

None is the specification's algorithm between min_delay and max_delay, `"fixed"` is min_delay each
time, and a function gives the seconds by the number of attempts made.
"""


RetryTransient = bool | Literal["answered"]
"""Which transient errors are part of calling the operation, and so no end of the wait.

`"answered"`: all but connections that cannot be made before the service has answered once. True:
those too. False: none, as in step 4 of the specification's workflow.
"""


class LastAttempt(str, enum.Enum):
    """How much time is left after the start of the last attempt."""

    LATE = "late"
    """What the last call needs to be answered in time; never more than min_delay."""
    SPEC = "spec"
    """min_delay, as the specification's text says."""
    DEADLINE = "deadline"
    """Nothing, as the 2024 revision of the text says."""


class Delays(NamedTuple):
    """How long a wait pauses, in seconds."""

    min_delay: float
    max_delay: float
    pace: Pace = None
    initial_delay: float = 0
    spread: bool = False
    """Longer delays than those drawn keep max_attempts from being reached before the time is up."""
    learned: LearnedTimes | None = None
    """The times of earlier waits, which decide the delays where they tell any."""


class Limits(NamedTuple):
    """What bounds a wait; times are in seconds."""

    max_wait: float | None
    """None: max_attempts is the only limit."""
    asked_wait: float | None = None
    """`max_wait` in words, where it is what is left of the caller's."""
    ended_by: str | None = None
    """What `max_wait`, or else `deadline`, is in words: `deadline(15)`."""
    max_attempts: int | None = None
    last_attempt: LastAttempt = LastAttempt.LATE
    count_requests: bool = True
    """False: max_wait bounds the sum of the pauses, as the schedule of a stock waiter does."""
    covers_end: bool = False
    """The last attempt begins when max_wait is over, and its answer counts; so max_wait=0 is one
    attempt. `last_attempt` has no effect."""
    patience: float = math.inf
    """The time that a call gets at least if `count_requests` is False or `covers_end` is True; a
    call that lasts longer than this, than the pauses still to come and than twice the slowest call
    is cut off."""
    deadline: float | None = None
    """The time from the start after which nothing may run, whatever the other limits are."""

    @property
    def is_unbounded(self) -> bool:
        """Whether max_wait leaves the last call any time."""
        return self.covers_end or not self.count_requests

    @property
    def end(self) -> float:
        """When everything has to be over, in seconds from the start."""
        bounds = self.deadline, None if self.is_unbounded else self.max_wait
        return min((bound for bound in bounds if bound is not None), default=math.inf)


class Endings(NamedTuple):
    """Which answers end a wait, and when; times are in seconds."""

    success_count: int = 1
    success_for: float = 0
    """The successes have to lie this far apart: the last of them is asked for at least this many
    seconds after the answer to the first."""
    missing_ok_for: float = 0
    retry_errors_for: tuple[tuple[str, float], ...] = ()
    """Names of errors, each with the time from the first attempt in which it is no failure."""
    settle_for: float = 0
    """A success or a failure that a response tells counts once another state was seen, or once no
    other was seen for this long: until then it may be the state from before a change."""
    retry_transient: RetryTransient = False
    explain: bool = False
    """After a response in a failure state, ask for further reads before the wait fails."""


class Policy(NamedTuple):
    """The delays, limits and endings of a wait; they do not change while it runs."""

    delays: Delays
    limits: Limits
    endings: Endings = Endings()

    @classmethod
    def of(cls, **members: Any) -> Policy:
        """Return the policy of these members, each in its group.

        Raises:
            TypeError: a member is missing or unknown.
        """
        groups: Any = (
            kind(**{name: members.pop(name) for name in {*kind._fields} & members.keys()})
            for kind in (Delays, Limits, Endings)
        )
        policy = cls(*groups)
        if members:
            raise TypeError(f"a policy has no {min(members)}")
        return policy


@lru_cache(maxsize=256, typed=True)
def shared(group: Any, **members: Any) -> Any:
    """Return the same group for the same plain values: thousands of waits need one."""
    return group(**members)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Facts(Value):
    """What the machine knows of an attempt."""

    acceptor: int | None
    """Index of the acceptor that matched."""
    transient: bool = False
    """The error is part of calling the operation: a throttle, an HTTP status 5xx, a lost
    connection, a time-out of one request."""
    unconnected: bool = False
    """The error is that no connection could be made."""
    answered: bool = False
    """The error came with an HTTP response. (What `Responded` tells of always did.)"""
    throttled: bool = False
    certain: bool = False
    """The acceptor tells of this change, whatever the state was before it."""
    moves: bool = True
    """A retry on this shows that the change has begun; for `settle_for`."""
    rest_for: float = 0
    """Seconds that a success which is not certain must have held after the last other state, once
    the change has begun."""
    missing: bool = False
    """The error, or the response that a failure acceptor matched, says that the resource was not
    found."""
    error_names: frozenset[str] = frozenset()
    """All names of the error, if it is an answer of the operation."""
    inconclusive: bool = False
    """The call ended because a retry of the SDK would not have fitted into the time left. The
    attempt is a retry, whatever the acceptors say."""


class Begin(Value):
    """The wait starts, or resumes from its stored state."""

    __slots__ = ()


@dataclass(slots=True, eq=False, repr=False)
class Responded(Value):
    """The call returned a response."""

    facts: Facts


@dataclass(slots=True, eq=False, repr=False)
class Raised(Value):
    """The call ended in an error."""

    facts: Facts


@dataclass(slots=True, eq=False, repr=False)
class ReadEnded(Value):
    """The read that `Explain` asked for is over, or was not made; `more` if another may help."""

    more: bool = False


@dataclass(slots=True, eq=False, repr=False)
class CallTimedOut(Value):
    """The call was cut off at the end of its time; `uncalled` if it was not even made."""

    uncalled: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Woken(Value):
    """The pause is over; `early` if a signal ended it before its time."""

    early: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Cancelled(Value):
    """The caller cancelled the wait; `uncalled` if the call of the last `Poll` was not made."""

    uncalled: bool = False


Event = Begin | Responded | Raised | ReadEnded | CallTimedOut | Woken | Cancelled


@dataclass(slots=True, eq=False, repr=False)
class Poll(Value):
    """Make the call, in at most `time_left` seconds (None: no limit)."""

    time_left: float | None


class Explain(Poll):
    """The wait has failed: make a read that may tell the cause in place of the operation.

    Whatever is sent next, the wait fails; only `ReadEnded` may lead to another read first.
    """

    __slots__ = ()


@dataclass(slots=True, eq=False, repr=False)
class Pause(Value):
    """Sleep for `seconds`."""

    seconds: float
    is_brought_forward: bool = False
    """A signal ended the delay already, and this is what remains of `SHORTEST_EARLY_SPACING`: the
    driver heeds no signal during it, and clears those that came by its end."""


@dataclass(slots=True, eq=False, repr=False)
class Succeeded(Value):
    """The acceptor of this index matched, and its state is success."""

    acceptor: int


@dataclass(slots=True, eq=False, repr=False)
class Failed(Value):
    """The acceptor of this index matched, and its state is failure; None: an unmatched error."""

    acceptor: int | None


class TimedOut(Value):
    """The time is used up."""

    __slots__ = ()


class AttemptsUsedUp(Value):
    """The attempts are used up."""

    __slots__ = ()


class WaitCancelled(Value):
    """The wait was cancelled."""

    __slots__ = ()


Ending = Succeeded | Failed | TimedOut | AttemptsUsedUp | WaitCancelled
Decision = Poll | Pause | Ending


class Phase(str, enum.Enum):
    """What the machine waits for."""

    NEW = "new"
    POLLING = "polling"
    PAUSING = "pausing"
    ENDED = "ended"


_NEW, _POLLING, _PAUSING, _ENDED = Phase  # A member of an enumeration takes long to look up.
_SUCCESS, _RETRY, _FAILURE = AcceptorState.SUCCESS, AcceptorState.RETRY, AcceptorState.FAILURE


@dataclass(slots=True, kw_only=True)
class State:
    """All that is needed to resume a wait; durations, never points in time.

    Three flags refine the phase. Where this table allows a flag, it does not depend on the other
    two:

                   `last`              `brought_forward`            `holding`
        NEW        no                  no                           no
        PAUSING    set with the pause  a signal has ended the       the attempt before the pause
                   (a signal clears    delay, and its attempt       was a success, and more are
                   it, where another   waits for `next_early`       needed
                   attempt still fits)
        POLLING    as in the pause     no                           as in the pause
        ENDED      as the last step left them
    """

    phase: Phase = _NEW
    attempts: int = 0
    """Calls made, the one in flight included."""
    elapsed: float = 0
    """Seconds since the start, as of the last step."""
    slept: float = 0
    """Seconds of the pauses so far."""
    pause: float = 0
    """Seconds left of the current pause."""
    last: bool = False
    """The current or next attempt is the last one."""
    brought_forward: bool = False
    """A signal has come during the current pause."""
    next_early: float = 0
    """The least `elapsed` at which a signal may start an attempt."""
    successes: int = 0
    """Successes on consecutive attempts."""
    slowest: float = 0
    """Seconds of the slowest call so far."""
    throttles: int = 0
    """Attempts that were throttled."""
    first_attempt: float = 0
    """`elapsed` when the first attempt began."""
    answered: bool = False
    """The service has answered at least once."""
    transient_errors: int = 0
    """Attempts that ended in a transient error which did not end the wait."""
    holding: bool = False
    """The last attempt was a success."""
    held_since: float = 0
    """`elapsed` at the answer to the first of the successes without another attempt between."""
    moved: bool = False
    """A state was seen that shows that the change has begun. Without `settle_for` it is not
    noted."""
    resting: bool = True
    """The last state seen may end the wait, noted as `moved` is."""
    rested_since: float = 0
    """`elapsed` at the first answer with such a state since the last other one."""

    @classmethod
    def loaded(cls, members: dict[str, Any]) -> State:
        """Return the state that was stored with these members, after checking every one."""
        defaults = asdict(cls())
        if members.keys() != defaults.keys():
            raise ValueError("not the state of a wait: members are missing or unknown")
        state = cls(**{**members, "phase": Phase(members["phase"])})
        for name, default in defaults.items():
            value = members[name]
            if isinstance(default, bool) or name == "phase":
                fits = isinstance(value, bool if isinstance(default, bool) else str)
            else:
                fits = is_number(value) and math.isfinite(value) and value >= 0
                fits = fits and (name not in _COUNTS or isinstance(value, int))
            if not fits:
                raise ValueError(f"not the state of a wait: {name} is {value!r}")
        return state


_COUNTS: Final = ("attempts", "successes", "throttles", "transient_errors")


class HeldBack(NamedTuple):
    """What is needed before a success or a failure that was seen counts."""

    seconds: float
    """The state has to hold for so long; 0: it does not."""
    times: int = 1
    """It has to be seen so often on consecutive attempts."""
    may_be_old: bool = False
    """No other state was seen, so that it may be from before a change."""


class MachineMisuseError(RuntimeError):
    """A driver sent an event that the machine does not wait for."""


class Machine:
    """One wait, from its first attempt to its outcome.

    Args:
        states: the states of the waiter's acceptors, in order.
        policy: delays, limits and endings.
        digest: identifies the definition in the stored state.
        now: when the time of the wait begins; None: with the first step.
    """

    __slots__ = (
        "_clock",
        "_digest",
        "_end",
        "_failure",
        "_policy",
        "_reads",
        "_reads_end",
        "_rests_at",
        "_states",
        "held_back",
        "is_transient",
        "state",
    )

    def __init__(
        self,
        states: tuple[AcceptorState, ...],
        policy: Policy,
        *,
        digest: str = "",
        now: float | None = None,
    ) -> None:
        self.state = State()
        self.is_transient = False
        """Whether the last attempt ended in an error that counts as no answer of the operation."""
        self.held_back: HeldBack | None = None
        """Why the last answer, a success or a failure, does not count yet; None: it does, or it is
        neither. Not part of the state: a wait that is resumed polls again."""
        self._states = states
        self._policy = policy
        self._digest = digest
        self._clock = now
        self._end = policy.limits.end
        # When the state that was seen last will have held for long enough.
        self._rests_at = math.inf
        # Not part of the state: a wait that is resumed polls again.
        self._failure: Failed | None = None
        self._reads = 0
        self._reads_end = 0.0

    def to_json(self) -> str:
        """Return the state as JSON, without the definition, the policy and the clock."""
        return json.dumps(
            {"version": 1, "definition": self._digest, **asdict(self.state)},
            separators=(",", ":"),
        )

    @classmethod
    def from_json(
        cls,
        text: str,
        states: tuple[AcceptorState, ...],
        policy: Policy,
        *,
        digest: str = "",
        now: float | None = None,
    ) -> Machine:
        """Resume a wait from its stored state.

        With `now`, time passes from then on; without it, from the first step. The time between
        storing and loading is not counted. A machine that was stored while it polled or paused
        takes either the event it waited for or `Begin`.

        Raises:
            ValueError: the state is not one of this version, or belongs to another definition.
        """
        fields: Any = json.loads(text)
        if not isinstance(fields, dict) or fields.pop("version", None) != 1:
            raise ValueError("not the state of a wait, or not of version 1")
        stored_digest = fields.pop("definition", None)
        if stored_digest != digest:
            raise ValueError(f"state of definition {stored_digest!r}, not of {digest!r}")
        machine = cls(states, policy, digest=digest, now=now)
        machine.state = State.loaded(fields)
        return machine

    def is_over(self, now: float) -> bool:
        """Return whether the time of the wait is used up at this time of its clock."""
        passed = 0.0 if self._clock is None else now - self._clock
        return passed > self._left

    @property
    def _left(self) -> float:
        """The time until everything has to be over, as of the last step."""
        return self._end - self.state.elapsed

    @property
    def _is_overdue(self) -> bool:
        return self._left < -ROUNDING * max(1.0, self.state.elapsed)

    def step(self, event: Event, now: float, random: Random) -> Decision:
        """Take an event at time `now` (any monotonic clock, in seconds) and decide what is next.

        Raises:
            MachineMisuseError: the event is not one this machine waits for.
        """
        state = self.state
        passed = 0.0 if self._clock is None else max(0.0, now - self._clock)
        self._clock = now
        if state.phase is _PAUSING:
            passed = self._sleep(event, passed, CLOCK_STEPS * math.ulp(now))
        state.elapsed += passed
        phase = state.phase
        decision: Decision
        if phase is _POLLING and self._failure is not None:
            more = isinstance(event, ReadEnded) and event.more
            decision = self._explain(self._failure) if more else self._failure
        elif phase is _POLLING and isinstance(event, (Responded, Raised)):
            state.slowest = max(state.slowest, passed)
            decision = self._judge(event, random, began=state.elapsed - passed)
        elif phase is _PAUSING and isinstance(event, Woken):
            decision = self._woken(early=event.early)
        elif phase is _POLLING and isinstance(event, CallTimedOut):
            state.attempts -= event.uncalled
            decision = TimedOut()
        elif phase is not _ENDED and isinstance(event, Cancelled):
            state.attempts -= event.uncalled
            decision = WaitCancelled()
        elif phase is not _ENDED and isinstance(event, Begin):
            decision = self._begin()
        else:
            raise MachineMisuseError(f"{event} while {phase.value}")
        if not isinstance(decision, (Poll, Pause)):
            state.phase = _ENDED
        return decision

    def _sleep(self, event: Event, passed: float, rounding: float) -> float:
        """Use up the current pause, and return the seconds that have passed."""
        state, slept = self.state, self.state.pause
        if abs(passed - slept) <= rounding:
            # An exact pause must not seem longer because the clock shows a large number.
            passed = slept
        elif passed < slept:
            if isinstance(event, Woken):
                passed = max(passed, min(SHORTEST_PAUSE, slept) if event.early else slept)
            slept = passed
        state.pause -= slept
        state.slept += slept
        return passed

    # --- attempts ------------------------------------------------------------

    def _begin(self) -> Decision:
        """Start, or repeat the decision that the state was stored with."""
        state = self.state
        if state.phase is _POLLING:
            state.attempts -= 1
            return self._poll()
        if state.phase is _PAUSING:
            return TimedOut() if self._is_overdue else Pause(state.pause, state.brought_forward)
        if self._left <= 0:
            return TimedOut()
        initial_delay = self._policy.delays.initial_delay
        if initial_delay and self._remaining() > 0:
            return self._pause_with_room(initial_delay)
        return self._poll()

    def _woken(self, *, early: bool) -> Decision:
        """Poll, unless the last attempt that a signal brought forward was a moment ago."""
        state = self.state
        if early:
            wanted = state.next_early - state.elapsed
            # An attempt that a signal brought forward does not replace the last one.
            if wanted < state.pause:
                state.last = False
            if state.pause and wanted > ROUNDING:
                state.brought_forward = True
                state.pause = min(state.pause, wanted)
                return Pause(state.pause, is_brought_forward=True)
        if early or state.brought_forward:
            state.brought_forward = False
            spacing = min(SHORTEST_EARLY_SPACING, self._policy.delays.min_delay)
            state.next_early = state.elapsed + spacing
        return self._poll()

    def _poll(self) -> Decision:
        if self._is_overdue:
            return TimedOut()
        state = self.state
        if not state.attempts:
            state.first_attempt = state.elapsed
        state.phase = _POLLING
        state.attempts += 1
        state.pause = 0
        left, limits = self._left, self._policy.limits
        if limits.is_unbounded:
            pauses = 0 if limits.max_wait is None else self._remaining()
            left = min(left, max(pauses, 2 * state.slowest, limits.patience))
        return Poll(None if left == math.inf else max(0.0, left))

    def _judge(self, event: Responded | Raised, random: Random, *, began: float) -> Decision:
        self.is_transient, self._rests_at = False, math.inf
        # Step 2 of the workflow comes before the acceptors: a late answer does not count.
        if self._is_overdue:
            self.held_back = None
            return TimedOut()
        state, facts, endings = self.state, event.facts, self._policy.endings
        state.throttles += facts.throttled
        # Steps 3 and 4.
        is_error = isinstance(event, Raised)
        self.is_transient = is_error and facts.transient and self._is_part_of_calling(facts)
        if self.is_transient:
            state.answered |= facts.answered
            state.transient_errors += 1
            # It tells nothing of the state: the successes before it count, the time does not.
            state.holding = False
            return self._retry(facts, random)
        self.held_back = None
        state.answered |= facts.answered or not is_error
        if facts.acceptor is None or facts.inconclusive:
            is_end = is_error and not facts.inconclusive
            verdict = _FAILURE if is_end else _RETRY
        else:
            verdict = self._states[facts.acceptor]
        if endings.settle_for and not is_error:
            verdict = self._settled(verdict, facts, began)
        if verdict is _FAILURE and not self._is_retried_for_now(facts):
            failure = Failed(facts.acceptor)
            self._reads_end = state.elapsed + LONGEST_READS
            return failure if is_error or not endings.explain else self._explain(failure)
        if verdict is not _SUCCESS:
            state.successes, state.holding = 0, False
            return self._retry(facts, random)
        state.successes += 1
        if not state.holding:
            state.holding, state.held_since = True, state.elapsed
        if facts.acceptor is not None and self._has_held(began):
            return Succeeded(facts.acceptor)
        self.held_back = HeldBack(endings.success_for, endings.success_count)
        return self._retry(facts, random)

    def _explain(self, failure: Failed) -> Decision:
        """Ask for a read about a failure, if there may be one more."""
        left = min(self._end, self._reads_end) - self.state.elapsed
        if self._reads == MOST_READS or left <= 0:
            return failure
        self._failure = failure
        self._reads += 1
        return Explain(left)

    def _settled(self, verdict: AcceptorState, facts: Facts, began: float) -> AcceptorState:
        """What a response counts for that may tell the state from before a change."""
        state = self.state
        if verdict is _RETRY:
            state.moved |= facts.moves
            state.resting = False
            return verdict
        if not state.resting:
            state.resting, state.rested_since = True, state.elapsed
        needed = self._policy.endings.settle_for
        if state.moved:
            needed = min(needed, facts.rest_for)
        has_held = began - state.rested_since >= needed - ROUNDING * max(1.0, began)
        if facts.certain or not needed or has_held:
            return verdict
        self._rests_at = state.rested_since + needed
        self.held_back = HeldBack(needed, may_be_old=not state.moved)
        return _RETRY

    def _is_part_of_calling(self, facts: Facts) -> bool:
        """Whether a transient error is no answer: the wait goes on as if it had none."""
        if facts.inconclusive:
            return True
        if facts.acceptor is not None:
            return False
        rule = self._policy.endings.retry_transient
        return self.state.answered or not facts.unconnected if rule == "answered" else rule

    def _is_retried_for_now(self, facts: Facts) -> bool:
        """Whether `missing_ok_for` or `retry_errors_for` turns this failure into a retry."""
        endings, state = self._policy.endings, self.state
        since_first = state.elapsed - state.first_attempt
        if facts.missing and since_first < endings.missing_ok_for:
            return True
        return any(
            name in facts.error_names and since_first < seconds
            for name, seconds in endings.retry_errors_for
        )

    def _has_held(self, began: float) -> bool:
        """Whether an attempt that began at this `elapsed` completes the successes."""
        endings, state = self._policy.endings, self.state
        if state.successes < endings.success_count:
            return False
        rounding = ROUNDING * max(1.0, state.elapsed)
        return not endings.success_for or began - state.held_since >= endings.success_for - rounding

    # --- delays --------------------------------------------------------------

    def _retry(self, facts: Facts, random: Random) -> Decision:
        """Step 5: make another attempt, unless time or attempts are used up."""
        delays, limits, _ = self._policy
        state, remaining, pace = self.state, self._remaining(), delays.pace
        if limits.max_attempts is not None and state.attempts >= limits.max_attempts:
            return AttemptsUsedUp()
        least = ROUNDING * max(1.0, state.elapsed) if limits.covers_end else SHORTEST_PAUSE
        if state.last or remaining < least:
            # A budget of sleep is the schedule of a stock waiter, which ends by its attempts.
            is_schedule = not limits.count_requests and remaining < self._left
            return AttemptsUsedUp() if is_schedule else TimedOut()
        if state.holding:
            return self._pause_before_success()
        delay = self._delay(facts, remaining, random)
        if remaining == math.inf:
            return self._pause(delay, last=False)
        shortest = delay if callable(pace) else delays.min_delay
        behind = shortest if pace is None else self._reserve(shortest, remaining)
        if remaining - delay <= behind:
            last = self._last_delay(shortest, remaining)
            if limits.count_requests or last <= max(delay, delays.max_delay):
                return self._pause(last, last=True)
            # One more, a short one: no delay of a stock waiter is longer than the others.
        return self._pause(delay, last=False)

    def _remaining(self) -> float:
        """The time that may still be slept."""
        limits, state = self._policy.limits, self.state
        if limits.max_wait is None or not limits.is_unbounded:
            return self._left
        used = state.elapsed if limits.count_requests else state.slept
        return min(self._left, limits.max_wait - used)

    def _delay(self, facts: Facts, remaining: float, random: Random) -> float:
        """The delay before the next attempt, whether or not another one fits after it."""
        least, most, pace, _, spread, learned = self._policy.delays
        attempts = self.state.attempts
        if pace is not None:
            return _usable(pace(attempts)) if callable(pace) else least
        delay = most if facts.throttled else None
        if delay is None and learned is not None:
            elapsed = self.state.elapsed
            delay = learned_delay(learned, elapsed, min_delay=least, max_delay=most, random=random)
        if delay is None:
            delay = jittered_delay(attempts, min_delay=least, max_delay=most, random=random)
        if spread and (most_attempts := self._policy.limits.max_attempts) is not None:
            # Short draws must not use up the attempts of a stock waiter before its time.
            delay = max(delay, remaining / (most_attempts - attempts))
        return min(delay, max(least, self._rests_at - self.state.elapsed))

    def _pause_before_success(self) -> Decision:
        """Pause after a success that others have to follow.

        They are min_delay apart; the one that could complete `success_for` begins when it does.
        """
        delays, limits, endings = self._policy
        most, state = limits.max_attempts, self.state
        wanted, needed = delays.min_delay, 0.0
        if endings.success_for:
            needed = state.held_since + endings.success_for - state.elapsed
            if most is not None:
                # The attempts that are left have to last until then.
                wanted = max(wanted, needed / (most - state.attempts))
            is_enough = state.successes + 1 >= endings.success_count
            if is_enough and needed < 2 * wanted:
                wanted = max(wanted, needed)
        return self._pause_with_room(wanted, needed)

    def _pause_with_room(self, wanted: float, needed: float = 0) -> Decision:
        """Pause for as long as wanted, or less if that leaves no room for the attempt after it.

        Args:
            wanted: seconds.
            needed: seconds before which the attempt cannot end the wait; they are kept if the
                time lasts, with or without room.
        """
        remaining = self._remaining()
        if remaining - wanted >= self._reserve(wanted, remaining):
            return self._pause(wanted, last=False)
        delay = self._last_delay(wanted, remaining)
        return self._pause(needed if delay < needed < remaining else delay, last=True)

    def _reserve(self, shortest: float, remaining: float) -> float:
        """The time to keep free for the last attempt."""
        limits = self._policy.limits
        rule = limits.last_attempt
        if limits.covers_end:
            rule = LastAttempt.DEADLINE
        if limits.is_unbounded and self._left <= remaining:
            # max_wait leaves the last call any time, but the deadline around it does not.
            rule = LastAttempt.LATE
        match rule:
            case LastAttempt.DEADLINE:
                return 0
            case LastAttempt.SPEC if shortest < remaining:
                return shortest
            case _:
                needed = self.state.slowest * SLOWEST_ANSWER_MARGIN
                return min(shortest, max(LEAST_LATE_RESERVE, needed))

    def _last_delay(self, shortest: float, remaining: float) -> float:
        reserve = self._reserve(shortest, remaining)
        delay = last_delay(remaining, reserve)
        if self._policy.limits.last_attempt is LastAttempt.SPEC and reserve < remaining:
            return delay
        # Where the reserve takes most of what is left, the attempt is made half way: at once, it
        # would only see the state that was seen a moment ago.
        return max(delay, remaining / 2)

    def _pause(self, seconds: float, *, last: bool) -> Decision:
        # botocore's `Delay=0` is a schedule that only its attempts bound: it may spin.
        limits = self._policy.limits
        if limits.max_wait is not None or limits.max_attempts is None:
            seconds = max(seconds, SHORTEST_PAUSE)
        state = self.state
        state.phase, state.pause, state.last = _PAUSING, seconds, last
        return Pause(seconds)


def _usable(delay: Any) -> float:
    """Return what a `delay_pace` function gave, or refuse it if it is not a length of time."""
    if not is_number(delay) or (isinstance(delay, float) and not math.isfinite(delay)):
        raise ValueError(f"delay_pace must return a finite number of seconds, not {delay!r}")
    return float(min(max(delay, SHORTEST_PAUSE), LONGEST_PAUSE))
