"""Deletions, where another thing was made under the same name after the call.

All of them, with answers that are made from the models.
"""

import effect_of
import pytest
from data.shared import effect_rows, full_sample, put, sample_call
from laws import by_service
from rules_again import SAYS

from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.matching import Matching

CALLED = 1_700_000_000.0

ROWS = [*effect_rows()]
BY_TIME = [row[:2] for row in ROWS if "madeAgain" in row[2]]
BY_ID = [row[:2] for row in ROWS if any(e.get("says") == SAYS for e in row[2].get("acceptors", ()))]

pytestmark = pytest.mark.models


@pytest.fixture
def effect(shape, name):
    return effect_of.effect_named(shape, name)


def says(effect, change=lambda output: None, *, time=None, answered="same"):
    """Return the sentence of the success that matches a full answer of the poll, or None."""
    call = {**sample_call(effect.mutation, answered), "time": time}
    output = full_sample(effect.polled.output_shape, "same")
    change(output)
    index = Matching(effect.acceptors).match_response(output, {}, call=call).index
    if index is None or index >= len(effect.trait.says):
        return None
    is_success = effect.acceptors[index].state is AcceptorState.SUCCESS
    return effect.trait.says[index] if is_success else None


def created(path, moment):
    """Return what sets the member at `output.Items[0].CreatedAt`."""

    def change(output):
        assert put(output, path.removeprefix("output."), moment)

    return change


@pytest.mark.parametrize(("shape", "name"), by_service(BY_TIME))
def test_what_was_created_later_is_another(effect):
    path = effect.body["madeAgain"]
    for seconds, expected in ((-100, False), (1, False), (2.5, True)):
        change = created(path, CALLED + seconds)
        assert (says(effect, change, time=CALLED) == SAYS) is expected, seconds
        assert says(effect, change) != SAYS  # the answer of the call has no date


@pytest.mark.parametrize(("shape", "name"), by_service(BY_ID))
def test_what_has_another_id_is_another(effect):
    assert says(effect) != SAYS
    assert says(effect, answered="other") == SAYS
    assert says(effect, dict.clear, answered="other") != SAYS
