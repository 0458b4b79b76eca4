"""What holds of the rows of a store, on each kind of database."""

import concurrent.futures
import gc
import sys
import threading
import time
from unittest import mock

import pytest
from stored_rows import DEFINITIONS, driver, get, ids, wait_row  # beside this file
from stored_waits import SHARED  # beside this file

from boto_waiters_plus.operations import Store, StoreError
from boto_waiters_plus.operations.sql import connections
from boto_waiters_plus.operations.sql.database import MOMENTS
from boto_waiters_plus.operations.sql.tables import WAITS
from boto_waiters_plus.operations.stored_row import ENDED, KeyInUseError, LeaseLostError

CANCELLED = {"state": "cancelled", "ended": 0.0, "lease": None, "error": '{"code":"cancelled"}'}
REOPENED = {"state": "open", "ended": None, "error": None, "deadline": 30.0}
FREE = (None, None)
"""The lease and the worker of a wait that no lease drives."""


def call_row(name, **values):
    row = dict.fromkeys(("ended", "target", "answer", "result"))
    return {**row, "id": name, "created": 0.0, "phase": "started", "record": "{}", **values}


def add(database, *numbers, **values):
    return database.add([wait_row(number, **values) for number in numbers], DEFINITIONS)


def ids_of(rows):
    return [row["id"] for row in rows]


def claim(database, lease, most=10, seconds=30, without=()):
    """Claim waits; return their ids."""
    return ids_of(database.claim(lease, seconds, most, without)[0])


def write(database, lease, number, /, **values):
    """Change a wait; return whether it took effect."""
    return database.write(lease, [{"id": wait_row(number)["id"], **values}]) == 1


def cancel(database, number, /, **values):
    """End a wait, whatever its generation."""
    return write(database, None, number, **CANCELLED | values)


def end(database, lease, number):
    """End a wait that keeps its lease."""
    return write(database, lease, number, state="succeeded", ended=0.0)


@pytest.fixture
def database(open_store, clock):
    """An empty database, which goes by `clock`."""
    return open_store(clock=clock).database


@pytest.fixture
def lease(database):
    """A lease of 30 seconds."""
    return database.acquire("worker", 30)


def holder_of(change, *arguments):
    """Return the id of the wait that has the key which a change needs."""
    with pytest.raises(KeyInUseError) as caught:
        change(*arguments)
    return caught.value.id


def in_threads(functions):
    """Call functions at once; raise the first error."""
    pool = concurrent.futures.ThreadPoolExecutor()
    for call in [pool.submit(each) for each in functions]:
        call.result(60)


# --- moments ----------------------------------------------------------------------------


def test_moments_are_seconds_from_now(database, clock):
    """Wherever they are written; whatever is no moment stays as it is."""
    names = sorted(MOMENTS - {"ended"})
    given = {name: -10.0 * number for number, name in enumerate(names)}
    add(database, 1, **given, elapsed=7.0)
    add(database, 2, 3)
    assert write(database, None, 2, **given, elapsed=7.0)
    cancel(database, 3)
    assert database.reopen(get(database, 3), {**REOPENED, **given, "elapsed": 7.0})
    cancel(database, 1, ended=-40.0)
    for row in database.get(ids(1, 2, 3)):
        assert row["elapsed"] == 7.0
        assert {name: row[name] - clock.now for name in names} == given
    assert get(database, 1)["ended"] == clock.now - 40
    database.add_call(call_row("c1", created=-30.0))
    database.write_call("c1", {"ended": -10.0})
    clock.now += 5
    (row,) = database.calls("c1")
    assert (row["created"], row["ended"], row["age"]) == (clock.now - 35, clock.now - 15, 35)


# --- waits ------------------------------------------------------------------------------


def test_many_are_added_together_or_not_at_all(database):
    add(database, 1, exclusive_key="")
    rows = [wait_row(2), wait_row(3, exclusive_key="")]
    twice = [wait_row(2), *(wait_row(number, exclusive_key="deploy") for number in (3, 4))]
    for refused, holder in [(rows, 1), (twice, 3)]:
        assert [holder_of(database.add, refused, DEFINITIONS)] == ids(holder)
        assert database.open_ids() == {*ids(1)}
    many = range(10, 2510)
    add(database, *many)
    assert len(database.open_ids(ids(*many))) == 2500
    assert len(database.get(ids(*many) * 2)) == 2500


