"""The short form of `bench/scale.py`: what it says, not how fast it was."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


def run(script, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(BENCH.parent)}
    done = subprocess.run(
        [sys.executable, str(BENCH / script), *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=150,
        env=environment,
    )
    return done.stdout


@pytest.fixture
def scale(monkeypatch):
    spec = importlib.util.spec_from_file_location("scale", BENCH / "scale.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "scale", module)
    spec.loader.exec_module(module)
    return module


def test_a_hundred_waits_are_measured_and_held_against_the_promises():
    lines = run("scale.py", "--waits", "100", "--delay", "1", "--only", "ours").splitlines()
    (threads,) = (line for line in lines if line.startswith("  threads "))
    assert threads.endswith("ok")
    assert len([line for line in lines if line.endswith(("ok", "over"))]) == 3


def test_a_missing_aiobotocore_is_said(scale, capsys, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    assert scale.measured(str(python), "aio", 10, 1) is None
    assert "left out: aiobotocore is not installed" in capsys.readouterr().out


def test_polls_that_are_due_together_are_counted(scale):
    dues = [0.0, 0.0, 1.0, 5.0]
    starts = [0.5, 2.0, 2.5, 5.0]
    assert scale.due_together(dues, starts) == [2, 2, 2, 1]


def test_a_promise_that_is_not_kept_is_called_over(scale, capsys):
    found = {
        "bare": 0.001,
        "cpu": 0.002,
        "share": 1.0,
        "threads": 41,
        "memory": 3999.0,
        "first": 15.1,
        "second": 0.01,
        "second_due": 10,
    }
    scale.judge(found, 10_000)
    verdicts = [line.split()[-1] for line in capsys.readouterr().out.splitlines() if "most" in line]
    assert verdicts == ["over", "ok", "over", "ok"]
