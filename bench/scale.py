"""Ten thousand waits in one process: ours, botocore's in threads, aiobotocore's in one loop.

    python bench/scale.py [--short] [--waits 10000] [--delay 30] [--only ours,threads,aio]

Each way runs in a process of its own, one after the other. Every wait is a DynamoDB `TableExists`
that sees CREATING at its first attempt and ACTIVE at its second, `--delay` seconds later. The
transport is a stub that sleeps 20 ms and answers with 0.7 kB of JSON; everything else (signing,
endpoint rules, parsing) is botocore's own. aiobotocore is left out if it is not installed. Its stub
holds no request back, as a pool of connections would.

Printed for each way:

- threads: the largest number of threads at a time;
- kB a wait: growth of the resident memory while all waits are running, over the same process with
  its client made and used. The last response of each wait is in it. `--delay` must be long enough
  for all first attempts;
- CPU us a call: CPU time of the process, from the start to the end of all waits, per call;
- late p99 s: how late requests reached the transport, at the 99th percentile, for the first
  attempts (all due at the start) and the second ones (`--delay` after the answer).

`wait_all` is then checked against its promises. It may be late by 1.5 x polls due at that instant x
CPU of one poll. All first attempts are due at once. For second attempts, count the polls that are
due and not begun when one is due, itself included; the 99th percentile of that number counts. CPU
of one poll is the lesser of two: that of a loop of bare calls in one thread of the same process,
and that of the run. Lateness is wall time and includes what other work on the machine takes, so
the share of a core that the process got in its busiest time is printed too.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import boto3
from botocore.awsrequest import AWSResponse
from botocore.config import Config

from boto_waiters_plus.many import Wait, wait_all

if TYPE_CHECKING:
    from typing_extensions import Self

LATENCY = 0.02
CONNECTIONS = 32
SETTINGS: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "stub",
    "aws_secret_access_key": "stub",
    "config": Config(max_pool_connections=CONNECTIONS),
}
BARE_CALLS = 300

PROMISED_AT = 10_000
MOST_THREADS = 40
MOST_MEMORY = 6_000
"""Bytes a wait: 10,000 waits take at most 60 MB."""

MOST_LATENESS = 1.5
"""As a multiple of the CPU time of the polls that are due together."""

ATTRIBUTES = [{"AttributeName": name, "AttributeType": "S"} for name in ("id", "sort", "owner")]


class Moment(NamedTuple):
    """A point in time, and the CPU used by then."""

    time: float
    cpu: float


def moment() -> Moment:
    return Moment(time.monotonic(), time.process_time())


class Transport:
    """Answers DescribeTable: CREATING to the first call for a table, ACTIVE to later ones."""

    def __init__(self, waits: int) -> None:
        self.began = array("d", [0.0]) * (2 * waits)
        self.attempts = bytearray(waits)
        self.calls = 0
        self.busiest_until = Moment(0, 0)
        """When the number of calls reached the number of waits."""

    def body(self, request_body: bytes) -> bytes:
        name = json.loads(request_body)["TableName"]
        status = "ACTIVE"
        if name != "bare":
            index = int(name.removeprefix("table-"))
            attempt = self.attempts[index]
            self.attempts[index] = attempt + 1
            self.began[2 * index + min(attempt, 1)] = time.monotonic()
            status = "ACTIVE" if attempt else "CREATING"
        self.calls += 1
        if self.calls == len(self.attempts):
            self.busiest_until = moment()
        return json.dumps(answer(name, status)).encode()


def answer(name: str, status: str) -> dict[str, object]:
    arn = f"arn:aws:dynamodb:us-east-1:123456789012:table/{name}"
    return {
        "Table": {
            "AttributeDefinitions": ATTRIBUTES,
            "TableName": name,
            "KeySchema": [
                {"AttributeName": "id", "KeyType": "HASH"},
                {"AttributeName": "sort", "KeyType": "RANGE"},
            ],
            "TableStatus": status,
            "CreationDateTime": 1700000000.0,
            "ProvisionedThroughput": {
                "NumberOfDecreasesToday": 0,
                "ReadCapacityUnits": 5,
                "WriteCapacityUnits": 5,
            },
            "TableSizeBytes": 0,
            "ItemCount": 0,
            "TableArn": arn,
            "TableId": "11111111-2222-3333-4444-555555555555",
            "DeletionProtectionEnabled": False,
        }
    }


class Raw:
    """The part of a urllib3 response that botocore reads."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        yield self._body


HEADERS = {
    "content-type": "application/x-amz-json-1.0",
    "x-amzn-RequestId": "0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123",
    "server": "Server",
    "date": "Tue, 14 Nov 2023 22:13:20 GMT",
    "connection": "keep-alive",
}


