"""Many waits on few calls at once, which take virtual time."""

import json
import threading

import pytest
from batch.calls import run_awaited, run_blocking
from hypothesis import given, settings
from hypothesis import strategies as st

from boto_waiters_plus import (
    ResponseOutcome,
    Wait,
    WaiterCancelledError,
    WaiterTimeoutError,
    operations,
)
from boto_waiters_plus.testing import virtual_time as open_virtual_time

PATIENCE = 60
NEVER = 1e9
HERE, THERE = "us-east-1", "eu-west-1"
THROTTLED = {"Error": {"Code": "LimitExceededException", "Message": "Rate exceeded"}}


class Stream:
    """A stream that is ready from some time on, its wait, and when it was polled."""

    def __init__(self, client=HERE, *, ready_at=0.0, latency=0.0, throttled=(0, 0), **options):
        self.client = client
        self.ready_at = ready_at
        self.latency = latency
        self.throttled = throttled
        self.options = {"min_delay": 2, "max_delay": 30, "max_wait": 300, **options}
        self.polls = []
        self.result = None

    def answer(self, now):
        self.polls.append(now)
        if self.throttled[0] <= now < self.throttled[1]:
            return self.latency, THROTTLED
        state = "CREATING" if now < self.ready_at else "ACTIVE"
        described = {"StreamStatus": state, "RetentionPeriodHours": len(self.polls)}
        return self.latency, {"StreamDescription": described}


def run_all(run, clock, streams, **options):
    """Run the waits for these streams; each gets its result."""

    def answer(_name, params):
        return streams[int(json.loads(params["body"])["StreamName"])].answer(clock.now)

    def waits_of(clients):
        return [
            Wait(clients[each.client], "stream_exists", {"StreamName": f"{index}"}, **each.options)
            for index, each in enumerate(streams)
        ]

    names = dict.fromkeys(stream.client for stream in streams)
    results = run(names, answer, waits_of, service="kinesis", **options)
    for stream, result in zip(streams, results, strict=True):
        stream.result = result


@pytest.fixture(params=[run_blocking, run_awaited], ids=["blocking", "awaited"])
def run(request, virtual_time):
    """`run(streams)`: run the waits for them."""
    return lambda streams, **options: run_all(request.param, virtual_time, streams, **options)


@pytest.fixture
def awaited(virtual_time):
    """The same by calls that are cut off in virtual time."""
    return lambda streams, **options: run_all(run_awaited, virtual_time, streams, **options)


def types(streams):
    return [type(stream.result) for stream in streams]


# --- room for calls -----------------------------------------------------------------------------

STREAMS = st.builds(
    Stream,
    st.sampled_from([HERE, f"{HERE} b", THERE]),
    ready_at=st.floats(0, 400),
    latency=st.just(0.0) | st.floats(0.001, 20),
)


@given(
    streams=st.lists(STREAMS, min_size=1, max_size=12),
    threads=st.integers(1, 4),
    pool=st.integers(1, 3),
)
@settings(max_examples=20)
def test_calls_stay_within_threads_and_connections(streams, threads, pool):
    with open_virtual_time() as clock:
        run_all(run_blocking, clock, streams, threads=threads, pool=pool)
        # No wait outlives its deadline in the queue; the last call may end after it.
        assert clock.now <= 300 + 20 + 0.01
    calls = [(each.client, at, at + each.latency) for each in streams for at in each.polls]
    for _, moment, _ in calls:
        running = [name for name, begin, end in calls if begin <= moment < end]
        assert len(running) <= threads
        assert all(running.count(name) <= pool for name in running)
    assert set(types(streams)) <= {ResponseOutcome, WaiterTimeoutError}


def test_clients_take_turns_whatever_their_number_of_waits(run):
    streams = [Stream(latency=1) for _ in range(100)]
    streams.append(Stream(f"{HERE} b", latency=1))
    run(streams, threads=8, pool=4)
    assert streams[-1].polls == [0]
    assert max(streams[-2].polls) == 24


def test_first_attempts_begin_in_the_order_given(run):
    streams = [Stream(latency=1) for _ in range(7)]
    run(streams, pool=2)
    assert [stream.polls for stream in streams] == [[0], [0], [1], [1], [2], [2], [3]]
    # Time in the queue counts.
    assert [stream.result.elapsed for stream in streams] == [1, 1, 2, 2, 3, 3, 4]


