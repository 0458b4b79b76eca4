"""The short demo: five things that botocore's own waiters cannot do, measured on moto's server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from statistics import mean
from typing import Any

from ...exceptions import WaiterError
from ...hooks.waits import wait_until
from ...many import Wait, wait_all
from .comparison import WAYS, Comparison, Timed, beside, requests_of
from .scenarios import SCENARIOS
from .server import HOST, MotoServer

Highlight = tuple[str, str, str, str, bool]
"""A title, code, what botocore and this package do, and whether that is as expected."""


def show_highlights(server: MotoServer) -> bool:
    """Measure and print each highlight; return whether all ended as expected."""
    are_as_expected = True
    for title, code, stock, ours, is_as_expected in _highlights(server):
        print(f"\n{title}\n  {code}\n{beside('botocore', stock)}\n{beside('this package', ours)}")
        print(end="" if is_as_expected else "  NOT as expected\n", flush=True)
        are_as_expected &= is_as_expected
    print("\nboto-wait demo --all compares every kind of wait in three ways.")
    return are_as_expected


def _highlights(server: MotoServer) -> Iterator[Highlight]:
    # Spread evenly over one of botocore's delays, so that luck decides nothing.
    scenarios = [
        SCENARIOS[0]._replace(title=f"bucket {n}", change_between=(5 + n / 2, 5.5 + n / 2))
        for n in range(10)
    ]
    buckets = Comparison(server, scenarios)
    # It takes longest, and needs nothing but time.
    running = Timed(lambda: list(buckets.run()))
    running.start()
    yield _hung_connection(server)
    yield from (part(server.client("ec2")) for part in (_failure, _missing_waiter, _many_waits))
    running.join()
    late = {way: mean(each.late or 0 for each in buckets.waits if each.way == way) for way in WAYS}
    yield (
        "10 buckets created while they are waited for: how late is it noticed?",
        "s3.wait_until_bucket_exists(Bucket=name, max_wait=60)",
        f"{late['stock']:.1f} s late on average, at a fixed delay of 5 s",
        f"{late['wait_until']:.1f} s late on average, at jittered delays of 2 to 5 s",
        not any(wait.complaint for wait in buckets.waits),
    )


def _hung_connection(server: MotoServer) -> Highlight:
    # It accepts connections and answers none.
    with socket.create_server((HOST, 0)) as silent:
        client = server.client("s3", silent.getsockname()[1])
        stock = Timed(client.get_waiter("bucket_exists").wait, Bucket="b")
        stock.start()
        ours = _ended(wait_until, client, "BucketExists", max_wait=2, Bucket="b")
        state = "still in its first call" if stock.is_alive() else "has ended"
    return (
        "A connection that hangs: the server accepts it and never answers",
        's3.wait_until_bucket_exists(Bucket="b", max_wait=2)',
        f"{state} after {stock.seconds:.1f} s; botocore reads for 60 s, and then tries again",
        f"{ours.result} after {ours.seconds:.2f} s",
        isinstance(ours.outcome, TimeoutError) and abs(ours.seconds - 2) < 1,
    )


def _failure(ec2: Any) -> Highlight:
    ids = _instances(ec2, 2)
    ec2.terminate_instances(InstanceIds=ids[1:])
    stock = _ended(ec2.get_waiter("instance_running").wait, InstanceIds=ids)
    ours = _ended(wait_until, ec2, "InstanceRunning", max_wait=60, InstanceIds=ids)
    return (
        f"A failure: one of two instances, {ids[1]}, is terminated",
        "ec2.wait_until_instance_running(InstanceIds=ids, max_wait=60)",
        str(stock.outcome),
        str(ours.outcome),
        isinstance(ours.outcome, WaiterError) and "shutdown" in str(ours.outcome),
    )


def _missing_waiter(ec2: Any) -> Highlight:
    name = "transit_gateway_available"
    gateway = ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
    stock = _ended(ec2.get_waiter, name)
    ours = _ended(wait_until, ec2, name, max_wait=60, TransitGatewayIds=[gateway])
    states = [*getattr(ours.outcome, "observed", ())]
    return (
        f"A waiter that botocore lacks, one of hundreds: {name}",
        f"ec2.wait_until_{name}(TransitGatewayIds=[id], max_wait=60)",
        f"{stock.result}: {stock.outcome}",
        f"{ours.result} after {ours.seconds:.1f} s: state {', '.join(states)}",
        states == ["available"],
    )


def _many_waits(ec2: Any) -> Highlight:
    ids, waiter = _instances(ec2, 100), ec2.get_waiter("instance_running")
    stock_requests = requests_of(ec2)
    stock = _ended(lambda: [waiter.wait(InstanceIds=[each]) for each in ids])
    stock_calls, requests = len(stock_requests), requests_of(ec2)
    waits = [Wait(ec2, "InstanceRunning", {"InstanceIds": [each]}) for each in ids]
    outcomes: list[Any] = []
    ours = _ended(lambda: outcomes.extend(wait_all(waits, max_wait=60)))
    made = "1 call" if len(requests) == 1 else f"{len(requests)} calls"
    return (
        "100 waits at once, each for one instance",
        'wait_all([Wait(ec2, "InstanceRunning", {...}), ...], max_wait=60)',
        f"{stock_calls} calls, one after the other: {stock.seconds:.2f} s",
        f"{len(outcomes)} outcomes, {made}: {ours.seconds:.2f} s",
        len(outcomes) == len(ids) and len(requests) <= 10,
    )


def _ended(function: Any, *arguments: Any, **keywords: Any) -> Timed:
    timed = Timed(function, *arguments, **keywords)
    timed.run()
    return timed


def _instances(ec2: Any, number: int) -> list[str]:
    reservation = ec2.run_instances(ImageId="ami-12345678", MinCount=number, MaxCount=number)
    return [instance["InstanceId"] for instance in reservation["Instances"]]
