"""Waits on two Dask workers, one of them killed half-way; what they cost.

    python bench/fleet.py --stubbed --waits 100000     the transport is a stub of 20 ms
    python bench/fleet.py --waits 10000                real polls through a server on loopback
    python bench/fleet.py --memory --waits 10000       one worker that holds all waits open
    python bench/fleet.py --short                      2,000 waits, stubbed, then 500 real ones
    ... --postgresql                                   on a PostgreSQL server of its own

Every wait is a DynamoDB `TableExists` that sees CREATING and, `--delay` seconds later, ACTIVE. A
worker that takes a wait over from a killed one sees CREATING once more where the transport is a
stub, because the stub is part of its process. Signing, endpoint rules and parsing are botocore's.

Triggers in the database count the writes to each operation, whichever process makes them: its
insertion, its claims, its attempts, its end with the last attempt. They also count what must not
happen: a second end, a write after the end, an attempt that is stored twice. Calls are counted by
the stub, in a file that all processes append to, or by the server. Memory is the resident set of
each worker process, above what it was before the run; CPU time is that of the workers' whole life.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import json
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import psutil
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from distributed import Client, LocalCluster
from operations_kill import store_url
from scale import HEADERS, LATENCY, SETTINGS, Raw, answer
from store_writes import StoreWrites

from boto_waiters_plus import Wait, fleet, operations

MakeClient = Callable[[Any], Any]

EXPECTED = ("insert", "claim", "attempt", "end")


# --- transports -------------------------------------------------------------------------------


def stubbed_client(calls: str, _: Any = None) -> Any:
    """Return a client whose first answer about each table is CREATING, and appends its calls."""
    client = boto3.client("dynamodb", **SETTINGS)
    seen: set[str] = set()
    file = os.open(calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def send(request: Any, **_: Any) -> AWSResponse:
        os.write(file, b".")
        body = body_about(json.loads(request.body)["TableName"], seen)
        time.sleep(LATENCY)
        return AWSResponse(request.url, 200, HEADERS, Raw(body))

    client.meta.events.register("before-send.dynamodb", send)
    return client


def real_client(url: str, _: Any = None) -> Any:
    config = Config(max_pool_connections=32)
    return boto3.client("dynamodb", **{**SETTINGS, "config": config, "endpoint_url": url})


def body_about(name: str, seen: set[str]) -> bytes:
    status = "ACTIVE" if name in seen else "CREATING"
    seen.add(name)
    return json.dumps(answer(name, status)).encode()


def serve(listener: socket.socket, calls: Any) -> None:
    """Answer DescribeTable over HTTP; count the requests."""
    seen: set[str] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                name = json.loads(await reader.readexactly(length))["TableName"]
                calls.value += 1
                body = body_about(name, seen)
                kind = b"content-type: application/x-amz-json-1.0\r\n"
                size = f"content-length: {len(body)}\r\n\r\n".encode()
                writer.write(b"HTTP/1.1 200 OK\r\n" + kind + size + body)
                await writer.drain()
        writer.close()

    async def run() -> None:
        async with await asyncio.start_server(talk, sock=listener, backlog=200) as server:
            await server.serve_forever()

    asyncio.run(run())


@contextlib.contextmanager
def transport(*, stubbed: bool) -> Iterator[tuple[MakeClient, Callable[[], int]]]:
    """Yield what makes the clients, and what returns the number of calls."""
    if stubbed:
        with tempfile.NamedTemporaryFile(prefix="calls") as file:
            size = functools.partial(os.path.getsize, file.name)
            yield functools.partial(stubbed_client, file.name), size
        return
    listener, context = socket.create_server(("127.0.0.1", 0)), multiprocessing.get_context("fork")
    calls = context.Value("Q", 0)
    server = context.Process(target=serve, args=(listener, calls), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        yield functools.partial(real_client, url), lambda: calls.value
    finally:
        server.kill()


# --- runs -------------------------------------------------------------------------------------


class Usage:
    """Samples the resident sets and the CPU time of worker processes."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.before: dict[int, int] = {}
        self.most: dict[int, int] = {}
        self._cpu: dict[int, float] = {}
        self.find()
        threading.Thread(target=self._run, daemon=True).start()

    def find(self) -> list[int]:
        """Look for processes; return those that there are."""
        found = list(self._client.run(os.getpid, on_error="ignore").values())
        for pid in found:
            self.before.setdefault(pid, psutil.Process(pid).memory_info().rss)
        return found

    def above(self) -> dict[int, int]:
        """Return the bytes of each process above those of its start."""
        return {pid: self.most.get(pid, start) - start for pid, start in self.before.items()}

    def cpu(self) -> float:
        """Return the CPU seconds of all processes."""
        return sum(self._cpu.values())

    def _run(self) -> None:
        while True:
            for pid in list(self.before):
                with contextlib.suppress(psutil.Error):
                    process = psutil.Process(pid)
                    self.most[pid] = max(self.most.get(pid, 0), process.memory_info().rss)
                    self._cpu[pid] = sum(process.cpu_times()[:2])
            time.sleep(0.25)


