"""Many waits on few threads; most calls run side by side in virtual time."""

import gc
import queue
import threading
import time

import freezegun
import pytest
from batch.calls import VirtualExecutor, connections, scheduled, wait_run
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus.batch.call_executor import RunClock, ThreadCallExecutor
from boto_waiters_plus.batch.scheduler import run_in_thread
from boto_waiters_plus.batch.service_limiter import ClientConnections, ServiceLimiter
from boto_waiters_plus.batch.tasks import Task
from boto_waiters_plus.calls.reply import Reply
from boto_waiters_plus.engine.machine import Facts
from boto_waiters_plus.exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from boto_waiters_plus.outcome import ResponseOutcome
from boto_waiters_plus.testing import virtual_time as open_virtual_time
from boto_waiters_plus.wait.attempt import Attempt
from boto_waiters_plus.wait.sync import drive


class ThrottledError(Exception):
    pass


class Call:
    """A call for a thing that is ready from some time on; the reply holds the verdict already."""

    def __init__(self, clock, *, ready_at=0.0, latency=0.0, fails=False, throttled=()):
        self.clock = clock
        self.ready_at = ready_at
        self.latency = latency
        self.fails = fails
        self.throttled = throttled
        self.polls = []
        self.times_left = []

    def seen(self):
        """Return the attempt of a call that begins now."""
        now = self.clock.now
        self.polls.append(now)
        if any(begin <= now < end for begin, end in self.throttled):
            facts = Facts(acceptor=None, transient=True, throttled=True)
            return Attempt(facts=facts, exception=ThrottledError(), error="Throttled")
        if now < self.ready_at:
            return Attempt(facts=Facts(acceptor=None), observed="creating")
        index = 1 if self.fails else 0
        return Attempt(facts=Facts(acceptor=index), response={"polls": len(self.polls)})

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


def tasks_of(things, pool=None, **changes):
    pool = pool or connections(1000)
    return [Task(wait_run(seed, **changes), thing, pool) for seed, thing in enumerate(things)]


def run(clock, tasks, **keywords):
    """Run all; return the executor, with the time at which each wait ended as `ended`."""
    executor = VirtualExecutor(clock)
    ends = scheduled(tasks, executor=executor, **keywords)
    executor.ended = {task.index: clock.now for task in ends}
    assert sorted(executor.ended) == list(range(len(tasks)))
    return executor


# --- alone and among others -------------------------------------------------------------------

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
    },
)


def ending(result):
    """What a result is, with everything that can be compared."""
    if isinstance(result, Exception):
        return type(result), str(result)
    return type(result), result.attempts, result.elapsed, result.response


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
            alone.append((thing.polls, thing.times_left, ending(result)))
    with open_virtual_time() as clock:
        things = [Call(clock, **world) for world in worlds]
        pool = connections(100)
        tasks = [
            Task(wait_run(seed, **changes[seed]), thing, pool) for seed, thing in enumerate(things)
        ]
        run(clock, tasks)
    together = [
        (thing.polls, thing.times_left, ending(task.result))
        for thing, task in zip(things, tasks, strict=True)
    ]
    for one, other in zip(alone, together, strict=True):
        assert other[0] == pytest.approx(one[0])
        assert other[1] == pytest.approx(one[1])
        assert other[2][:2] == one[2][:2]


def test_calls_stay_within_the_limit_per_second(virtual_time):
    service = ServiceLimiter()
    service.calls_per_second = 5
    things = [Call(virtual_time, ready_at=30, latency=0.1) for _ in range(40)]
    pools = [ClientConnections(service, 10) for _ in range(2)]
    tasks = [
        Task(wait_run(seed, min_delay=1, max_delay=2), thing, pools[seed % 2])
        for seed, thing in enumerate(things)
    ]
    run(virtual_time, tasks)
    times = sorted(poll for thing in things for poll in thing.polls)
    assert all(isinstance(task.result, ResponseOutcome) for task in tasks)
    # 40 waits poll far more often than the limit lets them.
    assert times[149] - times[0] == pytest.approx(149 / 5, abs=0.2)
    assert all(times[index + 6] - times[index] >= 1 for index in range(len(times) - 6))


