"""The short form of `bench/batch_simulation.py`: whole batches in random worlds."""

import importlib.util
import logging
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "batch_simulation.py"

BATCHES = 300


@pytest.fixture
def simulation(monkeypatch, caplog):
    caplog.set_level(logging.CRITICAL, "boto_waiters_plus")
    spec = importlib.util.spec_from_file_location("batch_simulation", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "batch_simulation", module)
    spec.loader.exec_module(module)
    return module


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
