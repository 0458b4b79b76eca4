"""The examples of docs/operations.md run unchanged; its tables name what exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from boto_waiters_plus import operations

GUIDE = Path(__file__).parents[2] / "docs" / "operations.md"

pytestmark = pytest.mark.skipif(
    not GUIDE.exists(), reason="the documentation is not part of a wheel"
)


def test_examples_of_the_guide_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="orders")
        names = {"s3": s3}
        exec("\n".join(blocks), names)
    names["store"].close()
    assert "True 1 response" in capsys.readouterr().out


def test_the_commands_of_the_guide_run(tmp_path, endpoint):
    """A worker is killed, another goes on: as a user would type it."""
    for name, words in (("boto-wait", "-m boto_waiters_plus.cli"), ("python", "")):
        command = tmp_path / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        command.chmod(0o755)
    (block,) = re.findall(r"(?ms)^```console\n(.*?)^```", GUIDE.read_text("utf-8"))
    lines = [line.removeprefix("$ ") for line in block.splitlines()]
    script = "\n".join(line for line in lines if not line.startswith("pip"))
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    run = ["bash", "-c", f"set -e\n{script}\nwait $! || true"]
    where = {"cwd": tmp_path, "env": environment}
    done = subprocess.run(run, **where, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert '"kind": "response"' in done.stdout
    assert done.stderr.count("working on sqlite:///waits.db") == 2


def test_the_table_of_codes_is_complete():
    text = GUIDE.read_text(encoding="utf-8")
    table = text.split("| code | meaning |")[1].split("##")[0]
    codes = {code for row in table.splitlines() for code in re.findall(r"`(\w+)`", row[:150])}
    assert set(operations.CODES) <= codes


def test_the_tests_of_the_table_exist():
    text = GUIDE.read_text(encoding="utf-8").split("sentence by sentence")[1]
    files = Path(__file__).parent.glob("test_*.py")
    known = {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text())}
    named = set(re.findall(r"`(test_\w+)`", text))
    assert len(named) > 10
    assert named <= known
