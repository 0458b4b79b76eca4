"""The times of earlier waits: the file that keeps them, and the waits that learn from them."""

import asyncio
import logging
import math
import multiprocessing
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest
from service.ways import by_batch, by_method, by_task, by_waiter

import boto_waiters_plus as bwp
import boto_waiters_plus.history as history_module
from boto_waiters_plus.cli import main
from boto_waiters_plus.conditions import poll, wait_for
from boto_waiters_plus.history import MOST_TIMES, HistoryKey
from boto_waiters_plus.operations import Store

KEY = HistoryKey("dynamodb", "TableExists", "us-east-1", "", from_call=False)
MAX_DELAY = 20
TAKES = 300


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch):
    """A busy machine may take longer than a wait stops for."""
    monkeypatch.setattr(history_module, "READ_TIMEOUT", 30)


def settle():
    """Let the background write what it has to write."""
    history_module._files.join(60)


@contextmanager
def opened(path):
    """A connection to the file, when nothing is left to write; what it changes is committed."""
    settle()
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def told(caplog):
    settle()
    return [each for each in caplog.records if "cannot be used" in each.message]


@pytest.fixture
def history(tmp_path):
    return bwp.History(tmp_path / "cache" / "history.sqlite")


def known(history, key=KEY, count=8):
    """Fill a history with waits that took about as long."""
    for number in range(count):
        history.add(key, "success", TAKES + 5.0 * number)
    return history


# --- the file -------------------------------------------------------------------------------------


def test_only_the_owner_reads_the_last_times(history):
    for number in range(MOST_TIMES + 5):
        history.add(KEY, "timeout" if number % 2 else "failure", number + 1.0)
    times = bwp.History(history.path).times(KEY)
    assert [each.seconds for each in times] == [float(n) for n in range(MOST_TIMES + 5, 5, -1)]
    assert [each.is_end for each in times[:2]] == [True, False]
    assert history.times(KEY._replace(region="eu-west-1")) == ()
    assert history.path.stat().st_mode & 0o777 == 0o600


def test_a_path_that_no_file_can_have_is_no_error_of_a_wait(tmp_path, caplog):
    history = bwp.History(tmp_path / ("x" * 300))
    assert history.times(KEY) == ()
    history.add(KEY, "success", 5.0)
    assert main(["history", "--file", str(history.path)]) == 255


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    history = bwp.History("history.sqlite")
    monkeypatch.chdir("/")
    assert history.path == tmp_path / "history.sqlite"
    assert len(known(history).times(KEY)) == 8


def add_some(history, number):
    for _ in range(4):
        history.add(KEY, "success", 300.0 + number)
    settle()


Fork = multiprocessing.get_context("fork").Process


def run_all(workers):
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


@pytest.mark.parametrize("before", [0, 8])
@pytest.mark.parametrize("start", [threading.Thread, Fork], ids=["threads", "processes"])
def test_threads_and_processes_add_at_once(history, start, before):
    known(history, count=before)
    run_all([start(target=add_some, args=(history, number)) for number in range(8)])
    settle()
    assert len(history.times(KEY)) == before + 32


def test_a_fork_leaves_no_file_locked(history):
    known(history)
    stop = threading.Event()

    def add():
        while not stop.is_set():
            history.add(KEY, "success", 400.0)
            settle()

    def child():
        # The parent goes on writing, with the file locked at times.
        tries = (history.times(KEY) or stop.wait(0.01) for _ in range(100))
        os._exit(not any(tries))

    writer = threading.Thread(target=add)
    writer.start()
    workers = [Fork(target=child) for _ in range(15)]
    run_all(workers)
    stop.set()
    writer.join()
    assert [worker.exitcode for worker in workers] == [0] * 15


def test_an_ending_script_keeps_its_time(history):
    text = f"""
import boto_waiters_plus as bwp
from boto_waiters_plus.history import HistoryKey
bwp.History({str(history.path)!r}).add(HistoryKey(*{tuple(KEY)!r}), "success", 300.0)
"""
    subprocess.run([sys.executable, "-c", text], check=True)
    assert [each.seconds for each in history.times(KEY)] == [300.0]


