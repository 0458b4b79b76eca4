"""The short form of bench/operations_kill.py: workers are killed and frozen."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "operations_kill.py"

pytestmark = pytest.mark.skipif(not BENCH.exists(), reason="bench/ is not part of a wheel")


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_wait_ends_exactly_once(database, request):
    words = ["--rounds", "3", "--waits", "10"]
    if database == "postgresql":
        request.getfixturevalue("server")
        words.append("--postgresql")
    done = subprocess.run(
        [sys.executable, str(BENCH), *words], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
