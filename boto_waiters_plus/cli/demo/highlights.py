"""The short demo: five things that botocore's own waiters cannot do, measured on moto's server."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Any

from botocore.config import Config

from ...exceptions import WaiterError
from ...hooks.waits import wait_until
from ...many import Wait, wait_all
from .comparison import CallCounter
from .server import HOST, REGION, MotoServer, isolated_session

HUNG_FOR = 2.0
"""The `max_wait` of the wait on a server that does not answer, in seconds."""

INSTANCES = 100

BUCKETS = 10
"""Buckets whose creation is detected, each by botocore and by this package."""

CREATED_BETWEEN = (5.0, 10.0)
"""Seconds: one of botocore's delays."""


@dataclass(frozen=True)
class Highlight:
    """One thing, as both do it.

    Attributes:
        title: what it is about.
        code: the line that does it.
        stock: what botocore alone did.
        ours: what this package did.
        as_expected: whether it did what it should.
    """

    title: str
    code: str
    stock: str
    ours: str
    as_expected: bool


def highlights(server: MotoServer) -> Iterator[Highlight]:
    """Run and yield the parts of the demo, each when it is over."""
    stop = threading.Event()
    try:
        # It takes longest, and needs nothing but time.
        detection = _Detection(server, stop)
        yield _hung_connection(stop)
        yield _failure(server)
        yield _missing_waiter(server)
        yield _many_waits(server, stop)
        yield detection.result()
    finally:
        stop.set()


def _hung_connection(stop: threading.Event) -> Highlight:
    with _silent_server() as port:
        waiter, client = _client(port).get_waiter("bucket_exists"), _client(port)
        stock = _Timed(lambda: waiter.wait(Bucket="b"))
        stock.start()
        ours = _Timed(lambda: wait_until(client, "BucketExists", max_wait=HUNG_FOR, Bucket="b"))
        ours.run()
        stop.wait(0.5)
        state = "has ended" if stock.seconds is not None else "still in its first call"
    return Highlight(
        "A connection that hangs: the server accepts it and never answers",
        's3.wait_until_bucket_exists(Bucket="b", max_wait=2)',
        f"{state} after {time.monotonic() - stock.started_at:.1f} s; botocore reads for 60 s, "
        "and then tries again",
        f"{type(ours.error).__name__} after {ours.seconds:.2f} s",
        isinstance(ours.error, TimeoutError) and abs((ours.seconds or 0) - HUNG_FOR) < 1,
    )


def _failure(server: MotoServer) -> Highlight:
    ec2 = server.client("ec2")
    ids = _instances(ec2, 2)
    ec2.terminate_instances(InstanceIds=ids[1:2])
    stock = _Timed(lambda: ec2.get_waiter("instance_running").wait(InstanceIds=ids))
    stock.run()
    ours = _Timed(lambda: wait_until(ec2, "InstanceRunning", max_wait=60, InstanceIds=ids))
    ours.run()
    return Highlight(
        f"A failure: one of two instances, {ids[1]}, is terminated",
        "ec2.wait_until_instance_running(InstanceIds=ids, max_wait=60)",
        str(stock.error),
        str(ours.error),
        isinstance(ours.error, WaiterError) and "shutdown" in str(ours.error),
    )


def _missing_waiter(server: MotoServer) -> Highlight:
    ec2 = server.client("ec2")
    gateway = ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
    name = "transit_gateway_available"
    stock = _Timed(lambda: ec2.get_waiter(name))
    stock.run()
    ours = _Timed(partial(wait_until, ec2, name, max_wait=60, TransitGatewayIds=[gateway]))
    ours.run()
    return Highlight(
        "A waiter that botocore lacks, one of hundreds: transit_gateway_available",
        "ec2.wait_until_transit_gateway_available(TransitGatewayIds=[id], max_wait=60)",
        f"{type(stock.error).__name__}: {stock.error}",
        f"{type(ours.value).__name__} after {ours.seconds:.1f} s: state {_observed(ours.value)}",
        ours.error is None,
    )


