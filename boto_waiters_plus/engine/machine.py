"""One wait as a step object: events in, decisions out.

The driver makes the machine, steps it with `Begin`, and then does what each decision says until
one ends the wait:

    Poll        make the call, step with Responded or Raised
    Pause       sleep, step with Woken
    otherwise   the wait is over

Two rules hold throughout. The machine never learns a response or an exception, only `Facts`
about them. And the time of a step is the larger of what the clock says and what the pause was
asked to last, so that a clock that stands still or goes back cannot keep a wait alive.
"""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from .backoff import Random, is_last, jittered_delay
from .model import AcceptorState

SHORTEST_PAUSE = 0.001
"""Seconds. A pace of 0 must not become a loop that neither sleeps nor ends."""

LONGEST_PAUSE = 1e9
"""Seconds. What a pace of the caller's may say beyond that is no number to sleep."""

LEAST_LATE_RESERVE = 0.25
"""Seconds that the late rule keeps for the last request, however fast the ones before it were."""

SLOWEST_ANSWER_MARGIN = 1.5
"""The last request may take this much longer than the slowest one seen."""

UNCOUNTED_REQUEST_PATIENCE = 5.0
"""Seconds every request gets at least where the budget counts sleeping only."""

ROUNDING = 1e-9
"""The share by which a sum of pauses may miss its bound through floating point alone."""


class Pace(str, enum.Enum):
    """How the delay between two attempts is found."""

    SPEC = "spec"
    """The specification's backoff between min_delay and max_delay."""
    EAGER = "eager"
    """The same algorithm between min_delay / 4 and min_delay; fixed once a throttle was seen."""
    FIXED = "fixed"
    """min_delay each time, as botocore does."""


class LastAttempt(str, enum.Enum):
    """How much time the one last attempt leaves behind it."""

    LATE = "late"
    """What the last request needs to be answered in time; never more than min_delay."""
    SPEC = "spec"
    """min_delay, as the specification's text says."""
    DEADLINE = "deadline"
    """Nothing, as the 2024 revision of the text says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Everything about a wait that does not change while it runs; seconds throughout."""

    min_delay: float
    max_delay: float
    max_wait: float | None
    """None: bounded by max_attempts alone."""
    max_attempts: int | None = None
    pace: Pace | Callable[[int], float] = Pace.SPEC
    last_attempt: LastAttempt = LastAttempt.LATE
    initial_delay: float = 0
    success_count: int = 1
    missing_ok_for: float = 0
    retry_transient: bool = False
    count_requests: bool = True
    """False: max_wait counts pauses only, as the schedule of a botocore waiter does."""
    deadline: float | None = None
    """Seconds from the start, everything counted, beside whatever max_wait and max_attempts say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the machine may know of an attempt."""

    acceptor: int | None
    """Index of the acceptor that matched."""
    seconds: float = 0
    """How long the call took."""
    retryable: bool = False
    """An error of the SDK's own retryable classes."""
    throttled: bool = False
    missing: bool = False
    """An error that says the resource was not found."""


@dataclass(frozen=True, slots=True)
class Begin:
    """The wait starts, or is taken up again from its stored state."""


@dataclass(frozen=True, slots=True)
class Responded:
    """The call returned a response."""

    facts: Facts


@dataclass(frozen=True, slots=True)
class Raised:
    """The call ended in an error."""

    facts: Facts


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The call was cut off at the end of its time; `uncalled` if it was not even made."""

    uncalled: bool = False


@dataclass(frozen=True, slots=True)
class Woken:
    """The pause is over; `early` if a signal ended it before its time."""

    early: bool = False


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Somebody wants the wait to stop; `uncalled` if the call of the last `Poll` was not made."""

    uncalled: bool = False


Event = Begin | Responded | Raised | Abandoned | Woken | Cancelled


@dataclass(frozen=True, slots=True)
class Poll:
    """Make the call; it has `time_left` seconds (None: as long as it takes)."""

    time_left: float | None


@dataclass(frozen=True, slots=True)
class Pause:
    """Sleep for `seconds`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The acceptor of this index took the attempt as success."""

    acceptor: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The acceptor of this index took the attempt as failure; None: an error that none matched."""

    acceptor: int | None


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The time is used up."""


@dataclass(frozen=True, slots=True)
class AttemptsUsedUp:
    """The attempts are used up."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The wait was cancelled."""


Ending = Succeeded | Failed | TimedOut | AttemptsUsedUp | Stopped
Decision = Poll | Pause | Ending


