"""Makes `faults.server` and `faults.scenarios` importable, and gives the tests a certificate."""

import sys
from pathlib import Path

import pytest

FOLDER = str(Path(__file__).absolute().parents[1])
if FOLDER not in sys.path:
    sys.path.append(FOLDER)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    pytest.importorskip("cryptography")
    from faults.scenarios import Certificate  # noqa: PLC0415 - the path comes first

    return Certificate(tmp_path_factory.mktemp("certificate"))
