"""What the package costs beside boto3: starting, creating clients, and one poll.

    python bench/costs.py [--only start,clients,polls] [--processes 15] [--rounds 60]

Every figure is a ratio of CPU times of the calling process, taken in pairs one right after the
other; the median over all pairs is printed, with the goal beside it and the quartiles behind it.

- start: in processes of their own, with compiled bytecode and nothing else imported before:
  `import boto_waiters_plus` and `install()` as shares of `import boto3`, the first lookup of
  `client.wait_until_<name>` in a session against the first `client.get_waiter(name)` of botocore,
  and the first lookup in a process, which imports what waits need;
- clients: `session.client(service)` with `install()` against without;
- polls: a wait with many attempts and hardly a delay, and a wait that succeeds at once, against
  botocore's own waiter. The server runs in another process. `wait_until` has a `max_wait`, and
  `get_waiter` is called as an existing script calls it; every call of the package has a deadline.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).absolute().parents[1]
SETTINGS = {"region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
FIRST_WAITERS = {"s3": ("bucket_exists", 10), "ec2": ("instance_running", 6)}
ATTEMPTS = 20
DELAY = 0.0005
"""Seconds between two polls: sleeping takes no CPU time."""


def report(name: str, ratios: list[float], goal: str = "", *, percent: bool = False) -> None:
    """One line: the median, the goal and the quartiles."""
    low, median, high = statistics.quantiles(ratios, n=4)
    form = "{:.1%}" if percent else "{:.3f}"
    spread = f"{form.format(low)} to {form.format(high)}"
    print(f"{name:44}{form.format(median):>10}  {goal:18}{spread}", flush=True)


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

INSTALL = "import boto_waiters_plus; boto_waiters_plus.install()"


def fresh(script: str) -> list[float]:
    """The numbers that a script prints in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "AWS_EC2_METADATA_DISABLED": "true"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "costs-bytecode")
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)  # noqa: S603 - a script above
    return [float(number) for number in done.stdout.split()]


def start(processes: int) -> None:
    """Print what importing, installing and the first waiter cost."""
    ours = IMPORTS.format(statement="import boto_waiters_plus", then="boto_waiters_plus.install()")
    wrapt = IMPORTS.format(statement="import wrapt", then="")
    fresh(ours), fresh(wrapt)  # these write the bytecode
    pairs = [(fresh(ours), fresh(wrapt)) for _ in range(processes)]
    report("import, of import boto3", [o[0] for o, _ in pairs], "at most 3%", percent=True)
    report("import and install()", [o[1] for o, _ in pairs], "at most 12%", percent=True)
    report("  import wrapt alone", [w[0] for _, w in pairs], percent=True)
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
        report(f"first waiter, times cheaper, {service}", ratios, f"at least {goal}")
    report("first waiter of a process, of import boto3", [o[1] for _, o in pairs], percent=True)
    report("  the same of botocore", [s[1] for s, _ in pairs], percent=True)


# --- clients and polls: one process, install() in every second measurement --------------------


def cpu(action: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    began = time.process_time()
    action()
    return time.process_time() - began


def paired(
    stock: Callable[[], object], ours: Callable[[], object], rounds: int, *, warm: bool
) -> list[float]:
    """The ratios with the package installed to botocore without it."""
    import boto_waiters_plus as bwp  # noqa: PLC0415 - the processes of `start` import it themselves

    def measured(action: Callable[[], object], *, install: bool) -> float:
        (bwp.install if install else bwp.uninstall)()
        if warm:
            action()
        gc.collect()
        return cpu(action)

    gc.disable()
    ratios = []
    for index in range(rounds + 2):
        # Which comes first alternates, and with it what the processor has in its caches.
        order = (False, True) if index % 2 else (True, False)
        took = {
            installed: measured((stock, ours)[installed], install=installed) for installed in order
        }
        ratios.append(took[True] / took[False])
    gc.enable()
    bwp.uninstall()
    return ratios[2:]


def clients(rounds: int) -> None:
    """Print what `install()` adds to creating a client."""
    import boto3  # noqa: PLC0415 - see `paired`

    session = boto3.session.Session(**SETTINGS)
    for service in FIRST_WAITERS:

        def create(service: str = service) -> None:
            session.client(service)

        report(f"client, {service}", paired(create, create, rounds, warm=True), "at most 1.01")


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


def polls(rounds: int) -> None:
    """Print what a poll costs, with all that a wait does around it."""
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - this file
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            for service, waiter, key in (
                ("s3", "bucket_exists", "Bucket"),
                ("dynamodb", "table_exists", "TableName"),
            ):
                polls_of(service, waiter, key, url, rounds)
        finally:
            server.terminate()


def polls_of(service: str, waiter: str, key: str, url: str, rounds: int) -> None:
    """Print the polls of one service."""
    import boto3  # noqa: PLC0415 - see `paired`
    from botocore.exceptions import WaiterError  # noqa: PLC0415 - the same

    import boto_waiters_plus as bwp  # noqa: PLC0415 - the same

    # One is never used with the package installed, the other never without.
    stock_client, client = (boto3.client(service, endpoint_url=url, **SETTINGS) for _ in range(2))
    bwp.install()
    bwp.enable(client)

    def many(client: Any) -> None:
        with suppress(WaiterError):
            config = {"Delay": DELAY, "MaxAttempts": ATTEMPTS}
            client.get_waiter(waiter).wait(**{key: "missing"}, WaiterConfig=config)

    def many_of_ours() -> None:
        with suppress(WaiterError):
            options = {"min_delay": DELAY, "max_delay": DELAY, "max_attempts": ATTEMPTS}
            bwp.wait_until(client, waiter, **{key: "missing"}, **options, max_wait=60)

    def one(client: Any) -> None:
        for _ in range(ATTEMPTS):
            client.get_waiter(waiter).wait(**{key: "ready"})

    def one_of_ours() -> None:
        for _ in range(ATTEMPTS):
            bwp.wait_until(client, waiter, **{key: "ready"}, max_wait=60)

    for name, stock, ours, goal in (
        ("poll, get_waiter", many, lambda: many(client), "at most 1.05"),
        ("poll, wait_until", many, many_of_ours, "at most 1.03"),
        ("wait of one attempt, get_waiter", one, lambda: one(client), ""),
        ("wait of one attempt, wait_until", one, one_of_ours, ""),
    ):
        ratios = paired(lambda stock=stock: stock(stock_client), ours, rounds, warm=True)
        report(f"{name}, {service}", ratios, goal)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="start,clients,polls")
    parser.add_argument("--processes", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    sys.path.insert(0, str(ROOT))
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    print(f"{'CPU, ratio to boto':44}{'median':>10}  {'goal':18}quartiles")
    chosen = arguments.only.split(",")
    if "start" in chosen:
        start(arguments.processes)
    if "clients" in chosen:
        clients(arguments.rounds)
    if "polls" in chosen:
        polls(arguments.rounds)


if __name__ == "__main__":
    main()
