"""The package as pip installs it from the wheel."""

import importlib.metadata
from pathlib import Path

import pytest

import boto_waiters_plus
from boto_waiters_plus.definitions.shipped import data_root

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(boto_waiters_plus.__file__).parent
BLOCK = 4096
"""What disks give a file at least, in bytes."""

pytestmark = pytest.mark.skipif(PACKAGE.parent == ROOT, reason="the checkout is imported")


def test_data_of_the_wheel_are_those_of_the_checkout():
    paths = sorted((ROOT / "data").glob("*.json"))
    assert sorted(each.name for each in data_root().iterdir()) == [path.name for path in paths]
    for path in paths:
        assert (data_root() / path.name).read_bytes() == path.read_bytes(), path.name


def test_installed_size_has_a_limit():
    """By `du`, byte code included: a Lambda function and a container pay for it."""
    files = [Path(each.locate()) for each in importlib.metadata.files("boto-waiters-plus")]
    assert any(path.suffix == ".pyc" for path in files)
    blocks = sum(-(-path.stat().st_size // BLOCK) for path in files if path.is_file())
    assert blocks * BLOCK / 2**20 < 8.6
