"""The short form of `bench/screens.py`: calls and lateness with the lists of three services."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "screens.py"


@pytest.fixture(scope="module")
def figures():
    spec = importlib.util.spec_from_file_location("bench_screens", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_screens"] = module
    try:
        spec.loader.exec_module(module)
        return {(what, service): figure for what, service, figure in module.figures(120, 1)}
    finally:
        del sys.modules["bench_screens"]


SERVICES = ["sagemaker", "athena", "stepfunctions"]


@pytest.mark.parametrize("service", SERVICES)
def test_an_honest_list_saves_calls_and_costs_no_time(figures, service):
    assert figures["calls", service] <= 0.20
    assert figures["honest: calls", service] <= 0.20
    assert figures["extra wait", service] <= 1.05
    assert figures["honest: most rounds later", service] == 0


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    ("fault", "rounds", "calls"), [("stale", 3, 0.3), ("lies", 9, 0.3), ("denied", 1, 1.01)]
)
def test_a_list_that_is_wrong_changes_no_outcome(figures, service, fault, rounds, calls):
    assert figures[f"{fault}: outcomes that differ", service] == 0
    assert figures[f"{fault}: most rounds later", service] <= rounds
    assert figures[f"{fault}: calls", service] <= calls
