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


def add(backend, *numbers, **values):
    return backend.add([wait_row(number, **values) for number in numbers], DEFINITIONS)


def ids_of(rows):
    return [row["id"] for row in rows]


def claim(backend, lease, most=10, seconds=30, without=()):
    """Claim waits; return their ids."""
    return ids_of(backend.claim(lease, seconds, most, without)[0])


def write(backend, lease, number, /, **values):
    """Change a wait; return whether it took effect."""
    return backend.write(lease, [{"id": wait_row(number)["id"], **values}]) == 1


def cancel(backend, number, /, **values):
    """End a wait, whatever its generation."""
    return write(backend, None, number, **CANCELLED | values)


def end(backend, lease, number):
    """End a wait that keeps its lease."""
    return write(backend, lease, number, state="succeeded", ended=0.0)


@pytest.fixture
def backend(open_store, clock):
    """An empty database, which goes by `clock`."""
    return open_store(clock=clock).backend


@pytest.fixture
def lease(backend):
    """A lease of 30 seconds."""
    return backend.acquire("worker", 30)


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


def test_moments_are_seconds_from_now(backend, clock):
    """Wherever they are written; whatever is no moment stays as it is."""
    names = sorted(MOMENTS - {"ended"})
    given = {name: -10.0 * number for number, name in enumerate(names)}
    add(backend, 1, **given, elapsed=7.0)
    add(backend, 2, 3)
    assert write(backend, None, 2, **given, elapsed=7.0)
    cancel(backend, 3)
    assert backend.reopen(get(backend, 3), {**REOPENED, **given, "elapsed": 7.0})
    cancel(backend, 1, ended=-40.0)
    for row in backend.get(ids(1, 2, 3)):
        assert row["elapsed"] == 7.0
        assert {name: row[name] - clock.now for name in names} == given
    assert get(backend, 1)["ended"] == clock.now - 40
    backend.add_call(call_row("c1", created=-30.0))
    backend.write_call("c1", {"ended": -10.0})
    clock.now += 5
    (row,) = backend.calls("c1")
    assert (row["created"], row["ended"], row["age"]) == (clock.now - 35, clock.now - 15, 35)


# --- waits ------------------------------------------------------------------------------


def test_many_are_added_together_or_not_at_all(backend):
    add(backend, 1, exclusive_key="")
    rows = [wait_row(2), wait_row(3, exclusive_key="")]
    twice = [wait_row(2), *(wait_row(number, exclusive_key="deploy") for number in (3, 4))]
    for refused, holder in [(rows, 1), (twice, 3)]:
        assert [holder_of(backend.add, refused, DEFINITIONS)] == ids(holder)
        assert backend.open_ids() == {*ids(1)}
    many = range(10, 2510)
    add(backend, *many)
    assert len(backend.open_ids(ids(*many))) == 2500
    assert len(backend.get(ids(*many) * 2)) == 2500


def test_an_id_that_is_there_stays_as_it_is(backend):
    rows = [wait_row(1, label="first", exclusive_key="a"), wait_row(2), wait_row(1)]
    assert backend.add(rows, DEFINITIONS) == []
    again = [wait_row(1, label="again", exclusive_key="a"), wait_row(3)]
    (there,) = backend.add(again, DEFINITIONS)
    assert there["label"] == get(backend, 1)["label"] == "first"
    assert backend.open_ids() == {*ids(1, 2, 3)}


def test_a_wait_needs_its_definition(backend, lease):
    with pytest.raises(StoreError):
        backend.add([wait_row(1), wait_row(2, digest="d2")], DEFINITIONS)
    assert backend.open_ids() == set()
    add(backend, 1)
    backend.add([wait_row(2)], {})
    backend.add([wait_row(3)], {"d1": "another"})
    rows, _ = backend.claim(lease, 30, 10)
    assert [row["definition"] for row in rows] == [DEFINITIONS["d1"]] * 3


def test_starts_at_once_give_one_holder_of_a_key(backend):
    def start(number):
        try:
            return add(backend, number, exclusive_key="deploy") == []
        except KeyInUseError:
            return False

    with concurrent.futures.ThreadPoolExecutor() as pool:
        are_started = [*pool.map(start, range(6))]
    assert are_started.count(True) == 1
    # The key is free when its wait has ended.
    assert cancel(backend, are_started.index(True))
    add(backend, 7, exclusive_key="deploy")


def test_pages_go_on_between_waits_of_one_moment(backend):
    add(backend, 1, 3, 2)
    found, before = [], None
    while page := backend.list({}, before, 1):
        found += page
        before = page[0]["created"], page[0]["id"]
    assert ids_of(found) == ids(3, 2, 1)


