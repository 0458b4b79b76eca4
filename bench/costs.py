"""What the package costs beside boto3: starting, creating clients, and one poll.

    python bench/costs.py [--only start,clients,polls,label,calls] [--processes 15] [--rounds 60]

- start: CPU time in processes of their own, with compiled bytecode and nothing else imported
  before: `import boto_waiters_plus` and `install()` in milliseconds where boto3 is not imported,
  and as shares of `import boto3` where it is, the first lookup
  of `client.wait_until_<name>` in a session against the first `client.get_waiter(name)` of
  botocore, and the first lookup and the first wait in a process, which import what waits need; both
  also for a package without compiled files. Taken in pairs, one right after the other; the median
  over all pairs, the goal and the quartiles;
- clients: `session.client(service)` with `install()` against without, in CPU time: the least of
  ours to the least of stock's, and the quartiles of the pairs;
- polls: the instructions of one more attempt of a wait, by valgrind, which counts the same
  whatever else the machine does. The server runs in another process. Waits have a `max_wait`,
  `get_waiter`'s too, so that every call of the package has a deadline;
- label: the same count of a wait that names its resource against one with `show_parameters=False`,
  for one more attempt, and for the whole wait, which makes the label once;
- calls: the functions, Python's and C's, that one more attempt calls, and where those are that
  botocore alone does not call. This shows what the instructions of a poll are spent on.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).absolute().parents[1]
SETTINGS = {"region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
FIRST_WAITERS = {"s3": ("bucket_exists", 10), "ec2": ("instance_running", 6)}
POLLED = {"s3": ("bucket_exists", "Bucket"), "dynamodb": ("table_exists", "TableName")}
GOALS = {"s3": "at most 1.06", "dynamodb": "at most 1.045"}
"""Of the instructions of a poll, to botocore's."""
ATTEMPTS = (20, 120)
"""Those of a short and of a long wait."""
FEW_CALLS = 3
"""Modules with fewer calls are not named."""
DELAY = 0.001
"""Seconds between two polls, the shortest pause of both; sleeping takes no CPU time."""


def row(*cells: str) -> None:
    """One line: what, the figure, the goal and the quartiles."""
    print("|", " | ".join([*cells, "", ""][:4]), "|", flush=True)


def report(name: str, ratios: list[float], goal: str = "", *, percent: bool = False) -> None:
    """One line: the median, the goal and the quartiles."""
    low, median, high = (
        f"{100 * each:.1f} %" if percent else f"{each:.3f}"
        for each in statistics.quantiles(ratios, n=4)
    )
    row(name, median, goal, f"{low} to {high}")


# --- start: every process is new --------------------------------------------------------------

IMPORTS = """
import time
began = time.process_time()
import boto3
boto = time.process_time()
{statement}
ours = time.process_time()
{then}
print((ours - boto) / (boto - began), (time.process_time() - boto) / (boto - began))
"""

EARLY = """
import time
began = time.process_time()
import boto_waiters_plus
boto_waiters_plus.install()
print((time.process_time() - began) * 1000)
"""

FIRST = """
import time
began = time.process_time()
import boto3
boto = time.process_time() - began
{install}
other = boto3.session.Session().client("kinesis", **{settings!r})
began = time.process_time()
{warm_up}
warm_up = time.process_time() - began
client = boto3.session.Session().client({service!r}, **{settings!r})
began = time.process_time()
{lookup}
print(time.process_time() - began, warm_up / boto)
"""

# The first wait less the second: what a process pays once. The request is not sent.
FIRST_WAIT = """
import time
from types import SimpleNamespace
began = time.process_time()
import boto3
boto = time.process_time() - began
{install}
client = boto3.session.Session().client("kinesis", **{settings!r})

def answer(**_):
    stream = {{"StreamDescription": {{"StreamStatus": "ACTIVE"}}}}
    metadata = {{"ResponseMetadata": {{"HTTPStatusCode": 200}}}}
    return SimpleNamespace(status_code=200), stream | metadata

client.meta.events.register("before-call", answer)
client.describe_stream(StreamName="s")

def took(action):
    began = time.process_time()
    action()
    return time.process_time() - began

lookup = took(lambda: client.wait_until_stream_exists)
wait = lambda: client.wait_until_stream_exists(StreamName="s", max_wait=60)
print(lookup / boto, (lookup + took(wait) - took(wait)) / boto)
"""

