"""Waits that share calls and a schedule; the calls run side by side in virtual time."""

import collections
import functools
import itertools
import json
import threading
from types import SimpleNamespace

import pytest
from batch.calls import run_awaited, run_blocking
from case_tables import CASES
from hypothesis import given, settings
from hypothesis import strategies as st

import boto_waiters_plus as bwp
from boto_waiters_plus import ResponseOutcome, Wait, WaiterCancelledError, WaiterTimeoutError
from boto_waiters_plus.testing import virtual_time as open_virtual_time

CLIENT, OTHER = "us-east-1", "us-east-1 b"
NEVER = 1e9
UNKNOWN = {"Error": {"Code": "InvalidInstanceID.NotFound", "Message": "No."}}
SCHEDULES = json.loads((CASES / "schedules.json").read_text("utf-8"))


@functools.cache
def pace(seconds):
    """One function for all waits with this delay, which so are alike."""
    return lambda _: float(seconds)


class World:
    """Instances that run from some time on, which may be unknown until then, and their waits.

    Attributes:
        calls: when each call began, and the identifiers in it.
        results: those of the waits, by identifier.
    """

    def __init__(self, clock, *, ready_at=None, unknown=None, latency=0.0):
        self.clock = clock
        self.ready_at = ready_at or {}
        self.unknown = unknown or {}
        """Until when an instance is unknown."""
        self.latency = latency
        self.calls = []
        self.results = {}

    def answer(self, _name, params):
        ids = [one for name, one in params["body"].items() if name.startswith("InstanceId.")]
        now = self.clock.now
        self.calls.append((now, ids))
        seconds = self.latency() if callable(self.latency) else self.latency
        if any(now < self.unknown.get(each, 0) for each in ids):
            return seconds, UNKNOWN
        states = {each: now >= self.ready_at.get(each, 0) for each in ids}
        found = [
            {"InstanceId": each, "State": {"Name": "running" if is_ready else "pending"}}
            for each, is_ready in states.items()
        ]
        return seconds, {"Reservations": [{"Instances": found}]}

    def run(self, run, waits, **options):
        """Run waits for these identifiers, each with its options; `every` is a fixed delay."""

        def made(clients):
            bounds = {"min_delay": 10, "max_delay": 60, "max_wait": 600}
            for each, own in waits.items():
                options = {**bounds, **own}
                if "every" in options:
                    options["delay_pace"] = pace(options.pop("every"))
                client = clients[options.pop("client", CLIENT)]
                yield Wait(client, "InstanceRunning", {"InstanceIds": [each]}, **options)

        found = run([CLIENT, OTHER], self.answer, made, service="ec2", **options)
        self.results = dict(zip(waits, found, strict=True))

    def counts(self):
        return collections.Counter(moment for moment, _ in self.calls)

    def polls_of(self, name):
        return [moment for moment, ids in self.calls if name in ids]


@pytest.fixture(params=[run_blocking, run_awaited], ids=["blocking", "awaited"])
def run(request, virtual_time):
    return request.param


def names(count):
    return [f"i-{number:03}" for number in range(count)]


def alike(ids, **options):
    return dict.fromkeys(ids, options)


# --- calls ------------------------------------------------------------------------------------


def test_groups_take_turns_with_others_of_their_client(run, virtual_time):
    world = World(virtual_time, latency=1)
    world.run(run, {**alike(names(400)), "few": {"every": 9}}, pool=1)
    assert world.polls_of("few") == [1]


# --- errors that may be about one -------------------------------------------------------------


def test_culprit_stays_alone_while_its_attempts_are_errors(run, virtual_time):
    ids = names(8)
    world = World(virtual_time, ready_at=dict.fromkeys(ids, 400), unknown={ids[3]: 200})
    world.run(run, alike(ids))
    counts = world.counts()
    first, *early = [moment for moment in counts if moment < 200]
    late = [moment for moment in counts if moment >= 200]
    assert counts[first] == 7
    assert {counts[moment] for moment in early} == {2}
    # Once alone, then with the others again.
    assert [counts[moment] for moment in late] == [2, *[1] * (len(late) - 1)]
    assert {type(each) for each in world.results.values()} == {ResponseOutcome}


