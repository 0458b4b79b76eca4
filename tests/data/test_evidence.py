"""What shipped waiters rest on: `data/evidence.json`, and the states that were seen of AWS.

The states themselves are not part of the project: without them, only what follows from them is
tested.
"""

import observed_states
import pytest
from beside import beside
from data.shared import json_of

from boto_waiters_plus.cli.service_lookup import EVIDENCE, Evidence
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services

REFERENCE, where_something_was_seen = beside("reference/observed-states.json")
SHAPES = json_of("data/evidence.json")["shapes"]


@pytest.mark.models
@where_something_was_seen
def test_no_expression_is_warned_of_on_what_was_seen():
    faults, answers = {}, 0
    for held in observed_states.held_waiters(REFERENCE):
        model, matching = held.waiter.polling.data_model, held.waiter.polling.matching
        for seen in filter(lambda each: each.path, held.observed):
            least = observed_states.answer_with(seen.path, seen.value)
            for answer in (observed_states.full_answer(held, seen), least):
                answers += 1
                problems = matching.match_response(model.output(answer), {}).problems
                faults |= {(held.place, each): answer for each in problems if each.is_fault}
    assert faults == {}
    assert answers > 1000


def test_evidence_is_of_shipped_waiters_and_says_something():
    shipped = [each for name in shipped_services() for each in shipped_definitions(name)]
    names = {(f"com.amazonaws.{each.service}#{each.operation}", each.name) for each in shipped}
    members = json_of("data/traits.json")["shapes"]["boto.waiters#Evidence"]["members"]
    assert SHAPES
    for shape_id, shape in SHAPES.items():
        for name, facts in shape["traits"][EVIDENCE].items():
            assert (shape_id, name) in names
            assert set() < {*facts} <= {*members}
            assert all(value is True or value > 0 for value in facts.values())


@pytest.mark.parametrize(("evidence", "words"), [
    (Evidence(), ["model only"]),
    (Evidence(recorded=1, documented=2), ["1 recorded answer", "2 documentation examples"]),
    (Evidence(moto=True, enum=True), ["run on moto", "every value of the enum"]),
    (Evidence(recorded=3, botocore=True), ["3 recorded answers", "from botocore"]),
    (Evidence(unread=True), ["model only", "not read by a person yet"]),
])  # fmt: skip
def test_evidence_in_words(evidence, words):
    assert evidence.in_words() == words


@pytest.mark.models
@where_something_was_seen
def test_what_was_seen_is_judged_and_is_the_evidence():
    assert list(observed_states.problems(REFERENCE)) == []
    assert observed_states.evidence(REFERENCE)["shapes"] == SHAPES


@pytest.mark.models
@where_something_was_seen
def test_messages_name_the_state_or_what_is_missing():
    """Of the answers that leave a wait open, 95 %."""
    shown = list(observed_states.states(REFERENCE))
    telling = [text for _, seen, text in shown if seen.value in text or text.startswith("no ")]
    assert len(telling) >= 0.95 * len(shown)
    assert not {"True", "False"} & {text for _, _, text in shown}
