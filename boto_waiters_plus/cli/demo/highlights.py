"""The demo: five differences from botocore's own waiters, measured on moto's server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from statistics import mean
from typing import Any

from ...exceptions import WaiterError
from ...many import Wait, wait_all
from ...service.waits import wait_until
from .server import HOST, MotoServer
from .timed_calls import BucketWait, Timed, beside, requests_of, run_all

Highlight = tuple[str, str, str, str, bool]
"""A title, code, what botocore and this package do, and whether that is as expected."""


def show_highlights(server: MotoServer) -> bool:
    """Measure and print each highlight; return whether all ended as expected."""
    are_as_expected = True
    for title, code, stock, ours, is_as_expected in _highlights(server):
        print(f"\n{title}\n  {code}\n{beside('botocore', stock)}\n{beside('this package', ours)}")
        print(end="" if is_as_expected else "  NOT as expected\n", flush=True)
        are_as_expected &= is_as_expected
    return are_as_expected


def _highlights(server: MotoServer) -> Iterator[Highlight]:
    # Spread evenly over one of botocore's delays, so that luck decides nothing.
    buckets = [
        BucketWait(server, f"{way}-{n}", stock=way == "stock", create_at=5.25 + n / 2)
        for n in range(10)
        for way in ("stock", "ours")
    ]
    # It takes longest, and needs nothing but time.
    running = Timed(run_all, buckets)
    running.start()
    yield _hung_connection(server)
    yield from (part(server.client("ec2")) for part in (_failure, _missing_waiter, _many_waits))
    running.join()
    stock, ours = (
        f"{mean(each.late for each in waits):.1f} s late and "
        f"{mean(len(each.requests) for each in waits):.1f} calls on average, at "
        for waits in ([w for w in buckets if w.stock], [w for w in buckets if not w.stock])
    )
    yield (
        "10 buckets created while they are waited for: how late is it noticed?",
        "s3.wait_until_bucket_exists(Bucket=name, max_wait=60)",
        f"{stock}a fixed delay of 5 s",
        f"{ours}jittered delays of 2 to 5 s",
        not any(isinstance(each.outcome, Exception) for each in (running, *buckets)),
    )


def _hung_connection(server: MotoServer) -> Highlight:
    # It accepts connections and answers none.
    with socket.create_server((HOST, 0)) as silent:
        port = silent.getsockname()[1]
        # A client for each, so that the calls of each are counted.
        stock_client, client = server.client("s3", port), server.client("s3", port)
        stock_requests, requests = requests_of(stock_client), requests_of(client)
        stock = Timed(stock_client.get_waiter("bucket_exists").wait, Bucket="b")
        stock.start()
        ours = _ended(wait_until, client, "BucketExists", max_wait=2, Bucket="b")
        state = "still waits for its answer" if stock.is_alive() else "has ended"
        stock_calls, calls = _calls(len(stock_requests)), _calls(len(requests))
    return (
        "A connection that hangs: the server accepts it and never answers",
        's3.wait_until_bucket_exists(Bucket="b", max_wait=2)',
        f"{stock_calls}: {state} after {stock.seconds:.1f} s; it reads for 60 s, then tries again",
        f"{calls}: {ours.result} after {ours.seconds:.2f} s",
        isinstance(ours.outcome, TimeoutError) and abs(ours.seconds - 2) < 1,
    )


def _failure(ec2: Any) -> Highlight:
    ids = _instances(ec2, 2)
    ec2.terminate_instances(InstanceIds=ids[1:])
    requests = requests_of(ec2)
    stock = _ended(ec2.get_waiter("instance_running").wait, InstanceIds=ids)
    stock_calls = len(requests)
    ours = _ended(wait_until, ec2, "InstanceRunning", max_wait=60, InstanceIds=ids)
    return (
        f"A failure: one of two instances, {ids[1]}, is terminated",
        "ec2.wait_until_instance_running(InstanceIds=ids, max_wait=60)",
        f"{_calls(stock_calls)}: {stock.outcome}",
        f"{_calls(len(requests) - stock_calls)}: {ours.outcome}",
        isinstance(ours.outcome, WaiterError) and "shutdown" in str(ours.outcome),
    )


def _missing_waiter(ec2: Any) -> Highlight:
    name = "transit_gateway_available"
    gateway = ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
    requests = requests_of(ec2)
    stock = _ended(ec2.get_waiter, name)
    stock_calls = _calls(len(requests))
    ours = _ended(wait_until, ec2, name, max_wait=60, TransitGatewayIds=[gateway])
    # botocore made none.
    calls = _calls(len(requests))
    states = [*getattr(ours.outcome, "observed", ())]
    return (
        f"A waiter that botocore lacks, one of hundreds: {name}",
        f"ec2.wait_until_{name}(TransitGatewayIds=[id], max_wait=60)",
        f"{stock_calls}: {stock.result}: {stock.outcome}",
        f"{calls}: {ours.result} after {ours.seconds:.1f} s: state {', '.join(states)}",
        states == ["available"],
    )


def _many_waits(ec2: Any) -> Highlight:
    ids, waiter = _instances(ec2, 100), ec2.get_waiter("instance_running")
    stock_requests = requests_of(ec2)
    together = _ended(waiter.wait, InstanceIds=ids)
    calls_together = len(stock_requests)
    each_alone = _ended(lambda: [waiter.wait(InstanceIds=[each]) for each in ids])
    calls_alone, requests = len(stock_requests) - calls_together, requests_of(ec2)
    waits = [Wait(ec2, "InstanceRunning", {"InstanceIds": [each]}) for each in ids]
    outcomes: list[Any] = []
    ours = _ended(lambda: outcomes.extend(wait_all(waits, max_wait=60)))
    in_one = f"one wait for all, one result: {_calls(calls_together)}, {together.seconds:.2f} s"
    apart = f"a wait for each: {_calls(calls_alone)}, {each_alone.seconds:.2f} s"
    shared = f"a wait for each, {len(outcomes)} outcomes: {_calls(len(requests))}"
    why = "a call asks for up to 100 instances, and each wait takes its part of the answer"
    return (
        "100 instances, and a result for each",
        'wait_all([Wait(ec2, "InstanceRunning", {...}), ...], max_wait=60)',
        f"{in_one}; {apart}",
        f"{shared}, {ours.seconds:.2f} s; {why}",
        len(outcomes) == len(ids) and len(requests) <= 10,
    )


def _calls(number: int) -> str:
    return "1 call" if number == 1 else f"{number} calls"


def _ended(function: Any, *arguments: Any, **keywords: Any) -> Timed:
    timed = Timed(function, *arguments, **keywords)
    timed.run()
    return timed


def _instances(ec2: Any, number: int) -> list[str]:
    reservation = ec2.run_instances(ImageId="ami-12345678", MinCount=number, MaxCount=number)
    return [instance["InstanceId"] for instance in reservation["Instances"]]
