"""tests/cases/tables: each table is of a test or a name that is there."""

import pytest
from case_tables import TABLES, TESTS, tables


@pytest.mark.parametrize("folder", [path.stem for path in TABLES.glob("*.json")])
def test_each_table_is_read_by_its_file(folder):
    for key in tables(folder):
        file, _, name = key.partition("::")
        text = (TESTS / ("" if folder == "tests" else folder) / file).read_text(encoding="utf-8")
        assert "case_tables" in text, key
        assert f"def {name}(" in text or f"{name} = tables(" in text, key
