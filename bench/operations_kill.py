"""Do to the workers of a store what happens to workers; check that every wait ends exactly once.

python bench/operations_kill.py                        50 rounds of 100 waits on SQLite
python bench/operations_kill.py --postgresql           the same on a PostgreSQL server of its own
python bench/operations_kill.py --rounds 5 --waits 20  the short form
python bench/operations_kill.py --fault freeze         one kind of fault only

Two worker processes drive the waits of a store against a server on loopback. Each round has one
fault, in turn:

kill        a worker is killed (SIGKILL)
freeze      a worker is stopped for longer than its lease (SIGSTOP, SIGCONT)
clock       the wall clock of one worker goes an hour forward, that of the other an hour back; one
            is killed
fork        a worker that has opened the store forks two others, and is killed
disk full   SQLite: no worker can write for a while
restart     PostgreSQL: the server crashes and is started again
black hole  PostgreSQL: the connections of a worker pass nothing for longer than its lease; what was
            sent arrives later

Triggers in the database note the time of each write, whichever process makes it. Every wait has to
end once, with the right end, not before its resource was there and not before its `max_wait` was
over; nothing may be written to it after its end.
"""

from __future__ import annotations

import argparse
import contextlib
import http.server
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import sqlalchemy
from black_hole import BlackHole
from store_writes import StoreWrites

from boto_waiters_plus import Wait, operations

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "operations"))
import postgres  # beside the tests

LEASE = 1.0
DELAYS = {"min_delay": 0.3, "max_delay": 0.6}
SHORT_WAIT = 6
"""Seconds of the waits whose resource never exists."""

WORKER = """if True:
    import os, signal, sys, time
    real, shift = time.time, [0]
    time.time = lambda: real() + shift[0]
    signal.signal(signal.SIGUSR1, lambda *_: shift.append(shift.pop() + 3600))
    signal.signal(signal.SIGUSR2, lambda *_: shift.append(shift.pop() - 3600))
    from boto_waiters_plus import operations
    store, children = operations.Store(sys.argv[1]), int(sys.argv[3])
    held = [store.get(each["path"]) for each in store.list(page_size=5).operations]
    for _ in range(children):
        if not os.fork():
            break
    store.work(lease=float(sys.argv[2]))
"""
"""A worker whose clock two signals set; what it holds has begun a thread before it forks."""

FORWARD, BACK = signal.SIGUSR1, signal.SIGUSR2