def _many_waits(server: MotoServer, stop: threading.Event) -> Highlight:
    stock_client, client = server.client("ec2"), server.client("ec2")
    ids = _instances(client, INSTANCES)
    stock_calls, calls = CallCounter(stock_client, stop), CallCounter(client, stop)
    waiter = stock_client.get_waiter("instance_running")
    stock = _Timed(lambda: [waiter.wait(InstanceIds=[each]) for each in ids])
    stock.run()
    waits = [Wait(client, "InstanceRunning", {"InstanceIds": [each]}) for each in ids]
    ours = _Timed(lambda: wait_all(waits, max_wait=60))
    ours.run()
    return Highlight(
        f"{INSTANCES} waits at once, each for one instance",
        'wait_all([Wait(ec2, "InstanceRunning", {...}), ...], max_wait=60)',
        f"{_calls(stock_calls.requests)}, one after the other: {stock.seconds:.2f} s",
        f"{len(ours.value or ())} outcomes, {_calls(calls.requests)}: {ours.seconds:.2f} s",
        ours.error is None and calls.requests <= INSTANCES / 10,
    )


class _Detection:
    """Buckets that are created while both wait for them."""

    def __init__(self, server: MotoServer, stop: threading.Event) -> None:
        self._s3 = server.client("s3")
        self._stop = stop
        low, high = CREATED_BETWEEN
        # Spread evenly, so that no botocore delay is met by luck.
        step = (high - low) / BUCKETS
        offset = random.uniform(0, step)  # noqa: S311 - no secret
        self._due = {f"bucket-{n}": low + offset + step * n for n in range(BUCKETS)}
        self._created: dict[str, float] = {}
        self._waits: dict[str, list[_Timed]] = {"stock": [], "ours": []}
        self._started_at = time.monotonic()
        for name in self._due:
            waiter = server.client("s3").get_waiter("bucket_exists")
            client = server.client("s3")
            self._waits["stock"].append(_Timed(partial(waiter.wait, Bucket=name)))
            wait = partial(wait_until, client, "BucketExists", max_wait=60, Bucket=name)
            self._waits["ours"].append(_Timed(wait))
        for timed in [*self._waits["stock"], *self._waits["ours"]]:
            timed.start()
        threading.Thread(target=self._create, daemon=True).start()

    def _create(self) -> None:
        for name, due in self._due.items():
            if self._stop.wait(max(0, self._waits["stock"][0].started_at + due - time.monotonic())):
                return
            self._s3.create_bucket(Bucket=name)
            self._created[name] = time.monotonic()

    def result(self) -> Highlight:
        """Wait for the ends, and return how late they were on average."""
        late = {}
        for way, waits in self._waits.items():
            ends = [timed.join() for timed in waits]
            late[way] = mean(
                max(0, end - created)
                for end, created in zip(ends, self._created.values(), strict=True)
            )
        errors = [timed.error for waits in self._waits.values() for timed in waits if timed.error]
        return Highlight(
            f"{BUCKETS} buckets created while they are waited for: how late is it noticed?",
            "s3.wait_until_bucket_exists(Bucket=name, max_wait=60)",
            f"{late['stock']:.1f} s late on average, at a fixed delay of 5 s",
            f"{late['ours']:.1f} s late on average, at jittered delays of 2 to 5 s",
            not errors,
        )


class _Timed:
    """A call with its duration and what it returned or raised."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._thread = threading.Thread(target=self.run, daemon=True)
        self.started_at = time.monotonic()
        self.value: Any = None
        self.error: Exception | None = None
        self.seconds: float | None = None

    def start(self) -> None:
        """Make the call in a thread that the end of the process does not wait for."""
        self._thread.start()

    def run(self) -> None:
        """Make the call."""
        self.started_at = time.monotonic()
        try:
            self.value = self._call()
        # The demo shows whatever is raised.
        except Exception as error:
            self.error = error
        self.seconds = time.monotonic() - self.started_at

    def join(self) -> float:
        """Wait for the thread; return when the call was over."""
        self._thread.join()
        return self.started_at + (self.seconds or 0)


def _instances(ec2: Any, number: int) -> list[str]:
    reservation = ec2.run_instances(ImageId="ami-12345678", MinCount=number, MaxCount=number)
    return [instance["InstanceId"] for instance in reservation["Instances"]]


def _calls(number: int) -> str:
    return "1 call" if number == 1 else f"{number} calls"


def _observed(outcome: Any) -> str:
    observed = getattr(outcome, "observed", None)
    return ", ".join(observed) if isinstance(observed, list) else str(observed)


def _client(port: int) -> Any:
    return isolated_session().create_client(
        "s3",
        region_name=REGION,
        endpoint_url=f"http://{HOST}:{port}",
        aws_access_key_id="demo",
        aws_secret_access_key="demo",  # noqa: S106 - nothing reads it
        config=Config(proxies={}),
    )


@contextmanager
def _silent_server() -> Iterator[int]:
    """A port on loopback that accepts connections and answers none."""
    with socket.create_server((HOST, 0)) as listening:
        yield listening.getsockname()[1]