def test_second_attempts_leave_no_wait_without_a_first(run):
    # The first attempts alone take 25 s, in turns with second ones 50 s.
    options = {"max_wait": 40, "min_delay": 1, "delay_pace": "fixed"}
    streams = [Stream(latency=1, ready_at=NEVER, **options) for _ in range(50)]
    run(streams, pool=2)
    assert max(stream.polls[0] for stream in streams) < 40
    # None waits until all first ones are over.
    assert streams[0].polls[1] < 10


def test_first_attempts_go_on_behind_waits_that_ended_in_the_queue(run, virtual_time):
    cancel = threading.Event()
    streams = [Stream(THERE, latency=10), *(Stream(cancel_event=cancel) for _ in range(2))]
    streams += [Stream(), Stream()]
    virtual_time.call_at(5, cancel.set)
    run(streams, threads=1, pool=1)
    assert [stream.polls for stream in streams] == [[0], [], [], [10], [10]]


def test_all_threads_serve_the_services_that_are_left(run):
    streams = [Stream(THERE, latency=1) for _ in range(4)]
    streams += [Stream(latency=1) for _ in range(24)]
    run(streams, threads=8)
    starts = [sum(stream.polls == [moment] for stream in streams[4:]) for moment in range(5)]
    # Half as long as there is another service, all of it then.
    assert starts == [3, 4, 8, 8, 1]


# --- time ---------------------------------------------------------------------------------------


def test_wait_that_expires_in_queue_keeps_its_last_state(awaited):
    slow = Stream(latency=0.1, ready_at=NEVER, max_wait=20)
    awaited([slow, Stream(latency=1000, max_wait=3000, initial_delay=1)], pool=1)
    assert slow.result.elapsed == pytest.approx(20, abs=0.01)
    assert slow.result.observed == "CREATING"
    assert slow.result.attempts == len(slow.polls)


@pytest.mark.parametrize("threads", [1, 32])
def test_hung_clients_hold_no_wait_past_its_deadline(awaited, threads):
    streams = [Stream(f"{HERE} {n}", latency=1000, max_wait=20) for n in range(36)]
    streams.append(Stream(f"{HERE} last", max_wait=2))
    awaited(streams, threads=threads)
    hung = [stream.result.elapsed for stream in streams[:-1]]
    assert hung == pytest.approx([20] * 36, abs=0.01)
    assert streams[-1].result.elapsed <= 2.01
    assert [stream.result.attempts for stream in streams] == [len(each.polls) for each in streams]


@pytest.mark.parametrize("count", [3, 30])
@pytest.mark.parametrize(("stopped_at", "polls"), [(12, 2), (1000, 4)])
def test_last_response_is_that_of_the_last_attempt(run, virtual_time, count, stopped_at, polls):
    stop = threading.Event()
    virtual_time.call_at(stopped_at, stop.set)
    # Not `max_wait`: its last attempt would have 0.25 s of real time for all of the calls.
    options = {"delay_pace": lambda _: 10.0, "max_attempts": 4}
    streams = [Stream(ready_at=NEVER, **options) for _ in range(count)]
    run(streams, cancel_event=stop)
    last = [stream.result.last_response["StreamDescription"] for stream in streams]
    assert [each["RetentionPeriodHours"] for each in last] == [polls] * count
    assert {stream.result.attempts for stream in streams} == {polls}


# --- outages and throttles ----------------------------------------------------------------------


def polls_beside(count, **outage):
    """Return when streams are polled beside so many of another service that has an outage."""
    fixed = {"delay_pace": "fixed", "min_delay": 3}
    healthy = [Stream(f"{HERE} {n}", ready_at=7 * n, latency=0.1, **fixed) for n in range(8)]
    options = {"ready_at": NEVER, "max_wait": 200, "retry_transient": True, **outage}
    broken = [Stream(f"{THERE} {index % 4}", **options) for index in range(count)]
    with open_virtual_time() as clock:
        run_all(run_awaited, clock, healthy + broken, threads=32, pool=10)
    return [stream.polls for stream in healthy]