def test_a_wait_begins_and_reopens_free(backend, lease):
    """The lease of a worker which lives and drives it no more would hold it for ever."""
    driven = {"lease": lease, "worker": "worker"}
    add(backend, 1, exclusive_key="a", **driven)
    assert driver(backend, 1) == FREE
    claim(backend, lease)
    assert end(backend, lease, 1)
    row = get(backend, 1)
    assert backend.reopen(row, {**REOPENED, **driven})
    assert driver(backend, 1) == FREE
    assert not backend.reopen(row, REOPENED)
    assert claim(backend, lease) == ids(1)
    cancel(backend, 1)
    add(backend, 2, exclusive_key="a")
    assert [holder_of(backend.reopen, get(backend, 1), REOPENED)] == ids(2)


def test_only_the_end_that_was_read_is_reopened(backend):
    add(backend, 1, 2, 3)
    assert not backend.reopen(get(backend, 1), REOPENED)  # it is open
    for number in (1, 2, 3):
        cancel(backend, number, ended=-20.0)
    rows = {number: get(backend, number) for number in (1, 2, 3)}
    assert backend.reopen(rows[1], REOPENED)
    cancel(backend, 1, ended=-10.0)
    assert not backend.reopen(rows[1], REOPENED)
    assert not backend.reopen({**rows[2], "state": "internal"}, REOPENED)
    backend.expire(15)
    assert not backend.reopen(rows[3], REOPENED)
    # Other columns do not count.
    assert backend.reopen({**get(backend, 1), "label": "another"}, REOPENED)


# --- leases and generations ---------------------------------------------------------------


def test_each_wait_is_claimed_once(backend):
    add(backend, *range(40))
    claimed = []

    def claim_all():
        lease = backend.acquire("worker", 30)
        while found := claim(backend, lease, 3):
            claimed.extend(found)

    in_threads([claim_all] * 4)
    # What one had locked, the others passed by.
    claim_all()
    assert sorted(claimed) == ids(*range(40))


def test_the_oldest_are_claimed_first(backend, lease, clock):
    for number, age in enumerate([20.0, 40.0, 10.0, 30.0]):
        add(backend, number, created=-age)
    rows, now = backend.claim(lease, 30, 3)
    assert (ids_of(rows), now) == (ids(1, 3, 0), clock.now)
    assert {row["definition"] for row in rows} == {DEFINITIONS["d1"]}
    assert (rows[0]["lease"], rows[0]["worker"]) == driver(backend, 1) == (lease, "worker")
    assert [*backend.lost(lease, ids(0, 1, 2, 3))] == ids(2)
    assert claim(backend, lease, 3) == ids(2)


def test_a_kind_is_left_until_its_deadline(backend, lease):
    add(backend, 1)
    add(backend, 2, kind="k2")
    add(backend, 3, deadline=-1.0)
    assert set(claim(backend, lease, without={"k1"})) == {*ids(2, 3)}
    assert write(backend, lease, 2, lease=None, last_error="{}")
    assert claim(backend, lease, without={"k1", "k2"}) == []


def test_a_claim_and_a_renewal_let_the_lease_last(backend, lease, clock):
    for renewed in (lambda: claim(backend, lease), lambda: backend.renew(lease, 30)):
        clock.now += 31
        assert backend.leases() == set()
        renewed()
        assert backend.leases() == {lease}


def test_a_lease_has_a_number_of_its_own(backend, lease, clock):
    backend.release(lease)
    expired = backend.acquire("worker", 30)
    clock.now += 31
    third = backend.acquire("worker", 30)
    claim(backend, third)
    assert not backend.renew(expired, 30)
    backend.release(third)
    assert len({lease, expired, third, backend.acquire("worker", 30)}) == 4


@pytest.mark.parametrize("end_lease", ["release", "expiry"])
def test_the_end_of_a_lease_frees_its_open_waits(backend, clock, end_lease):
    add(backend, 1, 2)
    first, second = backend.acquire("first", 30), backend.acquire("second", 60)
    claim(backend, first)
    add(backend, 3)
    assert claim(backend, second, seconds=60) == ids(3)
    assert end(backend, first, 2)
    if end_lease == "release":
        backend.release(first)
    else:
        clock.now += 31
        claim(backend, second, 0)
    assert backend.leases() == {second}
    drivers = [driver(backend, number) for number in (1, 2, 3)]
    assert drivers == [FREE, (first, "first"), (second, "second")]
    assert claim(backend, second) == ids(1)


