"""The rules of `tools/rules_fresh.py` on small effects, and on the shipped ones."""

import json
from pathlib import Path

import effect_rules
import pytest

from boto_waiters_plus.definitions.effect_trait import EFFECT

ROWS = json.loads(
    (Path(__file__).parents[1] / "cases" / "effect-rules-fresh.json").read_text("utf-8")
)

pytestmark = pytest.mark.models


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_a_state_from_before_the_call_is_found(row):
    shapes = {row["shape"]: {"traits": {EFFECT: {"Name": row["effect"]}}}}
    found = [each for _, each in effect_rules.found(shapes) if each.rule == row["rule"]]
    assert len(found) == row["finds"]


@pytest.mark.nightly(subject="catalog")
def test_no_shipped_effect_ends_in_a_state_from_before_the_call():
    own = {row["rule"] for row in ROWS}
    found = effect_rules.unsuppressed()
    assert [(effect.shape, each) for effect, each in found if each.rule in own] == []
