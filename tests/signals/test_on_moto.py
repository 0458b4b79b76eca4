"""Events of EventBridge and SNS in a queue of moto, received by the real thread."""

import json

import pytest
from botocore.config import Config

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import wait_for
from boto_waiters_plus.signals import SqsSignal

from .conftest import LONG, SOON, joined


def change(instance, state):
    return {"detail": {"instance-id": instance, "state": state}}


def arn_of(aws):
    attributes = aws.sqs.get_queue_attributes(QueueUrl=aws.url, AttributeNames=["QueueArn"])
    return attributes["Attributes"]["QueueArn"]


def by_queue(aws):
    return lambda event: aws.sqs.send_message(QueueUrl=aws.url, MessageBody=json.dumps(event))


def by_event_bridge(aws):
    events = aws.client("events")
    events.put_rule(Name="changes", EventPattern=json.dumps({"source": ["mine"]}))
    events.put_targets(Rule="changes", Targets=[{"Id": "queue", "Arn": arn_of(aws)}])

    def send(event):
        entry = {"Source": "mine", "DetailType": "change", "Detail": json.dumps(event["detail"])}
        events.put_events(Entries=[entry])

    return send


def by_sns(aws):
    sns = aws.client("sns")
    topic = sns.create_topic(Name="changes")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn_of(aws))
    return lambda event: sns.publish(TopicArn=topic, Message=json.dumps(event))


@pytest.mark.parametrize("way", [by_queue, by_event_bridge, by_sns])
def test_an_event_wakes_a_wait_that_polls_rarely(aws, way):
    ec2 = aws.client("ec2")
    instance = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)
    instance = instance["Instances"][0]["InstanceId"]
    ec2.stop_instances(InstanceIds=[instance])
    send, attempts = way(aws), []

    def start(**_):
        attempts.append(1)
        if len(attempts) == 1:
            starter = aws.client("ec2")
            starter.start_instances(InstanceIds=[instance])
            send(change("another", "running"))
            send(change(instance, "running"))

    ec2.meta.events.register("after-call.ec2.DescribeInstances", start)
    with SqsSignal(aws.url, client=aws.sqs, match="detail.state == 'running'") as running:
        own = running.matching(f"detail.\"instance-id\" == '{instance}'")
        options = {"max_wait": LONG, "min_delay": LONG - 1, "wake_signal": own}
        outcome = bwp.wait_until(ec2, "instance_running", InstanceIds=[instance], **options)
    assert outcome.observed == ["running"]
    assert outcome.attempts == len(attempts) == 2
    assert outcome.elapsed < SOON


def test_a_queue_resource_is_received_from(aws):
    queue = aws.resource("sqs", config=Config(read_timeout=1)).Queue(aws.url)
    by_queue(aws)({})
    wait_for(iter([False, True]).__next__, max_wait=LONG, signal=SqsSignal(queue), polling=False)
    joined(aws.receivers())
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    left = aws.sqs.get_queue_attributes(QueueUrl=aws.url, AttributeNames=names)["Attributes"]
    assert [left[name] for name in names] == ["0", "0"]


def test_without_the_queue_the_wait_polls(aws, caplog):
    aws.sqs.delete_queue(QueueUrl=aws.url)
    with SqsSignal(aws.url, client=aws.sqs) as signal:
        # Until the thread has its response, and has logged it.
        wait_for(lambda: caplog.messages, max_wait=LONG, interval=0.02, signal=signal)
    assert "QueueDoesNotExist" in str(type(signal.error)) + str(signal.error)
    # The name of the queue, without the account in its URL.
    assert caplog.messages[-1].startswith("sqs changes: ")
    assert aws.url not in caplog.messages[-1]
