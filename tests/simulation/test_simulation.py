"""Whole waits in random worlds: `bench/simulation.py` over its first seeds."""

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from boto_waiters_plus.engine.machine import Machine
from boto_waiters_plus.runtime.clock import pause

SCRIPT = Path(__file__).parents[2] / "bench" / "simulation.py"

WAITS, CHUNK = 100_000, 20_000
"""Half a minute in all; in chunks that each stay well below the time limit of a test."""

MACHINE = "boto_waiters_plus.engine.machine."
DRIVER = "boto_waiters_plus.runtime.sync."


@pytest.fixture(scope="module")
def simulation():
    spec = importlib.util.spec_from_file_location("simulation", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulation"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["simulation"]


@pytest.mark.parametrize("first", range(0, WAITS, CHUNK))
def test_laws_hold_in_every_world(simulation, first):
    ends = {simulation.simulate(seed) for seed in range(first, first + CHUNK)}
    assert ends == {
        "succeeded",
        "WaiterAttemptsError",
        "WaiterCancelledError",
        "WaiterFailedError",
        "WaiterTimeoutError",
    }


def test_a_seed_replays(simulation):
    runs = []
    for _ in range(2):
        world = simulation.World(42)
        runs.append((world.policy.min_delay, world.ready_at, simulation.simulate(42)))
    assert runs[0] == runs[1]


DELAY = Machine._delay


def min_delay(machine, *_):
    return machine._policy.min_delay


def unthrottled(machine, facts, *rest):
    return DELAY(machine, replace(facts, throttled=False), *rest)


BUGS = {
    "sleeps past the end": (MACHINE + "is_last", lambda *_, **__: False, "more sleep than"),
    "late answers count": (MACHINE + "ROUNDING", 1e9, "late answer|after the end"),
    "last attempt at once": (MACHINE + "Machine._last_delay", lambda *_: 0.01, "attempt is late"),
    "last attempt too early": (MACHINE + "Machine._reserve", lambda *_: 9, "attempt is late"),
    "throttles are ignored": (MACHINE + "Machine._delay", unthrottled, "followed by max_delay"),
    "attempts are not spread": (MACHINE + "Machine._delay", min_delay, "not used up before"),
    "calls run on": (MACHINE + "Machine._time_left", lambda _: None, "returns at its end"),
    "cancel is ignored": (DRIVER + "pause", lambda s, **_: pause(s), "cancelled|passed"),
    "sleeps half as long": (DRIVER + "pause", lambda s, **_: pause(s / 2), "elapsed|short|sleep"),
}


@pytest.mark.parametrize(("target", "bug", "law"), BUGS.values(), ids=BUGS)
def test_bug_is_found_and_its_seed_replays(simulation, monkeypatch, capsys, target, bug, law):
    monkeypatch.setattr(target, bug)
    monkeypatch.setattr(sys, "argv", ["simulation.py", "--waits", "2000"])
    assert simulation.main() == 1
    printed = capsys.readouterr().out
    again = r"again: python bench/simulation.py --seed \1 --verbose"
    seed = re.fullmatch(rf"seed (\d+): broken: .*\n{again}\n", printed)
    assert seed, printed
    for _ in range(2):
        with pytest.raises(simulation.BrokenLawError, match=law):
            simulation.simulate(int(seed[1]))
