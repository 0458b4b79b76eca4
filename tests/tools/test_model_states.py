"""Every read operation with a state that passes has a waiter or a reason."""

import json
from pathlib import Path

import botocore
import model_states
import pytest

from boto_waiters_plus.definitions.shipped import WRITTEN_FOR

ROOT = Path(__file__).resolve().parents[2]
REASONS = json.loads((ROOT / "data/no-waiter.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(
    botocore.__version__ != WRITTEN_FOR,
    reason=f"the operations are those of botocore {WRITTEN_FOR}",
)


@pytest.fixture(scope="module")
def judged():
    return model_states.judged()


def test_95_percent_have_a_waiter_or_a_reason(judged):
    assert judged.total - len(judged.open) >= model_states.LEAST_JUDGED * judged.total
    assert judged.total >= 1300


def test_at_most_30_percent_have_only_a_reason(judged):
    assert len(judged.reasoned) <= model_states.MOST_REASONED * judged.total


def test_every_reason_is_of_an_operation_without_a_waiter(judged):
    told = {(service, name) for service, reasons in REASONS.items() for name in reasons}
    assert told == {(each.service_id, each.operation.name) for each in judged.reasoned}


def test_every_reason_is_a_sentence():
    reasons = [reason for each in REASONS.values() for reason in each.values()]
    assert [reason for reason in reasons if not reason.endswith(".") or len(reason) < 25] == []


def test_a_reason_that_names_a_waiter_names_one_that_exists():
    assert list(model_states.unknown_waiters(REASONS)) == []
