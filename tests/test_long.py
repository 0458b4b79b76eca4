"""The table of the tests that the README's command leaves out."""

import json
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROWS = json.loads((TESTS / "cases" / "long.json").read_text("utf-8"))


@pytest.mark.parametrize("row", ROWS)
def test_each_row_names_tests_that_exist(row):
    file, *names = row.partition("[")[0].split("::")
    path = TESTS.parent / file
    assert path.exists()
    text = "" if path.is_dir() else path.read_text("utf-8")
    # The tests of a class may be those of its base.
    assert all(f" {name}" in text for name in names[:1])
