"""`data/idempotency.json`: unmarked tokens, and the waiters that follow an operation."""

import collections
import json
from pathlib import Path

import botocore

from boto_waiters_plus.definitions.idempotency_traits import (
    ALREADY_EXISTS,
    DESCRIBED_BY,
    IN_PROGRESS,
    PRODUCES,
    TOKEN,
    TOKEN_LIFETIME,
)
from boto_waiters_plus.definitions.shipped import (
    WRITTEN_FOR,
    shipped_definitions,
    shipped_services,
)
from boto_waiters_plus.validation import Severity, check

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "data/idempotency.json"
TEXT = FILE.read_text(encoding="utf-8")
SHAPES = json.loads(TEXT)["shapes"]
ALL_TRAITS = {TOKEN, TOKEN_LIFETIME, PRODUCES, IN_PROGRESS, DESCRIBED_BY, ALREADY_EXISTS}


def test_the_checker_finds_nothing():
    events = check([FILE, ROOT / "data/traits.json"])
    if botocore.__version__ == WRITTEN_FOR:
        assert events == []
    # An older botocore lacks operations, members and waiters.
    assert [event for event in events if event.severity > Severity.NOTE] == []


def test_file_is_sorted_and_formatted():
    document = {**json.loads(TEXT), "shapes": dict(sorted(SHAPES.items()))}
    assert json.dumps(document, indent=2) + "\n" == TEXT


def test_services_with_most_waiters_have_followed_creations():
    counts = collections.Counter(
        {service: len(shipped_definitions(service)) for service in shipped_services()}
    )
    creating = collections.Counter(
        shape.partition("#")[0].rpartition(".")[2]
        for shape, each in SHAPES.items()
        if PRODUCES in each["traits"] and not shape.partition("#")[2].startswith("Delete")
    )
    for service, _ in counts.most_common(30):
        assert creating[service.replace("-", "")] >= 2, service


def test_every_shape_has_one_of_the_traits():
    for shape, each in SHAPES.items():
        assert each["type"] == "apply", shape
        assert each["traits"].keys() <= ALL_TRAITS
        assert all(each["traits"].values()), shape


def test_no_wait_is_for_the_first_of_several_given_resources():
    """A waiter of one resource cannot follow a call on a list of them."""
    paths = {
        (shape, waiter): list(paths.values())
        for shape, each in SHAPES.items()
        for waiter, paths in each["traits"].get(PRODUCES, {}).items()
    }
    assert [
        at for at, each in paths.items() if any("input." in p and "[0]" in p for p in each)
    ] == []
