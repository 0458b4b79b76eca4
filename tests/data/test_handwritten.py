"""Waiters that users of boto3 had to write themselves: `tests/cases/handwritten.json`.

Airflow and Ansible ship 171; each row has the waiter here that waits for the same states.
"""

import json
from collections import Counter
from pathlib import Path

import pytest
from botocore import xform_name
from waiter_coverage import HANDWRITTEN

from boto_waiters_plus.cli.service_lookup import client_name
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.engine.model import AcceptorState

ROOT = Path(__file__).resolve().parents[2]
CASES = json.loads((ROOT / "tests/cases/handwritten.json").read_text(encoding="utf-8"))
ROWS = CASES["waiters"]



@pytest.fixture(scope="module")
def definitions():
    """Ours by service, as `boto3.client` calls it, and name."""
    return {
        (client_name(service_id), definition.name): definition
        for service_id in shipped_services()
        for definition in shipped_definitions(service_id)
    }


def texts(definition, state):
    return " ".join(
        acceptor.matcher.describe()
        for acceptor in definition.acceptors
        if acceptor.state.value == state
    )




def test_every_row_has_a_waiter_on_the_same_operation_or_a_reason(definitions):
    for row in ROWS:
        assert ("ours" in row) != ("none" in row)
        if "ours" in row:
            assert definitions[row["service"], row["ours"]].operation == row["operation"]




@pytest.mark.parametrize(
    ("service", "wanted"),
    [(service, wanted) for service, each in CASES["requested"].items() for wanted in each],
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