@pytest.mark.parametrize(
    "outage",
    [{"latency": 60}, {"latency": 1e6}, {"latency": 0.1, "throttled": (0, NEVER)}],
    ids=str,
)
def test_outage_of_one_service_moves_no_other_poll(outage):
    assert polls_beside(200, **outage) == polls_beside(0)


def test_hung_services_leave_threads_for_a_healthy_one(awaited):
    regions = ("eu-west-1", "eu-west-2", "eu-west-3")
    streams = [Stream(region, latency=60) for region in regions for _ in range(50)]
    healthy = Stream(ready_at=50, latency=0.1, initial_delay=1, max_delay=2)
    awaited([*streams, healthy], threads=32, pool=50)
    gaps = [after - before for before, after in zip(healthy.polls, healthy.polls[1:], strict=False)]
    assert healthy.polls[0] == 1
    assert max(gaps) <= 2.1 + 1e-9


def test_throttle_stretches_delays_of_its_client_only(run):
    options = {"delay_pace": lambda _: 10.0, "retry_transient": True}
    victim = Stream(ready_at=100, throttled=(15, 25), initial_delay=5, **options)
    neighbour = Stream(ready_at=100, **options)
    hurried = Stream(ready_at=20, **options, max_wait=29)
    late = Stream(ready_at=100, **options, initial_delay=60)
    stranger = Stream(f"{HERE} b", ready_at=100, **options)
    run([victim, neighbour, hurried, late, stranger])
    assert stranger.polls == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    # The pause from 10 to 20 ran when the throttle came at 15; later ones are as ever.
    assert neighbour.polls == [0, 10, 30, 40, 50, 60, 70, 80, 90, 100]
    assert victim.polls[:3] == [5, 15, 25]
    # It moves neither a delay of a wait that has no time for it, nor an initial one.
    assert hurried.polls == [0, 10, 20]
    assert late.polls[0] == 60


def test_throttle_and_hung_call_leave_healthy_waits_their_polls(awaited):
    options = {"max_wait": 15, "retry_transient": True}
    streams = [Stream(latency=1000, **options), Stream(latency=0.1, throttled=(0, 0.1), **options)]
    streams += [Stream(latency=0.1, **options) for _ in range(8)]
    awaited(streams, pool=2)
    assert types(streams) == [WaiterTimeoutError, *[ResponseOutcome] * 9]
    assert max(stream.result.elapsed for stream in streams[2:]) < 3


def test_throttle_of_one_client_limits_no_other(run):
    victims = [Stream(latency=1, throttled=(0, 1), retry_transient=True) for _ in range(4)]
    others = [Stream(f"{HERE} b", latency=1) for _ in range(16)]
    run(victims + others, pool=4)
    assert [stream.polls[0] for stream in others] == [index // 4 for index in range(16)]


def test_throttle_halves_the_calls_and_answers_restore_them(run):
    # A call counts for one second at most.
    options = {"latency": 0.5, "retry_transient": True}
    streams = [Stream(throttled=(0, 0.5), ready_at=0.5, **options) for _ in range(8)]
    streams += [Stream(**options) for _ in range(40)]
    run(streams, threads=8)
    polls = [moment for stream in streams for moment in stream.polls]
    # Every one of the eight was a throttle: down to one, then one more each round of answers.
    assert [polls.count(each / 2) for each in range(5)] == [8, 1, 2, 2, 3]
    assert max(map(polls.count, polls)) <= 8


# --- ends ---------------------------------------------------------------------------------------


def test_cancelling_during_a_call_ends_the_wait_at_once(awaited, virtual_time):
    stop = threading.Event()
    virtual_time.call_at(30, stop.set)
    streams = [Stream(latency=100, cancel_event=stop), Stream(ready_at=150)]
    awaited(streams)
    assert types(streams) == [WaiterCancelledError, ResponseOutcome]
    assert streams[0].result.elapsed == pytest.approx(30, abs=0.06)


# --- in the background --------------------------------------------------------------------------


def start(client):
    return operations.start(client, "stream_exists", max_wait=300, StreamName="orders")


def test_what_is_no_exception_ends_all_background_waits(client_of, answers, creating, caplog):
    waiting, failing = client_of("kinesis"), client_of("kinesis")
    answers(waiting, creating)
    answers(failing, SystemExit())
    for operation in [start(waiting), start(failing)]:
        assert "SystemExit" in str(operation.exception(PATIENCE))
