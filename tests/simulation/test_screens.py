"""The short form of `bench/screens.py`: calls and lateness with the lists of three services."""

import pytest
from script_modules import script


@pytest.fixture(scope="module")
def figures():
    with script("bench/screens.py", "bench_screens") as module:
        return {(what, service): figure for what, service, figure in module.figures(120, 1)}


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