@given(
    worlds=WORLDS,
    threads=st.integers(1, 4),
    limits=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    lanes=st.lists(st.integers(0, 1), min_size=3, max_size=3),
)
def test_calls_stay_within_threads_and_connections(worlds, threads, limits, lanes):
    with open_virtual_time() as clock:
        services = [ServiceLimiter(), ServiceLimiter()]
        pools = [
            ClientConnections(services[lane], limit)
            for lane, limit in zip(lanes, limits, strict=True)
        ]
        things = [Call(clock, **world) for world in worlds]
        tasks = [Task(wait_run(seed), thing, pools[seed % 3]) for seed, thing in enumerate(things)]
        executor = run(clock, tasks, threads=threads)
        latest = clock.now
    assert executor.most <= threads
    assert all(most <= pool.limit for pool, most in executor.most_of.items())
    assert pools[0].calling == pools[1].calling == pools[2].calling == 0
    # No wait outlives its deadline in the queue; the last call may end after it.
    assert latest <= 300 + 20 + 0.01
    for task in tasks:
        assert isinstance(task.result, (ResponseOutcome, WaiterFailedError, WaiterTimeoutError))


def test_clients_take_turns_whatever_their_number_of_waits(virtual_time):
    crowd, single = connections(4), connections(4)
    things = [Call(virtual_time, latency=1) for _ in range(1001)]
    tasks = [Task(wait_run(), thing, crowd) for thing in things[:-1]]
    tasks.append(Task(wait_run(), things[-1], single))
    run(virtual_time, tasks, threads=8)
    assert things[-1].polls == [0]
    assert max(things[-2].polls) == 249


def test_first_attempts_begin_in_the_order_given(virtual_time):
    things = [Call(virtual_time, latency=1) for _ in range(7)]
    run(virtual_time, tasks_of(things, connections(2)))
    assert [thing.polls for thing in things] == [[0], [0], [1], [1], [2], [2], [3]]


def test_second_attempts_leave_no_wait_without_a_first(virtual_time):
    # The first attempts alone take 25 s, in turns with second ones 50 s.
    things = [Call(virtual_time, latency=1, ready_at=1e9) for _ in range(50)]
    policy = {"max_wait": 40, "min_delay": 1, "pace": "fixed"}
    run(virtual_time, tasks_of(things, connections(2), **policy))
    assert max(thing.polls[0] for thing in things) < 40
    # None waits until all first ones are over.
    assert things[0].polls[1] < 10


# --- time -------------------------------------------------------------------------------------


def test_time_in_the_queue_counts_from_the_start(virtual_time):
    things = [Call(virtual_time, latency=10) for _ in range(3)]
    tasks = tasks_of(things, connections(1), max_wait=100)
    run(virtual_time, tasks)
    assert [task.result.elapsed for task in tasks] == [10, 20, 30]
    assert [thing.times_left for thing in things] == [[100], [90], [80]]


def test_a_wait_of_many_polls_keeps_no_time_that_another_has_replaced(virtual_time):
    # Each poll plans its deadline, days away, and the end of a delay.
    thing = Call(virtual_time, ready_at=1_000)
    (task,) = tasks_of([thing], max_wait=1_000_000, min_delay=1, pace="fixed")
    places = []
    seen = thing.seen

    def count():
        if len(thing.polls) % 100 == 0:
            places.append(sum(isinstance(each, tuple) for each in gc.get_referrers(task)))
        return seen()

    thing.seen = count
    run(virtual_time, [task])
    assert len(places) == 11
    assert max(places) < 200


def test_wait_without_max_wait_uses_its_attempts(virtual_time):
    thing = Call(virtual_time, ready_at=1e9)
    [task] = tasks_of([thing], max_wait=None, max_attempts=3)
    run(virtual_time, [task])
    assert isinstance(task.result, WaiterAttemptsError)
    assert thing.times_left == [None] * 3


def test_wait_that_expires_in_queue_keeps_last_state(virtual_time):
    slow = Call(virtual_time, latency=0.1, ready_at=1e9)
    hung = Call(virtual_time, latency=1000)
    pool = connections(1)
    tasks = [
        Task(wait_run(max_wait=20), slow, pool),
        Task(wait_run(max_wait=3000, initial_delay=1), hung, pool),
    ]
    ended = run(virtual_time, tasks).ended
    assert ended[0] == pytest.approx(20, abs=0.01)
    assert "last state seen: creating" in str(tasks[0].result)
    assert tasks[0].result.attempts == len(slow.polls)