def open_files():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts what Linux lists")
def test_accesses_leave_no_file_open(history):
    known(history)
    before = open_files()
    for number in range(20):
        history.add(KEY, "success", number + 1.0)
        assert history.times(KEY)
    bwp.History(history.path.parent / "none").times(KEY)
    settle()
    assert open_files() <= before


@pytest.mark.parametrize("times", [0, 8])
def test_a_write_that_was_killed_is_undone(tmp_path, times, table, capsys):
    history = known(bwp.History(tmp_path / "history.sqlite"), count=times or 1)
    if not times:
        with opened(history.path) as connection:
            connection.execute("drop table times")
    killed = f"""
import os, signal, sqlite3
connection = sqlite3.connect({str(history.path)!r}, isolation_level=None)
connection.execute("pragma synchronous = off")
connection.execute("begin exclusive")
connection.execute("create table other (id)")
connection.executemany("insert into other values (?)", [["x" * 5000]] * 2000)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", killed], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert Path(f"{history.path}-journal").exists()
    assert len(history.times(KEY)) == times
    # What has no table yet gets one from the next process.
    history = bwp.History(history.path)
    table.wait_until(history)
    assert len(history.times(KEY)) == times + 1
    assert main(["history", "--clear", "--file", str(history.path)]) == 0
    assert f"{times + 1} times deleted" in capsys.readouterr().err


# --- whatever is in its place ---------------------------------------------------------------------


def damage(path):
    path.write_bytes(b"no database" * 100)


def add_one(path):
    bwp.History(path).add(KEY, "success", 5.0)
    settle()


def refuse_rows(path):
    add_one(path)
    full = "create trigger full before insert on times begin select raise(fail, 'full'); end"
    with opened(path) as connection:
        connection.execute("update times set seconds = 'long'")
        connection.execute(full)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


def make_unreadable(path):
    if os.geteuid() == 0:
        pytest.skip("root reads all")
    add_one(path)
    path.chmod(0)


def beside(make, suffix):
    def harm(path):
        add_one(path)
        make(Path(f"{path}-{suffix}"))

    return pytest.param(harm, id=f"{make.__name__} as {suffix}")


def fifo_beside_target(path):
    target = path.with_name("target")
    add_one(target)
    os.mkfifo(f"{target}-journal")
    path.symlink_to(target)


SUFFIXES = ("journal", "wal", "shm")
UNUSABLE = [
    damage, make_unreadable, make_socket, os.mkfifo, Path.mkdir, fifo_beside_target,
    pytest.param(lambda path: path.symlink_to("/proc/none"), id="dangling symlink"),
    pytest.param(lambda path: path.symlink_to(path), id="symlink to itself"),
    pytest.param(lambda path: path.symlink_to("/dev/zero"), id="device"),
    *(beside(make, suffix) for suffix in SUFFIXES for make in (os.mkfifo, Path.mkdir)),
]  # fmt: skip


@pytest.fixture
def file(tmp_path, monkeypatch):
    # The name of a socket has to be short.
    monkeypatch.chdir(tmp_path)
    return tmp_path / "history.sqlite"


@pytest.mark.parametrize("harm", [*UNUSABLE, refuse_rows])
def test_no_file_is_an_error_of_a_wait(file, harm, table, caplog):
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    harm(file)
    history = bwp.History(file)
    for _ in range(2):
        assert table.wait_until(history).attempts > TAKES / MAX_DELAY
    assert [each.levelname for each in told(caplog)] == ["DEBUG"]


@pytest.mark.parametrize("harm", UNUSABLE)
@pytest.mark.parametrize("words", [[], ["--clear"]], ids=["list", "clear"])
def test_the_command_says_what_is_wrong(file, harm, words, capsys):
    harm(file)
    assert main(["history", *words, "--file", str(file)]) == 255
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert str(file) in err


def test_the_command_cannot_clear_a_locked_file(file, monkeypatch, capsys):
    add_one(file)
    monkeypatch.setattr(history_module, "GRACE", 0)
    # Others may still read.
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("begin immediate")
        assert main(["history", "--file", str(file)]) == 0
        assert main(["history", "--clear", "--file", str(file)]) == 255
    assert "locked" in capsys.readouterr().err


@pytest.mark.parametrize(
    "make", [Path.touch, lambda path: sqlite3.connect(path).close()], ids=["touched", "no table"]
)
def test_an_empty_file_becomes_a_history(file, make, table):
    make(file)
    history = bwp.History(file)
    assert history.entries() == {}
    assert history.clear() == 0
    table.wait_until(history)
    assert len(history.times(KEY)) == 1


def test_a_symlink_to_a_history_is_followed(file):
    file.symlink_to(known(bwp.History(file.with_name("target"))).path)
    settle()
    assert len(known(bwp.History(file)).times(KEY)) == 16


def locked(path):
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    connection.execute("begin exclusive")
    return closing(connection)


def test_a_lock_takes_no_time_of_a_wait(history, caplog, answers):
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    known(history)
    settle()
    bwp.install()
    client = boto3.client("dynamodb", region_name="us-east-1")
    calls = answers(client, {"Table": {"TableStatus": "CREATING"}})
    with locked(history.path), pytest.raises(bwp.WaiterTimeoutError):
        client.wait_until_table_exists(TableName="orders", max_wait=0.15, delay_history=history)
    assert calls.requests
    assert told(caplog) == []
    assert len(history.times(KEY)) >= 8


def test_a_short_lock_loses_no_time(history):
    known(history)
    settle()
    with locked(history.path):
        history.add(KEY, "success", 400.0)
        assert history.times(KEY) == ()
    settle()
    assert len(history.times(KEY)) == 9


@pytest.fixture
def connections(monkeypatch):
    """The threads in which connections were made."""
    threads = []
    connect = sqlite3.connect

    def noted(*arguments, **options):
        threads.append(threading.current_thread())
        return connect(*arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", noted)
    return threads


@pytest.fixture
def hanging_disk(monkeypatch):
    """No connection is made before the end of the test."""
    resumed, connect = threading.Event(), sqlite3.connect

    def hang(*arguments, **options):
        resumed.wait()
        return connect(*arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", hang)
    yield
    resumed.set()
    settle()


VALUES = [1e308, 5e-324, math.inf, math.nan, -1.0, 0.0, 2**62, None, "long", b"\xff", ""]
SCHEDULE = ["schedule", "dynamodb", "table-exists", "--max-wait", "1h", "--history"]
NO_UTF_8 = "cast(x'ff' as text)"


@pytest.mark.parametrize("value", [*VALUES, NO_UTF_8], ids=repr)
def test_damaged_rows_tell_nothing(file, value, table, capsys):
    history = known(bwp.History(file), count=20)
    place, values = ("?", [value]) if value != NO_UTF_8 else (value, [])
    with opened(file) as connection:
        for number, column in enumerate((*KEY._fields, "end", "seconds"), 1):
            connection.execute(f"update times set {column} = {place} where id = {number}", values)
    table.wait_until(history)
    assert MAX_DELAY < table.first_delay < 3 * MAX_DELAY
    assert main(["history", "--file", str(file)]) == 0
    assert main([*SCHEDULE, "--file", str(file)]) == 0
    assert main(["history", "--clear", "--file", str(file)]) == 0
    assert "21 times deleted" in capsys.readouterr().err


@pytest.mark.parametrize("type_", ["text", "blob", "integer", "numeric"])
def test_columns_of_other_types_are_no_traceback(file, type_, table, capsys):
    columns = ", ".join(f"{name} {type_}" for name in (*KEY._fields, "end", "seconds"))
    with opened(file) as connection:
        connection.execute(f"create table times (id integer primary key, {columns})")
        row = (*KEY, "success", b"x")
        connection.execute("insert into times values (1, ?, ?, ?, ?, ?, ?, ?)", row)
    table.wait_until(bwp.History(file))
    settle()
    assert main(["history", "--file", str(file)]) == 0


def test_the_users_history_needs_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    with pytest.raises(ImportError, match="requires the extra history"):
        bwp.WaitOptions(delay_history=True)
    with pytest.raises(TypeError, match="delay_history"):
        bwp.WaitOptions(delay_history="history.sqlite")


# --- waits ----------------------------------------------------------------------------------------


class Table:
    """A table that is active 300 s after its creation or, without one, after the first call."""

    def __init__(self, clock):
        self.clock, self.polls, self.created = clock, [], None
        self.client = boto3.session.Session(region_name="us-east-1").client("dynamodb")
        self.client.meta.events.register("before-call.dynamodb", self._answer)

    def _answer(self, model, **_):
        self.created = self.clock.now if self.created is None else self.created
        if model.name == "CreateTable":
            self.clock.advance(30)
        else:
            self.polls.append(self.clock.now)
        is_active = self.clock.now - self.created >= TAKES
        status = {"TableStatus": "ACTIVE" if is_active else "CREATING", "TableName": "orders"}
        answer = {"TableDescription": status, "Table": status}
        return SimpleNamespace(status_code=200), {**answer, "ResponseMetadata": {}}

    def wait_until(self, history, **options):
        self.polls, self.created = [], None
        options = {**NAMED, "delay_history": history, **options}
        return self.client.wait_until_table_exists(**options)

    @property
    def first_delay(self):
        return self.polls[1] - self.polls[0]


@pytest.fixture
def table(virtual_time):
    bwp.install()
    yield Table(virtual_time)
    bwp.uninstall()


def by_callable(client, waiter, **options):
    named = {"TableName": options.pop("TableName")}
    definition = getattr(client, f"wait_until_{waiter}").definition
    poll(client.describe_table, definition, input=named, **options)


def by_batch_in_task(client, waiter, **options):
    named = {"TableName": options.pop("TableName")}
    asyncio.run(bwp.wait_all_async([bwp.Wait(client, waiter, named, **options)]))


WAYS = [by_method, by_waiter, by_batch, by_task, by_batch_in_task, by_callable]
NAMED = {"TableName": "orders", "max_wait": 3000}


@pytest.mark.parametrize("way", WAYS)
def test_each_wait_learns_and_adds_its_time(table, history, way, connections):
    key = KEY._replace(service="", region="") if way is by_callable else KEY
    way(table.client, "table_exists", **NAMED, delay_history=known(history, key))
    assert table.first_delay > MAX_DELAY
    newest, *others = history.times(key)
    assert newest.seconds == pytest.approx(TAKES, abs=MAX_DELAY)
    assert len(others) == 8
    assert b"orders" not in history.path.read_bytes()
    # No wait opens the file itself.
    assert {each.name for each in connections} == {"boto_waiters_plus history"}


@pytest.mark.parametrize("way", WAYS)
def test_a_hanging_disk_holds_up_no_wait(table, history, way, caplog, monkeypatch, hanging_disk):
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    monkeypatch.setattr(history_module, "READ_TIMEOUT", 0.01)
    history.path.parent.mkdir()
    history.path.write_bytes(b"x")
    for _ in range(2):
        way(table.client, "table_exists", **NAMED, delay_history=history)
    lines = [each for each in caplog.records if "cannot be used" in each.message]
    assert [each.levelname for each in lines] == ["DEBUG"]


def test_few_times_leave_the_delays_as_they_are(table, history):
    table.wait_until(known(history, count=4))
    assert table.first_delay <= MAX_DELAY
    table.wait_until(history, max_delay=MAX_DELAY)
    assert table.first_delay <= MAX_DELAY


def test_a_kind_has_times_of_its_own(table, history, caplog):
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    kind = KEY._replace(kind="on-demand")
    table.wait_until(known(history, kind))
    assert "delays by" not in caplog.text
    table.wait_until(history, delay_kind="on-demand")
    assert table.first_delay > MAX_DELAY
    assert "delays by 8 earlier waits (dynamodb, TableExists, us-east-1, on-demand)" in caplog.text
    assert [len(history.times(key)) for key in (KEY, kind)] == [1, 9]


def test_ends_of_a_first_attempt_are_not_kept(table, history):
    table.wait_until(history)
    table.client.wait_until_table_exists(TableName="orders", max_wait=9, delay_history=history)
    with pytest.raises(bwp.WaiterTimeoutError):
        table.wait_until(history, max_wait=60)
    assert [each.is_end for each in history.times(KEY)] == [False, True]


class ToldHistory(bwp.History):
    """Tells when a time was added, which a background wait does where its callbacks are called."""

    def __init__(self, path):
        super().__init__(path)
        self.is_added = threading.Event()

    def add(self, key, end, seconds):
        super().add(key, end, seconds)
        self.is_added.set()


def test_times_of_begin_count_from_the_call(table, file):
    history = ToldHistory(file)
    key = HistoryKey("dynamodb", "TableExists", "us-east-1", "", from_call=True)
    attribute = {"AttributeName": "id", "AttributeType": "S"}
    own = {"AttributeDefinitions": [attribute], "BillingMode": "PAY_PER_REQUEST"}
    own["KeySchema"] = [{"AttributeName": "id", "KeyType": "HASH"}]
    known(history, key)
    history.is_added.clear()
    bwp.begin(table.client.create_table, **NAMED, **own, delay_history=history).result(60)
    assert history.is_added.wait(60)
    assert table.first_delay > MAX_DELAY
    assert history.times(key)[0].seconds == pytest.approx(TAKES, abs=MAX_DELAY)
    assert not history.times(KEY)


def test_waits_of_a_batch_read_once(table, history, monkeypatch):
    keys, read = [], bwp.History.times

    def noted(self, key):
        keys.append(key)
        return read(self, key)

    monkeypatch.setattr(bwp.History, "times", noted)
    known(history)
    options, names = {"delay_history": history}, [f"orders-{number}" for number in range(300)]
    waits = [bwp.Wait(table.client, "table_exists", {"TableName": n}, **options) for n in names]
    assert len(bwp.wait_all(waits, max_wait=3000)) == 300
    assert keys == [KEY]
    times = history.times(KEY)
    assert len(times) == MOST_TIMES
    assert all(TAKES - MAX_DELAY < each.seconds < TAKES + MAX_DELAY for each in times)


@pytest.mark.parametrize("damaged", ["long", b"long", 1e308, math.inf, -1.0, 0])
def test_stored_waits_learn_from_their_store(table, damaged):
    store = Store(":memory:")
    options = {**NAMED, "delay_kind": "small"}
    for number in range(7):
        operation = store.start(table.client, "table_exists", **options, delay_history=True)
        elapsed, wait_id = TAKES + number * 5.0, operation.path.partition("/")[2]
        end = {"state": "succeeded", "elapsed": elapsed, "attempts": 9, "ended": 0.0}
        store.database.write(None, [{"id": wait_id, **end}])
    # The last row is damaged, and tells nothing.
    with store.database.writing() as connection:
        statement = "update boto_waiters_operations set elapsed = ? where id = ?"
        connection.exec_driver_sql(statement, (damaged, wait_id))
    store.start(table.client, "table_exists", **options, delay_history=True)
    store.start(table.client, "table_exists", **options)
    delays, stop = [], threading.Event()

    def attempted(event):
        delays.append(event.next_delay)
        if event.attempt == 1 and len(delays) == 2:
            stop.set()

    bwp.enable(table.client, on_event=lambda e: e.kind == "attempt" and attempted(e))
    store.work(make_client=lambda _: table.client, stop_event=stop)
    assert 3 * MAX_DELAY > max(delays[:2]) > MAX_DELAY >= min(delays[:2])
    with pytest.raises(TypeError, match="delay_history"):
        store.start(table.client, "table_exists", **options, delay_history=bwp.History("h.sqlite"))


def test_forms_of_callables_have_no_history(history):
    with pytest.raises(TypeError, match="delay_history"):
        wait_for(lambda: 1, max_wait=1, delay_history=history)
