"""The rule of `tools/rules_moves.py` on small effects, and on the shipped ones."""

import json
from pathlib import Path

import effect_rules
import pytest

from boto_waiters_plus.definitions.effect_trait import EFFECT

ROWS = json.loads(
    (Path(__file__).parents[1] / "cases" / "effect-rules-moves.json").read_text("utf-8")
)

pytestmark = pytest.mark.models


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_the_states_of_a_change_are_named(row):
    shapes = {row["shape"]: {"traits": {EFFECT: {"Name": row["effect"]}}}}
    found = [each for _, each in effect_rules.found(shapes) if each.rule == "EffectOwnState"]
    assert [each.text for each in found] == row["finds"]


@pytest.mark.nightly(subject="catalog")
def test_the_states_of_shipped_changes_are_named():
    found = effect_rules.unsuppressed()
    assert [(effect.shape, each) for effect, each in found if each.rule == "EffectOwnState"] == []