class Buckets:
    """A server that knows the buckets which were made, and when."""

    def __init__(self) -> None:
        self.made: dict[str, float] = {}
        made = self.made

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self.send_response(200 if self.path.strip("/") in made else 404)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 100

            def handle_error(self, *_: Any) -> None:
                """Say nothing: workers are killed."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def make(self, names: list[str]) -> None:
        """Make buckets; a tenth never exists."""
        for name in names:
            if not never_exists(name):
                self.made[name] = time.time()


def never_exists(name: str) -> bool:
    """Whether a bucket is never made."""
    return name.endswith("0")


class Workers:
    """Two worker processes, each with descendants in a session of its own."""

    def __init__(self, urls: list[str], *, verbose: bool) -> None:
        self._urls = urls
        self._errors = None if verbose else subprocess.DEVNULL
        self._processes = [self._start(index) for index in range(2)]

    def _start(self, index: int, children: int = 0) -> subprocess.Popen[bytes]:
        words = [self._urls[index], str(LEASE), str(children)]
        return subprocess.Popen(  # noqa: S603 - this interpreter
            [sys.executable, "-c", WORKER, *words], stderr=self._errors, start_new_session=True
        )

    def pid(self, index: int) -> int:
        """Return the process of a worker."""
        return self._processes[index].pid

    def pids(self) -> set[int]:
        """Return the processes of both workers."""
        return {each.pid for each in self._processes}

    def send(self, index: int, number: signal.Signals) -> None:
        """Send a signal to a worker."""
        self._processes[index].send_signal(number)

    def replace(self, index: int, children: int = 0) -> None:
        """Kill a worker and its descendants, and start another."""
        self._kill(self._processes[index])
        self._processes[index] = self._start(index, children)

    def stopped(self) -> list[int]:
        """Return the exit codes of workers that have ended by themselves."""
        return [code for each in self._processes if (code := each.poll()) is not None]

    def close(self) -> None:
        """End both."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
            self._kill(process)

    @staticmethod
    def _kill(process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Scene:
    """A store, what is before it, and the faults that are possible there.

    Attributes:
        url: of the store, as this process reaches it.
        worker_urls: of the store, as the two workers reach it.
    """

    def __init__(self, folder: str, server: postgres.Server | None) -> None:
        self._server = server
        self._holes: list[BlackHole] = []
        self.url = f"{folder}/waits.db" if server is None else server.url
        self.worker_urls = [self.url] * 2
        self.faults: dict[str, Callable[[Workers, int], None]] = {
            "kill": lambda workers, victim: workers.replace(victim),
            "freeze": freeze,
            "clock": step_clocks,
            "fork": fork,
        }
        if server is None:
            self.faults["disk full"] = fill_disk
        else:
            self._holes = [BlackHole(server.port) for _ in range(2)]
            url = sqlalchemy.make_url(self.url)
            ports = [hole.port for hole in self._holes]
            through = [url.set(port=port) for port in ports]
            self.worker_urls = [each.render_as_string(hide_password=False) for each in through]
            self.faults["restart"] = self._restart
            self.faults["black hole"] = self._swallow

    def _restart(self, _: Workers, __: int) -> None:
        assert self._server is not None, "only a server is restarted"
        self._server.stop(signal.SIGQUIT)
        time.sleep(random.uniform(0, 2 * LEASE))
        self._server.start()

    def _swallow(self, _: Workers, victim: int) -> None:
        hole = self._holes[victim]
        hole.is_open.clear()
        time.sleep(LEASE * 1.5 + random.uniform(0, 2))
        hole.is_open.set()

    def close(self) -> None:
        """End the server."""
        for hole in self._holes:
            hole.close()
        if self._server is not None:
            self._server.remove()


def freeze(workers: Workers, victim: int) -> None:
    workers.send(victim, signal.SIGSTOP)
    time.sleep(LEASE * 1.5 + random.uniform(0, 1))
    workers.send(victim, signal.SIGCONT)


def step_clocks(workers: Workers, victim: int) -> None:
    first, second = random.sample([FORWARD, BACK], 2)
    workers.send(victim, first)
    workers.send(1 - victim, second)
    time.sleep(random.uniform(0, 1))
    workers.replace(victim)
    time.sleep(LEASE)
    workers.send(1 - victim, first)


def fork(workers: Workers, victim: int) -> None:
    workers.replace(victim, children=2)
    time.sleep(2 + random.uniform(0, 1))
    os.kill(workers.pid(victim), signal.SIGKILL)
    time.sleep(1)
    workers.replace(victim)


def fill_disk(workers: Workers, _: int) -> None:
    # Whatever they write to a file fails, as on a full disk.
    pids = [workers.pid(index) for index in range(2)]
    before = [resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in pids]
    for pid, (__, most) in zip(pids, before, strict=True):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, most))
    time.sleep(LEASE * 1.5 + random.uniform(0, 1))
    for pid, limits in zip(pids, before, strict=True):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


