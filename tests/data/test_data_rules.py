"""Rules of `tools/data_rules.py` on small waiters of botocore's operations."""

import json
from pathlib import Path

import pytest
from data_rules import check

ROWS = json.loads((Path(__file__).parents[1] / "cases" / "data-rules.json").read_text("utf-8"))

pytestmark = pytest.mark.models


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_what_the_documentation_takes_back_is_found(row):
    waiters = {row["waiter"]: {"acceptors": row["acceptors"]}}
    shape = {"type": "apply", "traits": {"smithy.waiters#waitable": waiters}}
    document = {"smithy": "2.0", "shapes": {f"{row['service']}#{row['operation']}": shape}}
    found = [event.id for event in check(document) if event.id.startswith("WaiterDenied")]
    assert found == row["finds"]