def test_lost_are_those_that_the_lease_drives_no_more(backend, lease):
    add(backend, *range(6))
    other = backend.acquire("other", 30)
    mine = claim(backend, lease)
    assert set(mine) == {*ids(*range(6))}
    assert not backend.lost(lease, mine)
    assert end(backend, lease, 1)
    cancel(backend, 2)
    write(backend, lease, 3, lease=None, worker=None)
    claim(backend, other)
    cancel(backend, 4, ended=-60.0)
    backend.expire(30)
    assert sorted(backend.lost(lease, [*mine, *ids(9)])) == ids(1, 2, 3, 4, 9)
    backend.release(lease)
    assert sorted(backend.lost(lease, ids(0, 5, 9))) == ids(0, 5, 9)


def test_a_late_write_matches_nothing(backend, clock):
    add(backend, 1)
    first, second = backend.acquire("first", 30), backend.acquire("second", 90)
    claim(backend, first)
    for renewed in (True, False):
        clock.now += 31
        # No other worker has taken over yet.
        assert write(backend, first, 1, attempts=1)
        assert not renewed or backend.renew(first, 30)
    assert claim(backend, second) == ids(1)
    assert not write(backend, first, 1, attempts=9)
    assert not backend.renew(first, 30)
    assert [*backend.lost(first, ids(1))] == ids(1)
    with pytest.raises(LeaseLostError):
        claim(backend, first)
    assert write(backend, second, 1, attempts=2)
    assert not backend.lost(second, ids(1))
    # A worker that lost its lease begins another, and still writes nothing of the old one.
    assert backend.acquire("first", 30) > second
    assert not write(backend, first, 1, attempts=9)
    assert get(backend, 1)["attempts"] == 2


def test_an_end_is_written_once(backend, lease):
    add(backend, 1, 2)
    claim(backend, lease)
    both = [{"id": ids(1)[0], "state": "succeeded"}, {"id": ids(2)[0], "attempts": 3}]
    assert backend.write(lease, both) == 2
    assert backend.write(lease, both[:1]) == 0
    assert not cancel(backend, 1)
    assert backend.open_ids(ids(1, 2)) == {*ids(2)}
    assert cancel(backend, 2)
    assert not end(backend, lease, 2)


def test_what_ended_is_claimed_while_it_owes(backend, clock):
    add(backend, 1, 2, 3)
    first, second = (backend.acquire(name, 30) for name in ("a", "b"))
    for number in (2, 3):
        cancel(backend, number, owes=60.0)
    assert claim(backend, first, without=ids(3)) == ids(1, 2)
    assert [row["lease"] for row in backend.claim(first, 30, 10)[0]] == [first, None]
    assert claim(backend, second) == []
    assert claim(backend, first, most=0) == ids(2, 3)
    assert not write(backend, first, 2, owes=None)
    assert write(backend, ENDED, 2, owes=None)
    assert not write(backend, ENDED, 1, owes=9.0)
    clock.now += 31
    assert claim(backend, second, most=0) == ids(3)
    clock.now += 31
    assert claim(backend, second, most=0) == []
    assert get(backend, 3)["state"] == "cancelled"


def test_what_ended_since_is_told(backend, clock):
    add(backend, 1, 2, 3)
    assert backend.ended_ids(0.0) == (set(), clock.now)
    cancel(backend, 1, ended=-10.0)
    cancel(backend, 2)
    assert backend.ended_ids(0.0)[0] == {*ids(1, 2)}
    assert backend.ended_ids(clock.now)[0] == {*ids(2)}


def test_what_is_due_now(backend, clock):
    """A lease lasts to its last moment, and what has the age of an expiry goes."""
    add(backend, 1)
    add(backend, 2, 3, deadline=10.0)
    first, second = backend.acquire("first", 10), backend.acquire("second", 60)
    claim(backend, first, 1, 10)
    cancel(backend, 2)
    clock.now += 10
    assert backend.leases() == {first, second}
    assert claim(backend, second, without={"k1"}) == ids(3)
    assert driver(backend, 1) == (first, "first")
    clock.now += 2**-10
    assert backend.leases() == {second}
    claim(backend, second, 0)
    assert driver(backend, 1) == FREE
    clock.now += 50 - 2**-9
    assert backend.expire(60) == 0
    clock.now += 2**-10
    assert backend.expire(60) == 1


# --- expiry ------------------------------------------------------------------------------