def test_an_id_that_is_there_stays_as_it_is(database):
    rows = [wait_row(1, label="first", exclusive_key="a"), wait_row(2), wait_row(1)]
    assert database.add(rows, DEFINITIONS) == []
    again = [wait_row(1, label="again", exclusive_key="a"), wait_row(3)]
    (there,) = database.add(again, DEFINITIONS)
    assert there["label"] == get(database, 1)["label"] == "first"
    assert database.open_ids() == {*ids(1, 2, 3)}


def test_a_wait_needs_its_definition(database, lease):
    with pytest.raises(StoreError):
        database.add([wait_row(1), wait_row(2, digest="d2")], DEFINITIONS)
    assert database.open_ids() == set()
    add(database, 1)
    database.add([wait_row(2)], {})
    database.add([wait_row(3)], {"d1": "another"})
    rows, _ = database.claim(lease, 30, 10)
    assert [row["definition"] for row in rows] == [DEFINITIONS["d1"]] * 3


def test_starts_at_once_give_one_holder_of_a_key(database):
    def start(number):
        try:
            return add(database, number, exclusive_key="deploy") == []
        except KeyInUseError:
            return False

    with concurrent.futures.ThreadPoolExecutor() as pool:
        are_started = [*pool.map(start, range(6))]
    assert are_started.count(True) == 1
    # The key is free when its wait has ended.
    assert cancel(database, are_started.index(True))
    add(database, 7, exclusive_key="deploy")


def test_pages_go_on_between_waits_of_one_moment(database):
    add(database, 1, 3, 2)
    found, before = [], None
    while page := database.list({}, before, 1):
        found += page
        before = page[0]["created"], page[0]["id"]
    assert ids_of(found) == ids(3, 2, 1)


def test_a_wait_begins_and_reopens_free(database, lease):
    """The lease of a worker which lives and drives it no more would hold it for ever."""
    driven = {"lease": lease, "worker": "worker"}
    add(database, 1, exclusive_key="a", **driven)
    assert driver(database, 1) == FREE
    claim(database, lease)
    assert end(database, lease, 1)
    row = get(database, 1)
    assert database.reopen(row, {**REOPENED, **driven})
    assert driver(database, 1) == FREE
    assert not database.reopen(row, REOPENED)
    assert claim(database, lease) == ids(1)
    cancel(database, 1)
    add(database, 2, exclusive_key="a")
    assert [holder_of(database.reopen, get(database, 1), REOPENED)] == ids(2)


def test_only_the_end_that_was_read_is_reopened(database):
    add(database, 1, 2, 3)
    assert not database.reopen(get(database, 1), REOPENED)  # it is open
    for number in (1, 2, 3):
        cancel(database, number, ended=-20.0)
    rows = {number: get(database, number) for number in (1, 2, 3)}
    assert database.reopen(rows[1], REOPENED)
    cancel(database, 1, ended=-10.0)
    assert not database.reopen(rows[1], REOPENED)
    assert not database.reopen({**rows[2], "state": "internal"}, REOPENED)
    database.expire(15)
    assert not database.reopen(rows[3], REOPENED)
    # Other columns do not count.
    assert database.reopen({**get(database, 1), "label": "another"}, REOPENED)


# --- leases and generations ---------------------------------------------------------------


def test_each_wait_is_claimed_once(database):
    add(database, *range(40))
    claimed = []

    def claim_all():
        lease = database.acquire("worker", 30)
        while found := claim(database, lease, 3):
            claimed.extend(found)

    in_threads([claim_all] * 4)
    # What one had locked, the others passed by.
    claim_all()
    assert sorted(claimed) == ids(*range(40))