def blocking_client(transport: Transport) -> Any:
    client = boto3.client("dynamodb", **SETTINGS)

    def send(request: Any, **_: Any) -> AWSResponse:
        body = transport.body(request.body)
        time.sleep(LATENCY)
        return AWSResponse(request.url, 200, HEADERS, Raw(body))

    client.meta.events.register("before-send.dynamodb", send)
    return client


def resident() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Samples threads, and memory until a wait has ended: outcomes are not counted."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.threads = 0
        self.memory = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        gc.collect()
        self.before = resident()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0.25):
            # Without the thread that samples.
            self.threads = max(self.threads, threading.active_count() - 1)
            if self._transport.calls <= len(self._transport.attempts):
                self.memory = max(self.memory, resident())


def bare_call_cpu(client: Any) -> float:
    """Return the CPU seconds of one call in a single thread."""
    for _ in range(20):
        client.describe_table(TableName="bare")
    began = time.process_time()
    for _ in range(BARE_CALLS):
        client.describe_table(TableName="bare")
    return (time.process_time() - began) / BARE_CALLS


def run_ours(waits: int, delay: float) -> dict[str, float]:
    transport = Transport(waits)
    client = blocking_client(transport)
    bare = bare_call_cpu(client)
    wait_all([Wait(client, "table_exists", {"TableName": "bare"}, max_wait=10)])
    transport.calls = 0
    with Watch(transport) as watch:
        everything = [
            Wait(
                client,
                "table_exists",
                {"TableName": f"table-{index}"},
                max_wait=20 * delay,
                min_delay=delay,
                max_delay=delay,
            )
            for index in range(waits)
        ]
        began = moment()
        outcomes = wait_all(everything)
        ended = moment()
    assert all(outcome.attempts == 2 for outcome in outcomes)
    return {**facts(transport, watch, waits, delay, began, ended), "bare": bare}


def run_threads(waits: int, delay: float) -> dict[str, float]:
    transport = Transport(waits)
    client = blocking_client(transport)
    client.get_waiter("table_exists").wait(TableName="bare")
    transport.calls = 0
    threading.stack_size(256 * 1024)

    def wait(index: int) -> None:
        waiter = client.get_waiter("table_exists")
        waiter.wait(TableName=f"table-{index}", WaiterConfig={"Delay": delay, "MaxAttempts": 20})

    with Watch(transport) as watch:
        began = moment()
        with ThreadPoolExecutor(waits) as pool:
            list(pool.map(wait, range(waits)))
        ended = moment()
    return facts(transport, watch, waits, delay, began, ended)


def run_aio(waits: int, delay: float) -> dict[str, float]:
    return asyncio.run(aio(waits, delay))


async def aio(waits: int, delay: float) -> dict[str, float]:
    # Only in the process that measures it, where it is installed.
    from aiobotocore.awsrequest import AioAWSResponse  # noqa: PLC0415
    from aiobotocore.session import get_session  # noqa: PLC0415

    class AsyncRaw(Raw):
        async def read(self, *_: Any, **__: Any) -> bytes:
            return self._body

    transport = Transport(waits)

    async def send(request: Any, **_: Any) -> AioAWSResponse:
        body = transport.body(request.body)
        await asyncio.sleep(LATENCY)
        return AioAWSResponse(request.url, 200, HEADERS, AsyncRaw(body))

    session = get_session()
    async with session.create_client("dynamodb", **SETTINGS) as client:
        client.meta.events.register("before-send.dynamodb", send)
        await client.get_waiter("table_exists").wait(TableName="bare")
        transport.calls = 0

        async def wait(index: int) -> None:
            waiter = client.get_waiter("table_exists")
            config = {"Delay": delay, "MaxAttempts": 20}
            await waiter.wait(TableName=f"table-{index}", WaiterConfig=config)

        with Watch(transport) as watch:
            began = moment()
            await asyncio.gather(*(wait(index) for index in range(waits)))
            ended = moment()
        return facts(transport, watch, waits, delay, began, ended)


def facts(
    transport: Transport,
    watch: Watch,
    waits: int,
    delay: float,
    began: Moment,
    ended: Moment,
) -> dict[str, float]:
    busy = transport.busiest_until
    starts = [transport.began[2 * index] for index in range(waits)]
    seconds = [transport.began[2 * index + 1] for index in range(waits)]
    # Only the latency is subtracted: the time that a way takes to parse, judge and plan before the
    # delay begins counts as lateness.
    dues = [start + LATENCY + delay for start in starts]
    return {
        "threads": watch.threads,
        "memory": (watch.memory - watch.before) / waits,
        "cpu": (ended.cpu - began.cpu) / transport.calls,
        "wall": ended.time - began.time,
        "first": p99([start - began.time for start in starts]),
        "second": p99([second - due for second, due in zip(seconds, dues, strict=True)]),
        "second_due": p99(due_together(dues, seconds)),
        "calls": transport.calls,
        "share": (busy.cpu - began.cpu) / (busy.time - began.time),
    }


