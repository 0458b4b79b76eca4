"""What was there before a call is no certain success of it, on answers made from the models."""

import effect_of
import effect_rules
import pytest
import rules_fresh
from data.shared import effect_rows
from laws import by_service

SUPPRESSED = {(each.namespace, each.id) for each in effect_rules.suppressions()}
ROWS = [
    (shape, name)
    for shape, name, body in effect_rows()
    if body["basis"] in ("identity", "version")
    and rules_fresh.is_update(shape.partition("#")[2])
    and (shape.partition("#")[0], f"EffectNotNew.{name}") not in SUPPRESSED
]

pytestmark = pytest.mark.models


@pytest.mark.parametrize(("shape", "name"), by_service(ROWS))
def test_the_identity_of_an_update_is_new(shape, name):
    effect = effect_of.effect_named(shape, name)
    assert next(rules_fresh.seen_from_before(effect), None) is None
