"""Rules of `tools/data_rules.py` on small waiters of botocore's operations."""

import pytest
from data.shared import json_of
from data_rules import check

ROWS = json_of("tests/cases/data-rules.json")

pytestmark = pytest.mark.models


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_what_the_documentation_takes_back_is_found(row, waitable):
    names = row["waiter"], row["operation"]
    document = waitable(*names, *row["acceptors"], namespace=row["service"])
    found = [event.id for event in check(document) if event.id.startswith("WaiterDenied")]
    assert found == row["finds"]
