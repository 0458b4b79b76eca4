"""The short form of bench/fleet.py: one of two workers is killed half-way."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "fleet.py"

pytestmark = [
    pytest.mark.timing,
    pytest.mark.skipif(not BENCH.exists(), reason="bench/ is not part of a wheel"),
]


def test_no_wait_is_lost():
    # In several rounds: with room for all, all would have ended before the kill.
    words = ["--stubbed", "--waits", "300", "--delay", "2", "--max-open", "50"]
    done = subprocess.run(
        [sys.executable, str(BENCH), *words], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
