"""What the package costs a program beside boto3: import, clients, first waiter, one evaluation.

    python bench/costs.py [--processes 9]

Every number is CPU time and the median of several; what happens once in a process is measured in
processes of their own, with compiled bytecode. Each is held against what is promised, relative to
what boto3 or botocore take for their part in the same run:

- import: `import boto_waiters_plus` after `import boto3`; `install()` beside it, which imports
  wrapt;
- hook: what `install()` adds to `create_client`, as the handler's own time (the difference of two
  runs of `create_client` is smaller than their spread);
- first waiter of a session: the lookup of `client.wait_until_<name>` against the first
  `client.get_waiter(name)` without this package;
- evaluation: the acceptors on one answer against botocore's acceptors on the same; "judged" is
  all that is done with the answer, the facts of an error and what may be shown included.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).absolute().parents[1]
SETTINGS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "stub",
    "aws_secret_access_key": "stub",
}
WAITERS = {"s3": "bucket_exists", "dynamodb": "table_exists", "ec2": "instance_running"}
ROUND_SECONDS = 0.05


def cpu(action: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    began = time.process_time()
    action()
    return time.process_time() - began


def cpu_of_many(action: Callable[[], object]) -> float:
    """CPU seconds of a call that takes little: the median of rounds of many."""

    def round_of(count: int) -> float:
        return cpu(lambda: [action() for _ in range(count)])

    count = 1
    while round_of(count) < ROUND_SECONDS:
        count *= 2
    return statistics.median(round_of(count) for _ in range(5)) / count


# --- what happens once in a process -----------------------------------------------------------


def probe_import() -> dict[str, float]:
    """The imports are what is measured."""

    def boto() -> None:
        import boto3  # noqa: F401, PLC0415

    def ours() -> None:
        import boto_waiters_plus  # noqa: F401, PLC0415

    def install() -> None:
        import boto_waiters_plus as bwp  # noqa: PLC0415

        bwp.install()

    return {"boto3": cpu(boto), "ours": cpu(ours), "install": cpu(install)}


def probe_client() -> dict[str, float]:
    """`create_client`, and the hook's part of it, for the client with the most waiters."""
    import boto3  # noqa: PLC0415

    import boto_waiters_plus as bwp  # noqa: PLC0415

    bwp.install()
    session = boto3.session.Session(**SETTINGS)
    calls = []

    def seen(**event: Any) -> None:
        calls.append(event)

    session.events.register("creating-client-class.ec2", seen)
    session.client("ec2")
    creating = statistics.median(cpu(lambda: session.client("ec2")) for _ in range(9))
    (hook,) = (
        handler
        for handler in session._session._events._emitter._lookup_cache["creating-client-class.ec2"]  # noqa: SLF001 - nothing public lists handlers
        if "boto_waiters_plus" in getattr(handler, "__module__", "")
    )
    event = {**calls[0], "event_name": "creating-client-class.ec2"}

    def once() -> None:
        hook(**{**event, "class_attributes": {}, "base_classes": [object]})

    return {"create_client": creating, "hook": cpu_of_many(once)}


def probe_stock(service: str) -> dict[str, float]:
    """The first waiter of botocore."""
    import boto3  # noqa: PLC0415

    client = boto3.client(service, **SETTINGS)
    return {service: cpu(lambda: client.get_waiter(WAITERS[service]))}


def probe_first(service: str) -> dict[str, float]:
    """Our first waiter."""
    import boto3  # noqa: PLC0415

    import boto_waiters_plus as bwp  # noqa: PLC0415

    bwp.install()
    client = boto3.client(service, **SETTINGS)
    return {service: cpu(lambda: getattr(client, f"wait_until_{WAITERS[service]}"))}


