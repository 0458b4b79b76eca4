"""Many waits on few calls at once, which take virtual time: by the drivers themselves.

The functions for many waits have no clock and no calls to give; what they promise without them is
tested in `test_many`.
"""

import asyncio
import threading

import pytest
from batch.calls import Awaited, VirtualExecutor, connections, scheduled, scheduled_async, wait_run
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus import (
    ResponseOutcome,
    WaiterCancelledError,
    WaiterFailedError,
    WaiterTimeoutError,
    operations,
)
from boto_waiters_plus.batch.service_limiter import ClientConnections, ServiceLimiter
from boto_waiters_plus.batch.tasks import Task
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.engine.machine import Facts
from boto_waiters_plus.testing import virtual_time as open_virtual_time
from boto_waiters_plus.wait.attempt import Attempt
from boto_waiters_plus.wait.sync import drive

PATIENCE = 60
NEVER = 1e9


class Call:
    """A call for a thing that is ready from some time on; the reply holds the verdict already."""

    def __init__(
        self, clock, *, ready_at=0.0, latency=0.0, fails=False, throttled=(0, 0), raises=None
    ):
        self.clock = clock
        self.ready_at = ready_at
        self.latency = latency
        self.fails = fails
        self.throttled = throttled
        self.raises = raises
        self.polls = []
        self.times_left = []

    def seen(self):
        """Return the attempt of a call that begins now."""
        now = self.clock.now
        self.polls.append(now)
        if self.raises is not None:
            raise self.raises
        if self.throttled[0] <= now < self.throttled[1]:
            facts = Facts(acceptor=None, transient=True, throttled=True)
            return Attempt(facts=facts, exception=RuntimeError(), error="Throttled")
        response = {"polls": len(self.polls)}
        if now < self.ready_at:
            return Attempt(facts=Facts(acceptor=None), observed="creating", last_response=response)
        index = 1 if self.fails else 0
        return Attempt(facts=Facts(acceptor=index), response=response)

    def begin(self, time_left):
        """Return the reply of a call that begins now, and how long it takes."""
        self.times_left.append(time_left)
        attempt = self.seen()
        if time_left is not None and time_left < self.latency:
            return Reply(ended="deadline"), time_left
        return Reply(attempt), self.latency

    def make(self, time_left):
        reply, seconds = self.begin(time_left)
        self.clock.advance(seconds)
        return reply


def tasks_of(things, pool=None, **policy):
    pool = pool or connections(1000)
    return [Task(wait_run(seed, **policy), thing, pool) for seed, thing in enumerate(things)]


def pools(count, limit=10):
    """Return the connections of some clients of one service."""
    service = ServiceLimiter()
    return [ClientConnections(service, limit) for _ in range(count)]


def in_threads(clock, tasks, **options):
    ended = scheduled(tasks, executor=VirtualExecutor(clock), **options)
    return {task.index: clock.now for task in ended}


def in_a_loop(clock, tasks, **options):
    for task in tasks:
        task.call = Awaited(task.call)

    async def main():
        return {task.index: clock.now async for task in scheduled_async(tasks, **options)}

    return asyncio.run(main())


@pytest.fixture(params=[in_threads, in_a_loop])
def run(request, virtual_time):
    """`run(tasks)`: run all; return when each ended."""

    def to_the_end(tasks, **options):
        ended = request.param(virtual_time, tasks, **options)
        assert sorted(ended) == list(range(len(tasks)))
        return ended

    return to_the_end


def types(tasks):
    return [type(task.result) for task in tasks]


# --- alone and among others ---------------------------------------------------------------------

WORLDS = st.lists(
    st.fixed_dictionaries(
        {
            "ready_at": st.one_of(st.floats(0, 400), st.integers(0, 400)),
            "latency": st.one_of(st.just(0.0), st.floats(0.001, 20)),
            "fails": st.booleans(),
        }
    ),
    min_size=1,
    max_size=12,
)
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "min_delay": st.integers(1, 20),
        "max_wait": st.integers(1, 300),
        "initial_delay": st.integers(0, 50),
        "success_count": st.integers(1, 3),
        "max_attempts": st.integers(1, 20),
        "pace": st.sampled_from([None, "fixed"]),
        "last_attempt": st.sampled_from(["late", "spec", "deadline"]),
    },
)


