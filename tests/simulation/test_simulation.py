"""The short form of `bench/simulation.py`: whole waits in random worlds."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "simulation.py"


@pytest.fixture(scope="module")
def simulation():
    spec = importlib.util.spec_from_file_location("simulation", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulation"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["simulation"]


def test_laws_hold_in_every_world(simulation):
    ends = {simulation.simulate(seed) for seed in range(3000)}
    assert ends == {
        "succeeded",
        "WaiterAttemptsError",
        "WaiterCancelledError",
        "WaiterFailedError",
        "WaiterTimeoutError",
    }


def test_a_seed_replays(simulation):
    courses = []
    for _ in range(2):
        world = simulation.World(42)
        courses.append((world.policy.min_delay, world.ready_at, simulation.simulate(42)))
    assert courses[0] == courses[1]


def test_a_machine_that_sleeps_past_the_end_is_noticed(simulation, monkeypatch):
    monkeypatch.setattr("boto_waiters_plus.engine.machine.is_last", lambda *_, **__: False)

    def simulate_many():
        for seed in range(100):
            simulation.simulate(seed)

    with pytest.raises(simulation.BrokenLawError, match="no more sleep than was allowed"):
        simulate_many()
