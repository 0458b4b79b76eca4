"""The verdicts of the second reading."""

import json
from pathlib import Path

import pytest

from boto_waiters_plus.definitions.shipped import shipped_definitions

ROOT = Path(__file__).resolve().parents[2]
FILE = json.loads((ROOT / "tests/cases/second-reading.json").read_text(encoding="utf-8"))
READINGS = {reading["seed"]: reading["waiters"] for reading in FILE["readings"]}


@pytest.mark.parametrize("seed", READINGS)
def test_every_verdict_is_of_a_curated_waiter_and_has_a_reason(seed):
    for row in READINGS[seed]:
        [found] = [d for d in shipped_definitions(row["service"]) if d.name == row["waiter"]]
        assert "curated" in found.tags
        assert row["reason"].endswith(".")
        fate = "Mended" in row["reason"] or "Left as it is" in row["reason"]
        assert fate == (row["verdict"] != "right")
