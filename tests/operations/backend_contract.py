"""What every backend of a store has to do.

`BackendContract` holds for each, `LocalContract` besides for those of one machine, and
`SharedContract` for those that several processes open. A backend's test inherits those that apply
to it and makes the fixtures.
"""

import concurrent.futures
import os
import signal
import sys
import threading
import time
import traceback
import warnings

import pytest

from boto_waiters_plus.operations import StoreError
from boto_waiters_plus.operations.backend import (
    MOMENTS,
    UNDRIVEN,
    KeyInUseError,
    LeaseLostError,
)

CANCELLED = {"state": "cancelled", "ended": 0.0, "lease": None, "error": '{"code":"cancelled"}'}
DEFINITIONS = {"d1": '{"name":"one"}'}
REOPENED = {"state": "open", "ended": None, "error": None, "deadline": 30.0}
FREE = (None, None)
"""The lease and the worker of a wait that no lease drives."""


def wait_row(number, **values):
    """A row as `NewRows` makes it."""
    row = dict.fromkeys(("ended", "region", "profile", "exclusive_key", "request", "state_seen"))
    row |= dict.fromkeys(("next_attempt", "lease", "worker", "last_error", "response", "error"))
    row |= {"id": f"{number:032x}", "state": "open", "label": "a label", "service": "s3"}
    row |= {"waiter": "BucketExists", "digest": "d1", "kind": "k1", "endpoint": "http://here"}
    row |= {"client_settings": "{}", "parameters": "{}", "policy": "{}", "machine": "{}"}
    row |= {"include_response": False, "attempts": 0, "elapsed": 0.0}
    return {**row, "created": 0.0, "machine_at": 0.0, "deadline": 60.0, **values}


def ids(*numbers):
    return [wait_row(number)["id"] for number in numbers]


def ids_of(rows):
    return [row["id"] for row in rows]


def get(backend, number):
    (row,) = backend.get(ids(number))
    return row


def driver(backend, number):
    """The lease and the worker of a wait."""
    row = get(backend, number)
    return row["lease"], row["worker"]


def cancel(backend, number, **values):
    """End a wait, whatever its generation."""
    return backend.write(None, [{**CANCELLED, "id": wait_row(number)["id"], **values}]) == 1


def end(backend, lease, number):
    """End a wait that keeps its lease."""
    change = {"id": wait_row(number)["id"], "state": "succeeded", "ended": 0.0}
    return backend.write(lease, [change]) == 1


def now_of(backend):
    """The time by the backend's clock."""
    lease = backend.acquire("clock", 30)
    _, now = backend.claim(lease, 30, 0)
    backend.release(lease)
    return now


def is_driven(backend, number):
    """Whether a wait has a generation that lives."""
    (row,) = backend.get([wait_row(number)["id"]])
    return row["lease"] in backend.leases()


def call_row(name):
    row = dict.fromkeys(("ended", "target", "answer", "result"))
    return {**row, "id": name, "created": 0.0, "phase": "started", "record": "{}"}


