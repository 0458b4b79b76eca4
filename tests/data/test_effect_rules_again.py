"""The rule of deletions that poll by a name, on effects that are made up."""

import json
from pathlib import Path

import pytest
from effect_rules import effects
from rules_again import made_again, weak_deletions

from boto_waiters_plus.definitions.effect_trait import EFFECT

ROWS = json.loads(
    (Path(__file__).parents[1] / "cases/effect-rules-again.json").read_text(encoding="utf-8")
)

pytestmark = pytest.mark.models


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_deletions_tell_what_was_made_again(row):
    (effect,) = effects({row["shape"]: {"type": "apply", "traits": {EFFECT: row["effect"]}}})
    assert [each.rule for each in made_again(effect)] == row["found"]


def test_what_compares_nothing_is_weak():
    weak = set(weak_deletions())
    assert ("lambda", "DeleteFunction") in weak
    assert ("dynamodb", "DeleteTable") not in weak  # compares an id
    assert ("amp", "DeleteWorkspace") not in weak  # polls by an id