def test_the_oldest_are_claimed_first(database, lease, clock):
    for number, age in enumerate([20.0, 40.0, 10.0, 30.0]):
        add(database, number, created=-age)
    rows, now = database.claim(lease, 30, 3)
    assert (ids_of(rows), now) == (ids(1, 3, 0), clock.now)
    assert {row["definition"] for row in rows} == {DEFINITIONS["d1"]}
    assert (rows[0]["lease"], rows[0]["worker"]) == driver(database, 1) == (lease, "worker")
    assert [*database.lost(lease, ids(0, 1, 2, 3))] == ids(2)
    assert claim(database, lease, 3) == ids(2)


def test_a_kind_is_left_until_its_deadline(database, lease):
    add(database, 1)
    add(database, 2, kind="k2")
    add(database, 3, deadline=-1.0)
    assert set(claim(database, lease, without={"k1"})) == {*ids(2, 3)}
    assert write(database, lease, 2, lease=None, last_error="{}")
    assert claim(database, lease, without={"k1", "k2"}) == []


def test_a_claim_and_a_renewal_let_the_lease_last(database, lease, clock):
    for renewed in (lambda: claim(database, lease), lambda: database.renew(lease, 30)):
        clock.now += 31
        assert database.leases() == set()
        renewed()
        assert database.leases() == {lease}


def test_a_lease_has_a_number_of_its_own(database, lease, clock):
    database.release(lease)
    expired = database.acquire("worker", 30)
    clock.now += 31
    third = database.acquire("worker", 30)
    claim(database, third)
    assert not database.renew(expired, 30)
    database.release(third)
    assert len({lease, expired, third, database.acquire("worker", 30)}) == 4


@pytest.mark.parametrize("end_lease", ["release", "expiry"])
def test_the_end_of_a_lease_frees_its_open_waits(database, clock, end_lease):
    add(database, 1, 2)
    first, second = database.acquire("first", 30), database.acquire("second", 60)
    claim(database, first)
    add(database, 3)
    assert claim(database, second, seconds=60) == ids(3)
    assert end(database, first, 2)
    if end_lease == "release":
        database.release(first)
    else:
        clock.now += 31
        claim(database, second, 0)
    assert database.leases() == {second}
    drivers = [driver(database, number) for number in (1, 2, 3)]
    assert drivers == [FREE, (first, "first"), (second, "second")]
    assert claim(database, second) == ids(1)


def test_lost_are_those_that_the_lease_drives_no_more(database, lease):
    add(database, *range(6))
    other = database.acquire("other", 30)
    mine = claim(database, lease)
    assert set(mine) == {*ids(*range(6))}
    assert not database.lost(lease, mine)
    assert end(database, lease, 1)
    cancel(database, 2)
    write(database, lease, 3, lease=None, worker=None)
    claim(database, other)
    cancel(database, 4, ended=-60.0)
    database.expire(30)
    assert sorted(database.lost(lease, [*mine, *ids(9)])) == ids(1, 2, 3, 4, 9)
    database.release(lease)
    assert sorted(database.lost(lease, ids(0, 5, 9))) == ids(0, 5, 9)


def test_a_late_write_matches_nothing(database, clock):
    add(database, 1)
    first, second = database.acquire("first", 30), database.acquire("second", 90)
    claim(database, first)
    for renewed in (True, False):
        clock.now += 31
        # No other worker has taken over yet.
        assert write(database, first, 1, attempts=1)
        assert not renewed or database.renew(first, 30)
    assert claim(database, second) == ids(1)
    assert not write(database, first, 1, attempts=9)
    assert not database.renew(first, 30)
    assert [*database.lost(first, ids(1))] == ids(1)
    with pytest.raises(LeaseLostError):
        claim(database, first)
    assert write(database, second, 1, attempts=2)
    assert not database.lost(second, ids(1))
    # A worker that lost its lease begins another, and still writes nothing of the old one.
    assert database.acquire("first", 30) > second
    assert not write(database, first, 1, attempts=9)
    assert get(database, 1)["attempts"] == 2


def test_an_end_is_written_once(database, lease):
    add(database, 1, 2)
    claim(database, lease)
    both = [{"id": ids(1)[0], "state": "succeeded"}, {"id": ids(2)[0], "attempts": 3}]
    assert database.write(lease, both) == 2
    assert database.write(lease, both[:1]) == 0
    assert not cancel(database, 1)
    assert database.open_ids(ids(1, 2)) == {*ids(2)}
    assert cancel(database, 2)
    assert not end(database, lease, 2)


