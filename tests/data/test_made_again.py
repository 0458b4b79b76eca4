"""A deletion ends when another resource has the name, by the creation time that the poll shows."""

import re

import effect_rules
import pytest
from laws import by_service

from boto_waiters_plus.definitions.effect_trait import EFFECT
from boto_waiters_plus.engine.matching import Matching

TEXT = "1" * 64
CALLED_AT = 1_800_000_000
ROWS = [
    (shape, name)
    for shape, applied in effect_rules.shipped_document()["shapes"].items()
    for name, body in applied["traits"].get(EFFECT, {}).items()
    if "madeAgain" in body
]

pytestmark = pytest.mark.models


@pytest.mark.parametrize(("shape", "name"), by_service(ROWS))
def test_what_was_created_after_the_call_is_another(full_sample, shape, name):
    effect = effect_rules.effect_named(shape, name)
    matching = Matching(effect.acceptors)
    answer = full_sample(effect.polled.output_shape, TEXT)
    *steps, last = re.findall(r"\w+", effect.body["madeAgain"].removeprefix("output."))
    place, member = answer, effect.polled.output_shape
    for step in steps:
        place = place[int(step)] if step.isdigit() else place[step]
        member = member.member if step.isdigit() else member.members[step]
    assert member.members[last].type_name == "timestamp"

    def is_another(created, called_at=CALLED_AT):
        place[last] = created
        call = {"input": {}, "output": {}, "time": called_at}
        return matching.match_response(answer, {}, call=call).index == 0

    assert [is_another(CALLED_AT + each) for each in (-100, 1, 2, 90)] == [False, False, True, True]
    assert not is_another(None)
    assert not is_another(CALLED_AT + 90, called_at=None)
    assert effect.acceptors[0].state.value == "success"
    assert 0 in effect.trait.certain
