"""The verdicts of the second reading."""

import json
from collections import Counter
from pathlib import Path

from boto_waiters_plus.definitions.shipped import shipped_definitions

ROOT = Path(__file__).resolve().parents[2]
READING = json.loads((ROOT / "tests/cases/second-reading.json").read_text(encoding="utf-8"))
ROWS = READING["waiters"]


def test_every_verdict_is_of_a_curated_waiter():
    assert len({(row["service"], row["waiter"]) for row in ROWS}) == 80
    for row in ROWS:
        [found] = [d for d in shipped_definitions(row["service"]) if d.name == row["waiter"]]
        assert "curated" in found.tags


def test_every_verdict_has_a_reason():
    assert Counter(row["verdict"] for row in ROWS) == {
        "right": 73,
        "weak": 4,
        "wording": 2,
        "wrong": 1,
    }
    for row in ROWS:
        assert row["reason"].endswith(".")
        fate = "Mended" in row["reason"] or "Left as it is" in row["reason"]
        assert fate == (row["verdict"] != "right")
