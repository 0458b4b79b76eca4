"""The package as pip installs it from the wheel."""

from pathlib import Path

import pytest

import boto_waiters_plus
from boto_waiters_plus.definitions.shipped import data_root

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(boto_waiters_plus.__file__).parent

pytestmark = pytest.mark.skipif(PACKAGE.parent == ROOT, reason="the checkout is imported")


def test_data_of_the_wheel_are_those_of_the_checkout():
    paths = sorted((ROOT / "data").glob("*.json"))
    assert sorted(each.name for each in data_root().iterdir()) == [path.name for path in paths]
    for path in paths:
        assert (data_root() / path.name).read_bytes() == path.read_bytes(), path.name