@pytest.mark.parametrize("threads", [1, 32])
def test_hung_clients_hold_no_wait_past_its_deadline(virtual_time, threads):
    service = ServiceLimiter()
    hung = [Call(virtual_time, latency=1000) for _ in range(36)]
    tasks = [Task(wait_run(max_wait=20), call, ClientConnections(service, 10)) for call in hung]
    late = Call(virtual_time)
    tasks.append(Task(wait_run(max_wait=2), late, ClientConnections(service, 10)))
    ended = run(virtual_time, tasks, threads=threads).ended
    assert ended[36] == pytest.approx(2, abs=0.01)
    assert max(ended.values()) == pytest.approx(20, abs=0.01)
    assert [task.result.attempts for task in tasks] == [len(call.polls) for call in [*hung, late]]


def test_call_that_ignores_its_end_does_not_hold_the_wait(virtual_time):
    class Deaf(Call):
        def begin(self, time_left):
            super().begin(time_left)
            return Reply(self.seen()), 1000

    task = Task(wait_run(max_wait=20), Deaf(virtual_time), connections(1))
    for _ in scheduled([task], executor=VirtualExecutor(virtual_time)):
        assert virtual_time.now == pytest.approx(20, abs=0.01)
    assert isinstance(task.result, WaiterTimeoutError)
    assert task.result.attempts == 1


def test_time_that_a_call_waits_for_its_thread_is_not_its_own():
    times_left = []

    class Timed(Barrier):
        def make(self, time_left):
            times_left.append(time_left)
            return super().make(time_left)

    slow, call = threading.Event(), Timed(1)
    now = RunClock()
    executor = ThreadCallExecutor(now)
    task = Task(wait_run(), call, connections(1))
    task.until = now() + 5
    slow.wait(0.05)
    executor.begin(task)
    assert executor.finished(30)
    executor.close()
    assert times_left[0] <= 4.95


def test_attempt_due_at_the_deadline_is_still_made(virtual_time):
    thing = Call(virtual_time, ready_at=20)
    tasks = tasks_of([thing], max_wait=20, last_attempt="deadline", pace=lambda _: 20.0)
    run(virtual_time, tasks)
    assert thing.polls == [0, 20]
    assert isinstance(tasks[0].result, ResponseOutcome)


# --- outages and throttles --------------------------------------------------------------------


def polls_beside(clock, broken, **outage):
    """Return when healthy things are polled beside a service with an outage."""
    healthy = [Call(clock, ready_at=7 * i, latency=0.1) for i in range(8)]
    service, faulty = ServiceLimiter(), ServiceLimiter()
    tasks = [
        Task(wait_run(seed), thing, ClientConnections(service, 10))
        for seed, thing in enumerate(healthy)
    ]
    pools = [ClientConnections(faulty, 10) for _ in range(4)]
    others = [Call(clock, ready_at=1e9, **outage) for _ in range(broken)]
    tasks += [
        Task(wait_run(max_wait=200, retry_transient=True), thing, pools[index % 4])
        for index, thing in enumerate(others)
    ]
    run(clock, tasks, threads=32)
    return [thing.polls for thing in healthy]


@pytest.mark.parametrize(
    "outage",
    [{"latency": 60}, {"latency": 1e6}, {"latency": 0.1, "throttled": [(0, 1e9)]}],
    ids=str,
)
def test_outage_of_one_service_moves_no_other_poll(outage):
    with open_virtual_time() as clock:
        alone = polls_beside(clock, 0)
    with open_virtual_time() as clock:
        assert polls_beside(clock, 400, **outage) == alone