def test_what_ended_is_claimed_while_it_owes(database, clock):
    add(database, 1, 2, 3)
    first, second = (database.acquire(name, 30) for name in ("a", "b"))
    for number in (2, 3):
        cancel(database, number, owes=60.0)
    assert claim(database, first, without=ids(3)) == ids(1, 2)
    assert [row["lease"] for row in database.claim(first, 30, 10)[0]] == [first, None]
    assert claim(database, second) == []
    assert claim(database, first, most=0) == ids(2, 3)
    assert not write(database, first, 2, owes=None)
    assert write(database, ENDED, 2, owes=None)
    assert not write(database, ENDED, 1, owes=9.0)
    clock.now += 31
    assert claim(database, second, most=0) == ids(3)
    clock.now += 31
    assert claim(database, second, most=0) == []
    assert get(database, 3)["state"] == "cancelled"


def test_what_ended_since_is_told(database, clock):
    add(database, 1, 2, 3)
    assert database.ended_ids(0.0) == (set(), clock.now)
    cancel(database, 1, ended=-10.0)
    cancel(database, 2)
    assert database.ended_ids(0.0)[0] == {*ids(1, 2)}
    assert database.ended_ids(clock.now)[0] == {*ids(2)}


def test_what_is_due_now(database, clock):
    """A lease lasts to its last moment, and what has the age of an expiry goes."""
    add(database, 1)
    add(database, 2, 3, deadline=10.0)
    first, second = database.acquire("first", 10), database.acquire("second", 60)
    claim(database, first, 1, 10)
    cancel(database, 2)
    clock.now += 10
    assert database.leases() == {first, second}
    assert claim(database, second, without={"k1"}) == ids(3)
    assert driver(database, 1) == (first, "first")
    clock.now += 2**-10
    assert database.leases() == {second}
    claim(database, second, 0)
    assert driver(database, 1) == FREE
    clock.now += 50 - 2**-9
    assert database.expire(60) == 0
    clock.now += 2**-10
    assert database.expire(60) == 1


# --- expiry ------------------------------------------------------------------------------


def test_a_definition_expires_with_its_last_wait(database):
    add(database, 1, 2)
    cancel(database, 1)
    database.expire(0)
    database.add([wait_row(3)], {"d1": "another"})
    cancel(database, 2)
    cancel(database, 3)
    assert database.expire(0) == 2
    with pytest.raises(StoreError):
        database.add([wait_row(4)], {})
    database.add([wait_row(4)], {"d1": "another"})
    (row,), _ = database.claim(database.acquire("worker", 30), 30, 10)
    assert row["definition"] == "another"


def test_expiry_leaves_the_definition_of_a_start(database):
    """Before, a wait that began beside an expiry could lose its definition."""
    stop = threading.Event()

    def expire():
        while not stop.is_set():
            database.expire(0)

    def start():
        try:
            for number in range(20):
                add(database, number)
                lease = database.acquire("worker", 30)
                assert claim(database, lease) == ids(number)
                assert end(database, lease, number)
                database.release(lease)
        finally:
            stop.set()

    in_threads([expire, start])


# --- calls -------------------------------------------------------------------------------


def test_a_call_ends_once(database):
    database.add_call(call_row("c1"))
    database.add_call(call_row("c1", record="another"))
    assert database.write_call("c1", {"phase": "answered", "answer": "{}"})
    assert [row["phase"] for row in database.calls()] == ["answered"]
    assert database.write_call("c1", {"ended": 0.0, "phase": "finished", "result": "{}"})
    assert database.calls() == []
    (row,) = database.calls("c1")
    assert (row["phase"], row["record"], row["ended"] is None) == ("finished", "{}", False)
    for name in ("c1", "c2"):
        assert not database.write_call(name, {"phase": "answered"})
    assert database.calls("c2") == []
    database.add_call(call_row("c3", created=-9.0))
    assert [database.expire(seconds) for seconds in (1, 0)] == [0, 1]
    assert (database.calls("c1"), ids_of(database.calls())) == ([], ["c3"])


