"""The times of earlier waits: the file that keeps them, and the waits that learn from them."""

import asyncio
import logging
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import main
from boto_waiters_plus.conditions import poll, wait_for
from boto_waiters_plus.history import MOST_TIMES, HistoryKey
from boto_waiters_plus.operations import Store

KEY = HistoryKey("dynamodb", "TableExists", "us-east-1", "", from_call=False)
MAX_DELAY = 20
TAKES = 300


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


def damage(path):
    path.write_bytes(b"no database" * 100)


def lock(path):
    bwp.History(path).add(KEY, "success", 5.0)
    connection = sqlite3.connect(path, check_same_thread=False)
    connection.execute("begin exclusive")
    return connection


def put_other_values(path):
    bwp.History(path).add(KEY, "success", 5.0)
    full = "create trigger full before insert on times begin select raise(fail, 'full'); end"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update times set seconds = 'long'")
        connection.execute(full)


@pytest.mark.parametrize(
    "harm", [damage, lock, put_other_values, Path.mkdir, lambda path: path.symlink_to("/proc/none")]
)
def test_no_file_is_an_error_of_a_wait(tmp_path, harm, table, caplog):
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    history = bwp.History(tmp_path / "history.sqlite")
    held = harm(history.path)
    for _ in range(2):
        assert table.wait_until(history).attempts > TAKES / MAX_DELAY
    if held is not None:
        held.close()
    assert [each.levelname for each in caplog.records if "cannot be used" in each.message] == [
        "DEBUG"
    ]


def test_the_users_history_needs_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    for make in (bwp.History, lambda: bwp.WaitOptions(delay_history=True)):
        with pytest.raises(ImportError, match=r"pip install 'boto-waiters-plus\[history\]'"):
            make()
    assert bwp.WaitOptions(delay_history=False).delay_history is False
    with pytest.raises(TypeError, match="delay_history must be True, False or a History"):
        bwp.WaitOptions(delay_history="history.sqlite")


# --- waits ----------------------------------------------------------------------------------------


class Table:
    """A table that is active 300 s after its creation or, without one, after the first call."""

    def __init__(self, clock):
        self.clock, self.polls, self.created = clock, [], None
        self.client = boto3.session.Session(region_name="us-east-1").client("dynamodb")
        self.client.meta.events.register("before-call.dynamodb", self._answer)

    def _answer(self, model, **_):
        is_first = self.created is None
        self.created = self.clock.now if is_first else self.created
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
        options = {"max_wait": 3000, "delay_history": history, **options}
        return self.client.wait_until_table_exists(TableName="orders", **options)

    @property
    def first_delay(self):
        return self.polls[1] - self.polls[0]


@pytest.fixture
def table(virtual_time):
    bwp.install()
    yield Table(virtual_time)
    bwp.uninstall()


NAMED, BOUND = {"TableName": "orders"}, {"max_wait": 3000}
WAYS = {
    "method": lambda client, options: client.wait_until_table_exists(**NAMED, **BOUND, **options),
    "get_waiter": lambda client, options: (
        bwp.enable(client, defaults=options).get_waiter("table_exists").wait(**NAMED)
    ),
    "batch": lambda client, options: bwp.wait_all(
        [bwp.Wait(client, "table_exists", NAMED, **options)], **BOUND
    ),
    "task": lambda client, options: asyncio.run(
        bwp.wait_until_async(client, "table_exists", **NAMED, **BOUND, **options)
    ),
    "callable": lambda client, options: poll(
        client.describe_table,
        client.wait_until_table_exists.definition,
        input=NAMED,
        **BOUND,
        **options,
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_wait_learns_and_adds_its_time(table, history, way):
    key = KEY._replace(service="", region="") if way == "callable" else KEY
    WAYS[way](table.client, {"delay_history": known(history, key)})
    assert table.first_delay > MAX_DELAY
    newest, *others = history.times(key)
    assert newest.seconds == pytest.approx(TAKES, abs=MAX_DELAY)
    assert len(others) == 8
    assert b"orders" not in history.path.read_bytes()


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


def test_times_of_begin_count_from_the_call(table, history):
    key = HistoryKey("dynamodb", "TableExists", "us-east-1", "", from_call=True)
    attribute = {"AttributeName": "id", "AttributeType": "S"}
    own = {"AttributeDefinitions": [attribute], "BillingMode": "PAY_PER_REQUEST"}
    own["KeySchema"] = [{"AttributeName": "id", "KeyType": "HASH"}]
    options = {"TableName": "orders", "max_wait": 3000, "delay_history": known(history, key)}
    bwp.begin(table.client.create_table, **options, **own).result(60)
    assert table.first_delay > MAX_DELAY
    assert history.times(key)[0].seconds == pytest.approx(TAKES, abs=MAX_DELAY)
    assert not history.times(KEY)


def test_stored_waits_learn_from_their_store(table):
    store = Store(":memory:")
    options = {"TableName": "orders", "max_wait": 3000, "delay_kind": "small"}
    for number in range(7):
        operation = store.start(table.client, "table_exists", **options, delay_history=True)
        # The last row is damaged, and tells nothing.
        elapsed = "long" if number == 6 else TAKES + number * 5.0
        end = {"state": "succeeded", "elapsed": elapsed, "attempts": 9, "ended": 0.0}
        store.backend.write(None, [{"id": operation.path.partition("/")[2], **end}])
    store.start(table.client, "table_exists", **options, delay_history=True)
    store.start(table.client, "table_exists", **options)
    delays, stop = [], threading.Event()

    def attempted(event):
        delays.append(event.next_delay)
        if event.attempt == 1 and len(delays) == 2:
            stop.set()

    bwp.enable(table.client, on_event=lambda e: e.kind == "attempt" and attempted(e))
    store.work(make_client=lambda _: table.client, stop_event=stop)
    assert max(delays[:2]) > MAX_DELAY >= min(delays[:2])
    with pytest.raises(TypeError, match="delay_history cannot be stored: give True"):
        store.start(table.client, "table_exists", **options, delay_history=bwp.History("h.sqlite"))


def test_forms_of_callables_have_no_history(history):
    with pytest.raises(TypeError, match="delay_history is for waiters"):
        wait_for(lambda: 1, max_wait=1, delay_history=history)
