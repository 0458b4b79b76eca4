"""The specification's best practices."""

import json
from pathlib import Path

import pytest

from boto_waiters_plus.validation import check

TABLE = json.loads((Path(__file__).parents[1] / "cases" / "best-practices.json").read_text())
RULES = ("WaiterNamedAfter", "WaiterImplicit", "WaiterIntermediate")


@pytest.mark.parametrize("case", TABLE["cases"], ids=json.dumps)
def test_a_waiter_against_a_best_practice_is_noted(models, case):
    acceptors = [models.output("status", case["success"]), *case.get("more", ())]
    if "failure" in case:
        acceptors.append(models.output("status", case["failure"], "failure"))
    model = models.thing(*acceptors, name=case["name"])
    model["shapes"]["smithy.example#Status"] = {
        "type": "string",
        "traits": {"smithy.api#enum": [{"value": state} for state in TABLE["states"]]},
    }
    found = [event for event in check(model) if event.id.startswith(RULES)]
    assert [(event.severity, event.id) for event in found] == [("NOTE", i) for i in case["notes"]]
    assert all(case["says"] in event.message for event in found)
