"""Laws that hold for any waiter, any answers and any clock."""

import math
import random
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from boto_waiters_plus.engine import machine as m
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.delays import EARLY_SHARE, KnownTime, LearnedTimes

TOLERANCE = 1e-6
MOST_DELAYS = 40
"""max_wait is at most this many min_delays, so that every wait ends soon."""

durations = st.integers(1, 600) | st.floats(0.01, 600)
states = st.lists(st.sampled_from(AcceptorState), min_size=1, max_size=4).map(tuple)


def learned_times(max_delay):
    """Times of earlier waits, some of which timed out."""
    times = st.lists(st.builds(KnownTime, st.floats(0, 3000), st.booleans()), max_size=12)
    longest = st.sampled_from([max_delay, EARLY_SHARE * max_delay])
    return st.builds(LearnedTimes, times.map(tuple), longest)


@st.composite
def policies(draw):
    low, high = sorted((draw(durations), draw(durations)))
    pace = draw(st.sampled_from([None, None, "fixed", "callable"]))
    if pace == "callable":
        pace = [lambda attempt: low * attempt, lambda _attempt: high][draw(st.integers(0, 1))]
    max_attempts = draw(st.none() | st.integers(1, 12))
    has_max_wait = max_attempts is None or draw(st.booleans())
    return m.Policy.of(
        min_delay=low,
        max_delay=high,
        max_wait=low * draw(st.floats(0.001, MOST_DELAYS)) if has_max_wait else None,
        max_attempts=max_attempts,
        pace=pace,
        last_attempt=draw(st.sampled_from(m.LastAttempt)),
        initial_delay=draw(st.just(0) | durations),
        success_count=draw(st.integers(1, 3)),
        success_for=draw(st.just(0) | st.floats(0.001, 10 * low)),
        missing_ok_for=draw(st.just(0) | durations),
        retry_errors_for=draw(st.just(()) | st.tuples(st.tuples(st.just("X"), durations))),
        settle_for=draw(st.just(0) | durations),
        retry_transient=draw(st.sampled_from(["answered", True, False])),
        count_requests=draw(st.booleans()),
        spread=has_max_wait and draw(st.booleans()),
        patience=draw(st.just(math.inf) | st.floats(0, 200)),
        deadline=draw(st.none() | st.floats(-1, 0) | st.floats(1e-6, 2 * MOST_DELAYS * low)),
        learned=draw(st.none() | learned_times(high)),
    )


def hard_bound(policy):
    """Return the seconds that bound everything, calls included."""
    limits = policy.limits
    bounds = [limits.deadline, limits.max_wait if limits.count_requests else None]
    return min((bound for bound in bounds if bound is not None), default=math.inf)


@st.composite
def answers(draw, count):
    """An attempt and its seconds: which acceptor matches and what else is known, or it expires."""
    kind = draw(st.sampled_from([m.Responded, m.Responded, m.Raised, m.CallTimedOut]))
    if kind is m.CallTimedOut:
        return m.CallTimedOut(), 0
    facts = m.Facts(
        acceptor=draw(st.none() | st.integers(0, count - 1)),
        transient=draw(st.booleans()),
        unconnected=draw(st.booleans()),
        answered=draw(st.booleans()),
        throttled=draw(st.booleans()),
        certain=draw(st.booleans()),
        moves=draw(st.booleans()),
        rest_for=draw(st.just(0) | st.floats(0.001, 100)),
        missing=draw(st.booleans()),
        error_names=draw(st.sampled_from([frozenset(), frozenset("X")])),
        inconclusive=draw(st.booleans()) if kind is m.Raised else False,
    )
    return kind(facts), draw(st.just(0) | st.floats(0, 100))


steps_of_clocks = st.lists(st.just(0.0) | st.floats(-1e4, 1e4), min_size=1, max_size=12)
clocks = st.sampled_from(["honest", "still"]) | steps_of_clocks