def test_the_oldest_calls_come_first(database):
    for name, age in [("c1", 20.0), ("c2", 30.0), ("c3", 10.0)]:
        database.add_call(call_row(name, created=-age))
    told = [(row["id"], row["age"]) for row in database.calls()]
    assert told == [("c2", 30.0), ("c1", 20.0), ("c3", 10.0)]


# --- the whole ---------------------------------------------------------------------------


def test_a_signal_handler_may_hurry_a_call(database):
    """At whatever place it interrupts the call of its own thread."""
    add(database, 1)
    found = []

    def call():
        sys.setprofile(lambda *_: database.limit_time(30))
        try:
            found.append(database.open_ids())
            cancel(database, 1)
            found.append(database.open_ids())
        finally:
            sys.setprofile(None)

    in_threads([call])
    database.limit_time(None)
    assert found == [{*ids(1)}, set()]


# --- several that share a database ------------------------------------------------------


@SHARED
def test_one_that_closes_ends_no_other(open_store, clock, database, lease):
    another = open_store(clock=clock).database
    add(database, 1)
    claim(database, lease)
    database.close()
    assert another.leases() == {lease}
    assert write(another, lease, 1, attempts=1)


@pytest.mark.parametrize("name", [":memory:", "waits.db"])
def test_setting_the_wall_clock_moves_nothing(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    database = Store(name).database
    lease, real = database.acquire("worker", 3600), time.time
    _, before = database.ended_ids(0)
    assert before == pytest.approx(real(), abs=600)
    for jump in (-7200, 7200):
        monkeypatch.setattr(time, "time", lambda jump=jump: real() + jump)
        assert database.leases() == {lease}
        assert 0 <= database.ended_ids(0)[1] - before < 600
    database.close()


# --- in memory ------------------------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch):
    """A database in memory that is waited for no longer than 0.1 s."""
    monkeypatch.setattr(connections, "LOCK_TIMEOUT", 0.1)
    return Store(":memory:").database


@pytest.mark.parametrize("url", [":memory:", "sqlite://", "sqlite:///:memory:"])
def test_each_store_in_memory_has_its_own_database(url):
    first, second = Store(url).database, Store(url).database
    add(first, 1)
    assert (first.url, first.name, first.is_local) == (None, ":memory:", True)
    assert (first.open_ids(), second.open_ids()) == ({*ids(1)}, set())
    first.close()
    with pytest.raises(StoreError, match="memory: is closed"):
        first.open_ids()


def test_a_name_like_that_of_memory_is_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Store(":memory:2").database.url.database == str(tmp_path / ":memory:2")


def test_a_transaction_waits_for_none_of_its_thread(monkeypatch):
    monkeypatch.setattr(connections, "LOCK_TIMEOUT", 1000)
    database = Store(":memory:").database
    with database.writing(), pytest.raises(StoreError, match="in use"):
        database.open_ids()
    assert database.open_ids() == set()


def test_transactions_in_memory_wait_for_each_other(hasty):
    add(hasty, 1)
    with hasty.writing():
        # Also in the same thread, as by a signal handler.
        with pytest.raises(StoreError, match="in use"):
            hasty.open_ids()
        with pytest.raises(StoreError, match="in use"):
            in_threads([hasty.open_ids])
    assert hasty.open_ids() == {*ids(1)}


def test_an_interrupt_loses_no_database_in_memory(hasty):
    add(hasty, 1)

    def write():
        with hasty.writing() as connection:
            connection.execute(WAITS.delete())
            with mock.patch.object(connection.dialect, "do_execute", side_effect=KeyboardInterrupt):
                connection.execute(WAITS.delete())

    with pytest.raises(KeyboardInterrupt):
        write()
    assert hasty.open_ids() == {*ids(1)}
    assert cancel(hasty, 1)


def test_a_dropped_store_in_memory_is_deleted():
    gc.collect()
    with mock.patch.object(connections.MemoryDatabase, "end") as end:
        add(Store(":memory:").database, 1)
        gc.collect()
    end.assert_called_once()