class BackendContract:
    """Inherit it, with a fixture `backend` that gives an empty backend."""

    # --- moments ----------------------------------------------------------------------------

    def test_moments_are_seconds_from_now(self, backend):
        """Wherever they are written; whatever is no moment stays as it is."""
        names = sorted(MOMENTS - {"ended"})
        given = {name: -10.0 * number for number, name in enumerate(names)}
        before = now_of(backend)
        backend.add([wait_row(1, **given, elapsed=7.0), wait_row(2), wait_row(3)], DEFINITIONS)
        assert backend.write(None, [{"id": wait_row(2)["id"], **given, "elapsed": 7.0}]) == 1
        cancel(backend, 3)
        assert backend.reopen(get(backend, 3), {**REOPENED, **given, "elapsed": 7.0})
        cancel(backend, 1, ended=-40.0)
        after = now_of(backend)
        for row in backend.get(ids(1, 2, 3)):
            assert row["elapsed"] == 7.0
            for name in names:
                assert before - 1e-3 <= row[name] - given[name] <= after + 1e-3, name
        assert before - 1e-3 <= get(backend, 1)["ended"] + 40 <= after + 1e-3

    def test_the_moments_of_calls_are_seconds_from_now(self, backend):
        before = now_of(backend)
        backend.add_call({**call_row("c1"), "created": -30.0})
        backend.write_call("c1", {"ended": -10.0})
        (row,), after = backend.calls("c1"), now_of(backend)
        assert before - 1e-3 <= row["created"] + 30 <= after + 1e-3
        assert before - 1e-3 <= row["ended"] + 10 <= after + 1e-3
        assert 30 - 1e-3 <= row["age"] <= 30 + after - before + 1e-3

    # --- waits ------------------------------------------------------------------------------

    def test_a_wait_comes_back_whole(self, backend):
        row = wait_row(1, exclusive_key="deploy", region="eu-west-1", parameters='{"a":"ü"}')
        assert backend.add([row], DEFINITIONS) == []
        (found,) = backend.get([row["id"], "0" * 32])
        plain = {name: value for name, value in row.items() if name not in MOMENTS}
        assert {name: found[name] for name in plain} == plain
        assert found["deadline"] - found["created"] == pytest.approx(60)
        assert found["ended"] is None

    def test_many_are_added_together_or_not_at_all(self, backend):
        backend.add([wait_row(1, exclusive_key="deploy")], DEFINITIONS)
        with pytest.raises(KeyInUseError) as caught:
            backend.add([wait_row(2), wait_row(3, exclusive_key="deploy")], DEFINITIONS)
        assert caught.value.id == wait_row(1)["id"]
        assert backend.open_ids() == {wait_row(1)["id"]}
        many = [wait_row(number) for number in range(10, 2510)]
        backend.add(many, DEFINITIONS)
        assert len(backend.open_ids([row["id"] for row in many])) == 2500
        assert len(backend.get([row["id"] for row in many] * 2)) == 2500

    def test_of_two_with_one_id_the_first_is_added(self, backend):
        rows = [wait_row(1, label="first"), wait_row(2), wait_row(1, label="second")]
        assert backend.add(rows, DEFINITIONS) == []
        assert backend.open_ids() == {*ids(1, 2)}
        assert get(backend, 1)["label"] == "first"

    def test_two_with_one_key_are_refused(self, backend):
        rows = [wait_row(1), *(wait_row(number, exclusive_key="deploy") for number in (2, 3))]
        with pytest.raises(KeyInUseError) as caught:
            backend.add(rows, DEFINITIONS)
        assert caught.value.id == wait_row(2)["id"]
        assert backend.open_ids() == set()

    def test_an_empty_key_is_a_key(self, backend):
        backend.add([wait_row(1, exclusive_key="")], DEFINITIONS)
        with pytest.raises(KeyInUseError):
            backend.add([wait_row(2, exclusive_key="")], DEFINITIONS)

    def test_a_wait_begins_free(self, backend):
        lease = backend.acquire("worker", 30)
        backend.add([wait_row(1, lease=lease, worker="worker")], DEFINITIONS)
        assert driver(backend, 1) == FREE

    def test_a_wait_needs_its_definition(self, backend):
        with pytest.raises(StoreError):
            backend.add([wait_row(1), wait_row(2, digest="d2")], DEFINITIONS)
        assert backend.open_ids() == set()
        backend.add([wait_row(1)], DEFINITIONS)
        backend.add([wait_row(2)], {})
        assert backend.open_ids() == {*ids(1, 2)}

    def test_a_definition_that_is_there_stays(self, backend):
        backend.add([wait_row(1)], DEFINITIONS)
        backend.add([wait_row(2)], {"d1": "another"})
        rows, _ = backend.claim(backend.acquire("worker", 30), 30, 10)
        assert [row["definition"] for row in rows] == [DEFINITIONS["d1"]] * 2

    def test_an_id_that_is_there_stays_as_it_is(self, backend):
        backend.add([wait_row(1, label="first", exclusive_key="a")], DEFINITIONS)
        rows = [wait_row(1, label="again", exclusive_key="a"), wait_row(2)]
        (there,) = backend.add(rows, DEFINITIONS)
        assert there["label"] == "first"
        assert len(backend.open_ids()) == 2

    def test_a_request_is_stored_once(self, backend):
        asked = "r" * 32
        backend.add([wait_row(1, label="first", request=asked + "a")], DEFINITIONS)
        rows = [wait_row(2, request=asked + "b"), wait_row(3, request="s" * 32), wait_row(4)]
        rows.append(wait_row(5, request="s" * 32))
        (there,) = backend.add(rows, DEFINITIONS)
        assert there["label"] == "first"
        assert backend.open_ids() == {*ids(1, 3, 4)}

    def test_a_key_is_free_when_its_wait_has_ended(self, backend):
        backend.add([wait_row(1, exclusive_key="deploy")], DEFINITIONS)
        assert cancel(backend, 1)
        backend.add([wait_row(2, exclusive_key="deploy")], DEFINITIONS)

    def test_starts_at_once_give_one_holder_of_a_key(self, backend):
        results = []

        def start(number):
            try:
                backend.add([wait_row(number, exclusive_key="deploy")], DEFINITIONS)
                results.append("added")
            except KeyInUseError:
                results.append("refused")

        self.in_threads([lambda number=number: start(number) for number in range(6)])
        assert sorted(results) == ["added"] + ["refused"] * 5

    def test_lists_the_newest_first_by_filters(self, backend):
        for number in range(5):
            backend.add([wait_row(number, service="ec2" if number % 2 else "s3")], DEFINITIONS)
        cancel(backend, 0)
        found = [row["id"] for row in backend.list({}, None, 3)]
        assert found == [wait_row(number)["id"] for number in (4, 3, 2)]
        last = backend.list({}, None, 3)[-1]
        older = backend.list({}, (last["created"], last["id"]), 10)
        assert [row["id"] for row in older] == [wait_row(n)["id"] for n in (1, 0)]
        for name, value, number in [
            ("service", "ec2", 2),
            ("state", "done", 1),
            ("state", "open", 4),
        ]:
            assert len(backend.list({name: value}, None, 10)) == number
        both = [("service", "s3"), ("state", "open")]
        for filters in (dict(both), dict(both[::-1])):
            assert ids_of(backend.list(filters, None, 10)) == ids(4, 2)

    def test_pages_go_on_between_waits_of_one_moment(self, backend):
        backend.add([wait_row(number) for number in (1, 3, 2)], DEFINITIONS)
        found, before = [], None
        while page := backend.list({}, before, 1):
            found += page
            before = page[0]["created"], page[0]["id"]
        assert ids_of(found) == ids(3, 2, 1)

    def test_a_reopened_wait_is_open_and_free(self, backend):
        backend.add([wait_row(1, exclusive_key="a")], DEFINITIONS)
        cancel(backend, 1)
        (row,) = backend.get([wait_row(1)["id"]])
        assert backend.reopen(row, REOPENED)
        assert not backend.reopen(row, REOPENED)
        assert backend.open_ids() == {row["id"]}
        cancel(backend, 1)
        (row,) = backend.get([row["id"]])
        backend.add([wait_row(2, exclusive_key="a")], DEFINITIONS)
        with pytest.raises(KeyInUseError) as caught:
            backend.reopen(row, REOPENED)
        assert caught.value.id == wait_row(2)["id"]

    def test_only_the_end_that_was_read_is_reopened(self, backend):
        backend.add([wait_row(number) for number in (1, 2, 3)], DEFINITIONS)
        assert not backend.reopen(get(backend, 1), REOPENED)  # it is open
        cancel(backend, 1, ended=-20.0)
        cancel(backend, 2, ended=-20.0)
        cancel(backend, 3, ended=-20.0)
        rows = {number: get(backend, number) for number in (1, 2, 3)}
        assert backend.reopen(rows[1], REOPENED)
        cancel(backend, 1, ended=-10.0)
        assert not backend.reopen(rows[1], REOPENED)
        assert not backend.reopen({**rows[2], "state": "internal"}, REOPENED)
        assert backend.open_ids() == set()
        backend.expire(15)
        assert not backend.reopen(rows[3], REOPENED)
        # Other columns do not count.
        assert backend.reopen({**get(backend, 1), "label": "another"}, REOPENED)

    def test_a_reopened_wait_has_no_lease(self, backend):
        """That of a worker which lives and drives it no more would hold it for ever."""
        backend.add([wait_row(1)], DEFINITIONS)
        lease = backend.acquire("worker", 30)
        backend.claim(lease, 30, 10)
        assert end(backend, lease, 1)
        values = {**REOPENED, "lease": lease, "worker": "worker"}
        assert backend.reopen(get(backend, 1), values)
        assert driver(backend, 1) == FREE
        assert ids_of(backend.claim(lease, 30, 10)[0]) == ids(1)

    # --- leases and generations ---------------------------------------------------------------

    def test_each_wait_is_claimed_once(self, backend):
        backend.add([wait_row(number) for number in range(40)], DEFINITIONS)
        claimed = []

        def claim():
            lease = backend.acquire("worker", 30)
            while rows := backend.claim(lease, 30, 3)[0]:
                claimed.extend(ids_of(rows))

        self.in_threads([claim] * 4)
        # What one had locked, the others passed by.
        claim()
        assert sorted(claimed) == ids(*range(40))

    def test_a_claim_has_the_definition_and_the_time(self, backend):
        backend.add([wait_row(1)], DEFINITIONS)
        lease = backend.acquire("worker", 30)
        (row,), now = backend.claim(lease, 30, 10)
        assert row["definition"] == DEFINITIONS["d1"]
        assert (row["lease"], row["worker"]) == (lease, "worker")
        assert 0 <= now - row["created"] < 10
        assert is_driven(backend, 1)

    def test_the_oldest_are_claimed_first(self, backend):
        for number, age in enumerate([20.0, 40.0, 10.0, 30.0]):
            backend.add([wait_row(number, created=-age)], DEFINITIONS)
        lease = backend.acquire("worker", 30)
        assert ids_of(backend.claim(lease, 30, 3)[0]) == ids(1, 3, 0)
        assert [*backend.lost(lease, ids(0, 1, 2, 3))] == ids(2)
        assert ids_of(backend.claim(lease, 30, 3)[0]) == ids(2)

    def test_a_claim_and_a_renewal_let_the_lease_last(self, backend):
        lease = backend.acquire("worker", -1)
        assert backend.leases() == set()
        backend.claim(lease, 30, 10)
        assert backend.leases() == {lease}
        assert backend.renew(lease, -1)
        assert backend.leases() == set()
        assert backend.renew(lease, 30)
        assert backend.leases() == {lease}

    def test_a_lease_has_a_number_of_its_own(self, backend):
        numbers = [backend.acquire("worker", 30)]
        backend.release(numbers[0])
        numbers.append(backend.acquire("worker", -1))
        numbers.append(backend.acquire("worker", 30))
        backend.claim(numbers[2], 30, 10)
        assert not backend.renew(numbers[1], 30)
        backend.release(numbers[2])
        numbers.append(backend.acquire("worker", 30))
        assert len({*numbers}) == 4

    @pytest.mark.parametrize("end_lease", ["release", "expiry"])
    def test_the_end_of_a_lease_frees_its_open_waits(self, backend, end_lease):
        backend.add([wait_row(number) for number in (1, 2)], DEFINITIONS)
        first, second = backend.acquire("first", 30), backend.acquire("second", 30)
        backend.claim(first, 30, 10)
        backend.add([wait_row(3)], DEFINITIONS)
        backend.claim(second, 30, 10)
        assert end(backend, first, 2)
        if end_lease == "release":
            backend.release(first)
        else:
            backend.renew(first, -1)
            backend.claim(second, 30, 0)
        assert driver(backend, 1) == FREE
        assert driver(backend, 2) == (first, "first")
        assert driver(backend, 3) == (second, "second")

    def test_lost_are_those_that_the_lease_drives_no_more(self, backend):
        backend.add([wait_row(number) for number in range(6)], DEFINITIONS)
        lease, other = backend.acquire("worker", 30), backend.acquire("other", 30)
        mine = ids_of(backend.claim(lease, 30, 10)[0])
        assert set(mine) == {*ids(*range(6))}
        assert not backend.lost(lease, mine)
        assert end(backend, lease, 1)
        cancel(backend, 2)
        backend.write(lease, [{"id": wait_row(3)["id"], "lease": None, "worker": None}])
        backend.claim(other, 30, 10)
        cancel(backend, 4, ended=-60.0)
        backend.expire(30)
        lost = backend.lost(lease, [*mine, *ids(9)])
        assert sorted(lost) == ids(1, 2, 3, 4, 9)
        backend.release(lease)
        assert sorted(backend.lost(lease, ids(0, 5, 9))) == ids(0, 5, 9)

    def test_a_late_write_matches_nothing(self, backend):
        backend.add([wait_row(1)], DEFINITIONS)
        first, second = backend.acquire("first", 0.0), backend.acquire("second", 30)
        (row,) = backend.claim(first, 0.0, 10)[0]
        assert backend.write(first, [{"id": row["id"], "attempts": 1}]) == 1
        self.until(lambda: backend.claim(second, 30, 10)[0])
        assert backend.write(first, [{"id": row["id"], "attempts": 9}]) == 0
        assert not backend.renew(first, 30)
        assert set(backend.lost(first, [row["id"]])) == {row["id"]}
        with pytest.raises(LeaseLostError):
            backend.claim(first, 30, 10)
        assert backend.write(second, [{"id": row["id"], "attempts": 2}]) == 1
        assert not backend.lost(second, [row["id"]])
        # A worker that lost its lease begins another, and still writes nothing of the old one.
        assert backend.acquire("first", 30) > second
        assert backend.write(first, [{"id": row["id"], "attempts": 9}]) == 0
        assert backend.get([row["id"]])[0]["attempts"] == 2

    def test_a_late_lease_that_nobody_took_goes_on(self, backend):
        backend.add([wait_row(1)], DEFINITIONS)
        lease = backend.acquire("late", 30)
        backend.claim(lease, 30, 10)
        assert backend.renew(lease, -1)
        assert not is_driven(backend, 1)
        assert backend.renew(lease, 30)
        assert backend.write(lease, [{"id": wait_row(1)["id"], "attempts": 1}]) == 1

    def test_an_end_is_written_once(self, backend):
        backend.add([wait_row(1), wait_row(2)], DEFINITIONS)
        lease = backend.acquire("worker", 30)
        backend.claim(lease, 30, 10)
        ends = [
            {"id": wait_row(1)["id"], "state": "succeeded", "ended": 0.0, "lease": None},
            {"id": wait_row(2)["id"], "attempts": 3},
        ]
        assert backend.write(lease, ends) == 2
        assert backend.write(lease, ends[:1]) == 0
        assert not cancel(backend, 1)
        assert backend.open_ids([wait_row(1)["id"], wait_row(2)["id"]]) == {wait_row(2)["id"]}

    def test_a_cancelled_wait_takes_no_write(self, backend):
        backend.add([wait_row(1)], DEFINITIONS)
        lease = backend.acquire("worker", 30)
        backend.claim(lease, 30, 10)
        assert cancel(backend, 1)
        assert not is_driven(backend, 1)
        assert backend.write(lease, [{"id": wait_row(1)["id"], "state": "succeeded"}]) == 0
        assert list(backend.lost(lease, [wait_row(1)["id"]])) == [wait_row(1)["id"]]

    def test_a_wait_is_undriven_unless_its_lease_lives(self, backend):
        backend.add([wait_row(1)], DEFINITIONS)
        backend.claim(backend.acquire("gone", 0.05), 0.05, 10)
        backend.add([wait_row(2)], DEFINITIONS)
        time.sleep(0.1)
        changes = [{"id": each, "attempts": 1} for each in ids(1, 2)]
        assert backend.write(UNDRIVEN, changes) == 2
        backend.claim(backend.acquire("worker", 30), 30, 10)
        assert backend.write(UNDRIVEN, changes) == 0

    def test_what_ended_since_is_told(self, backend):
        backend.add([wait_row(number) for number in (1, 2, 3)], DEFINITIONS)
        none, before = backend.ended_ids(0.0)
        assert none == set()
        cancel(backend, 1, ended=-10.0)
        cancel(backend, 2)
        assert backend.ended_ids(0.0)[0] == {*ids(1, 2)}
        ended, now = backend.ended_ids(before)
        assert ended == {*ids(2)}
        assert now >= before

    def test_a_released_lease_frees_its_waits(self, backend):
        backend.add([wait_row(1)], DEFINITIONS)
        first, second = backend.acquire("first", 30), backend.acquire("second", 30)
        backend.claim(first, 30, 10)
        assert backend.leases() == {first, second}
        assert backend.claim(second, 30, 10)[0] == []
        backend.release(first)
        assert backend.leases() == {second}
        assert not is_driven(backend, 1)
        assert len(backend.claim(second, 30, 10)[0]) == 1

    def test_a_kind_is_left_until_its_deadline(self, backend):
        backend.add([wait_row(1), wait_row(2, kind="k2")], DEFINITIONS)
        backend.add([wait_row(3, deadline=-1.0)], DEFINITIONS)
        lease = backend.acquire("worker", 30)
        rows, _ = backend.claim(lease, 30, 10, {"k1"})
        assert {row["id"] for row in rows} == {wait_row(2)["id"], wait_row(3)["id"]}
        back = {"id": wait_row(2)["id"], "lease": None, "last_error": "{}"}
        assert backend.write(lease, [back]) == 1
        assert backend.claim(lease, 30, 10, {"k1", "k2"})[0] == []

    # --- expiry ------------------------------------------------------------------------------

    def test_only_what_ended_long_ago_expires(self, backend):
        backend.add([wait_row(1), wait_row(2)], DEFINITIONS)
        cancel(backend, 1)
        backend.add_call(call_row("c1"))
        backend.add_call(call_row("c2"))
        backend.write_call("c1", {"ended": 0.0, "phase": "finished"})
        assert backend.expire(3600) == 0
        assert backend.expire(0) == 2
        assert [row["id"] for row in backend.get([wait_row(n)["id"] for n in (1, 2)])] == [
            wait_row(2)["id"]
        ]
        assert backend.calls("c1") == []
        lease = backend.acquire("worker", 30)
        assert backend.claim(lease, 30, 10)[0][0]["definition"] == DEFINITIONS["d1"]

    def test_a_definition_expires_with_its_last_wait(self, backend):
        backend.add([wait_row(1), wait_row(2)], DEFINITIONS)
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

    def test_age_at_the_end_decides_what_expires(self, backend):
        backend.add([wait_row(number, created=-100.0) for number in (1, 2, 3)], DEFINITIONS)
        cancel(backend, 1, ended=-50.0)
        cancel(backend, 2, ended=-20.0)
        for name, age in [("c1", 50.0), ("c2", 20.0)]:
            backend.add_call({**call_row(name), "created": -100.0})
            backend.write_call(name, {"ended": -age})
        assert backend.expire(30) == 2
        assert sorted(ids_of(backend.get(ids(1, 2, 3)))) == ids(2, 3)
        assert not backend.calls("c1")
        assert backend.calls("c2")

    def test_expiry_leaves_the_definition_of_a_start(self, backend):
        """Before, a wait that began beside an expiry could lose its definition."""
        stop = threading.Event()

        def expire():
            while not stop.is_set():
                backend.expire(0)

        def start():
            try:
                for number in range(60):
                    backend.add([wait_row(number)], DEFINITIONS)
                    lease = backend.acquire("worker", 30)
                    rows = backend.claim(lease, 30, 10)[0]
                    assert [row["id"] for row in rows] == [wait_row(number)["id"]]
                    end = {"id": rows[0]["id"], "state": "succeeded", "ended": 0.0}
                    assert backend.write(lease, [end]) == 1
                    backend.release(lease)
            finally:
                stop.set()

        self.in_threads([expire, start])

    # --- calls -------------------------------------------------------------------------------

    def test_a_call_ends_once(self, backend):
        backend.add_call(call_row("c1"))
        backend.add_call({**call_row("c1"), "record": "another"})
        assert backend.write_call("c1", {"phase": "answered", "answer": "{}"})
        assert [row["phase"] for row in backend.calls()] == ["answered"]
        assert backend.write_call("c1", {"ended": 0.0, "phase": "finished", "result": "{}"})
        assert not backend.write_call("c1", {"phase": "answered"})
        assert backend.calls() == []
        (row,) = backend.calls("c1")
        assert (row["phase"], row["record"], row["ended"] is None) == ("finished", "{}", False)
        assert backend.calls("c2") == []
        assert not backend.write_call("c2", {"phase": "answered"})

    def test_the_oldest_calls_come_first(self, backend):
        for name, age in [("c1", 20.0), ("c2", 30.0), ("c3", 10.0)]:
            backend.add_call({**call_row(name), "created": -age})
        rows = backend.calls()
        assert ids_of(rows) == ["c2", "c1", "c3"]
        assert [round(row["age"], -1) for row in rows] == [30, 20, 10]

    # --- the whole ---------------------------------------------------------------------------

    def test_a_closed_backend_says_so(self, backend):
        backend.close()
        row, lease = wait_row(1), 1
        for name, arguments in {
            "add": ([row], DEFINITIONS),
            "get": ([row["id"]],),
            "list": ({}, None, 10),
            "open_ids": (),
            "reopen": ({**row, **CANCELLED}, REOPENED),
            "expire": (0,),
            "acquire": ("worker", 30),
            "renew": (lease, 30),
            "claim": (lease, 30, 10),
            "write": (None, [{"id": row["id"], **CANCELLED}]),
            "lost": (lease, [row["id"]]),
            "leases": (),
            "release": (lease,),
            "add_call": (call_row("c1"),),
            "write_call": ("c1", {"phase": "answered"}),
            "calls": (),
        }.items():
            with pytest.raises(StoreError, match="is closed"):
                getattr(backend, name)(*arguments)
        backend.close()

    def test_a_signal_handler_may_hurry_a_call(self, backend):
        """At whatever place it interrupts the call of its own thread."""
        backend.add([wait_row(1)], DEFINITIONS)
        found = []

        def call():
            sys.setprofile(lambda *_: backend.limit_time(30))
            try:
                found.append(backend.open_ids())
                cancel(backend, 1)
                found.append(backend.open_ids())
            finally:
                sys.setprofile(None)

        self.in_threads([call])
        backend.limit_time(None)
        assert found == [{wait_row(1)["id"]}, set()]

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    def test_the_child_of_a_fork_goes_on(self, backend):
        """Although other threads of its parent were inside a call."""
        backend.add([wait_row(number) for number in range(500)], DEFINITIONS)
        stop = threading.Event()

        def work():
            while not stop.is_set():
                backend.open_ids()

        def fork():
            try:
                for number in range(5):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # Python's own, of forks beside threads
                        child = os.fork()
                    if child == 0:
                        code = 2
                        try:
                            code = 0 if cancel(backend, number) else 1
                        except BaseException:
                            traceback.print_exc()
                        finally:
                            os._exit(code)
                    assert self.exit_code(child) == 0
            finally:
                stop.set()

        self.in_threads([work, fork])

    @staticmethod
    def exit_code(child):
        for _ in range(2000):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            threading.Event().wait(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child did not go on")

    @staticmethod
    def until(condition):
        for _ in range(500):
            if condition():
                return
            threading.Event().wait(0.01)
        pytest.fail("it did not happen")

    @staticmethod
    def in_threads(functions):
        """Call functions at once; raise the first error."""
        pool = concurrent.futures.ThreadPoolExecutor()
        for call in [pool.submit(each) for each in functions]:
            call.result(60)


class LocalContract(BackendContract):
    """Of a backend with `is_local`: its clock is that of the machine, `steady_time`."""

    def test_setting_the_wall_clock_moves_nothing(self, backend, monkeypatch):
        assert backend.is_local
        backend.add([wait_row(1), wait_row(2)], DEFINITIONS)
        lease, before, real = backend.acquire("worker", 30), now_of(backend), time.time
        backend.claim(lease, 30, 1)
        for jump in (-7200, 7200):
            monkeypatch.setattr(time, "time", lambda jump=jump: real() + jump)
            assert backend.leases() == {lease}
            assert 0 <= now_of(backend) - before < 60
            assert backend.expire(3600) == 0
            cancel(backend, 1)
            assert abs(get(backend, 1)["ended"] - before) < 60

    def test_what_is_due_now(self, backend, monkeypatch):
        """A lease lasts to its last moment, and what has the age of an expiry goes."""
        backend.add([wait_row(1), wait_row(2, deadline=10.0)], DEFINITIONS)
        # Whole numbers: those that are added are exact.
        start = float(int(time.monotonic()) + 10)
        clock = [start]
        monkeypatch.setattr(time, "clock_gettime", lambda _: clock[0], raising=False)
        monkeypatch.setattr(time, "monotonic", lambda: clock[0])
        backend.add([wait_row(3, deadline=10.0)], DEFINITIONS)
        first, second = backend.acquire("first", 10), backend.acquire("second", 60)
        backend.claim(first, 10, 1)
        cancel(backend, 2)
        clock[0] = start + 10
        assert backend.leases() == {first, second}
        assert ids_of(backend.claim(second, 60, 10, {"k1"})[0]) == ids(3)
        assert driver(backend, 1) == (first, "first")
        clock[0] = start + 10 + 2**-10
        assert backend.leases() == {second}
        backend.claim(second, 60, 0)
        assert driver(backend, 1) == FREE
        clock[0] = start + 60 - 2**-10
        assert backend.expire(60) == 0
        clock[0] = start + 60
        assert backend.expire(60) == 1


class SharedContract(BackendContract):
    """Of a backend on data that others open too: with a fixture `another`, one on the same."""

    def test_what_one_writes_another_reads(self, backend, another):
        backend.add([wait_row(1, exclusive_key="deploy")], DEFINITIONS)
        backend.add_call(call_row("c1"))
        assert another.get(ids(1)) == backend.get(ids(1)) == another.list({}, None, 10)
        assert another.calls("c1")[0]["record"] == "{}"
        with pytest.raises(KeyInUseError):
            another.add([wait_row(2, exclusive_key="deploy")], DEFINITIONS)
        assert ids_of(another.add([wait_row(1, label="again")], {})) == ids(1)
        assert another.write_call("c1", {"ended": 0.0})
        assert not backend.write_call("c1", {"phase": "answered"})
        assert cancel(another, 1)
        assert not cancel(backend, 1)
        assert 0 <= now_of(another) - get(backend, 1)["created"] < 60

    def test_leases_hold_for_all(self, backend, another):
        backend.add([wait_row(1)], DEFINITIONS)
        first, second = backend.acquire("first", 30), another.acquire("second", 30)
        assert first != second
        assert backend.leases() == another.leases() == {first, second}
        assert ids_of(backend.claim(first, 30, 10)[0]) == ids(1)
        assert another.claim(second, 30, 10)[0] == []
        backend.renew(first, -1)
        ((row,), _) = another.claim(second, 30, 10)
        assert row["definition"] == DEFINITIONS["d1"]
        assert backend.write(first, [{"id": row["id"], "attempts": 9}]) == 0
        assert [*backend.lost(first, ids(1))] == ids(1)
        assert not backend.renew(first, 30)

    def test_one_that_closes_ends_no_other(self, backend, another):
        backend.add([wait_row(1)], DEFINITIONS)
        lease = backend.acquire("worker", 30)
        backend.claim(lease, 30, 10)
        backend.close()
        assert another.leases() == {lease}
        assert another.write(lease, [{"id": wait_row(1)["id"], "attempts": 1}]) == 1