def medians(probe: str, processes: int) -> dict[str, float]:
    """The probe's numbers over so many fresh processes, after one that is not counted."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "AWS_EC2_METADATA_DISABLED": "true"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "costs-bytecode")
    command = [sys.executable, __file__, "--probe", probe]
    runs = []
    for _ in range(processes + 1):
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)  # noqa: S603 - ourselves
        runs.append(json.loads(done.stdout))
    return {name: statistics.median(run[name] for run in runs[1:]) for name in runs[0]}


PROBES: dict[str, Callable[[], dict[str, float]]] = {
    "import": probe_import,
    "client": probe_client,
    **{f"stock {service}": (lambda service=service: probe_stock(service)) for service in WAITERS},
    **{f"first {service}": (lambda service=service: probe_first(service)) for service in WAITERS},
}


# --- one answer -------------------------------------------------------------------------------


def table() -> dict[str, Any]:
    return {
        "Table": {
            "TableName": "table",
            "TableStatus": "CREATING",
            "CreationDateTime": dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc),
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "ItemCount": 0,
        },
    }


def instances(count: int) -> dict[str, Any]:
    one = {
        "InstanceId": "i-0123456789abcdef0",
        "ImageId": "ami-0123456789abcdef0",
        "State": {"Code": 0, "Name": "pending"},
        "LaunchTime": dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc),
        "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeId": "vol-1"}}],
        "Tags": [{"Key": "Name", "Value": "web"}],
    }
    return {"Reservations": [{"ReservationId": "r-1", "Instances": [one]} for _ in range(count)]}


def stacks(count: int) -> dict[str, Any]:
    one = {"StackName": "stack", "StackStatus": "CREATE_IN_PROGRESS", "Parameters": []}
    return {"Stacks": [one for _ in range(count)]}


ANSWERS: list[tuple[str, str, str, dict[str, Any], float]] = [
    ("HeadBucket 404", "s3", "bucket_exists", {}, 1.5),
    ("DescribeTable", "dynamodb", "table_exists", table(), 5),
    ("DescribeInstances, 1", "ec2", "instance_running", instances(1), 10),
    ("DescribeInstances, 100", "ec2", "instance_running", instances(100), 10),
    ("DescribeStacks, 1", "cloudformation", "stack_create_complete", stacks(1), 10),
]


def evaluation(service: str, waiter: str, answer: dict[str, Any]) -> tuple[float, float, float]:
    """CPU seconds of botocore's acceptors, of ours, and of ours with all that is judged."""
    import boto3  # noqa: PLC0415
    from botocore.exceptions import ClientError  # noqa: PLC0415

    from boto_waiters_plus.aws.port import ClientPort  # noqa: PLC0415
    from boto_waiters_plus.hooks.methods import find_waiter  # noqa: PLC0415
    from boto_waiters_plus.settings import EMPTY  # noqa: PLC0415

    client = boto3.client(service, **SETTINGS)
    bound = find_waiter(client, waiter, lambda: EMPTY)
    port = ClientPort(client, bound, {})
    acceptors = client.get_waiter(waiter).config.acceptors
    response = {**answer, "ResponseMetadata": {"HTTPStatusCode": 200 if answer else 404}}
    if not answer:
        response["Error"] = {"Code": "404", "Message": "Not Found"}
    error = ClientError(response, bound.operation.name)

    def stock() -> object:
        return next((a.state for a in acceptors if a.matcher_func(response)), None)

    def ours() -> object:
        if not answer:
            return bound.matching.match_error(("404", "NotFound"), status=404)
        return bound.matching.match_response(bound.data_model.output(response), {})

    def judged() -> object:
        return port.responded(response) if answer else port.raised(error)

    return cpu_of_many(stock), cpu_of_many(ours), cpu_of_many(judged)


# --- the report -------------------------------------------------------------------------------


def line(name: str, peer: float, ours: float, share: str, *, kept: bool) -> None:
    """One promise: times in microseconds, and whether it is kept."""
    print(f"{name:34}{peer * 1e6:>11.1f}{ours * 1e6:>11.1f}  {share:26}{'ok' if kept else 'over'}")


def most(name: str, peer: float, ours: float, allowed: float) -> None:
    share = ours / peer
    line(name, peer, ours, f"{share:.2%}, at most {allowed:.1%}", kept=share <= allowed)


def least(name: str, peer: float, ours: float, promised: float) -> None:
    ratio = peer / ours
    line(name, peer, ours, f"{ratio:.1f}x less, at least {promised:g}x", kept=ratio >= promised)


def report(processes: int) -> None:
    print(f"{'CPU us':34}{'boto':>11}{'ours':>11}  promise")
    imports = medians("import", processes)
    most("import, after boto3", imports["boto3"], imports["ours"], 0.03)
    print(f"{'  install()':34}{'':11}{imports['install'] * 1e6:>11.1f}")
    clients = medians("client", max(1, processes // 3))
    most("hook of create_client, ec2", clients["create_client"], clients["hook"], 0.002)
    for service in WAITERS:
        stock = medians(f"stock {service}", processes)[service]
        least(
            f"first waiter of a session, {service}",
            stock,
            medians(f"first {service}", processes)[service],
            15,
        )
    for name, service, waiter, answer, promised in ANSWERS:
        stock, ours, judged = evaluation(service, waiter, answer)
        least(f"evaluation, {name}", stock, ours, promised)
        print(f"{'  judged':34}{'':11}{judged * 1e6:>11.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=9)
    parser.add_argument("--probe", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.probe:
        print(json.dumps(PROBES[arguments.probe]()))
    else:
        sys.path.insert(0, str(ROOT))
        report(arguments.processes)


if __name__ == "__main__":
    main()
