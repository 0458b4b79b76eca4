"""`tools/mutants.py`: the breaks that it draws, and the table of tests."""

import json
from pathlib import Path

import mutants
import pytest
from case_tables import tabled

ROOT = Path(__file__).resolve().parents[2]
TABLE = json.loads(mutants.TABLE.read_text(encoding="utf-8"))
pytestmark = pytest.mark.skipif(
    not mutants.PACKAGE.is_dir(), reason="only where the source of the package lies beside"
)


@pytest.fixture(scope="module")
def chosen():
    return mutants.drawn(mutants.PARTS, mutants.IN_ALL, [])


def test_draw_is_the_same_each_time(chosen):
    assert [one.key for one in mutants.drawn(mutants.PARTS, mutants.IN_ALL, [])] == [
        one.key for one in chosen
    ]


def test_every_module_that_is_drawn_has_tests(chosen):
    assert [one.module for one in chosen if not mutants.tests_of(TABLE["tests"], one.module)] == []


def test_every_module_and_file_of_the_table_exists():
    named = {mutants.PACKAGE / module for module in TABLE["tests"]}
    named |= {ROOT / file for files in TABLE["tests"].values() for file in files}
    assert [path for path in named if not path.is_file()] == []


def test_equivalent_breaks_are_in_the_code_and_have_reasons():
    for line in TABLE["equivalent"]:
        module = line["break"].partition(": ")[0]
        assert line["break"] in {one.key for one in mutants.breaks_of(module)}
        assert len(line["reason"].split()) > 3


def test_equivalent_breaks_are_left_out(chosen):
    assert chosen[0].key not in {
        one.key for one in mutants.drawn(mutants.PARTS, mutants.IN_ALL, [chosen[0].key])
    }


@tabled("before", "after")
def test_small_breaks(before, after, tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "PACKAGE", tmp_path)
    (tmp_path / "m.py").write_text(f"def f(low, high):\n    {before}\n", encoding="utf-8")
    found = list(mutants.breaks_of("m.py"))
    assert sorted({one.after for one in found}) == after
    for one in found:
        compile(one.text, "m.py", "exec")