def due_together(dues: list[float], starts: list[float]) -> list[int]:
    """Return for each poll the number of polls that are due and not begun when it is due."""
    in_order, begun = sorted(dues), sorted(starts)
    return [bisect_right(in_order, due) - bisect_left(begun, due) for due in dues]


def p99(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


WAYS = {"ours": run_ours, "threads": run_threads, "aio": run_aio}
NAMES = {
    "ours": "`wait_all`",
    "threads": "botocore waiters, a thread each",
    "aio": "aiobotocore `AIOWaiter`, one loop",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waits", type=int, default=10_000)
    parser.add_argument("--delay", type=float, default=30)
    parser.add_argument("--short", action="store_true", help="1,000 waits, 6 s apart")
    parser.add_argument("--only", default="ours,threads,aio")
    parser.add_argument("--python-of-aio", default=sys.executable, help="one with aiobotocore")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.short:
        arguments.waits, arguments.delay = 1_000, 6
    if arguments.one:
        print(json.dumps(WAYS[arguments.one](arguments.waits, arguments.delay)))
        return
    found, aio = {}, versions_of_aio(arguments.python_of_aio)
    for way in arguments.only.split(","):
        python = arguments.python_of_aio if way == "aio" else sys.executable
        if way != "aio" or aio:
            found[way] = measured(python, way, arguments.waits, arguments.delay)
    show(found, f"{arguments.waits:,} waits, two attempts {arguments.delay:g} s apart")
    if "aio" in arguments.only:
        print(f"\n{aio or 'aiobotocore: left out, not installed.'}")
    if "ours" in found:
        judge(found["ours"], arguments.waits)


def measured(python: str, way: str, waits: int, delay: float) -> dict[str, float]:
    command = [python, __file__, "--one", way, "--waits", str(waits), "--delay", str(delay)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ourselves
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


VERSIONS = """if True:
    import aiobotocore, botocore, platform
    ours = f"aiobotocore {aiobotocore.__version__}, botocore {botocore.__version__}"
    print(f"{ours}, CPython {platform.python_version()}: the row of aiobotocore.")
"""


def versions_of_aio(python: str) -> str:
    """Return what aiobotocore runs on; nothing where it is not installed."""
    command = [python, "-c", VERSIONS]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - ourselves
    return done.stdout.strip()


def show(found: dict[str, dict[str, float]], head: str) -> None:
    """Print a row for each way, and those of `wait_all` to the others."""
    columns = {
        "threads": (1, 0),
        "memory": (1e-3, 1),
        "cpu": (1e6, 0),
        "wall": (1, 1),
        "first": (1, 2),
        "second": (1, 2),
    }
    names = "threads | kB a wait | CPU us a call | wall s | late p99 s: first attempts | second"
    print(f"| {head} | {names} |\n" + "|---" * 7 + "|")
    for way, figures in found.items():
        cells = [f"{figures[name] * unit:,.{places}f}" for name, (unit, places) in columns.items()]
        print(f"| {NAMES[way]} | {' | '.join(cells)} |")
    for way in list(found)[1:] if "ours" in found else ():
        ratios = [f"{found['ours'][name] / found[way][name]:.2f}" for name in columns]
        print(f"| {NAMES['ours']}, of {NAMES[way]} | {' | '.join(ratios)} |")


def judge(found: dict[str, float], waits: int) -> None:
    """Compare the figures with the promises."""
    of_poll = min(found["bare"], found["cpu"])
    print(
        f"\nCPU of one poll: {found['bare'] * 1e6:.0f} us bare, "
        f"{found['cpu'] * 1e6:.0f} us in the run, of which the lesser counts; "
        f"{found['share']:.2f} of a core during the first attempts.\n"
    )
    promises = [("threads", "", found["threads"], MOST_THREADS)]
    if waits >= PROMISED_AT:
        promises.append(("kB a wait", "", found["memory"] / 1000, MOST_MEMORY / 1000))
        # As other pages quote it.
        print(f"{found['threads']:.0f} threads and {found['memory'] / 1000:.1f} kB each.\n")
    for name, due in (("first", waits), ("second", found["second_due"])):
        allowed = MOST_LATENESS * due * of_poll
        note = f", {due:,.0f} due"
        promises.append((f"late p99 s, {name} attempts", note, found[name], allowed))
    print(f"| `wait_all`, {waits:,} waits | measured | promise | |\n|---|---|---|---|")
    for name, note, value, most in promises:
        verdict = "ok" if value <= most else "over"
        print(f"| {name}{note} | {value:.3g} | at most {most:.3g} | {verdict} |")


if __name__ == "__main__":
    main()
