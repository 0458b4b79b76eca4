"""Compare waits that poll with waits that a signal wakes: how late they are, at how many calls.

    python bench/signals.py [--instances 10] [--first 15] [--last 25]

Runs against moto's server in this process (extra `demo`). Each way has the same number of
stopped EC2 instances and of waits for `InstanceRunning`, each in a thread; all ways run at the same
time. Between `--first` and `--last` seconds the instances are started one by one, at the same
moments in every way. moto sends no event when an instance changes, so the bench puts EC2's event
into EventBridge for the signalled way (`PutEvents`): a rule takes it to a queue, where one
`SqsSignal` serves all waits.

Printed for each way:

- calls a wait: DescribeInstances;
- late: from the answer to StartInstances until the wait came back, mean and worst, in seconds;
- queue: requests to SQS, for all waits of the way together.

The time that AWS takes from the change to the queue is not included.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import boto_waiters_plus as bwp
from boto_waiters_plus.cli.demo.server import MotoServer
from boto_waiters_plus.signals import EventSignal, SqsSignal

PATTERN = {"source": ["aws.ec2"], "detail-type": ["EC2 Instance State-change Notification"]}
MAX_WAIT = 300


@dataclass
class Way:
    """One way to wait, with what was counted and measured."""

    name: str
    options: dict[str, Any]
    signal: EventSignal | None = None
    calls: Counter[str] = field(default_factory=Counter)
    instances: list[str] = field(default_factory=list)
    running_since: dict[str, float] = field(default_factory=dict)
    seen: dict[str, float] = field(default_factory=dict)

    def wait(self, ec2: Any, instance: str) -> None:
        options = dict(self.options)
        if self.signal is not None:
            condition = f"detail.\"instance-id\" == '{instance}'"
            options["wake_signal"] = self.signal.matching(condition)
        bwp.wait_until(
            ec2, "instance_running", InstanceIds=[instance], max_wait=MAX_WAIT, **options
        )
        self.seen[instance] = time.monotonic()

    @property
    def late(self) -> list[float]:
        return [self.seen[i] - self.running_since[i] for i in self.instances]


def counted(client: Any, calls: Counter[str]) -> Any:
    """Return the client, whose calls are counted from now on."""
    service = client.meta.service_model.service_id.hyphenize()
    client.meta.events.register(
        f"before-call.{service}", lambda model, **_: calls.update([model.name])
    )
    return client


def make_queue(server: MotoServer) -> str:
    """Return the URL of a queue that gets the state changes."""
    sqs, events = server.client("sqs"), server.client("events")
    url: str = sqs.create_queue(QueueName="changes")["QueueUrl"]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    events.put_rule(Name="changes", EventPattern=json.dumps(PATTERN))
    targets = [{"Id": "queue", "Arn": found["Attributes"]["QueueArn"]}]
    events.put_targets(Rule="changes", Targets=targets)
    return url


def stopped_instances(ec2: Any, count: int) -> list[str]:
    made = ec2.run_instances(ImageId="ami-12c6146b", MinCount=count, MaxCount=count)
    instances = [instance["InstanceId"] for instance in made["Instances"]]
    ec2.stop_instances(InstanceIds=instances)
    return instances


def start(way: Way, index: int, ec2: Any, events: Any) -> None:
    """Start one instance of a way, and send the event that EC2 would send."""
    instance = way.instances[index]
    ec2.start_instances(InstanceIds=[instance])
    way.running_since[instance] = time.monotonic()
    if way.signal is None:
        return
    entry = {
        "Source": "aws.ec2",
        "DetailType": "EC2 Instance State-change Notification",
        "Detail": json.dumps({"instance-id": instance, "state": "running"}),
    }
    events.put_events(Entries=[entry])


def run(server: MotoServer, ways: list[Way], count: int, first: float, last: float) -> None:
    ec2, events = server.client("ec2"), server.client("events")
    threads = []
    for way in ways:
        way.instances = stopped_instances(ec2, count)
        client = counted(server.client("ec2"), way.calls)
        threads += [
            threading.Thread(target=way.wait, args=[client, instance], daemon=True)
            for instance in way.instances
        ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for index in range(count):
        due = began + first + (last - first) * index / max(1, count - 1)
        time.sleep(max(0.0, due - time.monotonic()))
        for way in ways:
            start(way, index, ec2, events)
    for thread in threads:
        thread.join(MAX_WAIT)


def report(ways: list[Way], of_queue: Counter[str]) -> None:
    head = "calls a wait | late: mean | worst | calls / late, of the default's | queue"
    print(f"| {len(ways[0].instances)} waits each | {head} |")
    print("|---" * 6 + "|")
    (default,) = (way for way in ways if not way.options)
    for way in ways:
        calls = way.calls["DescribeInstances"] / len(way.instances)
        ratio = way.calls["DescribeInstances"] / default.calls["DescribeInstances"]
        later = statistics.mean(way.late) / statistics.mean(default.late)
        queue = "" if way.signal is None else str(sum(of_queue.values()))
        print(
            f"| {way.name} | {calls:.1f} | {statistics.mean(way.late):.2f} s "
            f"| {max(way.late):.2f} s | {ratio:.2f} / {later:.3f} | {queue} |"
        )
        if way.signal is not None:
            # As other pages quote it.
            late = f"{statistics.mean(way.late):.2f} s late on average"
            print(f"\nWith a signal: {late}, with {calls:.1f} calls.")


def main() -> None:
    parser = argparse.ArgumentParser(description="Waits that poll and waits that a signal wakes.")
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--first", type=float, default=15)
    parser.add_argument("--last", type=float, default=25)
    given = parser.parse_args()
    os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"
    of_queue: Counter[str] = Counter()
    with MotoServer() as server:
        sqs = counted(server.client("sqs"), of_queue)
        signal = SqsSignal(make_queue(server), match="detail.state == 'running'", client=sqs)
        ways = [
            Way("polled every second", {"delay_pace": lambda _: 1.0}),
            Way("polled every 5 s", {"delay_pace": lambda _: 5.0}),
            Way("polled as by default (15 s and more)", {}),
            Way("signalled, polled every minute", {"delay_pace": lambda _: 60.0}, signal),
        ]
        run(server, ways, given.instances, given.first, given.last)
        signal.close()
    report(ways, of_queue)


if __name__ == "__main__":
    main()