def test_hung_services_leave_threads_for_a_healthy_one(virtual_time):
    things = []
    tasks = []
    for _ in range(3):
        service = ServiceLimiter()
        for _ in range(50):
            thing = Call(virtual_time, latency=60)
            things.append(thing)
            tasks.append(Task(wait_run(), thing, ClientConnections(service, 50)))
    healthy = Call(virtual_time, ready_at=50, latency=0.1)
    tasks.append(Task(wait_run(initial_delay=1, max_delay=2), healthy, connections()))
    run(virtual_time, tasks, threads=32)
    gaps = [after - before for before, after in zip(healthy.polls, healthy.polls[1:], strict=False)]
    assert healthy.polls[0] == 1
    assert max(gaps) <= 2.1 + 1e-9


def test_single_service_gets_every_thread(virtual_time):
    things = [Call(virtual_time, latency=1) for _ in range(16)]
    executor = run(virtual_time, tasks_of(things), threads=8)
    assert executor.most == 8


def test_service_gets_the_threads_of_those_that_ended(virtual_time):
    first = [Call(virtual_time, latency=1) for _ in range(4)]
    second = [Call(virtual_time, latency=1) for _ in range(24)]
    tasks = tasks_of(first) + tasks_of(second)
    run(virtual_time, tasks, threads=8)
    starts = [sum(thing.polls == [moment] for thing in second) for moment in range(5)]
    # Half of what is free as long as there is another service, all of it then.
    assert starts == [3, 4, 8, 8, 1]


def test_throttle_stretches_delays_of_its_client_only(virtual_time):
    service = ServiceLimiter()
    throttled = ClientConnections(service, 10)
    changes = {"pace": lambda _: 10.0, "retry_transient": True}
    victim = Call(virtual_time, ready_at=100, throttled=[(15, 25)])
    neighbour = Call(virtual_time, ready_at=100)
    stranger = Call(virtual_time, ready_at=100)
    tasks = [
        Task(wait_run(initial_delay=5, **changes), victim, throttled),
        Task(wait_run(**changes), neighbour, throttled),
        Task(wait_run(**changes), stranger, ClientConnections(service, 10)),
    ]
    run(virtual_time, tasks)
    assert stranger.polls == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    # The pause from 10 to 20 ran when the throttle came at 15; later ones are as ever.
    assert neighbour.polls == [0, 10, 30, 40, 50, 60, 70, 80, 90, 100]
    assert victim.polls[:3] == [5, 15, 25]


def test_throttle_never_moves_a_last_attempt(virtual_time):
    service = ServiceLimiter()
    changes = {"pace": lambda _: 10.0, "retry_transient": True}
    victim = Call(virtual_time, ready_at=100, throttled=[(15, 25)])
    hurried = Call(virtual_time, ready_at=20)
    tasks = [
        Task(wait_run(initial_delay=5, **changes), victim, ClientConnections(service, 10)),
        Task(wait_run(max_wait=29, **changes), hurried, ClientConnections(service, 10)),
    ]
    run(virtual_time, tasks)
    assert hurried.polls == [0, 10, 20]


def test_throttle_does_not_stretch_an_initial_delay(virtual_time):
    victim = Call(virtual_time, ready_at=50, throttled=[(0, 5)])
    other = Call(virtual_time)
    client = connections()
    tasks = [
        Task(wait_run(retry_transient=True), victim, client),
        Task(wait_run(initial_delay=100), other, client),
    ]
    run(virtual_time, tasks)
    assert other.polls == [100]


def test_throttle_and_hung_call_leave_healthy_waits_their_polls(virtual_time):
    client = connections(2)
    throttled = Call(virtual_time, latency=0.1, throttled=[(0, 0.1)])
    hung = Call(virtual_time, latency=1000)
    healthy = [Call(virtual_time, latency=0.1) for _ in range(8)]
    tasks = tasks_of([throttled, hung, *healthy], client, max_wait=15, retry_transient=True)
    ended = run(virtual_time, tasks).ended
    assert isinstance(tasks[1].result, WaiterTimeoutError)
    others = [task for task in tasks if task is not tasks[1]]
    assert all(isinstance(task.result, ResponseOutcome) for task in others)
    assert max(ended[task.index] for task in tasks[2:]) < 3