# --- one schedule -----------------------------------------------------------------------------


@pytest.mark.parametrize("waits", SCHEDULES.values(), ids=SCHEDULES)
def test_waits_share_a_schedule(run, virtual_time, waits):
    world = World(virtual_time, ready_at={name: each["ready_at"] for name, each in waits.items()})
    world.run(run, {name: each["options"] for name, each in waits.items()})
    polls = {name: each["polls"] for name, each in waits.items()}
    assert {name: world.polls_of(name) for name in waits} == polls


def test_slow_last_attempt_is_not_held_for_the_others(virtual_time):
    world = World(virtual_time, ready_at={"short": 40, "later": 100}, latency=16)
    waits = {"short": {"max_wait": 70, "every": 30}, "later": {"initial_delay": 8, "every": 30}}
    world.run(run_awaited, waits)
    assert world.polls_of("short") == [0, 46]
    assert world.polls_of("later")[:2] == [8, 54]


def test_signal_to_one_wait_postpones_no_other(run, virtual_time):
    world, wake = World(virtual_time, ready_at={"0": 60, "1": 60}), threading.Event()
    for moment in (12, 23, 28):
        virtual_time.call_at(moment, wake.set)
    world.run(run, {"0": {"wake_signal": wake, "every": 30}, "1": {"every": 30}})
    assert world.polls_of("0")[:4] == pytest.approx([0, 12, 23, 28], abs=0.06)
    assert world.polls_of("1")[:3] == [0, 30, 60]


def test_one_late_answer_postpones_no_other_wait(virtual_time):
    latencies, ids = iter([0.1, 25.0]), names(200)
    world = World(virtual_time, ready_at=dict.fromkeys(ids, NEVER))
    world.latency = lambda: next(latencies, 0.1)
    world.run(run_awaited, alike(ids, every=30, max_wait=200))
    # In time: at 30.1, at 60.2. The delay after the late answer ends at 55.
    assert world.polls_of(ids[0])[:3] == pytest.approx([0, 30.1, 60.2])
    assert world.polls_of(ids[-1])[:3] == pytest.approx([0, 60.2, 90.3])


def test_answers_in_sequence_postpone_the_whole_group(virtual_time):
    latencies, ids = iter([0, 5, 10, 15, 20]), names(500)
    world = World(virtual_time, ready_at=dict.fromkeys(ids, NEVER))
    world.latency = lambda: next(latencies, 0.1)
    world.run(run_awaited, alike(ids, every=30, max_wait=90))
    assert {tuple(world.polls_of(each)[:2]) for each in ids} == {(0, 50)}


def test_delay_pace_is_called_once_for_the_group(run, virtual_time):
    draws, ids = itertools.count(20), names(250)
    world = World(virtual_time, ready_at=dict.fromkeys(ids, 100))
    world.run(run, alike(ids, delay_pace=lambda _: float(next(draws))))
    assert world.counts() == {0: 3, 20: 3, 41: 3, 63: 3, 86: 3, 110: 3}
    assert [[*each.by_id] for each in world.results.values()] == [[each] for each in ids]
    assert all(each.coalesced for each in world.results.values())


# --- ends -------------------------------------------------------------------------------------


def test_call_in_flight_ends_with_its_last_wait(virtual_time):
    world = World(virtual_time, latency=60)
    world.run(run_awaited, {f"{seconds}": {"max_wait": seconds} for seconds in (20, 50, 80)})
    ends = [each.elapsed for each in world.results.values()]
    assert ends == pytest.approx([20, 50, 60], abs=0.01)
    kinds = [WaiterTimeoutError, WaiterTimeoutError, ResponseOutcome]
    assert [type(each) for each in world.results.values()] == kinds
    assert len(world.calls) == 1


