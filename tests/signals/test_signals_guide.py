"""The examples of docs/signals.md, run on moto as they are."""

import json
import re
from pathlib import Path

import pytest
from botocore.config import Config

GUIDE = Path(__file__).parents[2] / "docs" / "signals.md"
SOON = 30

pytestmark = pytest.mark.skipif(
    not GUIDE.exists(), reason="the documentation is not part of a wheel"
)


@pytest.fixture
def guide(aws):
    """What the page defines. Its client makes short polls, because moto's long ones end late."""
    text = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    code = "\n".join(blocks)
    brief = 'boto3.client("sqs", config=brief)'
    assert code.count('boto3.client("sqs")') == 1
    namespace = {"brief": Config(read_timeout=1)}
    exec(code.replace('boto3.client("sqs")', brief), namespace)
    return namespace


def stopped_instances(aws, count):
    ec2 = aws.client("ec2")
    made = ec2.run_instances(ImageId="ami-12c6146b", MinCount=count, MaxCount=count)
    instances = [instance["InstanceId"] for instance in made["Instances"]]
    ec2.stop_instances(InstanceIds=instances)
    return instances


def put_change(aws, instance, state):
    """Put the event that EC2 sends to EventBridge; moto's EC2 does not."""
    entry = {
        "Source": "aws.ec2",
        "DetailType": "EC2 Instance State-change Notification",
        "Detail": json.dumps({"instance-id": instance, "state": state}),
    }
    aws.client("events").put_events(Entries=[entry])


def starting_after_the_first_attempt(aws, guide, instances):
    """Start the instances after their first attempt, and put their events."""
    missing = set(instances)

    def start(**_):
        for instance in [missing.pop() for _ in range(len(missing))]:
            aws.client("ec2").start_instances(InstanceIds=[instance])
            put_change(aws, instance, "running")

    guide["ec2"].meta.events.register("after-call.ec2.DescribeInstances", start)


def test_an_instance_is_seen_by_its_event(aws, guide):
    (instance,) = stopped_instances(aws, 1)
    # Started after the first attempt, so that the event matters.
    guide["ec2"].start_instances = lambda **_: None
    starting_after_the_first_attempt(aws, guide, [instance])
    outcome = guide["start"](instance, guide["queue_url"])
    assert (outcome.attempts, outcome.observed) == (2, ["running"])
    assert outcome.elapsed < SOON


def test_each_of_many_is_seen_by_its_event(aws, guide):
    instances = stopped_instances(aws, 3)
    starting_after_the_first_attempt(aws, guide, instances)
    outcomes = guide["wait_for_each"](instances, guide["queue_url"])
    assert [outcome.observed for outcome in outcomes] == [["running"]] * 3
    assert all(outcome.elapsed < SOON for outcome in outcomes)