class Run:
    """The rounds on one store."""

    def __init__(self, scene: Scene, *, waits: int, verbose: bool) -> None:
        self._scene, self._waits = scene, waits
        self._buckets = Buckets()
        where = {"endpoint_url": self._buckets.url, "region_name": "us-east-1"}
        self._s3 = boto3.client("s3", **where)
        self._store = operations.Store(scene.url)
        self._store.list()
        self._writes = StoreWrites(scene.url)
        self._names: dict[str, str] = {}
        self._workers = Workers(scene.worker_urls, verbose=verbose)

    def round(self, number: int, fault: str) -> str:
        """Run one round; return what was done to which worker."""
        self._wait_for_workers()
        names = [f"round-{number}-bucket-{index}" for index in range(self._waits)]
        paths = self._store.start_all(self._wait(name) for name in names)
        self._names.update(zip((path.partition("/")[2] for path in paths), names, strict=True))
        victim, moment = random.randrange(2), random.uniform(0, 2)
        half = len(names) // 2
        self._buckets.make(names[:half])
        time.sleep(moment)
        self._scene.faults[fault](self._workers, victim)
        self._buckets.make(names[half:])
        self._wait_for_all()
        if self._workers.stopped():
            raise SystemExit(f"{fault}: a worker has ended by itself")
        return f"{fault}, worker {victim} after {moment:.2f} s"

    def _wait(self, name: str) -> Wait:
        max_wait = SHORT_WAIT if never_exists(name) else 60
        return Wait(self._s3, "bucket_exists", {"Bucket": name}, max_wait=max_wait, **DELAYS)

    def _wait_for_workers(self, seconds: float = 60) -> None:
        """Wait until both workers have begun: one that cannot begin ends with an error."""
        end = time.monotonic() + seconds
        query = "select worker from boto_waiters_leases"
        while True:
            names = self._writes.rows(query)
            missing = self._workers.pids() - {int(str(n).rpartition(":")[2]) for (n,) in names}
            if not missing:
                return
            if self._workers.stopped() or time.monotonic() > end:
                raise SystemExit(f"workers {missing} do not work")
            time.sleep(0.1)

    def _wait_for_all(self, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while True:
            # A server that was restarted.
            with contextlib.suppress(operations.StoreError):
                found = self._store.list(state="open", page_size=3).operations
                if not found:
                    return
                if time.monotonic() > end:
                    raise SystemExit(f"waits are lost: {found} are still open")
            time.sleep(0.2)

    def problems(self) -> Counter[str]:
        """Return how many waits there were, and how many of them break which law."""
        changes: dict[str, dict[str, list[float]]] = {}
        for wait, kind, moment in self._writes.rows("select id, kind, moment from test_changes"):
            changes.setdefault(str(wait), {}).setdefault(str(kind), []).append(float(str(moment)))
        query = "select id, state, created from boto_waiters_operations"
        rows = {str(wait): facts for wait, *facts in self._writes.rows(query)}
        found: Counter[str] = Counter(dict.fromkeys(LAWS, 0))
        for wait, name in self._names.items():
            broken = list(self._broken(name, *rows[wait], changes[wait]))
            found.update(broken)
            if broken:
                seconds = {
                    kind: [round(each - changes[wait]["insert"][0], 3) for each in moments]
                    for kind, moments in changes[wait].items()
                }
                text = f"{name}: {', '.join(broken)}; seconds after its start: {seconds}"
                print(text, file=sys.stderr)
        found["waits"] = len(self._names)
        found["taken over"] = sum(len(each.get("claim", ())) > 1 for each in changes.values())
        return found

    def _broken(
        self, name: str, state: object, created: Any, changes: dict[str, list[float]]
    ) -> Iterator[str]:
        """Yield what is wrong with one wait."""
        ends = changes.get("end", [])
        if not ends:
            yield "lost"
            return
        if len(ends) > 1:
            yield "ended twice"
        if "late" in changes:
            yield "written late"
        wanted = "timed_out" if never_exists(name) else "succeeded"
        if state != wanted:
            yield "ended otherwise"
        earliest: float | None = self._buckets.made.get(name)
        if earliest is None:
            # The last attempt comes as late as it can be answered in time, and its answer counts.
            earliest = created + SHORT_WAIT - 2 * DELAYS["min_delay"]
        if ends[0] < earliest - CLOCK_ROUNDING:
            yield "ended early"

    def other_ends(self) -> list[tuple[object, ...]]:
        """Return the states and errors that no wait should have, and how many have them."""
        return self._writes.rows(
            "select state, error, count(*) from boto_waiters_operations "
            "where state not in ('succeeded', 'timed_out') group by state, error"
        )

    def close(self) -> None:
        """End the workers and close the store."""
        self._workers.close()
        self._store.close()
        self._writes.close()


LAWS = ("lost", "ended twice", "written late", "ended otherwise", "ended early")

CLOCK_ROUNDING = 0.005
"""Seconds: SQLite's clock counts in milliseconds."""


@contextlib.contextmanager
def store_url(*, postgresql: bool) -> Iterator[str]:
    """Yield the URL of an empty store."""
    if postgresql:
        with postgres.server() as url:
            yield url
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield f"{folder}/waits.db"


def main() -> int:
    """Run the rounds; return 1 if a wait did not end exactly once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--waits", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--fault", help="only this one")
    parser.add_argument("--verbose", action="store_true", help="show what workers log")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    os.environ |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ends:
        scene = Scene(folder, postgres.Server() if arguments.postgresql else None)
        ends.callback(scene.close)
        run = Run(scene, waits=arguments.waits, verbose=arguments.verbose)
        ends.callback(run.close)
        faults = [arguments.fault] if arguments.fault else list(scene.faults)
        for number in range(arguments.rounds):
            done = run.round(number, faults[number % len(faults)])
            print(f"round {number + 1}: {done}", file=sys.stderr, flush=True)
        # What a frozen or cut-off worker still writes.
        time.sleep(2 * LEASE)
        found = run.problems()
        for state, error, count in run.other_ends():
            print(f"{state} ({count}): {error}", file=sys.stderr)
    database = "PostgreSQL" if arguments.postgresql else "SQLite"
    kinds = ", ".join(faults)
    print(f"| {arguments.rounds} rounds on {database} ({kinds}) | waits |\n|---|---|")
    for name in ("waits", *LAWS, "taken over"):
        print(f"| {name} | {found[name]:,} |")
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    return 1 if any(found[law] for law in LAWS) else 0


if __name__ == "__main__":
    sys.exit(main())
