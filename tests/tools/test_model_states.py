"""Every read operation with a state that passes has a waiter or a reason."""

import json
from pathlib import Path

import model_states
import pytest

ROOT = Path(__file__).resolve().parents[2]
REASONS = json.loads((ROOT / "data/no-waiter.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def judged():
    return model_states.judged()


@pytest.fixture(scope="module")
def unawaited():
    return {(service, deletion) for service, deletion, _ in model_states.unawaited_deletions()}


def test_every_operation_has_a_waiter_or_a_reason(judged):
    assert [(each.service_id, each.operation.name) for each in judged.open] == []
    assert judged.total >= 1440


def test_every_reason_is_of_an_operation_without_a_waiter(judged, unawaited):
    """So every deletion that a wait can follow has a waiter or a reason."""
    told = {(service, name) for service, reasons in REASONS.items() for name in reasons}
    assert told == {(each.service_id, each.operation.name) for each in judged.reasoned} | unawaited


def test_a_reason_that_names_a_waiter_names_one_that_exists():
    assert list(model_states.unknown_waiters(REASONS)) == []