def test_call_goes_on_for_the_last_of_its_waits():
    ended, first = threading.Event(), {"max_wait": 0.05, "min_delay": 0.01}
    bwp.install(on_event=lambda event: ended.set() if event.kind == "timeout" else None)
    world = World(SimpleNamespace(now=0), latency=lambda: 0 if ended.wait(60) else 1)
    world.run(run_blocking, {"first": first, "last": {**first, "max_wait": 60}})
    assert isinstance(world.results["last"], ResponseOutcome)
    assert len(world.calls) == 1


def test_wait_cancelled_during_call_leaves_it_to_others(run, virtual_time):
    cancel, ids = threading.Event(), names(8)
    world = World(virtual_time, latency=30, unknown={ids[2]: 31})
    virtual_time.call_at(5, cancel.set)
    world.run(run, {**alike(ids), ids[6]: {"cancel_event": cancel}})
    cancelled = world.results.pop(ids[6])
    assert isinstance(cancelled, WaiterCancelledError)
    assert {type(each) for each in world.results.values()} == {ResponseOutcome}
    assert all(ids[6] not in asked for _, asked in world.calls[1:])


def test_group_whose_waits_expired_in_queue_is_polled_again(virtual_time):
    world = World(virtual_time, latency=iter([30, 0]).__next__)
    waits = {"busy": {"max_wait": 100, "every": 7}, "first": {"max_wait": 20}}
    world.run(run_awaited, {**waits, "second": {"initial_delay": 50}}, threads=1)
    assert isinstance(world.results["first"], WaiterTimeoutError)
    assert [asked for _, asked in world.calls] == [["busy"], ["second"]]


def test_halves_that_queue_too_long_time_out(virtual_time):
    world = World(virtual_time, latency=iter([5, 1000]).__next__, unknown={"0": NEVER})
    waits = {**alike("0123", max_wait=45), "hung": {"client": OTHER, "max_wait": 2000}}
    # With one thread, the call that hangs comes between the batch and its halves.
    world.run(run_awaited, waits, threads=1)
    assert [asked for _, asked in world.calls] == [["0", "1", "2", "3"], ["hung"]]
    results = [world.results[each] for each in "0123"]
    assert {(type(each), each.attempts) for each in results} == {(WaiterTimeoutError, 1)}
    assert [each.elapsed for each in results] == pytest.approx([45] * 4, abs=0.01)


# --- whatever happens -------------------------------------------------------------------------

READY_AT, INITIAL_DELAY = st.floats(0, 150), st.sampled_from([0, 0, 0, 5, 33])
UNKNOWN_UNTIL = st.one_of(st.just(0.0), st.floats(0, 100), st.just(NEVER))
THINGS = st.lists(st.tuples(READY_AT, UNKNOWN_UNTIL, INITIAL_DELAY), min_size=1, max_size=25)


@given(things=THINGS, threads=st.integers(1, 4), latency=st.sampled_from([0.0, 0.2, 3.0]))
@settings(max_examples=20)
def test_each_wait_ends_as_it_would_alone(things, threads, latency):
    ready_at, unknown, delays = (
        dict(zip(names(len(things)), values, strict=True)) for values in zip(*things, strict=True)
    )
    with open_virtual_time() as clock:
        world = World(clock, ready_at=ready_at, unknown=unknown, latency=latency)
        waits = {name: {"initial_delay": delay} for name, delay in delays.items()}
        world.run(run_blocking, waits, threads=threads)
        assert clock.now <= 600 + 3 + 0.01
    for name, result in world.results.items():
        polls = world.polls_of(name)
        assert polls[0] >= delays[name]
        expected = WaiterTimeoutError if unknown[name] == NEVER else ResponseOutcome
        assert isinstance(result, expected)
        if expected is ResponseOutcome:
            assert polls[-1] >= ready_at[name]
            [reservation] = result.response["Reservations"]
            assert [each["InstanceId"] for each in reservation["Instances"]] == [name]
