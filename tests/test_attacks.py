"""The table of the attacks on the package: each claim is held by a test that exists."""

import json
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROWS = json.loads((TESTS / "cases" / "attacks.json").read_text("utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_each_claim_has_a_test(row):
    file, function = row["test"].split("::")
    assert f"def {function}(" in (TESTS.parent / file).read_text("utf-8")