@given(worlds=WORLDS, policies=st.lists(POLICIES, min_size=12, max_size=12))
def test_wait_among_others_polls_as_it_would_alone(worlds, policies):
    changes = [{"max_delay": 30, **policy} for policy in policies]
    alone = []
    for seed, world in enumerate(worlds):
        with open_virtual_time() as clock:
            thing = Call(clock, **world)
            try:
                result = drive(wait_run(seed, **changes[seed]), thing)
            except Exception as error:
                result = error
            alone.append((thing, result))
    with open_virtual_time() as clock:
        things, pool = [Call(clock, **world) for world in worlds], connections(100)
        tasks = [Task(wait_run(n, **changes[n]), thing, pool) for n, thing in enumerate(things)]
        in_threads(clock, tasks)
    for (one, result), other, task in zip(alone, things, tasks, strict=True):
        assert other.polls == pytest.approx(one.polls)
        assert other.times_left == pytest.approx(one.times_left)
        assert type(task.result) is type(result)
        assert task.result.attempts == result.attempts


@given(
    worlds=WORLDS,
    threads=st.integers(1, 4),
    limits=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    lanes=st.lists(st.integers(0, 1), min_size=3, max_size=3),
)
def test_calls_stay_within_threads_and_connections(worlds, threads, limits, lanes):
    with open_virtual_time() as clock:
        services, executor = [ServiceLimiter(), ServiceLimiter()], VirtualExecutor(clock)
        clients = [
            ClientConnections(services[lane], limit)
            for lane, limit in zip(lanes, limits, strict=True)
        ]
        tasks = [
            Task(wait_run(seed), Call(clock, **world), clients[seed % 3])
            for seed, world in enumerate(worlds)
        ]
        list(scheduled(tasks, executor=executor, threads=threads))
        # No wait outlives its deadline in the queue; the last call may end after it.
        assert clock.now <= 300 + 20 + 0.01
    assert executor.most <= threads
    assert all(most <= pool.limit for pool, most in executor.most_of.items())
    assert [pool.calling for pool in clients] == [0, 0, 0]
    assert set(types(tasks)) <= {ResponseOutcome, WaiterFailedError, WaiterTimeoutError}


def test_calls_stay_within_the_limit_per_second(run, virtual_time):
    clients = pools(2)
    clients[0].service.calls_per_second = 5
    things = [Call(virtual_time, ready_at=30, latency=0.1) for _ in range(40)]
    tasks = [
        Task(wait_run(seed, min_delay=1, max_delay=2), thing, clients[seed % 2])
        for seed, thing in enumerate(things)
    ]
    run(tasks)
    times = sorted(poll for thing in things for poll in thing.polls)
    assert set(types(tasks)) == {ResponseOutcome}
    # 40 waits poll far more often than the limit lets them.
    assert times[149] - times[0] == pytest.approx(149 / 5, abs=0.2)
    assert all(times[index + 6] - times[index] >= 1 for index in range(len(times) - 6))


def test_clients_take_turns_whatever_their_number_of_waits(run, virtual_time):
    things = [Call(virtual_time, latency=1) for _ in range(101)]
    tasks = tasks_of(things[:-1], connections(4)) + tasks_of(things[-1:], connections(4))
    run(tasks, threads=8)
    assert things[-1].polls == [0]
    assert max(things[-2].polls) == 24


def test_first_attempts_begin_in_the_order_given(run, virtual_time):
    things = [Call(virtual_time, latency=1) for _ in range(7)]
    run(tasks_of(things, connections(2)))
    assert [thing.polls for thing in things] == [[0], [0], [1], [1], [2], [2], [3]]


def test_second_attempts_leave_no_wait_without_a_first(run, virtual_time):
    # The first attempts alone take 25 s, in turns with second ones 50 s.
    things = [Call(virtual_time, latency=1, ready_at=NEVER) for _ in range(50)]
    run(tasks_of(things, connections(2), max_wait=40, min_delay=1, pace="fixed"))
    assert max(thing.polls[0] for thing in things) < 40
    # None waits until all first ones are over.
    assert things[0].polls[1] < 10


def test_first_attempts_go_on_behind_a_wait_that_ended_in_the_queue(run, virtual_time):
    things, cancel = [Call(virtual_time) for _ in range(3)], threading.Event()
    tasks = tasks_of([Call(virtual_time, latency=10)]) + tasks_of(things, connections(1))
    tasks[1].cancel = cancel
    virtual_time.call_at(5, cancel.set)
    run(tasks, threads=1)
    assert [thing.polls for thing in things] == [[], [10], [10]]


