"""The examples of docs/operations.md run unchanged; its tables name what exists."""

import re
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
