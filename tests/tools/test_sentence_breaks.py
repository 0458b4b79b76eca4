"""The table of breaks: one for each row of the documentation that names a test."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from case_tables import tabled

ROOT = Path(__file__).resolve().parents[2]
CASES = json.loads((ROOT / "tests/cases/sentence-breaks.json").read_text(encoding="utf-8"))
PAGES = ("specification", "idempotency", "operations")
NAMED = re.compile(r"`(?:tests/[\w/]+\.py::)?(test_\w+)`")

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="docs are not in a wheel")


def rows():
    """Return the tests that each row of the pages names, by page or section and first cell."""
    found = {}
    for page in PAGES:
        lines = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8").splitlines()
        section = page
        for line in lines:
            if line.startswith("## ") and page == "specification":
                section = line.removeprefix("## ")
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if line.startswith("|") and len(cells) == 3 and NAMED.search(cells[-1]):
                found[f"{section}: {cells[0]}"] = NAMED.findall(cells[-1])
    return found


def test_each_row_that_names_a_test_has_a_break():
    broken = {row for case in CASES for row in case["rows"]}
    assert [row for row in rows() if row not in broken] == []
    assert broken - rows().keys() == set()


def test_each_break_is_shown_by_a_test_of_its_row():
    named = rows()
    others = [
        (row, case["test"])
        for case in CASES
        for row in case["rows"]
        if case["test"].partition("::")[2].partition("[")[0] not in named[row]
    ]
    assert others == []


def test_each_break_is_of_a_place_that_is_there_once():
    texts = {case["file"]: (ROOT / case["file"]).read_text("utf-8") for case in CASES}
    counts = [
        (case["file"], case["line"], texts[case["file"]].count(case["line"])) for case in CASES
    ]
    assert [found for found in counts if found[2] != 1] == []
    assert [case["line"] for case in CASES if case["line"] == case["replacement"]] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each test runs in a fork")
@tabled("replacement", "code", "words")
def test_command_tells_what_survives_and_what_the_test_printed(tmp_path, replacement, code, words):
    case = {
        "rows": ["row"],
        "file": "boto_waiters_plus/engine/backoff.py",
        "line": "upper = max_delay",
        "replacement": replacement,
        "test": "tests/engine/test_backoff.py::test_published_table_row_by_row",
    }
    (tmp_path / "cases.json").write_text(json.dumps([case]), encoding="utf-8")
    script = "import pathlib, sys, sentence_breaks as s; s.CASES = pathlib.Path(sys.argv[1])\n"
    script += "sys.exit(s.main([]))"
    found = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "cases.json")],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tools'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == code, found
    assert [each for each in words if each not in found.stdout] == []
