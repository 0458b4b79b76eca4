"""How far calls outlive their deadline, fault by fault, and what they leave behind.

    python bench/faults.py                     every fault 20 times, all retry modes, a table
    python bench/faults.py --short             few repeats, one mode; fails if a bound is broken
    python bench/faults.py --via wait_until    through wait_until_* (or get_waiter)
    python bench/faults.py --stock             botocore alone beside it, given up after --cap s
    python bench/faults.py --cpu               CPU of a plain call, bounded and bare

Overrun is the time from the deadline to the return of the call, in ms. Measured with the server
in the same process, so that its threads cost what they cost.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).absolute().parents[1]
# In place of this folder, where `faults` would be this file.
sys.path[0:1] = [str(ROOT), str(ROOT / "tests")]

import botocore  # noqa: E402 - the path comes first
import urllib3  # noqa: E402
from botocore.exceptions import ClientError  # noqa: E402
from faults.scenarios import (  # noqa: E402
    ABANDONED,
    ANSWER,
    FAULTS,
    HEALTHY,
    MODES,
    Certificate,
    Fault,
    Running,
    make_client,
    operation,
    retry_quota,
    run_fault,
)
from faults.server import BlackHole, answer  # noqa: E402

import boto_waiters_plus as bwp  # noqa: E402
from boto_waiters_plus.aws.bounded import Abandoned, bounded_call  # noqa: E402

QUOTA = 500
"""The retry quota of a fresh client."""

Way = Callable[[Running, float], Any]


def through_call(running: Running, seconds: float) -> Any:
    return bounded_call(running.call, client=running.client, seconds=seconds)


def through_thread(running: Running, seconds: float) -> Any:
    return bounded_call(running.call, client=running.client, seconds=seconds, in_thread=True)


def through_wait_until(running: Running, seconds: float) -> Any:
    waiter, parameters = _waiter(running.client)
    return bwp.wait_until(running.client, waiter, max_wait=seconds, **parameters)


def through_get_waiter(running: Running, seconds: float) -> Any:
    waiter, parameters = _waiter(running.client)
    bwp.enable(running.client)
    config = {"MaxWait": seconds}
    return running.client.get_waiter(waiter).wait(WaiterConfig=config, **parameters)


def _waiter(client: Any) -> tuple[str, dict[str, str]]:
    match client.meta.service_model.service_name:
        case "dynamodb":
            return "table_exists", {"TableName": "table"}
        case "s3":
            return "bucket_exists", {"Bucket": "bucket"}
        case _:
            return "stack_create_complete", {"StackName": "stack"}


WAYS: dict[str, Way] = {
    "call": through_call,
    "thread": through_thread,
    "wait_until": through_wait_until,
    "get_waiter": through_get_waiter,
}


@dataclass
class Cell:
    """What was measured of one fault in one mode."""

    endings: Counter[str] = field(default_factory=Counter)
    overruns: list[float] = field(default_factory=list)
    quota: list[int] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    lingering: int = 0
    stock: str = ""

    def add(self, other: Cell) -> None:
        self.endings += other.endings
        self.overruns += other.overruns
        self.quota += other.quota
        self.left += other.left
        self.lingering = max(self.lingering, other.lingering)
        self.stock = self.stock or other.stock


def ending_of(run: Callable[[], Any]) -> str:
    """How a call ended, in the words of the table of faults."""
    try:
        run()
    except (Abandoned, bwp.WaiterTimeoutError):
        return ABANDONED
    except bwp.WaiterError as error:
        return ending_of_error(error.last_exception or error)
    except Exception as error:
        return ending_of_error(error)
    return ANSWER


def ending_of_error(error: BaseException) -> str:
    if isinstance(error, ClientError):
        return str(error.response["Error"]["Code"])
    return type(error).__name__


def measure(
    fault: Fault, mode: str, way: Way, repeats: int, seconds: float, certificate: Certificate
) -> Cell:
    cell = Cell()
    descriptors = _descriptors()
    for _ in range(repeats):
        with run_fault(fault, mode, certificate) as running:
            began = time.perf_counter()
            ending = ending_of(lambda: way(running, seconds))
            over = time.perf_counter() - began - seconds
            cell.endings[ending] += 1
            cell.overruns.append(max(0.0, over * 1000))
            quota = retry_quota(running.client)
            if quota is not None:
                cell.quota.append(quota)
            # The client that waits for its turn has not touched its idle connection.
            if running.server is not None and ending == ABANDONED and fault.place != "throttled":
                if not running.server.wait_until_closed(0.5):
                    cell.left["connections"] += running.server.open_connections
                running.server.script = [answer(body=HEALTHY[fault.protocol])]
                is_asked = fault.place == "server" and fault.handshake is None
                if is_asked and ending_of(running.call) != ANSWER:
                    cell.left["client unusable"] += 1
        cell.lingering = max(cell.lingering, len(_own_threads()))
        _wait_for_threads(3)
    gc.collect()
    cell.left["threads"] += len(_own_threads())
    cell.left["descriptors"] += max(0, _descriptors() - descriptors)
    return cell


def _wait_for_threads(seconds: float) -> None:
    """A connect that was given up lasts until its own timeout; a lookup, until it is answered."""
    end = time.perf_counter() + seconds
    while _own_threads() and time.perf_counter() < end:
        time.sleep(0.005)


def _own_threads() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("boto_waiters_plus") and "dog" not in name]


def _descriptors() -> int:
    with contextlib.suppress(OSError):
        return len(list(Path("/proc/self/fd").iterdir()))
    return 0


def stock(fault: Fault, mode: str, cap: float, certificate: Certificate, way: Way) -> str:
    """The same without us, given up after `cap` seconds."""
    with run_fault(fault, mode, certificate) as running:
        ended: list[tuple[str, float]] = []

        def run() -> None:
            began = time.perf_counter()
            ending = ending_of(lambda: way(running, 0))
            ended.append((ending, time.perf_counter() - began))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(cap)
        if not ended:
            return f"still running after {cap:g} s"
        return f"{ended[0][0]} after {ended[0][1]:.2f} s"


def stock_call(running: Running, _: float) -> Any:
    return running.call()


def stock_waiter(running: Running, _: float) -> Any:
    waiter, parameters = _waiter(running.client)
    config = {"Delay": 1, "MaxAttempts": 1}
    return running.client.get_waiter(waiter).wait(WaiterConfig=config, **parameters)


def table(
    faults: Sequence[Fault], modes: Sequence[str], options: argparse.Namespace
) -> dict[str, Cell]:
    way = WAYS[options.via]
    cells: dict[str, Cell] = {}
    with tempfile.TemporaryDirectory() as folder:
        certificate = Certificate(Path(folder))
        for fault in faults:
            cell = cells[fault.name] = Cell()
            for mode in [mode for mode in modes if mode in fault.modes]:
                cell.add(measure(fault, mode, way, options.repeats, options.seconds, certificate))
            if options.stock:
                stock_way = stock_call if options.via in ("call", "thread") else stock_waiter
                cell.stock = stock(fault, _first(fault, modes), options.cap, certificate, stock_way)
            print(row(fault, cell, with_stock=options.stock), flush=True)
    return cells


def _first(fault: Fault, modes: Sequence[str]) -> str:
    return next(mode for mode in modes if mode in fault.modes)


def header(*, with_stock: bool) -> str:
    names = ["fault", "ended in", "median over, ms", "worst over, ms", "left behind", "quota"]
    names += ["botocore alone"] if with_stock else []
    return "| " + " | ".join(names) + " |\n|" + "---|" * len(names)


def row(fault: Fault, cell: Cell, *, with_stock: bool) -> str:
    endings = ", ".join(
        f"{name} {count}" if len(cell.endings) > 1 else name
        for name, count in cell.endings.most_common()
    )
    is_cut = ABANDONED in cell.endings
    left = ", ".join(f"{count} {what}" for what, count in cell.left.items() if count)
    if cell.lingering:
        left = ", ".join(filter(None, [left, "a thread for a while"]))
    cells = [
        fault.name,
        endings,
        f"{statistics.median(cell.overruns):.1f}" if is_cut else "in time",
        f"{max(cell.overruns):.1f}" if is_cut else "",
        left or "nothing",
        f"{min(cell.quota)}" if cell.quota else "",
    ]
    cells += [cell.stock] if with_stock else []
    return "| " + " | ".join(cells) + " |"


def summary(faults: Sequence[Fault], cells: dict[str, Cell]) -> tuple[float, float]:
    overruns = [
        over
        for fault in faults
        if fault.endings == {ABANDONED}
        for over in cells[fault.name].overruns
    ]
    return statistics.median(overruns), max(overruns)


def unexpected(faults: Sequence[Fault], cells: dict[str, Cell]) -> Iterator[str]:
    for fault in faults:
        cell = cells[fault.name]
        wrong = set(cell.endings) - fault.endings
        if wrong:
            yield f"{fault.name}: ended in {wrong}"
        if +cell.left:
            yield f"{fault.name}: left behind {dict(+cell.left)}"


# --- CPU of a plain call ---------------------------------------------------------------------


@contextlib.contextmanager
def server_process() -> Iterator[str]:
    """A healthy server whose CPU is not ours; its URL."""
    script = ROOT / "tests" / "faults" / "server.py"
    body = HEALTHY["json"].decode()
    command = [sys.executable, str(script), body]
    with subprocess.Popen(  # noqa: S603 - our own script
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.communicate()


def cpu(rounds: int, calls: int) -> None:
    """Print what bounding adds to a plain call; rounds take turns, the machine is not ours."""
    with server_process() as url:
        client = make_client("json", url, None)
        call = operation(client)
        event = threading.Event()
        runs: dict[str, Callable[[], Any]] = {
            "bare": call,
            "bare again": call,
            "bounded": lambda: bounded_call(call, client=client, seconds=30),
            "bounded, cancel event": lambda: bounded_call(
                call, client=client, seconds=30, cancel_event=event
            ),
            "bounded, in a thread": lambda: bounded_call(
                call, client=client, seconds=30, in_thread=True
            ),
        }
        for run in runs.values():
            for _ in range(50):
                run()
        spent: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(rounds):
            for name, run in runs.items():
                began = time.process_time()
                for _ in range(calls):
                    run()
                spent[name].append((time.process_time() - began) / calls * 1e6)
        client.close()
    bare = statistics.median(spent["bare"])
    print("| call | CPU, us | to bare |\n|---|---|---|")
    for name, each in spent.items():
        ratios = [one / other for one, other in zip(each, spent["bare"], strict=True)]
        ratio = statistics.median(ratios)
        print(f"| {name} | {statistics.median(each):.0f} | x{ratio:.3f} |")
    print(f"\n{rounds} rounds of {calls} calls in turns; bare {bare:.0f} us; process CPU")


def versions() -> str:
    return (
        f"botocore {botocore.__version__}, urllib3 {urllib3.__version__}, "
        f"CPython {platform.python_version()}, {platform.system()}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="for CI: fewer repeats, one mode")
    parser.add_argument("--cpu", action="store_true", help="only the CPU of a plain call")
    parser.add_argument("--stock", action="store_true", help="botocore alone beside it")
    parser.add_argument("--via", choices=WAYS, default="call")
    parser.add_argument("--mode", choices=MODES, action="append", help="default: all")
    parser.add_argument("--fault", action="append", help="part of a fault's name; default: all")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.5, help="the deadline")
    parser.add_argument("--cap", type=float, default=5, help="seconds for botocore alone")
    parser.add_argument("--limit", type=float, default=1000, help="ms over that --short allows")
    options = parser.parse_args()
    if options.cpu:
        print(f"{versions()}\n")
        cpu(5 if options.short else 15, 100 if options.short else 400)
        return 0
    if options.short:
        options.repeats = min(options.repeats, 2)
    modes = options.mode or (["standard"] if options.short else list(MODES))
    wanted = options.fault or [""]
    faults = [
        fault
        for fault in FAULTS
        if any(part in fault.name for part in wanted) and set(modes) & set(fault.modes)
    ]
    with BlackHole() as hole:
        if not hole.holds:
            print("connecting to a full queue does not hang on this machine: left out\n")
            faults = [fault for fault in faults if "black hole" not in fault.place]
    print(
        f"{versions()}; deadline {options.seconds:g} s, through {options.via}, retry modes "
        f"{', '.join(modes)}, {options.repeats} repeats each\n"
    )
    print(header(with_stock=options.stock))
    cells = table(faults, modes, options)
    median, worst = summary(faults, cells)
    print(f"\nof the faults that only a deadline ends: median {median:.2f}, worst {worst:.1f} ms")
    time.sleep(2)
    print(f"threads of ours two seconds later: {len(_own_threads())}")
    problems = [*unexpected(faults, cells)]
    if worst > options.limit:
        problems.append(f"{worst:.0f} ms over")
    for problem in problems:
        print(f"PROBLEM {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
