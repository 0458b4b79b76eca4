"""Waiters that users of boto3 had to write themselves: `tests/cases/handwritten.json`.

Airflow and Ansible ship 171; each row has the waiter here that waits for the same states.
"""

import json
from collections import Counter
from pathlib import Path

import pytest
from beside import beside
from botocore import xform_name
from case_tables import tables
from waiter_coverage import HANDWRITTEN

from boto_waiters_plus.engine.acceptors import AcceptorState

ROOT = Path(__file__).resolve().parents[2]
ROWS = json.loads((ROOT / "tests/cases/handwritten.json").read_text(encoding="utf-8"))["waiters"]
FACTS, needs_facts = beside("reference/handwritten-waiters.json")

REQUESTED = tables("data")["test_handwritten.py::REQUESTED"]
"""The most requested waiters that botocore lacks: what they poll, success, failure."""


def texts(definition, state):
    return " ".join(
        acceptor.matcher.describe()
        for acceptor in definition.acceptors
        if acceptor.state.value == state
    )


def key(row, service="service"):
    return row[service], xform_name(row["operation"]), row["name"].lower().replace("_", "")


def test_every_row_has_a_waiter_on_the_same_operation_or_a_reason(definitions):
    for row in ROWS:
        assert ("ours" in row) != ("none" in row)
        if "ours" in row:
            assert definitions[row["service"], row["ours"]].operation == row["operation"]


@needs_facts
def test_ours_succeeds_by_the_same_values(definitions):
    """A row that differs says so."""
    rows = {key(row): row for row in ROWS}
    wrong = []
    differing = set()
    counts = Counter()
    for fact in json.loads(FACTS.read_text(encoding="utf-8")):
        counts[fact["botocore_service"], fact["source"].startswith("airflow")] += 1
        row = rows.pop(key(fact, "botocore_service"), None) or next(
            row for row in ROWS if key(row) == key(fact, "botocore_service")
        )
        if "none" in row:
            continue
        text = texts(definitions[row["service"], row["ours"]], "success")
        # True and False are of expressions that ours may put in another way.
        expected = [str(value) for value in fact["success"] if not isinstance(value, bool)]
        lacking = [value for value in expected if value not in text]
        if lacking and "differs" in row:
            differing.add(key(row))
        elif lacking:
            wrong.append((fact["service"], fact["name"], lacking))
    assert (wrong, rows) == ([], {})
    assert differing == {key(row) for row in ROWS if "differs" in row}
    assert {
        service: (counts[service, True], counts[service, False])
        for service in sorted({service for service, _ in counts})
    } == HANDWRITTEN


@pytest.mark.parametrize(
    ("service", "wanted"),
    [(service, wanted) for service, each in REQUESTED.items() for wanted in each],
)
def test_a_requested_waiter_is_here(service, wanted, definitions):
    operation, _, states = wanted.partition(": ")
    success, _, failure = states.partition(" / ")
    assert any(
        all(value in texts(definition, "success") for value in success.split())
        and all(value in texts(definition, "failure") for value in failure.split())
        and AcceptorState.SUCCESS in definition.states
        for (of, _), definition in definitions.items()
        if (of, definition.operation) == (service, operation)
    )