class Phase(str, enum.Enum):
    """What the machine waits for."""

    NEW = "new"
    POLLING = "polling"
    PAUSING = "pausing"
    ENDED = "ended"


@dataclass(slots=True, kw_only=True)
class _State:
    """All that has to be kept to take the wait up again; durations, never points in time."""

    phase: Phase = Phase.NEW
    attempts: int = 0
    elapsed: float = 0
    """Seconds since the start, everything included."""
    spent: float = 0
    """Seconds of the budget."""
    pause: float = 0
    """Length of the pause that runs."""
    last: bool = False
    """The attempt that runs or comes next is the last one."""
    successes: int = 0
    """Successes in a row."""
    slowest: float = 0
    """Seconds of the slowest attempt so far."""
    throttles: int = 0
    first_attempt: float = 0
    """`elapsed` when the first attempt began."""

    @classmethod
    def loaded(cls, members: dict[str, Any]) -> _State:
        """The state that was stored with these members, every one checked."""
        defaults = asdict(cls())
        if members.keys() != defaults.keys():
            raise ValueError("not the state of a wait: members are missing or unknown")
        state = cls(**{**members, "phase": Phase(members["phase"])})
        for name, default in defaults.items():
            value = members[name]
            if isinstance(default, bool) or name == "phase":
                fits = isinstance(value, type(default) if name == "last" else str)
            else:
                kinds = int if name in ("attempts", "successes", "throttles") else (int, float)
                fits = isinstance(value, kinds) and not isinstance(value, bool)
                fits = fits and math.isfinite(value) and value >= 0
            if not fits:
                raise ValueError(f"not the state of a wait: {name} is {value!r}")
        return state


class MachineMisuseError(RuntimeError):
    """A driver sent an event that the machine does not wait for."""