def test_all_threads_serve_the_services_that_are_left(run, virtual_time):
    first, second = ([Call(virtual_time, latency=1) for _ in range(count)] for count in (4, 24))
    run(tasks_of(first) + tasks_of(second), threads=8)
    starts = [sum(thing.polls == [moment] for thing in second) for moment in range(5)]
    # Half as long as there is another service, all of it then.
    assert starts == [3, 4, 8, 8, 1]


# --- time ---------------------------------------------------------------------------------------


def test_time_in_the_queue_counts_from_the_start(run, virtual_time):
    things = [Call(virtual_time, latency=10) for _ in range(3)]
    tasks = tasks_of(things, connections(1), max_wait=100)
    run(tasks)
    assert [task.result.elapsed for task in tasks] == [10, 20, 30]
    assert [thing.times_left for thing in things] == [[100], [90], [80]]


def test_wait_that_expires_in_queue_keeps_its_last_state(run, virtual_time):
    slow = Call(virtual_time, latency=0.1, ready_at=NEVER)
    hung = Call(virtual_time, latency=1000)
    pool = connections(1)
    tasks = tasks_of([slow], pool, max_wait=20)
    tasks += tasks_of([hung], pool, max_wait=3000, initial_delay=1)
    assert run(tasks)[0] == pytest.approx(20, abs=0.01)
    assert tasks[0].result.observed == "creating"
    assert tasks[0].result.attempts == len(slow.polls)


@pytest.mark.parametrize("threads", [1, 32])
def test_hung_clients_hold_no_wait_past_its_deadline(run, virtual_time, threads):
    calls = [Call(virtual_time, latency=1000) for _ in range(36)]
    calls.append(Call(virtual_time))
    seconds = [20] * 36 + [2]
    tasks = [
        Task(wait_run(max_wait=each), call, client)
        for call, client, each in zip(calls, pools(37), seconds, strict=True)
    ]
    ended = run(tasks, threads=threads)
    assert list(ended.values()) == pytest.approx(sorted(seconds), abs=0.01)
    assert [task.result.attempts for task in tasks] == [len(call.polls) for call in calls]


@pytest.mark.parametrize("count", [3, 600])
@pytest.mark.parametrize(("stopped_at", "polls"), [(12, 2), (1000, 4)])
def test_last_response_is_that_of_the_last_attempt(virtual_time, count, stopped_at, polls):
    stop = threading.Event()
    virtual_time.call_at(stopped_at, stop.set)
    things = [Call(virtual_time, ready_at=NEVER) for _ in range(count)]
    tasks = tasks_of(things, pace=lambda _: 10.0, max_wait=25)
    in_threads(virtual_time, tasks, cancels=[stop])
    assert [task.result.last_response for task in tasks] == [{"polls": polls}] * count


# --- outages and throttles ----------------------------------------------------------------------


def polls_beside(clock, broken, **outage):
    """Return when healthy things are polled beside a service with an outage."""
    healthy = [Call(clock, ready_at=7 * i, latency=0.1) for i in range(8)]
    tasks = [
        Task(wait_run(seed), thing, client)
        for seed, (thing, client) in enumerate(zip(healthy, pools(8), strict=True))
    ]
    faulty = pools(4)
    tasks += [
        Task(
            wait_run(max_wait=200, retry_transient=True),
            Call(clock, ready_at=NEVER, **outage),
            faulty[index % 4],
        )
        for index in range(broken)
    ]
    in_threads(clock, tasks, threads=32)
    return [thing.polls for thing in healthy]


@pytest.mark.parametrize(
    "outage",
    [{"latency": 60}, {"latency": 1e6}, {"latency": 0.1, "throttled": (0, NEVER)}],
    ids=str,
)
def test_outage_of_one_service_moves_no_other_poll(outage):
    with open_virtual_time() as clock:
        alone = polls_beside(clock, 0)
    with open_virtual_time() as clock:
        assert polls_beside(clock, 200, **outage) == alone


def test_hung_services_leave_threads_for_a_healthy_one(run, virtual_time):
    tasks = []
    for _ in range(3):
        tasks += tasks_of([Call(virtual_time, latency=60) for _ in range(50)], connections(50))
    healthy = Call(virtual_time, ready_at=50, latency=0.1)
    tasks += tasks_of([healthy], initial_delay=1, max_delay=2)
    run(tasks, threads=32)
    gaps = [after - before for before, after in zip(healthy.polls, healthy.polls[1:], strict=False)]
    assert healthy.polls[0] == 1
    assert max(gaps) <= 2.1 + 1e-9


