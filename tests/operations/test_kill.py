"""The short form of bench/operations_kill.py: one round of each fault."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "operations_kill.py"

pytestmark = [
    pytest.mark.timing,
    pytest.mark.skipif(not BENCH.exists(), reason="bench/ is not part of a wheel"),
    pytest.mark.skipif(sys.platform != "linux", reason="limits of another process"),
]


@pytest.mark.parametrize(("database", "faults"), [("sqlite", 5), ("postgresql", 6)])
def test_every_wait_ends_exactly_once(database, faults, request):
    words = ["--rounds", str(faults), "--waits", "10"]
    if database == "postgresql":
        request.getfixturevalue("server")
        words.append("--postgresql")
    done = subprocess.run(
        [sys.executable, str(BENCH), *words], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stderr.count("round ") == faults