class Machine:
    """The course of one wait.

    Args:
        states: the states of the waiter's acceptors, in order.
        policy: delays and bounds.
        digest: identifies the definition in the stored state.
    """

    def __init__(
        self, states: tuple[AcceptorState, ...], policy: Policy, *, digest: str = ""
    ) -> None:
        self._states = states
        self._policy = policy
        self._digest = digest
        self._state = _State()
        self._clock: float | None = None

    @property
    def attempts(self) -> int:
        """Calls made, the one that runs included."""
        return self._state.attempts

    @property
    def elapsed(self) -> float:
        """Seconds since the start, as of the last step."""
        return self._state.elapsed

    @property
    def throttles(self) -> int:
        """Attempts that were answered by a throttle."""
        return self._state.throttles

    @property
    def phase(self) -> Phase:
        """What the machine waits for."""
        return self._state.phase

    @property
    def last(self) -> bool:
        """Whether the attempt that runs or comes next is the last one."""
        return self._state.last

    def to_json(self) -> str:
        """The state as JSON; the definition, the policy and the clock are not in it."""
        return json.dumps(
            {"version": 1, "definition": self._digest, **asdict(self._state)},
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
        """Take a wait up from its stored state.

        With `now` the clock goes on from there; without it, from the first step. What happened
        between storing and loading is not counted. A machine that was stored while it polled or
        paused takes either the event it waited for or `Begin`.

        Raises:
            ValueError: the state is not one of this version, or of another definition.
        """
        fields: Any = json.loads(text)
        if not isinstance(fields, dict) or fields.pop("version", None) != 1:
            raise ValueError("not the state of a wait, or of another version than 1")
        stored_digest = fields.pop("definition", None)
        if stored_digest != digest:
            raise ValueError(f"state of definition {stored_digest!r}, not of {digest!r}")
        machine = cls(states, policy, digest=digest)
        machine._state = _State.loaded(fields)
        machine._clock = now
        return machine

    def step(self, event: Event, now: float, random: Random) -> Decision:
        """Take an event at time `now` (any monotonic clock, in seconds) and decide what is next.

        Raises:
            MachineMisuseError: the event is not one this machine waits for.
        """
        self._pass_time(event, now)
        match self._state.phase, event:
            case Phase.ENDED, _:
                raise MachineMisuseError(f"{event} after the end of the wait")
            case _, Cancelled(uncalled):
                self._state.attempts -= uncalled
                return self._end(Stopped())
            case Phase.NEW, Begin():
                return self._start()
            case ((Phase.POLLING | Phase.PAUSING), Begin()):
                return self._take_up()
            case Phase.PAUSING, Woken(early):
                # A look that a signal asked for does not stand in for the last one.
                self._state.last = self._state.last and not early
                return self._look()
            case Phase.POLLING, Responded(facts):
                return self._judge(facts, is_error=False, random=random)
            case Phase.POLLING, Raised(facts):
                return self._judge(facts, is_error=True, random=random)
            case Phase.POLLING, Abandoned(uncalled):
                self._state.attempts -= uncalled
                return self._end(TimedOut())
            case phase, _:
                raise MachineMisuseError(f"{event} while {phase.value}")

    # --- time ----------------------------------------------------------------

    def _pass_time(self, event: Event, now: float) -> None:
        state = self._state
        passed = 0.0 if self._clock is None else max(0.0, now - self._clock)
        self._clock = now
        slept = 0.0
        if state.phase is Phase.PAUSING:
            if isinstance(event, Woken):
                least = min(SHORTEST_PAUSE, state.pause) if event.early else state.pause
                passed = max(passed, least)
            slept = min(passed, state.pause)
            state.pause -= slept
        state.elapsed += passed
        state.spent += passed if self._policy.count_requests else slept

    @property
    def _remaining(self) -> float:
        """Seconds that may still be slept."""
        budget = self._policy.max_wait
        of_budget = math.inf if budget is None else budget - self._state.spent
        return min(of_budget, self._until_deadline)

    @property
    def _until_deadline(self) -> float:
        """Seconds to where everything has to be over."""
        policy, state = self._policy, self._state
        left = math.inf if policy.deadline is None else policy.deadline - state.elapsed
        if policy.max_wait is not None and policy.count_requests:
            left = min(left, policy.max_wait - state.spent)
        return left

    @property
    def _overdue(self) -> bool:
        left = self._until_deadline
        return left < 0 and left < -ROUNDING * max(1.0, self._state.elapsed)

    def _time_left(self) -> float | None:
        """The bound of the call that begins now."""
        left = min(self._until_deadline, self._patience())
        return None if left == math.inf else max(0.0, left)

    def _patience(self) -> float:
        """The seconds a request gets where the budget does not count it."""
        policy, state = self._policy, self._state
        if policy.count_requests:
            return math.inf
        if policy.max_wait is not None:
            span = policy.max_wait - state.spent
        elif policy.max_attempts is not None:
            span = policy.min_delay * max(0, policy.max_attempts - state.attempts)
        else:
            return math.inf
        return max(span, 2 * state.slowest, UNCOUNTED_REQUEST_PATIENCE)

    # --- what comes next -----------------------------------------------------

    def _start(self) -> Decision:
        if self._until_deadline <= 0:
            return self._end(TimedOut())
        wanted = self._policy.initial_delay
        if not wanted:
            return self._look()
        return self._pause_with_room(wanted)

    def _take_up(self) -> Decision:
        """Go on with what was under way when the state was stored."""
        if self._overdue:
            return self._end(TimedOut())
        if self._state.phase is Phase.PAUSING:
            return Pause(self._state.pause)
        return Poll(self._time_left())

    def _look(self) -> Decision:
        state = self._state
        if self._overdue:
            return self._end(TimedOut())
        if not state.attempts:
            state.first_attempt = state.elapsed
        state.phase = Phase.POLLING
        state.attempts += 1
        state.pause = 0
        return Poll(self._time_left())

    def _judge(self, facts: Facts, *, is_error: bool, random: Random) -> Decision:
        # Step 2 of the workflow comes before the acceptors: an answer that is late is no answer.
        if self._overdue:
            return self._end(TimedOut())
        state = self._state
        state.slowest = max(state.slowest, facts.seconds)
        state.throttles += facts.throttled
        verdict = self._verdict(facts, is_error=is_error)
        if verdict is AcceptorState.FAILURE:
            return self._end(Failed(facts.acceptor))
        state.successes = state.successes + 1 if verdict is AcceptorState.SUCCESS else 0
        if facts.acceptor is not None and state.successes >= self._policy.success_count:
            return self._end(Succeeded(facts.acceptor))
        return self._go_on(facts, random)

    def _verdict(self, facts: Facts, *, is_error: bool) -> AcceptorState:
        """Steps 3 and 4 of the workflow, and the errors the caller asked to sit out."""
        if facts.acceptor is not None:
            verdict = self._states[facts.acceptor]
        else:
            verdict = AcceptorState.FAILURE if is_error else AcceptorState.RETRY
        if verdict is AcceptorState.FAILURE and is_error:
            since_first = self._state.elapsed - self._state.first_attempt
            if facts.missing and since_first < self._policy.missing_ok_for:
                return AcceptorState.RETRY
            if facts.acceptor is None and facts.retryable and self._policy.retry_transient:
                return AcceptorState.RETRY
        return verdict

    def _go_on(self, facts: Facts, random: Random) -> Decision:
        """Step 5: another look, unless time or attempts are used up."""
        policy, state = self._policy, self._state
        if policy.max_attempts is not None and state.attempts >= policy.max_attempts:
            return self._end(AttemptsUsedUp())
        if state.last or self._remaining < SHORTEST_PAUSE:
            return self._end(TimedOut())
        if state.successes:
            return self._pause_with_room(policy.min_delay)
        return self._back_off(facts, random)

    # --- delays --------------------------------------------------------------

    def _back_off(self, facts: Facts, random: Random) -> Decision:
        policy, state = self._policy, self._state
        shortest, longest = policy.min_delay, policy.max_delay
        if callable(policy.pace):
            delay = shortest = _usable(policy.pace(state.attempts))
        elif policy.pace is Pace.FIXED or (policy.pace is Pace.EAGER and state.throttles):
            delay = policy.min_delay
        else:
            if policy.pace is Pace.EAGER:
                shortest, longest = _eager(policy.min_delay)
            delay = jittered_delay(
                state.attempts, min_delay=shortest, max_delay=longest, random=random
            )
            if facts.throttled:
                delay = min(2 * delay, longest)
        if self._remaining == math.inf:
            return self._pause(delay, last=False)
        if policy.pace is Pace.EAGER and policy.max_attempts is not None:
            # Short draws must not use the looks up before the time.
            delay = max(delay, self._remaining / (policy.max_attempts - state.attempts))
        by_algorithm = policy.pace in (Pace.SPEC, Pace.EAGER)
        behind = shortest if by_algorithm else self._reserve(shortest)
        if is_last(delay, min_delay=behind, remaining=self._remaining):
            return self._pause(self._last_pause(shortest), last=True)
        return self._pause(delay, last=False)

    def _pause_with_room(self, wanted: float) -> Decision:
        """A pause of fixed length, shortened where it would leave its look no room."""
        if self._remaining - wanted >= self._reserve(wanted):
            return self._pause(wanted, last=False)
        return self._pause(self._last_pause(wanted), last=True)

    def _reserve(self, shortest: float) -> float:
        """Seconds to keep free behind the last attempt."""
        rule = self._policy.last_attempt
        if not self._policy.count_requests and self._until_deadline <= self._remaining:
            # A budget of sleep gives the last request any time; the deadline around it does not.
            rule = LastAttempt.LATE
        match rule:
            case LastAttempt.DEADLINE:
                return 0
            case LastAttempt.SPEC if shortest < self._remaining:
                return shortest
            case _:
                needed = self._state.slowest * SLOWEST_ANSWER_MARGIN
                return min(shortest, max(LEAST_LATE_RESERVE, needed))

    def _last_pause(self, shortest: float) -> float:
        remaining, reserve = self._remaining, self._reserve(shortest)
        if self._policy.last_attempt is LastAttempt.SPEC and reserve < remaining:
            return remaining - reserve
        # Where the reserve takes most of what is left, the look is put half way instead of at
        # once: the state was seen a moment ago.
        return max(remaining - reserve, remaining / 2)

    def _pause(self, seconds: float, *, last: bool) -> Decision:
        # botocore's `Delay=0` is a schedule that its attempts alone bound: nothing to guard.
        if self._policy.max_wait is not None or self._policy.max_attempts is None:
            seconds = max(seconds, SHORTEST_PAUSE)
        state = self._state
        state.phase, state.pause, state.last = Phase.PAUSING, seconds, last
        return Pause(seconds)

    def _end(self, ending: Ending) -> Decision:
        self._state.phase = Phase.ENDED
        return ending


def _eager(delay: float) -> tuple[float, float]:
    return delay / 4, delay


def _usable(delay: Any) -> float:
    """What the caller's own pace gave, refused where it is no length of time."""
    is_number = isinstance(delay, (int, float)) and not isinstance(delay, bool)
    if not is_number or (isinstance(delay, float) and not math.isfinite(delay)):
        raise ValueError(f"delay_pace must return a finite number of seconds, not {delay!r}")
    return float(min(max(delay, SHORTEST_PAUSE), LONGEST_PAUSE))