def waits_on(client: Any, number: int, delay: float) -> Iterator[Wait]:
    for index in range(number):
        parameters = {"TableName": f"table-{index}"}
        options = {"max_wait": 3600, "min_delay": delay, "max_delay": delay}
        yield Wait(client, "table_exists", parameters, **options)


def run(number: int, *, stubbed: bool, delay: float, postgresql: bool, max_open: int) -> bool:
    """Run the waits on two workers, kill one half-way, print the costs; return if all is right."""
    with (
        store_url(postgresql=postgresql) as url,
        transport(stubbed=stubbed) as (make_client, calls),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        cluster.get_client() as client,
        contextlib.closing(operations.Store(url)) as store,
    ):
        store.list()
        writes = StoreWrites(url)
        usage = Usage(client)
        victim, ended, began, cpu = usage.find()[0], 0, time.monotonic(), time.process_time()
        ends = fleet.run(
            waits_on(make_client(None), number, delay),
            client=client,
            in_store=store,
            make_client=make_client,
            max_open=max_open,
            lease=10,
        )
        for _ in ends:
            ended += 1
            if ended == number // 2:
                os.kill(victim, signal.SIGKILL)
            elif not ended % 1000:
                usage.find()
        seconds = time.monotonic() - began
        cpu = time.process_time() - cpu
        found = writes.counts()
        writes.close()
        rows = {
            f"waits, {'stubbed' if stubbed else 'polled on loopback'}, "
            f"on {'PostgreSQL' if postgresql else 'SQLite'}": number,
            "ended": ended,
            "succeeded": found["succeeded"],
            "ended twice": found["end"] - number,
            "written after the end": found["late"],
            "attempts stored twice": found["repeated"],
            "seconds": round(seconds),
            "waits a second": round(number / seconds),
            "calls a wait": round(calls() / number, 2),
            **{f"writes a wait: {kind}": round(found[kind] / number, 2) for kind in EXPECTED},
            "workers: CPU ms a call": round(usage.cpu() / calls() * 1e3, 2),
            "driver: CPU seconds": round(cpu),
            "driver: MB": round(psutil.Process().memory_info().rss / 1e6),
        }
        rows["workers: most MB above the start"] = round(max(usage.above().values()) / 1e6)
        done = store.list(state="done", page_size=1000).operations
        for body in [each for each in done if "error" in each][:3]:
            print(body["error"], file=sys.stderr)
    show(rows)
    wrong = found["late"] + found["repeated"] + abs(found["end"] - number)
    return ended == found["succeeded"] == number and not wrong


def hold(number: int, *, postgresql: bool) -> bool:
    """Let one worker hold all waits open, polled once; print its memory."""
    with (
        store_url(postgresql=postgresql) as url,
        transport(stubbed=True) as (make_client, calls),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        cluster.get_client() as client,
        contextlib.closing(operations.Store(url)) as store,
    ):
        usage = Usage(client)
        progress: list[fleet.FleetProgress] = []

        def stop_when_held(state: fleet.FleetProgress) -> None:
            progress.append(state)
            if calls() >= number:
                time.sleep(2)
                raise KeyboardInterrupt

        ends = fleet.run(
            waits_on(make_client(None), number, 900),
            client=client,
            in_store=store,
            make_client=make_client,
            max_open=number,
            progress=stop_when_held,
        )
        with contextlib.suppress(KeyboardInterrupt):
            list(ends)
        ((pid, above),) = usage.above().items()
        rows = {
            "open waits of one worker": progress[-1].open,
            "MB at the start of the process": round(usage.before[pid] / 1e6),
            "MB above": round(above / 1e6, 1),
            "kB a wait": round(above / number / 1e3, 1),
        }
    show(rows)
    return above < 100e6


def show(rows: dict[str, float]) -> None:
    """Print a table, of which the first row is the head."""
    lines = [f"| {name} | {value:,} |" for name, value in rows.items()]
    print(lines[0], "|---|---|", *lines[1:], "", sep="\n", flush=True)


def main() -> int:
    """Run what the arguments ask for; return 1 if a wait was lost or a limit passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waits", type=int, default=10_000)
    parser.add_argument("--delay", type=float, default=10)
    parser.add_argument("--max-open", type=int, default=10_000)
    parser.add_argument("--stubbed", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--postgresql", action="store_true")
    arguments = parser.parse_args()
    on = {"postgresql": arguments.postgresql}
    if arguments.memory:
        return not hold(arguments.waits, **on)
    if arguments.short:
        first = run(2000, stubbed=True, delay=2, max_open=1000, **on)
        return not (run(500, stubbed=False, delay=2, max_open=200, **on) and first)
    on |= {"delay": arguments.delay, "max_open": arguments.max_open}
    return not run(arguments.waits, stubbed=arguments.stubbed, **on)


if __name__ == "__main__":
    sys.exit(main())
