"""The short form of `bench/batch_simulation.py`: whole batches in random worlds."""

import importlib.util
import logging
import sys
from pathlib import Path

import pytest

from boto_waiters_plus.runtime import service_limiter
from boto_waiters_plus.runtime.task_steps import TaskSteps

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


def broken_law(simulation, seed):
    try:
        simulation.simulate(seed)
    except simulation.BrokenLawError as broken:
        return str(broken)
    return None


def broken_laws(simulation):
    return (broken_law(simulation, seed) for seed in range(BATCHES))


def test_call_that_holds_up_others_breaks_a_law(simulation, monkeypatch):
    monkeypatch.setattr(service_limiter, "LONGEST_HOLD", 1e6)
    assert "a healthy wait is polled, throttles and hung calls or not" in broken_laws(simulation)


def test_wait_without_expiry_breaks_a_law(simulation, monkeypatch):
    monkeypatch.setattr(TaskSteps, "_expire_or_plan", lambda *_: None)
    assert "no wait outlives its max_wait" in broken_laws(simulation)
