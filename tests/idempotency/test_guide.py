"""docs/idempotency.md: its examples run as printed, and its tests exist."""

import re
import shlex
from pathlib import Path

import pytest
from moto import mock_aws

from boto_waiters_plus import idempotency
from boto_waiters_plus.cli import main

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/idempotency.md"

pytestmark = pytest.mark.skipif(
    not GUIDE.is_file(), reason="the documentation is not part of a wheel"
)


def test_examples_run(stock_botocore, virtual_time, monkeypatch, capsys, tmp_path):
    pytest.importorskip("sqlalchemy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    text = GUIDE.read_text(encoding="utf-8")
    namespace = {}
    with mock_aws():
        for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            exec(compile(block, "idempotency.md", "exec"), namespace)
    assert capsys.readouterr().out.endswith(" 1 ['running']\n")
    assert namespace["call"].outcome.waiter == "InstanceExists"
    assert namespace["store"].open_calls() == []
    namespace["store"].close()


def test_command_runs(stock_botocore, virtual_time, monkeypatch, capsys):
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    [line] = re.findall(r"^boto-wait (once .*)$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    with mock_aws():
        assert main(shlex.split(line)) == 0
    assert "then InstanceRunning" in capsys.readouterr().out


def test_tests_of_the_table_exist():
    named = set(re.findall(r"`(test_\w+)`", GUIDE.read_text(encoding="utf-8")))
    code = "".join(each.read_text(encoding="utf-8") for each in Path(__file__).parent.glob("*.py"))
    assert named
    assert named <= set(re.findall(r"def (test_\w+)", code))


def test_every_public_name_is_described():
    text = GUIDE.read_text(encoding="utf-8")
    assert [name for name in idempotency.__all__ if f"{name}" not in text] == []