@st.composite
def waits(draw):
    found = draw(states)
    return {
        "states": found,
        "policy": draw(policies()),
        # After the list, every response matches no acceptor.
        "answers": draw(st.lists(answers(len(found)), max_size=12)),
        "early": draw(st.lists(st.booleans(), max_size=6)),
        "clock": draw(clocks),
        "seed": draw(st.integers(0, 2**32)),
    }


class World:
    """A source of events for a machine's decisions, with a clock that may do anything."""

    def __init__(self, wait):
        self.now = 1000.0
        self._answers = iter(wait["answers"])
        self._early = iter(wait["early"])
        self._clock = wait["clock"]
        self._turn = 0

    def event(self, decision):
        if isinstance(decision, m.Poll):
            event, seconds = next(self._answers, (m.Responded(m.Facts(acceptor=None)), 0))
            self._pass(seconds)
            return event
        early = next(self._early, False)
        self._pass(0 if early else decision.seconds)
        return m.Woken(early=early)

    def _pass(self, seconds):
        if self._clock == "honest":
            self.now += seconds
        elif self._clock != "still":
            self.now += self._clock[self._turn % len(self._clock)]
            self._turn += 1


@dataclass(frozen=True)
class Step:
    event: object
    before: m.State
    decision: object
    after: m.State
    stored: str
    """The machine as it is stored after this step."""
    held_back: m.HeldBack | None = field(compare=False)
    """Not part of what is stored."""


def wait_run(wait, *, store=False):
    """Return every step of a wait; `store` stores and loads the machine at each."""
    states, policy = wait["states"], wait["policy"]
    world, source = World(wait), random.Random(wait["seed"])
    machine, event, steps = m.Machine(states, policy, digest="d"), m.Begin(), []
    # Each early end of a pause adds an attempt.
    most = 2 * (MOST_DELAYS + len(wait["early"]) + 10)
    while True:
        before = replace(machine.state)
        decision = machine.step(event, world.now, source)
        after = replace(machine.state), machine.to_json(), machine.held_back
        steps.append(Step(event, before, decision, *after))
        if not isinstance(decision, (m.Poll, m.Pause)):
            return steps
        assert len(steps) < most, "the machine does not end"
        if store:
            text = machine.to_json()
            machine = m.Machine.from_json(text, states, policy, digest="d", now=world.now)
            assert machine.to_json() == text
        event = world.event(decision)


@given(waits())
@settings(max_examples=max(100, settings.default.max_examples))
def test_every_wait_ends_within_its_bounds(wait):
    bound, policy, steps = hard_bound(wait["policy"]), wait["policy"], wait_run(wait)
    for step in steps:
        if isinstance(step.decision, m.Poll):
            assert step.after.elapsed <= bound + TOLERANCE
            time_left = math.inf if step.decision.time_left is None else step.decision.time_left
            assert 0 <= time_left <= max(0, bound - step.after.elapsed) + TOLERANCE
        elif isinstance(step.decision, m.Pause):
            assert 0 <= step.decision.seconds < math.inf
            # A pause lasts at least a millisecond, so that no wait can spin.
            assert step.decision.seconds <= max(bound - step.after.elapsed, 0.001) + TOLERANCE
    ending, attempts = steps[-1].decision, steps[-1].after.attempts
    assert isinstance(ending, (m.Succeeded, m.Failed, m.TimedOut, m.AttemptsUsedUp))
    if isinstance(ending, m.Succeeded):
        assert wait["states"][ending.acceptor] is AcceptorState.SUCCESS
    assert policy.limits.max_attempts is None or attempts <= policy.limits.max_attempts
    # The schedule of a stock waiter also ends by its pauses.
    if isinstance(ending, m.AttemptsUsedUp) and policy.limits.count_requests:
        assert attempts == policy.limits.max_attempts