INSTALL = "import boto_waiters_plus; boto_waiters_plus.install()"


def fresh(script: str, package: Path | None = None) -> list[float]:
    """The numbers that a script prints in a process of its own.

    Args:
        script: the program.
        package: the folder of a package that is not compiled; None: this checkout, compiled.
    """
    environment = {**os.environ, "PYTHONPATH": str(package or ROOT)}
    environment["AWS_EC2_METADATA_DISABLED"] = "true"
    # boto3 is compiled for both, wherever it was installed without bytecode, too.
    environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "costs-bytecode")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if package is not None:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-W", "ignore", "-c", script]
    # The folder in which it runs comes before PYTHONPATH.
    done = subprocess.run(  # noqa: S603 - a script above
        command, check=True, capture_output=True, text=True, env=environment, cwd=package or ROOT
    )
    return [float(number) for number in done.stdout.split()]


def start(processes: int) -> None:
    """Print what importing, installing and the first waiter cost."""
    ours = IMPORTS.format(statement="import boto_waiters_plus", then="boto_waiters_plus.install()")
    wrapt = IMPORTS.format(statement="import wrapt", then="")
    fresh(ours), fresh(wrapt)  # these write the bytecode
    fresh(EARLY)
    early = [fresh(EARLY)[0] for _ in range(processes)]
    report("`import boto_waiters_plus` and `install()` without boto3, ms", early, "at most 30")
    pairs = [(fresh(ours), fresh(wrapt)) for _ in range(processes)]
    name = "`import boto_waiters_plus`, of `import boto3`"
    report(name, [o[0] for o, _ in pairs], "at most 3 %", percent=True)
    report("the same and `install()`", [o[1] for o, _ in pairs], "at most 12 %", percent=True)
    report("`import wrapt` alone", [w[0] for _, w in pairs], percent=True)
    for service, (waiter, goal) in FIRST_WAITERS.items():
        known = {"service": service, "settings": SETTINGS}
        stock = FIRST.format(
            install="",
            warm_up="other.get_waiter('stream_exists')",
            lookup=f"client.get_waiter({waiter!r})",
            **known,
        )
        ours = FIRST.format(
            install=INSTALL,
            warm_up="other.wait_until_stream_exists",
            lookup=f"client.wait_until_{waiter}",
            **known,
        )
        pairs = [(fresh(stock), fresh(ours)) for _ in range(processes)]
        ratios = [stock[0] / ours[0] for stock, ours in pairs]
        name = f"botocore's first waiter of a session, of the package's, {service}"
        report(name, ratios, f"at least {goal}")
    name = "botocore's first lookup of a process, of `import boto3`"
    report(name, [s[1] for s, _ in pairs], percent=True)
    first_of_a_process(processes)


def first_of_a_process(processes: int) -> None:
    """Print what the first lookup and the first wait of a process cost, of `import boto3`."""
    script = FIRST_WAIT.format(install=INSTALL, settings=SETTINGS)
    fresh(script)  # this writes the bytecode
    with tempfile.TemporaryDirectory() as folder:
        for name in ("boto_waiters_plus", "data"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, Path(folder) / name, ignore=ignored)
        pairs = [(fresh(script), fresh(script, Path(folder))) for _ in range(processes)]
    compiled, not_compiled = zip(*pairs, strict=True)
    names = {
        "the package's first lookup, of `import boto3`": "at most 12 %",
        "the same and the first wait": "",
    }
    for number, (name, goal) in enumerate(names.items()):
        for kind, all_shares in (("", compiled), (", not compiled", not_compiled)):
            shares = [each[number] for each in all_shares]
            report(f"{name}{kind}", shares, goal * (not kind), percent=True)


# --- clients and polls: one process, install() in every second measurement --------------------


