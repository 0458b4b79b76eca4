"""The rules of `tools/effect_rules.py`, on small effects and on the shipped ones.

A row of the table is an effect of a mutation of botocore, and how often its rule finds it;
`refused` is the trait `boto.waiters#refusedItems` beside it.
"""

import effect_of
import effect_rules
import pytest
from data.shared import CATALOG, CHANGED_OR_ALL, json_of
from data_digests import service_of

from boto_waiters_plus.definitions.changes import EFFECT, REFUSED_ITEMS

ROWS = json_of("tests/cases/effect-rules.json")

pytestmark = pytest.mark.models


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['rule']}: {row['name']}" for row in ROWS])
def test_a_rule_finds_what_it_is_for(row):
    traits = {EFFECT: {"Name": row["effect"]}}
    traits |= {REFUSED_ITEMS: row["refused"]} if "refused" in row else {}
    found = [each for _, each in effect_rules.found({row["shape"]: {"traits": traits}})]
    assert [each.rule for each in found].count(row["rule"]) == row["finds"]


@pytest.mark.parametrize("is_meant", CHANGED_OR_ALL)
def test_no_shipped_effect_is_found_that_is_not_suppressed_by_its_name(is_meant):
    document = effect_of.shipped_document()["shapes"].items()
    shapes = {shape: applied for shape, applied in document if is_meant(service_of(shape))}
    found = effect_rules.unsuppressed(shapes)
    assert [f"{each.rule}.{effect.name} {effect.shape}" for effect, each in found] == []


@CATALOG
def test_every_suppression_of_an_effect_is_needed_and_has_a_reason():
    found = {
        (effect.shape.partition("#")[0], f"{each.rule}.{effect.name}")
        for effect, each in effect_rules.found()
    }
    known = [each for each in effect_rules.suppressions() if each.id.startswith("Effect")]
    assert [each for each in known if (each.namespace, each.id) not in found] == []
    assert all(each.reason for each in known)