def test_a_definition_expires_with_its_last_wait(backend):
    add(backend, 1, 2)
    cancel(backend, 1)
    backend.expire(0)
    backend.add([wait_row(3)], {"d1": "another"})
    cancel(backend, 2)
    cancel(backend, 3)
    assert backend.expire(0) == 2
    with pytest.raises(StoreError):
        backend.add([wait_row(4)], {})
    backend.add([wait_row(4)], {"d1": "another"})
    (row,), _ = backend.claim(backend.acquire("worker", 30), 30, 10)
    assert row["definition"] == "another"


def test_expiry_leaves_the_definition_of_a_start(backend):
    """Before, a wait that began beside an expiry could lose its definition."""
    stop = threading.Event()

    def expire():
        while not stop.is_set():
            backend.expire(0)

    def start():
        try:
            for number in range(20):
                add(backend, number)
                lease = backend.acquire("worker", 30)
                assert claim(backend, lease) == ids(number)
                assert end(backend, lease, number)
                backend.release(lease)
        finally:
            stop.set()

    in_threads([expire, start])


# --- calls -------------------------------------------------------------------------------


def test_a_call_ends_once(backend):
    backend.add_call(call_row("c1"))
    backend.add_call(call_row("c1", record="another"))
    assert backend.write_call("c1", {"phase": "answered", "answer": "{}"})
    assert [row["phase"] for row in backend.calls()] == ["answered"]
    assert backend.write_call("c1", {"ended": 0.0, "phase": "finished", "result": "{}"})
    assert backend.calls() == []
    (row,) = backend.calls("c1")
    assert (row["phase"], row["record"], row["ended"] is None) == ("finished", "{}", False)
    for name in ("c1", "c2"):
        assert not backend.write_call(name, {"phase": "answered"})
    assert backend.calls("c2") == []
    backend.add_call(call_row("c3", created=-9.0))
    assert [backend.expire(seconds) for seconds in (1, 0)] == [0, 1]
    assert (backend.calls("c1"), ids_of(backend.calls())) == ([], ["c3"])


def test_the_oldest_calls_come_first(backend):
    for name, age in [("c1", 20.0), ("c2", 30.0), ("c3", 10.0)]:
        backend.add_call(call_row(name, created=-age))
    told = [(row["id"], row["age"]) for row in backend.calls()]
    assert told == [("c2", 30.0), ("c1", 20.0), ("c3", 10.0)]


# --- the whole ---------------------------------------------------------------------------


def test_a_signal_handler_may_hurry_a_call(backend):
    """At whatever place it interrupts the call of its own thread."""
    add(backend, 1)
    found = []

    def call():
        sys.setprofile(lambda *_: backend.limit_time(30))
        try:
            found.append(backend.open_ids())
            cancel(backend, 1)
            found.append(backend.open_ids())
        finally:
            sys.setprofile(None)

    in_threads([call])
    backend.limit_time(None)
    assert found == [{*ids(1)}, set()]


# --- several that share a database ------------------------------------------------------


@SHARED
def test_one_that_closes_ends_no_other(open_store, clock, backend, lease):
    another = open_store(clock=clock).backend
    add(backend, 1)
    claim(backend, lease)
    backend.close()
    assert another.leases() == {lease}
    assert write(another, lease, 1, attempts=1)


@pytest.mark.parametrize("name", [":memory:", "waits.db"])
def test_setting_the_wall_clock_moves_nothing(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    backend = Store(name).backend
    lease, real = backend.acquire("worker", 3600), time.time
    _, before = backend.ended_ids(0)
    assert before == pytest.approx(real(), abs=600)
    for jump in (-7200, 7200):
        monkeypatch.setattr(time, "time", lambda jump=jump: real() + jump)
        assert backend.leases() == {lease}
        assert 0 <= backend.ended_ids(0)[1] - before < 600
    backend.close()


# --- in memory ------------------------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch):
    """A database in memory that is waited for no longer than 0.1 s."""
    monkeypatch.setattr(connections, "LOCK_TIMEOUT", 0.1)
    return Store(":memory:").backend


@pytest.mark.parametrize("url", [":memory:", "sqlite://", "sqlite:///:memory:"])
def test_each_store_in_memory_has_its_own_database(url):
    first, second = Store(url).backend, Store(url).backend
    add(first, 1)
    assert (first.url, first.name, first.is_local) == (None, ":memory:", True)
    assert (first.open_ids(), second.open_ids()) == ({*ids(1)}, set())
    first.close()
    with pytest.raises(StoreError, match="memory: is closed"):
        first.open_ids()


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
        add(Store(":memory:").backend, 1)
        gc.collect()
    end.assert_called_once()
