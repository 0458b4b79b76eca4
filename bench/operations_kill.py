"""Kill and freeze workers at random moments; check that every wait ends exactly once.

python bench/operations_kill.py                        50 rounds of 100 waits on SQLite
python bench/operations_kill.py --postgresql           the same on a PostgreSQL server of its own
python bench/operations_kill.py --rounds 3 --waits 20  the short form

Two worker processes drive the waits of a store against a moto server. In each round one of them is
killed (SIGKILL) or, every third time, frozen for longer than its lease (SIGSTOP, SIGCONT). Triggers
in the database count what happens to each operation, whichever process writes: how often it ends,
and whether anything is written to it afterwards.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from boto_waiters_plus import operations

LEASE = 1.0
WORKER = "import sys; from boto_waiters_plus.cli import main; sys.exit(main())"

TABLE = "create table test_changes (id varchar(32), kind varchar(10))"
TRIGGERS = {
    "sqlite": (
        """create trigger test_end after update on boto_waiters_operations
        when old.state = 'open' and new.state != 'open'
        begin insert into test_changes values (new.id, 'end'); end""",
        """create trigger test_late after update on boto_waiters_operations
        when old.state != 'open'
        begin insert into test_changes values (new.id, 'late'); end""",
    ),
    "postgresql": (
        """create function test_note() returns trigger as $$ begin
        if old.state = 'open' and new.state != 'open' then
          insert into test_changes values (new.id, 'end'); end if;
        if old.state != 'open' then insert into test_changes values (new.id, 'late'); end if;
        return new; end $$ language plpgsql""",
        """create trigger test_changed after update on boto_waiters_operations
        for each row execute function test_note()""",
    ),
}


class Workers:
    """Two worker processes; one that was killed is replaced."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._processes = [self._start() for _ in range(2)]

    def _start(self) -> subprocess.Popen[bytes]:
        words = ["operations", "work", "--store", self._url, "--lease", str(LEASE)]
        return subprocess.Popen(  # noqa: S603 - this interpreter
            [sys.executable, "-c", WORKER, *words], stderr=subprocess.DEVNULL
        )

    def kill(self, index: int) -> None:
        """Kill a worker and start another."""
        self._processes[index].kill()
        self._processes[index].wait()
        self._processes[index] = self._start()

    def freeze(self, index: int, seconds: float) -> None:
        """Stop a worker for a time."""
        self._processes[index].send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self._processes[index].send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End both."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait(30)


def prepare(store: operations.Store) -> None:
    store.list()
    with store.database.writing() as connection:
        connection.exec_driver_sql(TABLE)
        for statement in TRIGGERS[connection.dialect.name]:
            connection.exec_driver_sql(statement)


def run_round(number: int, store: operations.Store, workers: Workers, waits: int, s3: Any) -> str:
    """Run one round; return what was done to which worker."""
    names = [f"round-{number}-bucket-{index}" for index in range(waits)]
    for name in names:
        # A tenth never exists and times out.
        options = {"max_wait": 6 if name.endswith("0") else 60, "min_delay": 0.3, "max_delay": 0.6}
        operations.start(s3, "bucket_exists", in_store=store, Bucket=name, **options)
    victim, moment = random.randrange(2), random.uniform(0, 2)
    half = len(names) // 2
    create(s3, names[:half])
    time.sleep(moment)
    if number % 3 == 2:
        done = f"froze worker {victim} after {moment:.2f} s"
        workers.freeze(victim, LEASE * 1.5 + random.uniform(0, 1))
    else:
        done = f"killed worker {victim} after {moment:.2f} s"
        workers.kill(victim)
    create(s3, names[half:])
    return done


def create(s3: Any, names: list[str]) -> None:
    for name in names:
        if not name.endswith("0"):
            s3.create_bucket(Bucket=name)


def wait_for_all(store: operations.Store, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while store.list(state="open", page_size=1).operations:
        if time.monotonic() > end:
            still_open = store.list(state="open", page_size=3).operations
            raise SystemExit(f"waits are lost: {still_open} are still open")
        time.sleep(0.2)


def counts(store: operations.Store) -> dict[str, int]:
    queries = {
        "operations": "select count(*) from boto_waiters_operations",
        "succeeded": "select count(*) from boto_waiters_operations where state = 'succeeded'",
        "timed out": "select count(*) from boto_waiters_operations where state = 'timed_out'",
        "ends": "select count(*) from test_changes where kind = 'end'",
        "ended more than once": "select count(*) from (select id from test_changes "
        "where kind = 'end' group by id having count(*) > 1) as twice",
        "late writes": "select count(*) from test_changes where kind = 'late'",
    }
    with store.database.reading() as connection:
        return {name: connection.exec_driver_sql(q).scalar_one() for name, q in queries.items()}


def other_ends(store: operations.Store) -> list[tuple[str, str, int]]:
    """The states and errors of waits that should have ended otherwise, and how many they are."""
    query = (
        "select state, error, count(*) from boto_waiters_operations "
        "where state not in ('succeeded', 'timed_out') group by state, error"
    )
    with store.database.reading() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


@contextlib.contextmanager
def store_url(*, postgresql: bool) -> Iterator[str]:
    if postgresql:
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "operations"))
        import postgres  # noqa: PLC0415 - beside the tests

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
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    os.environ |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    s3 = boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1")
    began = time.monotonic()
    with store_url(postgresql=arguments.postgresql) as url:
        store = operations.Store(url)
        prepare(store)
        workers = Workers(url)
        try:
            for number in range(arguments.rounds):
                done = run_round(number, store, workers, arguments.waits, s3)
                wait_for_all(store)
                print(f"round {number + 1}: {done}", flush=True)
        finally:
            workers.close()
            result = counts(store)
            for state, error, count in other_ends(store):
                print(f"{state} ({count}): {error}")
            store.close()
            server.stop()
    for name, count in result.items():
        print(f"{name:>22} {count:>7}")
    print(f"{'seconds':>22} {time.monotonic() - began:>7.0f}")
    expected = arguments.rounds * arguments.waits
    is_right = result["operations"] == result["ends"] == expected
    is_right = is_right and not result["ended more than once"] and not result["late writes"]
    is_right = is_right and result["succeeded"] + result["timed out"] == expected
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
