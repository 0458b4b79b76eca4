"""What was there before a call is no certain success of it, on answers made from the models."""

import effect_rules
import pytest
import rules_fresh
from effect_answers import ASKED, OLD, answers_of_success, expressions, made, names_in
from laws import by_service

from boto_waiters_plus.definitions.effect_trait import EFFECT

SUPPRESSED = {(each.namespace, each.id) for each in effect_rules.suppressions()}

ROWS = [
    (shape, name)
    for shape, applied in effect_rules.shipped_document()["shapes"].items()
    for name, body in applied["traits"][EFFECT].items()
    if body["basis"] in ("identity", "version")
    and not rules_fresh.MAKING.match(shape.partition("#")[2])
    and not shape.partition("#")[2].startswith(rules_fresh.ENDING_VERBS)
    and (shape.partition("#")[0], f"EffectNotNew.{name}") not in SUPPRESSED
]

pytestmark = pytest.mark.models


@pytest.mark.parametrize(("shape", "name"), by_service(ROWS))
def test_the_identity_of_an_update_is_new(shape, name):
    effect = effect_rules.effect_named(shape, name)
    if any(rules_fresh.is_made(effect, path) for path in effect.trait.parameters.values()):
        pytest.skip("the poll is by an id that the call has made")
    names = names_in(*expressions(effect))
    members = effect.mutation.input_shape.members
    # What was the current version is that of before.
    before = {(n,): made(members[n], names, OLD) for n in members if n.startswith("Current")}
    asked = made(effect.mutation.input_shape, names, {**ASKED, **before})
    assert next(answers_of_success(effect, asked, OLD, ASKED), None) is None
