"""`data/idempotency.json`: unmarked tokens, and what errors say."""

import json
from pathlib import Path

import botocore
from data_rules import check

from boto_waiters_plus.definitions.idempotency_traits import (
    ALREADY_EXISTS,
    DESCRIBED_BY,
    IN_PROGRESS,
    TOKEN,
    TOKEN_LIFETIME,
)
from boto_waiters_plus.definitions.shipped import WRITTEN_FOR
from boto_waiters_plus.validation import Severity

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "data/idempotency.json"
TEXT = FILE.read_text(encoding="utf-8")
SHAPES = json.loads(TEXT)["shapes"]
ALL_TRAITS = {TOKEN, TOKEN_LIFETIME, IN_PROGRESS, DESCRIBED_BY, ALREADY_EXISTS}


def test_the_checker_finds_nothing():
    events = check([FILE, ROOT / "data/effects.json", ROOT / "data/traits.json"])
    if botocore.__version__ == WRITTEN_FOR:
        assert events == []
    # An older botocore lacks operations, members and waiters.
    assert [event for event in events if event.severity > Severity.NOTE] == []


def test_every_shape_has_one_of_the_traits():
    for shape, each in SHAPES.items():
        assert each["type"] == "apply", shape
        assert each["traits"].keys() <= ALL_TRAITS
        assert all(each["traits"].values()), shape
