"""The examples of docs/signals.md run as they stand there, on moto."""

import json
import re
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

import boto_waiters_plus as bwp

GUIDE = Path(__file__).parents[2] / "docs" / "signals.md"
SOON = 30

pytestmark = pytest.mark.skipif(
    not GUIDE.exists(), reason="the documentation is not part of a wheel"
)


@pytest.fixture
def guide(aws, monkeypatch):
    """What the page defines. Its queue is asked by short polls, moto's long ones end late."""
    text = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    code = "\n".join(blocks)
    brief = 'boto3.client("sqs", config=brief)'
    assert code.count('boto3.client("sqs")') == 1
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    namespace = {"brief": Config(read_timeout=1)}
    try:
        exec(code.replace('boto3.client("sqs")', brief), namespace)
        yield namespace
    finally:
        bwp.uninstall()


def stopped_instances(aws, count):
    ec2 = aws.client("ec2")
    made = ec2.run_instances(ImageId="ami-12c6146b", MinCount=count, MaxCount=count)
    instances = [instance["InstanceId"] for instance in made["Instances"]]
    ec2.stop_instances(InstanceIds=instances)
    return instances


def put_change(aws, instance, state):
    """What EC2 itself tells EventBridge, which moto's does not."""
    entry = {
        "Source": "aws.ec2",
        "DetailType": "EC2 Instance State-change Notification",
        "Detail": json.dumps({"instance-id": instance, "state": state}),
    }
    aws.client("events").put_events(Entries=[entry])


def starting_behind_the_first_look(aws, guide, instances):
    """Let the instances run from their first look on, and say so."""
    missing = set(instances)

    def start(**_):
        for instance in [missing.pop() for _ in range(len(missing))]:
            aws.client("ec2").start_instances(InstanceIds=[instance])
            put_change(aws, instance, "running")

    guide["ec2"].meta.events.register("after-call.ec2.DescribeInstances", start)


def test_an_instance_is_seen_by_its_event(aws, guide):
    (instance,) = stopped_instances(aws, 1)
    # The example's start comes before its wait: here the instance takes its time.
    guide["ec2"].start_instances = lambda **_: None
    starting_behind_the_first_look(aws, guide, [instance])
    outcome = guide["start"](instance, guide["queue_url"])
    assert (outcome.attempts, outcome.observed) == (2, ["running"])
    assert outcome.elapsed < SOON


def test_each_of_many_is(aws, guide):
    instances = stopped_instances(aws, 3)
    starting_behind_the_first_look(aws, guide, instances)
    outcomes = guide["wait_for_each"](instances, guide["queue_url"])
    assert [outcome.observed for outcome in outcomes] == [["running"]] * 3
    assert all(outcome.elapsed < SOON for outcome in outcomes)


def test_a_stack_is_seen_by_its_topic(aws, guide):
    topic = aws.client("sns").create_topic(Name="stacks")["TopicArn"]
    signal = guide["watch_topic"](topic, guide["queue_url"])
    view = signal.subscribe()
    text = "StackId='...'\nResourceType='AWS::CloudFormation::Stack'\nResourceStatus='DONE'\n"
    aws.client("sns").publish(TopicArn=topic, Message=text)
    assert view.wait(SOON)
    view.unsubscribe()


def test_the_queue_lets_in_only_what_the_rule_sends(aws, guide):
    attributes = aws.sqs.get_queue_attributes(QueueUrl=guide["queue_url"], AttributeNames=["All"])
    found = attributes["Attributes"]
    assert found["MessageRetentionPeriod"] == "60"
    (statement,) = json.loads(found["Policy"])["Statement"]
    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    assert statement["Resource"] == found["QueueArn"]
    rule = aws.client("events").describe_rule(Name="instance-changes")
    assert statement["Condition"] == {"ArnEquals": {"aws:SourceArn": rule["Arn"]}}
