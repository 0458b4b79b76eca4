"""The package as pip installs it from the wheel."""

import zipfile
from pathlib import Path

import pytest

import boto_waiters_plus

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(boto_waiters_plus.__file__).parent

pytestmark = pytest.mark.skipif(PACKAGE.parent == ROOT, reason="the checkout is imported")


def test_data_of_the_wheel_are_those_of_the_checkout():
    paths = sorted((ROOT / "data").glob("*.json"))
    with zipfile.ZipFile(PACKAGE / "data.zip") as data:
        assert sorted(data.namelist()) == [path.name for path in paths]
        for path in paths:
            assert data.read(path.name) == path.read_bytes(), path.name
