"""Rules of effects of calls that begin several things, on small effects."""

import json
from pathlib import Path

import effect_rules
import pytest
import rules_items

pytestmark = pytest.mark.models

ROWS = json.loads(
    (Path(__file__).parents[1] / "cases" / "effect-rules-items.json").read_text("utf-8")
)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["says"]) for row in ROWS])
def test_a_rule_finds_a_part_of_several(row):
    traits = {"boto.waiters#effect": {"Effect": row["effect"]}}
    [effect] = effect_rules.effects({row["shape"]: {"type": "apply", "traits": traits}})
    found = {each.rule for rule in rules_items.RULES for each in rule(effect)}
    assert found == set(row["finds"])