def cpu(action: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    began = time.process_time()
    action()
    return time.process_time() - began


def paired(
    stock: Callable[[], object], ours: Callable[[], object], rounds: int
) -> list[tuple[float, float]]:
    """CPU seconds of botocore without the package, and with it installed."""
    import boto_waiters_plus as bwp  # noqa: PLC0415 - the processes of `start` import it themselves

    def measured(action: Callable[[], object], *, install: bool) -> float:
        (bwp.install if install else bwp.uninstall)()
        action()
        gc.collect()
        return cpu(action)

    gc.disable()
    pairs = []
    for index in range(rounds + 2):
        # Which comes first alternates, and with it what the processor has in its caches.
        order = (False, True) if index % 2 else (True, False)
        took = {
            installed: measured((stock, ours)[installed], install=installed) for installed in order
        }
        pairs.append((took[False], took[True]))
    gc.enable()
    bwp.uninstall()
    return pairs[2:]


def report_pairs(name: str, pairs: list[tuple[float, float]], goal: str = "") -> None:
    """One line: the least of ours to the least of stock, which other work disturbs least."""
    low, _, high = statistics.quantiles([ours / stock for stock, ours in pairs], n=4)
    least = min(ours for _, ours in pairs) / min(stock for stock, _ in pairs)
    row(name, f"{least:.3f}", goal, f"{low:.3f} to {high:.3f}")


def clients(rounds: int) -> None:
    """Print what `install()` adds to creating a client."""
    import boto3  # noqa: PLC0415 - see `paired`

    session = boto3.session.Session(**SETTINGS)
    for service in FIRST_WAITERS:

        def create(service: str = service) -> None:
            session.client(service)

        name = f'`session.client("{service}")` with `install()`'
        report_pairs(name, paired(create, create, rounds), "at most 1.01")


class Answers(BaseHTTPRequestHandler):
    """S3 and DynamoDB: what is called `ready` exists, nothing else does."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_HEAD(self) -> None:
        self.answer(200 if "ready" in self.path else 404, b"")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = "ACTIVE" if asked["TableName"] == "ready" else "CREATING"
        keys = [{"AttributeName": f"key{n}", "AttributeType": "S"} for n in range(8)]
        table = {"TableStatus": status, "AttributeDefinitions": keys, "CreationDateTime": 1.7e9}
        self.answer(200, json.dumps({"Table": table}).encode())

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def serve() -> None:
    """Answer until the process is ended."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    print(server.server_port, flush=True)
    server.serve_forever()


def count_instructions(chosen: list[str]) -> None:
    """Print what is counted in instructions.

    Raises:
        SystemExit: valgrind is not installed.
    """
    found = []
    if shutil.which("valgrind") is None:
        raise SystemExit("polls, label: valgrind, which counts the instructions, is not installed")
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - this file
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            for service in POLLED:
                if "polls" in chosen:
                    found += polls(service, url)
                if "label" in chosen:
                    label(service, url)
        finally:
            server.terminate()
    if found:
        print(f"\nInstructions of a poll: {min(found):.2f} to {max(found):.2f} of botocore's.")


def polls(service: str, url: str) -> list[float]:
    """Print the instructions of a poll, with all that a wait does around it; return the ratios."""
    stock = instructions_a_poll(service, "stock", url)
    ratios = []
    for path in ("get_waiter", "wait_until"):
        ratios.append(instructions_a_poll(service, path, url) / stock)
        row(f"a poll through `{path}`, {service}", f"{ratios[-1]:.3f}", GOALS[service])
    return ratios


def label(service: str, url: str) -> None:
    """Print what the label of the resource costs a poll, and a wait."""
    few, _ = ATTEMPTS
    (named, named_few), (hidden, hidden_few) = (
        (instructions_a_poll(service, path, url), instructions(service, path, url, few))
        for path in ("wait_until", "hidden")
    )
    name = f"a poll that names its resource, to one with `show_parameters=False`, {service}"
    row(name, f"{named / hidden:.4f}", "at most 1.01")
    share = (named_few - hidden_few) / hidden
    note = "a garbage collection included or not"
    row(f"the label, once a wait, of one poll, {service}", f"{100 * share:.1f} %", "", note)


def instructions_a_poll(service: str, path: str, url: str) -> float:
    """Instructions of one more attempt: a long wait less a short one, by processes of their own."""
    few, many = (instructions(service, path, url, attempts) for attempts in ATTEMPTS)
    return (many - few) / (ATTEMPTS[1] - ATTEMPTS[0])


@functools.cache
def instructions(service: str, path: str, url: str, attempts: int) -> int:
    """Instructions of a process that waits once."""
    # The quickest of valgrind's tools that count.
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no"]
    tool.append(f"--cachegrind-out-file={os.devnull}")
    command = [*tool, sys.executable, __file__, "--poll", service, path, url, str(attempts)]
    # Hashing must not differ from process to process.
    environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(  # noqa: S603 - this file
        command, capture_output=True, text=True, check=True, env=environment
    )
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    assert found is not None, done.stderr
    return int(found[1].replace(",", ""))


def poll(service: str, path: str, url: str, attempts: int) -> None:
    """Wait for what never comes, by botocore or by the package."""
    import boto3  # noqa: PLC0415 - what is measured does not import more than it needs
    from botocore.exceptions import WaiterError  # noqa: PLC0415 - the same

    client = boto3.client(service, endpoint_url=url, **SETTINGS)
    waiter, key = POLLED[service]
    config = {"Delay": DELAY, "MaxAttempts": attempts}
    with suppress(WaiterError):
        if path == "stock":
            client.get_waiter(waiter).wait(**{key: "missing"}, WaiterConfig=config)
            return
        import boto_waiters_plus as bwp  # noqa: PLC0415 - the same

        bwp.enable(client)
        if path == "get_waiter":
            config["MaxWait"] = 3600
            client.get_waiter(waiter).wait(**{key: "missing"}, WaiterConfig=config)
        else:
            options = {"min_delay": DELAY, "max_delay": DELAY, "max_attempts": attempts}
            options["show_parameters"] = path != "hidden"
            bwp.wait_until(client, waiter, **{key: "missing"}, **options, max_wait=3600)


# --- calls: where the instructions of a poll go -----------------------------------------------


def calls() -> None:
    """Print the functions that one more attempt calls, and the modules of those that are added."""
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - this file
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            stock = calls_an_attempt("stock", url)
            for path in ("get_waiter", "wait_until"):
                ours = calls_an_attempt(path, url)
                print(
                    f"| `{path}`: {ours.total():,} function calls an attempt on S3, "
                    f"botocore: {stock.total():,}; more in | number |\n|---|---|"
                )
                more = ours - stock
                few = Counter({name: each for name, each in more.items() if each < FEW_CALLS})
                for module, added in (more - few).most_common():
                    print(f"| `{module}` | {added} |")
                print(f"| others | {few.total()} |\n", flush=True)
        finally:
            server.terminate()


def calls_an_attempt(path: str, url: str) -> Counter[str]:
    """The functions that one more attempt on S3 calls, by module."""
    few, many = ATTEMPTS
    poll("s3", path, url, 2)  # imports, and makes what is made once
    counts = [counted(path, url, attempts) for attempts in ATTEMPTS]
    each = counts[1]
    each.subtract(counts[0])
    return Counter({name: round(n / (many - few)) for name, n in each.items()})


def counted(path: str, url: str, attempts: int) -> Counter[str]:
    """The functions called by a wait: Python functions by their own module, C's by the caller's."""
    found: Counter[str] = Counter()

    def profile(frame: Any, event: str, _: object) -> None:
        if event in {"call", "c_call"}:
            module = frame.f_globals.get("__name__", "")
            found[module] += 1

    gc.collect()
    gc.disable()  # a finalizer belongs to no attempt
    sys.setprofile(profile)
    try:
        poll("s3", path, url, attempts)
    finally:
        sys.setprofile(None)
        gc.enable()
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="start,clients,polls,label")
    parser.add_argument("--processes", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--poll", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    if arguments.poll:
        service, path, url, attempts = arguments.poll
        poll(service, path, url, int(attempts))
        return
    sys.path.insert(0, str(ROOT))
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    chosen = arguments.only.split(",")
    if chosen != ["calls"]:
        row("", "figure", "goal", "quartiles")
        row("---", "---", "---", "---")
    if "start" in chosen:
        start(arguments.processes)
    if "clients" in chosen:
        clients(arguments.rounds)
    if not {"polls", "label"}.isdisjoint(chosen):
        count_instructions(chosen)
    if "calls" in chosen:
        calls()


if __name__ == "__main__":
    main()
