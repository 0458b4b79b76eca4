"""The examples of docs/definitions.md."""

import io
import json
import re
import zipfile
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

import boto_waiters_plus as bwp
from boto_waiters_plus.definitions.files import load_layers
from boto_waiters_plus.testing import virtual_time
from boto_waiters_plus.validation import check

PAGE = Path(__file__).parents[2] / "docs" / "definitions.md"
EXAMPLES = [
    text
    for text in re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    if text.startswith("{")
]


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_load_and_pass_the_check(text):
    document = json.loads(text)
    assert load_layers(document)
    service = None if "smithy" in document else "sqs"
    assert [event for event in check(document, service) if event.severity.name != "NOTE"] == []


def test_the_idl_example_is_the_first_json_example():
    pytest.importorskip("lark")
    from boto_waiters_plus.definitions.idl import parse_idl  # noqa: PLC0415 - needs lark

    [text] = re.findall(r"```\n(\$version.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert bwp.load_definitions(parse_idl(text, source="a")) == bwp.load_definitions(
        json.loads(EXAMPLES[0])
    )


@pytest.fixture
def resources(tmp_path, monkeypatch):
    """The file and the resources that the examples wait for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queue.json").write_text(EXAMPLES[0], encoding="utf-8")
    with mock_aws():
        boto3.client("sqs").create_queue(QueueName="orders")
        tags = [{"Key": "app", "Value": "shop"}, {"Key": "version", "Value": "2.1"}]
        boto3.client("ec2").run_instances(
            ImageId="ami-12345678",
            MinCount=3,
            MaxCount=3,
            TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
        )
        make_alias(version="1")
        yield


def make_alias(version):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as code:
        code.writestr("main.py", "")
    role = boto3.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="{}")
    client = boto3.client("lambda")
    client.create_function(
        FunctionName="orders",
        Role=role["Role"]["Arn"],
        Handler="main.run",
        Runtime="python3.12",
        Code={"ZipFile": archive.getvalue()},
        Publish=True,
    )
    client.create_alias(FunctionName="orders", Name="live", FunctionVersion=version)


def test_python_examples_run(resources, capsys):
    text = PAGE.read_text(encoding="utf-8")
    namespace = {}
    with virtual_time():
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(block, PAGE.name, "exec"), namespace)
    assert capsys.readouterr().out == "1\n"


@pytest.mark.parametrize("call", ['instances_running(4, "app", "shop")', 'tagged_version("3")'])
def test_examples_with_other_values_wait(resources, call):
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    namespace = {"WaiterDefinition": bwp.WaiterDefinition, "boto3": boto3}
    functions = [
        block[block.index("def ") : block.index("\n\n\n")] for block in blocks if "def " in block
    ]
    exec("\n\n".join(functions), namespace)
    with virtual_time(), pytest.raises(bwp.WaiterTimeoutError):
        bwp.wait_until(boto3.client("ec2"), eval(call, namespace), max_wait=10)