def test_throttle_stretches_delays_of_its_client_only(run, virtual_time):
    throttled, other = pools(2)
    policy = {"pace": lambda _: 10.0, "retry_transient": True}
    victim = Call(virtual_time, ready_at=100, throttled=(15, 25))
    neighbour, late, stranger = (Call(virtual_time, ready_at=100) for _ in range(3))
    hurried = Call(virtual_time, ready_at=20)
    tasks = tasks_of([victim], throttled, initial_delay=5, **policy)
    tasks += tasks_of([neighbour], throttled, **policy)
    tasks += tasks_of([hurried], throttled, max_wait=29, **policy)
    tasks += tasks_of([late], throttled, initial_delay=60, **policy)
    tasks += tasks_of([stranger], other, **policy)
    run(tasks)
    assert stranger.polls == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    # The pause from 10 to 20 ran when the throttle came at 15; later ones are as ever.
    assert neighbour.polls == [0, 10, 30, 40, 50, 60, 70, 80, 90, 100]
    assert victim.polls[:3] == [5, 15, 25]
    # It moves neither a delay of a wait that has no time for it, nor an initial one.
    assert hurried.polls == [0, 10, 20]
    assert late.polls[0] == 60


def test_throttle_and_hung_call_leave_healthy_waits_their_polls(run, virtual_time):
    throttled = Call(virtual_time, latency=0.1, throttled=(0, 0.1))
    hung = Call(virtual_time, latency=1000)
    healthy = [Call(virtual_time, latency=0.1) for _ in range(8)]
    policy = {"max_wait": 15, "retry_transient": True}
    tasks = tasks_of([hung, throttled, *healthy], connections(2), **policy)
    ended = run(tasks)
    assert types(tasks) == [WaiterTimeoutError, *[ResponseOutcome] * 9]
    assert max(ended[index] for index in range(2, 10)) < 3


def test_throttle_of_one_client_limits_no_other(run, virtual_time):
    throttled, other = pools(2, limit=4)
    victims = [Call(virtual_time, latency=1, throttled=(0, 1)) for _ in range(4)]
    others = [Call(virtual_time, latency=1) for _ in range(16)]
    run(tasks_of(victims, throttled, retry_transient=True) + tasks_of(others, other))
    assert [call.polls[0] for call in others] == [index // 4 for index in range(16)]


def test_throttle_halves_the_calls_and_answers_restore_them(run, virtual_time):
    things = [Call(virtual_time, latency=1, throttled=(0, 1), ready_at=1) for _ in range(8)]
    things += [Call(virtual_time, latency=1) for _ in range(40)]
    run(tasks_of(things, connections(100), retry_transient=True), threads=8)
    polls = [moment for thing in things for moment in thing.polls]
    # Every one of the eight was a throttle: down to one, then one more each round of answers.
    assert [polls.count(second) for second in range(5)] == [8, 1, 2, 2, 3]
    assert max(map(polls.count, polls)) <= 8


# --- ends ---------------------------------------------------------------------------------------


def test_cancelling_during_a_call_ends_the_wait_at_once(run, virtual_time):
    stop = threading.Event()
    virtual_time.call_at(30, stop.set)
    pool = connections()
    tasks = tasks_of([Call(virtual_time, latency=100), Call(virtual_time, ready_at=150)], pool)
    tasks[0].cancel = stop
    assert run(tasks)[0] == pytest.approx(30, abs=0.06)
    assert types(tasks) == [WaiterCancelledError, ResponseOutcome]
    assert pool.calling == 0


# --- in the background --------------------------------------------------------------------------


def test_what_is_no_exception_ends_all_background_waits(client_of, answers, creating, caplog):
    waiting, failing = client_of("kinesis"), client_of("kinesis")
    answers(waiting, creating)
    answers(failing, SystemExit())
    started = [
        operations.start(client, "stream_exists", max_wait=300, StreamName="orders")
        for client in (waiting, failing)
    ]
    for operation in started:
        assert "SystemExit" in str(operation.exception(PATIENCE))


def test_a_callback_that_raises_is_logged(client_of, answers, active, caplog):
    client, called = client_of("kinesis"), threading.Event()
    answers(client, active)
    operation = operations.start(client, "stream_exists", max_wait=300, StreamName="orders")
    operation.add_done_callback(lambda _: 1 / 0)
    operation.add_done_callback(lambda _: called.set())
    assert called.wait(PATIENCE)
    assert "ZeroDivisionError" in caplog.text
