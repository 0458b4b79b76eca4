"""The guide to changes names places that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_places_of_changes_exist():
    text = (ROOT / "docs/contributing.md").read_text(encoding="utf-8")
    section = text.partition("## Where a change goes\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|.*\|$", section, re.MULTILINE)
    places = [place for row in rows for place in re.findall("`([^`]+/[^`]*)`", row)]
    assert places
    assert [place for place in places if not (ROOT / place).exists()] == []
