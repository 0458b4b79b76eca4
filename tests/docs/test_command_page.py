"""The commands of docs/command.md run as printed."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import boto3
import pytest
from installed_models import IS_OLDER
from moto import mock_aws

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import COMMANDS, DEFAULT_COMMAND, main
from boto_waiters_plus.testing import virtual_time

PAGE = Path(__file__).resolve().parents[2] / "docs/command.md"

pytestmark = pytest.mark.skipif(
    not PAGE.is_file(), reason="the documentation is not part of a wheel"
)


def commands():
    text = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def resources():
    with mock_aws():
        boto3.client("s3").create_bucket(Bucket="my-bucket")
        for region, name in [
            ("us-east-1", "orders"),
            ("us-east-1", "customers"),
            ("eu-west-1", "orders"),
        ]:
            boto3.client("dynamodb", region_name=region).create_table(
                TableName=name,
                KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        ecs = boto3.client("ecs")
        ecs.create_cluster(clusterName="web")
        container = {"name": "main", "image": "x", "memory": 128}
        ecs.register_task_definition(family="api", containerDefinitions=[container])
        ecs.create_service(cluster="web", serviceName="api", taskDefinition="api", desiredCount=1)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The current directory of all commands, which is the home too."""
    path = tmp_path_factory.mktemp("command")
    (path / "tables.jsonl").write_text('{"TableName": "orders"}\n{"TableName": "customers"}\n')
    (path / "deploy.py").write_text(
        "import boto3\n"
        "boto3.client('s3').wait_until_bucket_exists(Bucket='my-bucket', max_wait=9)\n"
    )
    (path / ".config/fish/completions").mkdir(parents=True)
    return path


def in_process(words, folder):
    """Run a command with `< FILE` and `> FILE`; return its exit code."""
    with contextlib.ExitStack() as stack:
        while len(words) > 2 and words[-2] in "<>":
            *words, sign, name = words
            if sign == "<":
                stack.enter_context(pytest.MonkeyPatch.context()).setattr(
                    sys, "stdin", io.StringIO((folder / name).read_text())
                )
            else:
                file = stack.enter_context((folder / name).open("w"))
                stack.enter_context(contextlib.redirect_stdout(file))
        stack.enter_context(virtual_time())
        try:
            return main(words)
        except SystemExit as ended:
            return ended.code


@pytest.mark.parametrize("line", commands())
def test_command_runs(line, resources, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    name, *words = shlex.split(line, comments=True)
    if name != "boto-wait":
        pytest.importorskip("argcomplete")
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "HOME": str(folder)}
        subprocess.run(["bash", "-c", line], env=environment, check=True, timeout=60)
        return
    if IS_OLDER and ("draft" in words or "waiters.json" in words):
        pytest.skip("the installed botocore lacks the operation of the draft")
    if words == ["demo"]:
        pytest.skip("tests/cli/test_demo.py runs it")
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setattr(sys, "path", [*sys.path])
    try:
        assert in_process(words, folder) == 0, capsys.readouterr().err
    finally:
        bwp.uninstall()


def test_every_subcommand_is_described():
    text = PAGE.read_text(encoding="utf-8")
    described = {name for name in COMMANDS if f"boto-wait {name}" in text}
    assert described == COMMANDS.keys()
    assert DEFAULT_COMMAND in described
