"""A clone with nothing beside it: what lies outside of it is skipped with a reason, or required."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    "conformance/test_public_waiters.py",
    "conformance/test_vectors.py",
    "check/test_conformance.py",
)


@pytest.fixture
def run_tests(tmp_path):
    """Run the tests on conformance data in a folder that has no such data beside it."""
    clone = tmp_path / "clone"
    for file in ("pyproject.toml", *(f"tests/{name}" for name in ("beside.py", *FILES))):
        (clone / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, clone / file)

    def run(required):
        environment = {**os.environ, "CONFORMANCE_REQUIRED": required, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
        command += [f"tests/{name}" for name in FILES]
        return subprocess.run(
            command, cwd=clone, env=environment, capture_output=True, text=True, check=False
        )

    return run


def test_missing_data_is_skipped_with_its_reason(run_tests):
    done = run_tests("")
    assert done.returncode == 0, done.stdout
    reports = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    assert all(any(file in report for report in reports) for file in FILES)
    assert all("beside the checkout" in report for report in reports)
    assert " passed" not in done.stdout


def test_missing_data_that_is_required_fails(run_tests):
    done = run_tests("1")
    assert done.returncode != 0
    assert all(f"ERROR tests/{file}" in done.stdout for file in FILES)
