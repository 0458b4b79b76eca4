"""The short form of `bench/batch_simulation.py`: whole batches in random worlds."""

import logging

import pytest
from script_modules import script

BATCHES = 300


@pytest.fixture
def simulation(caplog):
    caplog.set_level(logging.CRITICAL, "boto_waiters_plus")
    with script("bench/batch_simulation.py") as module:
        yield module


def test_laws_hold_for_every_batch(simulation):
    ends = {name for seed in range(BATCHES) for name in simulation.simulate(seed).split()}
    assert ends == {
        "ResponseOutcome",
        "WaiterCancelledError",
        "WaiterFailedError",
        "WaiterTimeoutError",
    }


def test_seed_replays(simulation):
    facts = [
        [simulation._facts(*each) for each in zip(world.things, results, strict=True)]
        for world, results in (simulation._run(7, with_callbacks=True) for _ in range(2))
    ]
    assert facts[0] == facts[1]
