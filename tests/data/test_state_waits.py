"""What Terraform's AWS provider waits for: `tests/cases/state-waits.json`."""

import json
import re
from pathlib import Path

from beside import beside

from boto_waiters_plus.engine.acceptors import AcceptorState, ErrorTypeMatcher

ROOT = Path(__file__).resolve().parents[2]
WAITS = json.loads((ROOT / "tests/cases/state-waits.json").read_text(encoding="utf-8"))["waits"]
FACTS, needs_facts = beside("reference/state-waits.json")

IS_EMPTY = re.compile(r"length\(.+\) == `0`|DISABLED")


def ours(wait, definitions):
    """The waiters here for a wait."""
    return [
        definitions[wait["service"], wait[member]] for member in ("ours", "also") if member in wait
    ]


def successes(definition):
    states = zip(definition.states, definition.acceptors, strict=True)
    return [each.matcher for state, each in states if state is AcceptorState.SUCCESS]


def test_every_wait_has_a_waiter_of_its_operation_or_a_reason(definitions):
    for wait in WAITS:
        assert ("ours" in wait) != ("none" in wait)
        for definition in ours(wait, definitions):
            assert definition.operation == wait.get("on", wait["operation"]), wait


def test_a_waiter_succeeds_by_the_states_reached(definitions):
    """A wait that differs says so."""
    wrong = []
    for wait in WAITS:
        if wait.get("deletion") or "ours" not in wait or "differs" in wait:
            continue
        text = " ".join(m.describe() for d in ours(wait, definitions) for m in successes(d)).lower()
        states = [state.lower() for state in wait.get("target", []) if not state.startswith("?")]
        wrong += [(wait, state) for state in states if state not in text]
    assert wrong == []


def test_a_deletion_succeeds_when_the_resource_is_gone(definitions):
    wrong = [
        wait
        for wait in WAITS
        if wait.get("deletion") and "ours" in wait
        for definition in ours(wait, definitions)
        if not any(
            isinstance(matcher, ErrorTypeMatcher) or IS_EMPTY.search(matcher.describe())
            for matcher in successes(definition)
        )
    ]
    assert wrong == []


@needs_facts
def test_no_wait_of_the_list_is_left_out():
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    del facts["_meta"]
    expected = [
        (operation, wait.get("target", []), wait["deletion"])
        for operations in facts.values()
        for operation, waits in operations.items()
        for wait in waits
    ]
    rows = [(w["operation"], w.get("target", []), w.get("deletion", False)) for w in WAITS]
    assert rows == expected
