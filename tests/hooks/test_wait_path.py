"""The number of functions of the package that one warm wait enters."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "wait_path.py"
MOST = {"wait_until": 107, "get_waiter": 125, "wait_all": 210}


@pytest.mark.skipif(not TOOL.is_file(), reason="the tools are not beside the tests")
def test_a_wait_stays_on_the_short_path():
    command = [sys.executable, str(TOOL)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    counts = dict(line.split() for line in run.stdout.splitlines())
    assert counts.keys() == MOST.keys()
    assert {name: count for name, count in counts.items() if int(count) > MOST[name]} == {}
