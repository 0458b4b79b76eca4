"""The examples of docs/many.md run unchanged."""

import re
from pathlib import Path

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.definitions.coalescing_trait import shipped_coalescing

GUIDE = Path(__file__).parents[2] / "docs" / "many.md"

pytestmark = pytest.mark.skipif(
    not GUIDE.exists(), reason="the documentation is not part of a wheel"
)


def test_examples_of_the_guide_run(dynamodb, virtual_time, capsys):
    ec2 = boto3.client("ec2", region_name="us-east-1")
    dynamodb.create_table(
        TableName="orders",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    reply = ec2.run_instances(ImageId="ami-12345678", MinCount=3, MaxCount=3)
    *made, gone = [instance["InstanceId"] for instance in reply["Instances"]]
    ec2.terminate_instances(InstanceIds=[gone])
    names = {"ec2": ec2, "dynamodb": dynamodb, "instances": made, "gone": gone}
    text = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 6
    exec("\n".join(blocks), names)
    assert list(names["failed"]) == [2]
    assert isinstance(names["failed"][2], bwp.WaiterFailedError)
    assert names["rest"][2] is None
    assert all(isinstance(result, bwp.WaiterOutcome) for result in names["results"])
    assert len(names["ready"]) == 3
    assert "3 of 3 are over, 0 failed" in capsys.readouterr().out
    assert list(names["addresses"]) == made


def test_guide_counts_right():
    text = GUIDE.read_text(encoding="utf-8")
    operations, services = re.search(
        r"lists the operations, (\d+) of (\d+) services", text
    ).groups()
    shapes = shipped_coalescing()
    assert int(operations) == len(shapes)
    assert int(services) == len({shape.partition("#")[0] for shape in shapes})
