"""The state from before a call is no success, whatever other states are seen.

Answers are made from the models; the machine is stepped with what the acceptors tell of them.
"""

import itertools
import math
import random

import effect_of
import hypothesis
import jmespath
import pytest
import rules_moves
from data.shared import effect_rows, effect_waiter, full_sample, put, sample_call
from hypothesis import strategies as st
from laws import by_service

from boto_waiters_plus.engine import machine as m
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.options import WaitOptions, policy_for

TEXT = "1" * 64
"""Long enough for an ARN, and a number."""

AFTER_OWN = 15
"""Seconds that the state at rest must hold after a state of the change itself."""

MAX_WAIT = 100_000

ROWS = [
    (shape, name)
    for shape, name, body in effect_rows()
    # Of a waiter that tells more than a transition, each success is certain.
    if "settleFor" in body and ("operation" in body or body["basis"] == "transition")
]

pytestmark = pytest.mark.models

of_each_effect = pytest.mark.parametrize(("shape", "name"), by_service(ROWS))


@pytest.fixture
def effect(shape, name):
    """The effect, if one of its successes is not certain."""
    found = effect_of.effect_named(shape, name)
    if not rules_moves.uncertain_successes(found):
        pytest.skip("each success is certain")
    return found


def own_indexes(effect):
    """Return the indexes of the acceptors that name the states of the change."""
    return [
        index
        for index, each in enumerate(effect.acceptors)
        if each.state is AcceptorState.RETRY and index in effect.trait.certain
    ]


@of_each_effect
def test_a_state_of_the_change_moves_the_wait(effect):
    uncertain = [effect.acceptors[index] for index in rules_moves.uncertain_successes(effect)]
    matching, call = effect_waiter(effect).matching, sample_call(effect.mutation, TEXT)
    # The item that has the state, among those of the call that it may be.
    items = jmespath.search(effect.trait.each, {"call": call}) if effect.trait.each else []
    for path, states in rules_moves.own_states(effect, uncertain).items():
        for state in states:
            answer = full_sample(effect.polled.output_shape, TEXT)
            assert put(answer, path, state)
            matches = {
                matching.match_response(answer, call["input"], call=call, item=item).index
                for item in [*(items or ()), "1=1", f"{TEXT}=1", None]
            }
            assert matches & {*own_indexes(effect)}, (path, state)


def ended(waiter, policy, courses, seed):
    """Return when the wait succeeds, and what each poll has seen and when.

    Args:
        waiter: of the effect.
        policy: of the wait.
        courses: pairs of facts and the seconds for which polls give them, the last one for ever.
        seed: of the delays.
    """
    wait, draws = m.Machine(waiter.definition.states, policy), random.Random(seed)
    now, seen = 0.0, []
    decision = wait.step(m.Begin(), now, draws)
    while True:
        match decision:
            case m.Poll():
                ends = itertools.accumulate(seconds for _, seconds in courses)
                kind = next(kind for (kind, _), end in zip(courses, ends, strict=True) if now < end)
                seen.append((now, kind))
                facts, _ = waiter.of_response[kind]
                decision = wait.step(m.Responded(facts), now, draws)
            case m.Pause(seconds):
                now += seconds
                decision = wait.step(m.Woken(), now, draws)
            case _:
                assert isinstance(decision, m.Succeeded)
                return now, seen


@of_each_effect
@hypothesis.given(data=st.data())
@hypothesis.settings(
    max_examples=20, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_no_success_before_the_state_at_rest_has_held(effect, data):
    """Whether a replica flips, or another process begins before, during or after the change."""
    waiter = effect_waiter(effect)
    at_rest, own = rules_moves.uncertain_successes(effect), own_indexes(effect)
    # None: no acceptor matches, as during a maintenance or on the change of somebody else.
    kinds = st.sampled_from([*at_rest, *own, None])
    courses = data.draw(st.lists(st.tuples(kinds, st.integers(1, 400)), min_size=1, max_size=8))
    settle_for = effect.trait.settle_for
    policy = policy_for(waiter.definition, WaitOptions(settle_for=settle_for), MAX_WAIT)
    seed = data.draw(st.integers(0, 9))
    at, seen = ended(waiter, policy, [*courses, (at_rest[0], math.inf)], seed)
    others = [time for time, kind in seen if kind not in at_rest]
    needed = AFTER_OWN if any(kind in own for _, kind in seen) else settle_for
    last = max(others, default=0)
    assert at - last >= needed - 1e-6
    # Nor does it come much later than it may.
    later = max(time for time, _ in seen if time <= at)
    since = sum(seconds for _, seconds in courses)
    assert later <= max(since, last) + settle_for + 3 * policy.delays.max_delay
