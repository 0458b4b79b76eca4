"""Print by how much effects end later since the state at rest has to hold.

    PYTHONPATH=.:tools python bench/settling.py

A standard course is at rest for 20 s, under way for 60 s, then at rest. Before, the first state at
rest behind another one was a success. The package's own machine runs, with calls that take no time.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import replace

import effect_of
import rules_moves

from boto_waiters_plus.changes.effects import EffectWaiter
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.engine import machine as m
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.options import WaitOptions, policy_for
from boto_waiters_plus.service.bound_waiter import BoundWaiter

BEGINS, ENDS = 20, 80
"""Seconds since the call."""
DRAWS = 50
MAX_WAIT = 3600


def ended(effect: effect_of.EffectOf, waiter: EffectWaiter, seed: int, *, before: bool) -> float:
    """Return when a wait ends.

    Args:
        effect: that is waited for.
        waiter: of the effect.
        seed: of the delays.
        before: whether any other state makes the next one at rest a success.
    """
    at_rest = waiter.of_response[rules_moves.uncertain_successes(effect)[0]][0]
    own = next(iter(own_indexes(effect)), None)
    under_way = waiter.of_response[own][0]
    options = WaitOptions(settle_for=effect.trait.settle_for)
    policy = policy_for(waiter.definition, options, MAX_WAIT)
    wait, draws = m.Machine(waiter.definition.states, policy), random.Random(seed)
    now, moved = 0.0, False
    decision = wait.step(m.Begin(), now, draws)
    while True:
        match decision:
            case m.Poll():
                is_under_way = BEGINS <= now < ENDS
                moved |= is_under_way
                facts = under_way if is_under_way else at_rest
                if before and moved and not is_under_way:
                    facts = replace(facts, certain=True)
                decision = wait.step(m.Responded(facts), now, draws)
            case m.Pause(seconds):
                now += seconds
                decision = wait.step(m.Woken(), now, draws)
            case _:
                return now


def own_indexes(effect: effect_of.EffectOf) -> list[int]:
    """Return the indexes of the acceptors that name the states of the change."""
    return [
        index
        for index, each in enumerate(effect.acceptors)
        if each.state is AcceptorState.RETRY and index in effect.trait.certain
    ]


def main() -> None:
    """Print the distribution for effects with states of their own, and for the others."""
    later: dict[str, list[float]] = {"own states": [], "any other state": []}
    numbers = dict.fromkeys(later, 0)
    for effect in effect_of.effects():
        if not rules_moves.uncertain_successes(effect):
            continue
        definition = effect.trait.waiter
        if isinstance(definition, str):
            service = effect.polled.service_model.service_id.hyphenize()
            definition = next(e for e in shipped_definitions(service) if e.name == definition)
        waiter = EffectWaiter(BoundWaiter(definition, effect.polled), effect.trait)
        kind = "own states" if own_indexes(effect) else "any other state"
        numbers[kind] += 1
        for seed in range(DRAWS):
            new, old = (ended(effect, waiter, seed, before=each) for each in (False, True))
            later[kind].append(new - old)
    print(f"{'seconds later':20}{'effects':>8}{'median':>8}{'p90':>8}{'max':>8}")
    for kind, found in later.items():
        p90 = statistics.quantiles(found, n=10)[-1]
        median = statistics.median(found)
        print(f"{kind:20}{numbers[kind]:8}{median:8.0f}{p90:8.0f}{max(found):8.0f}")


if __name__ == "__main__":
    main()
