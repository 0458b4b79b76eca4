"""`call_once` beside plain repeated calls, over sockets that are cut at drawn points.

    python bench/call_once.py [--schedules 1000] [--first 0] [--outages]

A service on a loopback socket keeps tokens and instances in SQLite, in one transaction each. A
proxy in front of it drops a part of the request or of the reply, delivers requests late, or has the
answering process killed. Each schedule is run twice: by `call_once`, and by a script that calls
`run_instances` again until it is answered. The client makes two attempts a call under one token,
as the SDK does. Delays are virtual.

With `--outages`, the token lives five minutes and an outage up to fifteen; callers keep the call in
a store, are killed between two requests, and another process resumes the call. The script repeats
the call under one token.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.parsers import ResponseParserError

from boto_waiters_plus import idempotency
from boto_waiters_plus.testing import virtual_time

sys.path.insert(0, str(Path(__file__).absolute().parents[1] / "tests"))
from changes.cutting_proxy import CuttingProxy, schedule
from changes.dying_callers import run_plainly, run_schedule, virtual_machine

SDK_ATTEMPTS = 2
IMAGE = {"ImageId": "ami-1", "MinCount": 1, "MaxCount": 1}
KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}


def client_of(proxy: CuttingProxy) -> object:
    """A client of the service behind the proxy."""
    retries = {"total_max_attempts": SDK_ATTEMPTS, "mode": "standard"}
    config = Config(retries=retries, proxies={})
    return boto3.client("ec2", endpoint_url=proxy.url, config=config, **KEYS)


def once(client: Any) -> None:
    """Call as the package does."""
    idempotency.call_once(client.run_instances, max_wait=3600, **IMAGE)


def plainly(client: Any) -> None:
    """Call again until there is an answer."""
    while True:
        try:
            client.run_instances(**IMAGE)
        except (BotoCoreError, ClientError, HTTPClientError, ResponseParserError):  # noqa: PERF203 - as scripts do
            time.sleep(2)
        else:
            return


def instances(seeds: range) -> dict[str, Counter[int]]:
    """The number of schedules that ended with each number of instances."""
    counts: dict[str, Counter[int]] = {"call_once": Counter(), "plain calls": Counter()}
    with (
        tempfile.TemporaryDirectory() as folder,
        CuttingProxy(f"{folder}/service.db") as proxy,
        virtual_time(),
    ):
        client = client_of(proxy)
        for seed in seeds:
            for way, call in zip(counts, (once, plainly), strict=True):
                proxy.begin(schedule(seed, SDK_ATTEMPTS))
                call(client)
                assert len(proxy.tokens()) == len(proxy.instances()), f"seed {seed}: not atomic"
                counts[way][len(proxy.instances())] += 1
    return counts


def ends(seeds: range) -> dict[str, Counter[str]]:
    """The number of schedules with outages by the number of builds, and what is known of it."""
    counts: dict[str, Counter[str]] = {"call_once": Counter(), "one token": Counter()}
    with (
        tempfile.TemporaryDirectory() as folder,
        CuttingProxy(f"{folder}/service.db") as proxy,
        virtual_time() as clock,
        virtual_machine(clock),
    ):
        for seed in seeds:
            builds, is_known = run_schedule(seed, proxy, clock, folder)
            counts["call_once"][f"{builds} {'known' if is_known else 'outcome_unknown'}"] += 1
            counts["one token"][f"{run_plainly(seed, proxy, clock)} known"] += 1
    return counts


def table(head: str, counts: Mapping[str, Counter[Any]]) -> None:
    """Print how many schedules of each way ended how."""
    kinds = sorted(set().union(*counts.values()))
    print(f"| {head} | {' | '.join(map(str, kinds))} |")
    print("|---" * (len(kinds) + 1) + "|")
    for way, each in counts.items():
        print(f"| {way} | {' | '.join(f'{each[kind]:,}' for kind in kinds)} |")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--outages", action="store_true")
    arguments = parser.parse_args()
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    # As `KEYS`, for clients that other modules make.
    os.environ |= {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    os.environ["AWS_DEFAULT_REGION"] = KEYS["region_name"]
    began = time.perf_counter()
    seeds = range(arguments.first, arguments.first + arguments.schedules)
    if arguments.outages:
        table(f"{arguments.schedules:,} schedules with outages: builds", ends(seeds))
    else:
        table(f"{arguments.schedules:,} schedules: instances", instances(seeds))
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
