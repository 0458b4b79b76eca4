"""Whole waits in random worlds: `bench/simulation.py` over its first seeds."""

import os

import pytest
from script_modules import script

CHUNK = 20_000
CHUNKS = 5 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 1


@pytest.fixture(scope="module")
def simulation():
    with script("bench/simulation.py") as module:
        yield module


@pytest.mark.parametrize("first", range(0, CHUNKS * CHUNK, CHUNK))
def test_laws_hold_in_every_world(simulation, first):
    ends = {simulation.simulate(seed) for seed in range(first, first + CHUNK)}
    assert ends == {
        "succeeded",
        "WaiterAttemptsError",
        "WaiterCancelledError",
        "WaiterFailedError",
        "WaiterTimeoutError",
    }


@pytest.mark.parametrize("planted", ["unconnected", "answered", "transient"])
def test_a_judge_that_takes_an_error_for_another_breaks_a_law(simulation, monkeypatch, planted):
    right = simulation.Facts

    def wrong(**facts):
        return right(**{**facts, planted: False})

    monkeypatch.setattr(simulation, "Facts", wrong)
    with pytest.raises(simulation.BrokenLawError):
        list(map(simulation.simulate, range(2000)))


def test_a_seed_replays(simulation):
    runs = []
    for _ in range(2):
        world = simulation.World(42)
        runs.append((world.policy.min_delay, world.ready_at, simulation.simulate(42)))
    assert runs[0] == runs[1]