@given(waits())
def test_a_phase_has_no_flag_that_the_states_table_denies_it(wait):
    steps = wait_run(wait)
    polls = [step.after.last for step in steps if isinstance(step.decision, m.Poll)]
    assert True not in polls[:-1], "two last attempts"
    for before, decision, state in ((step.before, step.decision, step.after) for step in steps):
        if isinstance(decision, m.Pause):
            assert state.phase is m.Phase.PAUSING
            assert state.brought_forward is decision.is_brought_forward
        elif isinstance(decision, m.Poll):
            assert state.phase is m.Phase.POLLING
            assert (state.brought_forward, state.holding) == (False, before.holding)
            assert before.last or not state.last
        assert state.successes or not state.holding


def answers_of(wait):
    """Return the steps with an answer; a call that expired is none."""
    return [step for step in wait_run(wait) if isinstance(step.event, (m.Responded, m.Raised))]


@given(waits())
def test_a_transient_error_is_no_answer(wait):
    """It ends no wait by itself, and the successes before it count."""
    rule, has_answered = wait["policy"].endings.retry_transient, False
    for step in answers_of(wait):
        assert step.before.answered is has_answered
        facts, is_error = step.event.facts, isinstance(step.event, m.Raised)
        if step.after.transient_errors > step.before.transient_errors:
            assert is_error
            assert facts.transient
            assert not isinstance(step.decision, (m.Failed, m.Succeeded))
            assert step.after.successes == step.before.successes
            assert not step.after.holding
        elif is_error and facts.transient and facts.acceptor is None:
            is_first = rule == "answered" and facts.unconnected and not has_answered
            assert rule is False or is_first or isinstance(step.decision, m.TimedOut)
        has_answered = has_answered or not is_error or facts.answered


@given(waits())
def test_a_state_has_held_where_success_for_asks_for_it(wait):
    policy, since = wait["policy"], None
    for step in answers_of(wait):
        index = step.event.facts.acceptor
        is_success = index is not None and wait["states"][index] is AcceptorState.SUCCESS
        is_success = is_success and not step.event.facts.inconclusive
        began = step.after.elapsed if since is None else since
        if isinstance(step.decision, m.Succeeded):
            assert step.before.elapsed - began >= policy.endings.success_for - TOLERANCE or (
                not policy.endings.success_for
            )
        since = began if is_success else None


@given(waits())
def test_a_success_that_does_not_end_the_wait_is_held_back(wait):
    policy, before = wait["policy"], None
    for step in wait_run(wait):
        held, event, decision = step.held_back, step.event, step.decision
        is_answer = isinstance(event, (m.Responded, m.Raised))
        if not is_answer or step.after.transient_errors > step.before.transient_errors:
            assert held == before, "no answer changes it"
            continue
        index, before = event.facts.acceptor, held
        is_known = index is not None and not event.facts.inconclusive
        verdict = wait["states"][index] if is_known else AcceptorState.RETRY
        bound = hard_bound(policy)
        if step.after.elapsed > bound + TOLERANCE:
            assert held is None, "it is too late for this answer"
        elif verdict is AcceptorState.SUCCESS and step.after.elapsed < bound:
            assert (held is None) is isinstance(decision, m.Succeeded)
        if held is not None:
            assert verdict is not AcceptorState.RETRY
            assert not isinstance(decision, (m.Succeeded, m.Failed, m.Explain))
            assert held.seconds > 0 or held.times > 1
            if held.may_be_old:
                assert 0 < held.seconds <= policy.endings.settle_for
                assert (event.facts.certain, step.after.moved) == (False, False)


@given(waits())
def test_storing_at_every_step_changes_nothing(wait):
    assert wait_run(wait, store=True) == wait_run(wait)


@given(waits(), st.integers(0, 50), st.floats(-1e9, 1e9))
def test_resumed_wait_repeats_its_stored_decision(wait, at, now):
    """However far apart the clocks of the two processes are, no time passes between them."""
    steps = wait_run(wait)[:-1]
    if steps:
        step = steps[min(at, len(steps) - 1)]
        resumed = m.Machine.from_json(step.stored, wait["states"], wait["policy"], digest="d")
        assert resumed.step(m.Begin(), now, random.Random(wait["seed"])) == step.decision
        found = resumed.state
        assert (found.elapsed, found.attempts) == (step.after.elapsed, step.after.attempts)
