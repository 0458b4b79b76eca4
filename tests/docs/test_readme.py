"""The examples of README.md and docs/waiting.md run as printed."""

import json
import re
import shlex
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import main
from boto_waiters_plus.testing import virtual_time

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"

pytestmark = pytest.mark.skipif(
    not README.is_file(), reason="the documentation is not part of a wheel"
)


def blocks(page, language):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def aws(monkeypatch):
    """moto with what the examples wait for; `install` is undone."""
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    with mock_aws():
        boto3.client("s3").create_bucket(Bucket="my-bucket")
        boto3.client("dynamodb").create_table(
            TableName="orders",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield
    bwp.uninstall()


@pytest.fixture
def waiters(tmp_path, monkeypatch):
    """A folder `waiters` with one definition, in the current directory."""
    acceptors = [{"state": "success", "matcher": {"success": True}}]
    traits = {"smithy.waiters#waitable": {"QueueReady": {"acceptors": acceptors}}}
    shapes = {"com.amazonaws.sqs#GetQueueUrl": {"type": "apply", "traits": traits}}
    (tmp_path / "waiters").mkdir()
    (tmp_path / "waiters/sqs.json").write_text(json.dumps({"smithy": "2.0", "shapes": shapes}))
    monkeypatch.chdir(tmp_path)


def test_python_examples_of_the_readme_run(aws, capsys):
    namespace = {}
    with virtual_time():
        for block in blocks(README, "python"):
            exec(compile(block, "README.md", "exec"), namespace)
    assert [outcome.attempts for outcome in namespace["outcomes"]] == [1, 1, 1]
    assert namespace["buckets"][0]["Name"] == "my-bucket"
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("ResponseOutcome(waiter='BucketExists', label='s3 Bucket=")
    namespace["test_gives_up_after_five_minutes"]()


def test_commands_of_the_readme_run(waiters, capsys):
    [block] = [block for block in blocks(README, "console") if "boto-wait list" in block]
    for line in block.splitlines():
        assert main(shlex.split(line, comments=True)[1:]) == 0, line


def test_definitions_example_of_the_waiting_page_runs(aws, waiters):
    [block] = blocks(ROOT / "docs/waiting.md", "python")
    exec(block, {"bwp": bwp})
    assert hasattr(boto3.client("sqs"), "wait_until_queue_ready")


def test_waiting_page_describes_every_option():
    text = (ROOT / "docs/waiting.md").read_text(encoding="utf-8")
    described = re.findall(
        r"`(\w+)`", "".join(re.findall(r"^\| (`\w+`.*?) \|", text, re.MULTILINE))
    )
    assert set(bwp.WaitOptions.__dataclass_fields__) <= set(described)


@pytest.mark.parametrize(
    "page", [README, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_links_between_pages_lead_somewhere(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
