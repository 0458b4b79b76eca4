"""How far awaited waits outlive their deadline, fault by fault, and what an awaited poll costs.

    python bench/aio.py                    every fault of the wire 20 times, a table
    python bench/aio.py --repeats 3        quicker
    python bench/aio.py --cpu              CPU of a poll, beside the bare call of the client

With aiobotocore, and with boto3 in threads. Overrun is the time from the deadline to the return of
the wait, in ms. The server runs in the same process, so that its threads cost what they cost.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).absolute().parents[1]
# In place of this folder, where `faults` would be a file.
sys.path[0:1] = [str(ROOT), str(ROOT / "tests")]

import aiobotocore  # noqa: E402 - the path comes first
from aiobotocore.config import AioConfig  # noqa: E402
from aiobotocore.session import get_session  # noqa: E402
from faults.scenarios import (  # noqa: E402
    ABANDONED,
    FAULTS,
    KEYS,
    Certificate,
    Fault,
    run_fault,
)
from faults.server import FaultServer, answer  # noqa: E402

import boto_waiters_plus as bwp  # noqa: E402

SECONDS = 0.3
SESSION = get_session()
ATTEMPTS = 50
COMING = b'{"Table": {"TableName": "table", "TableStatus": "CREATING"}}'


@contextlib.asynccontextmanager
async def awaited_client(url: str, verify: Path | None = None) -> AsyncIterator[Any]:
    async with SESSION.create_client(
        "dynamodb",
        region_name="us-east-1",
        endpoint_url=url,
        verify=None if verify is None else str(verify),
        config=AioConfig(retries={"mode": "standard"}),
        **KEYS,
    ) as client:
        yield client


async def overrun(client: Any) -> tuple[float, list[str]]:
    """Return the milliseconds after the deadline, and what is left then."""
    # Definitions are read at the first wait of a client, before its time begins.
    _ = bwp.enable(client).wait_until_table_exists
    began = time.perf_counter()
    try:
        await bwp.wait_until_async(client, "table_exists", max_wait=SECONDS, TableName="table")
        ended = "answered"
    except bwp.WaiterTimeoutError:
        ended = ""
    except bwp.WaiterError as error:
        ended = type(error).__name__
    late = (time.perf_counter() - began - SECONDS) * 1000
    left = ["task"] * (len(asyncio.all_tasks()) - 1)
    left += ["thread" for t in threading.enumerate() if t.name == "boto_waiters_plus call"]
    return late, [*left, *([ended] if ended else [])]


async def measure(
    fault: Fault, repeats: int, certificate: Certificate
) -> dict[str, tuple[list[float], set[str]]]:
    """Return the overruns and what was left, for each way."""
    found: dict[str, tuple[list[float], set[str]]] = {"aiobotocore": ([], set())}
    found["boto3 in threads"] = ([], set())
    for _ in range(repeats):
        for name, (overruns, left) in found.items():
            with run_fault(fault, "standard", certificate) as running:
                assert running.server is not None
                server = running.server
                if name == "aiobotocore":
                    is_tls = fault.tls or fault.handshake is not None
                    verify = certificate.path if is_tls else None
                    async with awaited_client(server.url, verify) as client:
                        late, what = await overrun(client)
                else:
                    late, what = await overrun(running.client)
                overruns.append(late)
                left.update(what)
                # Not in this thread: a connection closes when the loop runs.
                if not await asyncio.to_thread(server.wait_until_closed, 2):
                    left.add("connection")
    return found


async def table(repeats: int) -> None:
    print(f"aiobotocore {aiobotocore.__version__}; deadline {SECONDS} s, {repeats} repeats.\n")
    print("| fault | aiobotocore: median, worst | boto3 in threads: median, worst | left behind |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        certificate = Certificate(Path(folder))
        for fault in FAULTS:
            # A client of its own is never warm, and HEAD has no body to drip.
            is_measured = fault.protocol == "json" and not fault.warm
            if fault.place != "server" or fault.endings != {ABANDONED} or not is_measured:
                continue
            found = await measure(fault, repeats, certificate)
            cells = [f"{statistics.median(o):.1f}, {max(o):.1f} ms" for o, _ in found.values()]
            left = set().union(*(left for _, left in found.values()))
            print(f"| {fault} | {' | '.join(cells)} | {', '.join(sorted(left)) or 'nothing'} |")


async def cpu(repeats: int) -> None:
    with FaultServer([answer(body=COMING)]) as server:
        async with awaited_client(server.url) as client:
            name = {"TableName": "table"}
            bounds = {"max_wait": 60, "max_attempts": ATTEMPTS, "delay_pace": lambda _: 0}

            async def bare() -> None:
                for _ in range(ATTEMPTS):
                    await client.describe_table(**name)

            async def waited() -> None:
                with contextlib.suppress(bwp.WaiterAttemptsError):
                    await bwp.wait_until_async(client, "table_exists", **bounds, **name)

            took: dict[str, list[float]] = {"bare": [], "waited": []}
            for _ in range(repeats):
                for key, call in (("bare", bare), ("waited", waited)):
                    began = time.thread_time()
                    await call()
                    took[key].append((time.thread_time() - began) / ATTEMPTS * 1e6)
    once = {key: statistics.median(values) for key, values in took.items()}
    print(f"CPU of the loop's thread: a call {once['bare']:.0f} us, an attempt of a wait ", end="")
    print(
        f"{once['waited']:.0f} us, which is {once['waited'] / once['bare']:.2f} times the call's."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()
    asyncio.run((cpu if arguments.cpu else table)(arguments.repeats))
