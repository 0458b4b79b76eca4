"""Every test that docs/specification.md names is there, and no row goes without one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/specification.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="the page is not part of a wheel")


def rows():
    """Return the rows of all tables of the page, without their heads, each as its cells."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    heads = {number for number, line in enumerate(lines[1:]) if re.match(r"\|[-|: ]+$", line)}
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for number, line in enumerate(lines)
        if line.startswith("|") and number not in heads and number - 1 not in heads
    ]


def test_every_named_test_is_there():
    missing = [
        f"{path}::{name}"
        for path, name in set(NAMED.findall(PAGE.read_text(encoding="utf-8")))
        if not (ROOT / path).is_file()
        or not re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)
    ]
    assert missing == []


def test_every_row_names_a_test_or_has_nothing_to_hold():
    bare = [row for row in rows() if not NAMED.search(row[-1]) and "nothing to hold" not in row[1]]
    assert rows()
    assert bare == []
