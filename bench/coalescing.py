"""Waits for many EC2 instances, with one call for up to a hundred and with a call each.

    python bench/coalescing.py [--waits 1000] [--rounds 3]

The transport is a stub that sleeps 20 ms and answers with 0.9 kB of XML for each instance in the
request; everything else (signing, endpoint rules, parsing) is botocore's own. All instances are
running in the last round. Printed for each way: calls, CPU and wall time of a round.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

import boto3
from botocore.awsrequest import AWSResponse
from botocore.config import Config

from boto_waiters_plus.many import Wait, wait_all

LATENCY = 0.02
DELAY = 2
SETTINGS: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "stub",
    "aws_secret_access_key": "stub",
    "config": Config(max_pool_connections=32),
}
TAGS = "".join(
    f"<item><key>tag-{number}</key><value>{'value' * 4}</value></item>" for number in range(8)
)


class Transport:
    """Answers DescribeInstances: pending until the last round."""

    def __init__(self, rounds: int) -> None:
        self.calls = 0
        self._rounds = rounds
        self._attempts: dict[str, int] = {}

    def body(self, request_body: bytes | str) -> bytes:
        text = request_body.decode() if isinstance(request_body, bytes) else request_body
        asked = [value for name, value in parse_qsl(text) if name.startswith("InstanceId")]
        self.calls += 1
        items = "".join(map(self._item, asked))
        return (
            "<DescribeInstancesResponse><reservationSet><item><instancesSet>"
            f"{items}</instancesSet></item></reservationSet></DescribeInstancesResponse>"
        ).encode()

    def _item(self, instance: str) -> str:
        attempts = self._attempts[instance] = self._attempts.get(instance, 0) + 1
        state = "running" if attempts >= self._rounds else "pending"
        return (
            f"<item><instanceId>{instance}</instanceId><instanceState><name>{state}</name>"
            f"</instanceState><tagSet>{TAGS}</tagSet></item>"
        )


class Raw:
    """The part of a urllib3 response that botocore reads."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        yield self._body


def run(waits: int, rounds: int, *, coalesce: bool) -> tuple[float, float, float]:
    transport = Transport(rounds)
    client: Any = boto3.client("ec2", **SETTINGS)

    def send(request: Any, **_: Any) -> AWSResponse:
        body = transport.body(request.body)
        time.sleep(LATENCY)
        return AWSResponse(request.url, 200, {}, Raw(body))

    client.meta.events.register("before-send.ec2", send)
    everything = [
        Wait(
            client,
            "instance_running",
            {"InstanceIds": [f"i-{number:017x}"]},
            max_wait=600,
            min_delay=DELAY,
            max_delay=DELAY,
        )
        for number in range(waits)
    ]
    began, cpu = time.monotonic(), time.process_time()
    outcomes = wait_all(everything, coalesce=coalesce)
    wall, cpu = time.monotonic() - began, time.process_time() - cpu
    assert all(outcome.attempts == rounds for outcome in outcomes)
    return transport.calls / rounds, cpu / rounds, (wall - DELAY * (rounds - 1)) / rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waits", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"| {arguments.waits:,} instances, a round | calls | CPU | wall |\n|---|---|---|---|")
    shared, single = (
        run(arguments.waits, arguments.rounds, coalesce=coalesce) for coalesce in (True, False)
    )
    for name, figures in (("one call for a hundred", shared), ("`coalesce=False`", single)):
        calls, cpu, wall = figures
        print(f"| {name} | {calls:,.0f} | {cpu:.2f} s | {wall:.2f} s |")
    ratios = [f"{one / other:.2f}" for one, other in zip(shared, single, strict=True)]
    print(f"| ratio | {' | '.join(ratios)} |")
    print(f"\nCalls: {shared[0]:,.0f} instead of {single[0]:,.0f}.")


if __name__ == "__main__":
    main()