def test_throttle_of_one_client_limits_no_other(virtual_time):
    service = ServiceLimiter()
    throttled = [Call(virtual_time, latency=1, throttled=[(0, 1)]) for _ in range(4)]
    others = [Call(virtual_time, latency=1) for _ in range(16)]
    tasks = tasks_of(throttled, ClientConnections(service, 4), retry_transient=True)
    tasks += tasks_of(others, ClientConnections(service, 4))
    run(virtual_time, tasks)
    assert [call.polls[0] for call in others] == [index // 4 for index in range(16)]


def test_throttle_halves_the_calls_and_answers_restore_them(virtual_time):
    service = ServiceLimiter()
    things = [Call(virtual_time, latency=1, throttled=[(0, 1)], ready_at=1) for _ in range(8)] + [
        Call(virtual_time, latency=1) for _ in range(40)
    ]
    tasks = tasks_of(things, ClientConnections(service, 100), retry_transient=True, initial_delay=0)
    starts = {}
    run(virtual_time, tasks, threads=8)
    for thing in things:
        for moment in thing.polls:
            starts[moment] = starts.get(moment, 0) + 1
    assert starts[0] == 8
    # Every one of the eight was a throttle: down to one, then one more each round of answers.
    assert [starts[second] for second in (1, 2, 3, 4)] == [1, 2, 2, 3]
    assert max(starts.values()) <= 8


# --- ends -------------------------------------------------------------------------------------


def test_error_raised_by_a_call_ends_its_wait_only(virtual_time):
    class Broken:
        def make(self, time_left):
            raise ZeroDivisionError("a bug in a hook")

    pool = connections()
    good = Call(virtual_time)
    tasks = [Task(wait_run(), Broken(), pool), Task(wait_run(), good, pool)]
    list(scheduled(tasks))
    assert isinstance(tasks[0].result, ZeroDivisionError)
    assert isinstance(tasks[1].result, ResponseOutcome)


def test_errors_hold_no_frames_of_the_loop(virtual_time):
    tasks = tasks_of([Call(virtual_time, fails=True)])
    run(virtual_time, tasks)
    assert isinstance(tasks[0].result, WaiterFailedError)
    assert tasks[0].result.__traceback__ is None


def test_system_exit_in_a_call_ends_the_run(virtual_time):
    class Exits:
        def make(self, time_left):
            raise SystemExit(3)

    pool, ends = connections(), []
    tasks = [
        Task(wait_run(observers=[lambda event, at=at: ends.append((at, event))]), call, pool)
        for at, call in enumerate([Exits(), Call(virtual_time, ready_at=100)])
    ]
    with pytest.raises(SystemExit):
        list(scheduled(tasks))
    # The other call may have ended before.
    told = [(at, each.kind) for at, each in ends if each.kind not in ("start", "attempt")]
    assert told == [(0, "exception"), (1, "cancel")]
    assert [each.error for _, each in ends if each.kind == "exception"] == ["SystemExit"]


def test_delay_pace_that_raises_ends_its_wait_only(virtual_time):
    pool = connections()
    tasks = [
        Task(wait_run(pace=lambda _: "soon"), Call(virtual_time, ready_at=9), pool),
        Task(wait_run(), Call(virtual_time, ready_at=9), pool),
    ]
    run(virtual_time, tasks)
    assert isinstance(tasks[0].result, ValueError)
    assert isinstance(tasks[1].result, ResponseOutcome)


class BrokenEvent:
    """An event that fails from some time on, as that of a process that has ended."""

    def __init__(self, clock, fails_at):
        self.clock = clock
        self.fails_at = fails_at

    def is_set(self):
        if self.clock.now >= self.fails_at:
            raise ConnectionRefusedError
        return False

    def wait(self, timeout):
        self.clock.advance(timeout)
        return self.is_set()


def test_broken_cancel_event_ends_its_wait_only(virtual_time):
    client = connections()
    broken = BrokenEvent(virtual_time, 30)
    tasks = [
        Task(wait_run(), Call(virtual_time, ready_at=1e9), client, cancel=broken),
        Task(wait_run(), Call(virtual_time, ready_at=50), client),
    ]
    run(virtual_time, tasks)
    assert isinstance(tasks[0].result, WaiterCancelledError)
    assert isinstance(tasks[0].result.__cause__, ConnectionRefusedError)
    assert isinstance(tasks[1].result, ResponseOutcome)


def test_cancel_event_of_the_run_ends_every_wait(virtual_time):
    stop = threading.Event()
    virtual_time.call_at(30, stop.set)
    tasks = tasks_of([Call(virtual_time, ready_at=1e9) for _ in range(5)])
    list(scheduled(tasks, cancels=[stop]))
    assert virtual_time.now == 30
    assert all(isinstance(task.result, WaiterCancelledError) for task in tasks)


def test_cancelling_during_a_call_ends_the_wait_at_once(virtual_time):
    stop = threading.Event()
    hung = Call(virtual_time, latency=100)
    pool = connections()
    tasks = [
        Task(wait_run(), hung, pool, cancel=stop),
        Task(wait_run(), Call(virtual_time, ready_at=150), pool),
    ]
    virtual_time.call_at(30, stop.set)
    ended = run(virtual_time, tasks).ended
    assert isinstance(tasks[0].result, WaiterCancelledError)
    assert ended[0] == pytest.approx(30, abs=0.06)
    assert pool.calling == 0


def test_many_cancel_events_end_each_their_wait(virtual_time):
    stops = [threading.Event() for _ in range(30)]
    pool = connections(100)
    tasks = [
        Task(wait_run(), Call(virtual_time, ready_at=1e9), pool, cancel=stop) for stop in stops
    ]
    for second, stop in enumerate(reversed(stops)):
        virtual_time.call_at(second, stop.set)
    ended = {task.index: virtual_time.now for task in scheduled(tasks)}
    assert [ended[29 - second] for second in range(30)] == pytest.approx(range(30), abs=0.11)


def test_signal_ends_the_delay_of_its_waits(virtual_time):
    news = threading.Event()
    pool = connections()
    things = [Call(virtual_time, ready_at=12.5) for _ in range(3)]
    tasks = [
        Task(wait_run(max_delay=300, min_delay=100), thing, pool, wake=news) for thing in things[:2]
    ]
    tasks.append(Task(wait_run(max_delay=300, min_delay=100), things[2], pool))
    virtual_time.call_at(12.5, news.set)
    run(virtual_time, tasks)
    assert things[0].polls == things[1].polls == [0, 12.5]
    assert things[2].polls[1] >= 100
    assert not news.is_set()


# --- real threads -----------------------------------------------------------------------------


def workers_alive():
    return [t for t in threading.enumerate() if t.name.startswith("boto_waiters_plus call")]


class Barrier:
    """Calls that meet: all of them must be in flight at once."""

    def __init__(self, parties):
        self.barrier = threading.Barrier(parties, timeout=30)

    def make(self, time_left):
        self.barrier.wait()
        return Reply(Attempt(facts=Facts(acceptor=0), response={}))


def test_calls_run_in_daemon_threads_that_end():
    call = Barrier(6)
    seen = []

    class Watching(Barrier):
        def make(self, time_left):
            seen.append(threading.current_thread().daemon)
            return call.make(time_left)

    watching = Watching(6)
    tasks = [Task(wait_run(), watching, connections(6)) for _ in range(6)]
    list(scheduled(tasks, threads=6))
    assert all(isinstance(task.result, ResponseOutcome) for task in tasks)
    assert seen == [True] * 6
    assert workers_alive() == []


def test_first_attempts_go_on_behind_a_wait_that_ended_in_the_queue(virtual_time):
    busy = Call(virtual_time, latency=10)
    things = [Call(virtual_time) for _ in range(3)]
    pool, cancel = connections(1), threading.Event()
    tasks = [Task(wait_run(), busy, connections(1))]
    tasks += [
        Task(wait_run(), thing, pool, cancel=None if index else cancel)
        for index, thing in enumerate(things)
    ]
    virtual_time.call_at(5, cancel.set)
    run(virtual_time, tasks, threads=1)
    assert [thing.polls for thing in things] == [[], [10], [10]]


def test_virtual_time_stands_still_during_slow_calls(virtual_time):
    class Slow(Call):
        def make(self, time_left):
            before = virtual_time.now
            threading.Event().wait(0.1)
            passed.append(virtual_time.now - before)
            return super().make(time_left)

    passed = []
    slow, quick = Slow(virtual_time), Call(virtual_time, ready_at=0.5)
    pool = connections(4)
    tasks = [
        Task(wait_run(initial_delay=0.02), slow, pool),
        Task(wait_run(pace=lambda _: 0.01), quick, pool),
    ]
    list(scheduled(tasks))
    assert passed == [0]


def test_frozen_clock_and_patched_sleep_end_the_run(monkeypatch):
    class Still:
        now = 0.0

        @staticmethod
        def advance(seconds):
            pass

    def alone():
        thing = Call(Still, ready_at=1)
        with pytest.raises(WaiterTimeoutError):
            drive(wait_run(pace=lambda _: 10.0, max_wait=100), thing)
        return len(thing.polls)

    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with freezegun.freeze_time("2024-01-01"):
        things = [Call(Still, ready_at=1) for _ in range(3)]
        tasks = tasks_of(things, pace=lambda _: 10.0, max_wait=100)
        list(scheduled(tasks))
        expected = alone()
    assert [len(thing.polls) for thing in things] == [expected] * 3
    assert expected > 5
    assert all(isinstance(task.result, WaiterTimeoutError) for task in tasks)


class Hanging:
    """A call that ends when it is released."""

    def __init__(self):
        self.begun = threading.Event()
        self.released = threading.Event()

    def make(self, time_left):
        self.begun.set()
        assert self.released.wait(30)
        return Reply(Attempt(facts=Facts(acceptor=0), response={}))


@pytest.mark.timeout(10)
def test_frozen_clock_ends_the_wait_of_a_hung_call():
    hanging = Hanging()
    task = Task(wait_run(max_wait=0.05), hanging, connections())
    with freezegun.freeze_time("2024-01-01"):
        list(scheduled([task]))
    hanging.released.set()
    assert isinstance(task.result, WaiterTimeoutError)


def test_closing_the_run_stops_its_calls():
    stop = threading.Event()

    class Stoppable:
        begun = threading.Event()

        def make(self, time_left):
            self.begun.set()
            assert stop.wait(30)
            return Reply(ended="cancelled")

    tasks = [
        Task(wait_run(), Stoppable(), connections(4)),
        Task(wait_run(), Barrier(1), connections(4)),
    ]
    run = scheduled(tasks, stop=stop)
    assert next(run) is tasks[1]
    run.close()
    assert stop.is_set()
    assert workers_alive() == []


def test_error_of_a_run_in_thread_is_raised():
    def broken():
        raise ZeroDivisionError
        yield

    with pytest.raises(ZeroDivisionError):
        list(run_in_thread(broken(), threading.Event(), queue.SimpleQueue()))


def test_errors_of_waits_that_continue_hold_no_frames(virtual_time):
    thing = Call(virtual_time, throttled=[(0, 5)], ready_at=0)

    class Raising(Call):
        def make(self, time_left):
            attempt = thing.make(time_left).response
            if attempt.exception is not None:
                try:
                    raise attempt.exception
                except ThrottledError as error:
                    attempt.exception = error
            held.append(attempt)
            return Reply(attempt)

    held = []
    tasks = tasks_of([Raising(virtual_time)], retry_transient=True)
    list(scheduled(tasks))
    assert isinstance(tasks[0].result, ResponseOutcome)
    assert isinstance(held[0].exception, ThrottledError)
    assert held[0].exception.__traceback__ is None


class Dated(Call):
    """A call whose response has the time of the call."""

    def seen(self):
        attempt = super().seen()
        attempt.last_response = attempt.response = {"State": "creating", "at": self.polls[-1]}
        return attempt


@pytest.mark.parametrize("count", [3, 600])
@pytest.mark.parametrize("stopped_at", [12, 1000])
def test_last_response_is_that_of_the_last_attempt(virtual_time, count, stopped_at):
    stop = threading.Event()
    virtual_time.call_at(stopped_at, stop.set)
    things = [Dated(virtual_time, ready_at=1e9) for _ in range(count)]
    tasks = tasks_of(things, pace=lambda _: 10.0, max_wait=25)
    run(virtual_time, tasks, cancels=[stop])
    assert things[0].polls[-1] == pytest.approx(10 if stopped_at == 12 else 24.75)
    assert [task.result.last_response for task in tasks] == [
        {"State": "creating", "at": thing.polls[-1]} for thing in things
    ]
