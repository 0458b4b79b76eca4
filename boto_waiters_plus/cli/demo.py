"""The demo: five differences from botocore's own waiters, measured on moto's server."""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import socket
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import mean
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from ..common.errors import missing_extra
from ..engine.redaction import printable
from ..exceptions import WaiterError
from ..many import Wait, wait_all
from ..service.waits import wait_until
from .exit_codes import FAILED, SUCCEEDED, CannotRunError
from .output import counted

# --- moto's server in threads of this process, and clients for it --------------------------------

HOST = "127.0.0.1"


class MotoServer:
    """A running moto server, as a context manager, and clients for it.

    Neither reads the user's AWS configuration: the process loses its variables for good.

    Raises:
        CannotRunError: on entering, if moto is not installed.
    """

    def __enter__(self) -> MotoServer:  # noqa: PYI034 - nothing inherits from it
        for name in [name for name in os.environ if name.upper().startswith("AWS_")]:
            del os.environ[name]
        os.environ |= dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), os.devnull)
        # moto would read a thousand machine images first.
        os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"
        try:
            # moto is an extra, and slow to import.
            from moto.server import ThreadedMotoServer  # noqa: PLC0415
        except ImportError as error:
            raise CannotRunError(missing_extra("the demo", "demo", error)) from error
        # werkzeug logs every request.
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
        self._server.start()
        self._session = Session()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def client(self, service: str, port: int | None = None) -> Any:
        """Return a new client for the server, or for what else listens on a port."""
        port = port or self._server.get_host_and_port()[1]
        return self._session.create_client(
            service,
            region_name="us-east-1",
            endpoint_url=f"http://{HOST}:{port}",
            aws_access_key_id="demo",
            aws_secret_access_key="demo",  # noqa: S106 - moto accepts any
            # Proxies in the environment may apply to loopback too.
            config=Config(proxies={}),
        )


# --- calls of the demo: timed, each in a thread, with the requests that they make ----------------


def requests_of(client: Any) -> list[Any]:
    """Return a list to which every later HTTP request of the client is added."""
    requests: list[Any] = []
    client.meta.events.register("request-created", lambda request, **_: requests.append(request))
    return requests


class Timed(threading.Thread):
    """A call with its duration and its end, in a thread that the process does not wait for."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
        super().__init__(daemon=True)
        self._call = partial(function, *arguments, **keywords)
        self._started_at = time.monotonic()
        self._ended_at: float | None = None
        self.outcome: Any = None
        """What was returned or raised."""

    def run(self) -> None:
        """Make the call, in the calling thread."""
        self._started_at = time.monotonic()
        try:
            self.outcome = self._call()
        # The demo shows whatever is raised.
        except Exception as error:
            self.outcome = error
        self._ended_at = time.monotonic()

    @property
    def end(self) -> float:
        """When the call ended, or now."""
        return time.monotonic() if self._ended_at is None else self._ended_at

    @property
    def seconds(self) -> float:
        """The seconds that the call took, or has taken so far."""
        return self.end - self._started_at

    @property
    def result(self) -> str:
        """The class of what was returned or raised."""
        return "returned None" if self.outcome is None else type(self.outcome).__name__


class BucketWait(Timed):
    """A wait for a bucket that is created meanwhile, with a client of its own."""

    def __init__(self, server: MotoServer, name: str, *, stock: bool, create_at: float) -> None:
        self.stock, self.create_at = stock, create_at
        self._bucket = name
        # Not the client of the wait, whose requests are counted.
        self._creating, client = server.client("s3"), server.client("s3")
        self.requests = requests_of(client)
        ours = partial(wait_until, client, "BucketExists", max_wait=60)
        super().__init__(client.get_waiter("bucket_exists").wait if stock else ours, Bucket=name)

    def create(self) -> None:
        """Create the bucket that is waited for."""
        self._creating.create_bucket(Bucket=self._bucket)
        self._created_at = time.monotonic()

    @property
    def late(self) -> float:
        """The seconds from the creation to the end of the wait, or to now."""
        return self.end - self._created_at


def run_all(waits: Sequence[BucketWait]) -> None:
    """Start all waits, create each bucket at its time, and wait for all ends."""
    began = time.monotonic()
    for wait in waits:
        wait.start()
    for wait in sorted(waits, key=lambda wait: wait.create_at):
        time.sleep(max(0.0, began + wait.create_at - time.monotonic()))
        wait.create()
    for wait in waits:
        wait.join()


def beside(name: str, text: str) -> str:
    """Return a text beside its name, in at most four lines."""
    return textwrap.fill(
        printable(text),
        min(100, shutil.get_terminal_size((100, 40)).columns),
        initial_indent=f"  {name:14}",
        subsequent_indent=" " * 16,
        break_on_hyphens=False,
        max_lines=4,
        placeholder=" ...",
    )


# --- the demo: five differences from botocore's own waiters, measured on moto's server -----------

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


_calls = partial(counted, noun="call")


def _ended(function: Any, *arguments: Any, **keywords: Any) -> Timed:
    timed = Timed(function, *arguments, **keywords)
    timed.run()
    return timed


def _instances(ec2: Any, number: int) -> list[str]:
    reservation = ec2.run_instances(ImageId="ami-12345678", MinCount=number, MaxCount=number)
    return [instance["InstanceId"] for instance in reservation["Instances"]]


# --- `boto-wait demo`: botocore's waiters and this package's side by side, on moto's server


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    subparsers.add_parser(
        "demo",
        description=(
            "Start moto's server on 127.0.0.1 and show there how waits differ from botocore's, in "
            "half a minute. No AWS account or configuration is used."
        ),
    )


def run(_: argparse.Namespace) -> int:
    """Run the demo; return 0 if every wait ended as expected, else 255.

    Raises:
        CannotRunError: moto is not installed, or fails.
    """
    print("Starting moto's server and creating resources ...", file=sys.stderr, flush=True)
    try:
        with MotoServer() as server:
            return SUCCEEDED if show_highlights(server) else FAILED
    except (BotoCoreError, ClientError) as error:
        raise CannotRunError(str(error)) from error
