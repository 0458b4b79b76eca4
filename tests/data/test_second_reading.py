"""The verdicts of the second reading."""

import json
from collections import Counter
from pathlib import Path

import pytest

from boto_waiters_plus.definitions.shipped import shipped_definitions

ROOT = Path(__file__).resolve().parents[2]
FILE = json.loads((ROOT / "tests/cases/second-reading.json").read_text(encoding="utf-8"))
READINGS = {reading["seed"]: reading["waiters"] for reading in FILE["readings"]}
VERDICTS = {
    1515: {"right": 73, "weak": 4, "wording": 2, "wrong": 1},
    2424: {"right": 110, "weak": 7, "wording": 3},
    4848: {"right": 112, "weak": 4, "wording": 4},
}


@pytest.mark.parametrize("seed", READINGS)
def test_every_verdict_is_of_a_curated_waiter(seed):
    rows = READINGS[seed]
    names = {(row["service"], row["waiter"]) for row in rows}
    assert len(names) == len(rows) == sum(VERDICTS[seed].values())
    for row in rows:
        [found] = [d for d in shipped_definitions(row["service"]) if d.name == row["waiter"]]
        assert "curated" in found.tags


@pytest.mark.parametrize("seed", READINGS)
def test_every_verdict_has_a_reason(seed):
    assert Counter(row["verdict"] for row in READINGS[seed]) == VERDICTS[seed]
    for row in READINGS[seed]:
        assert row["reason"].endswith(".")
        fate = "Mended" in row["reason"] or "Left as it is" in row["reason"]
        assert fate == (row["verdict"] != "right")
