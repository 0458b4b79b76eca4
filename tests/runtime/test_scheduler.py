"""Many waits on few threads, mostly by a crew whose calls take virtual time side by side."""

import random
import signal
import threading
import time

import freezegun
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus.engine.machine import Facts, Policy
from boto_waiters_plus.engine.model import AcceptorState, MatchedAcceptor
from boto_waiters_plus.exceptions import (
    WaiterCancelledError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from boto_waiters_plus.outcome import ResponseOutcome
from boto_waiters_plus.runtime.attempt import Attempt
from boto_waiters_plus.runtime.schedule import Answer, Lane, Pool, Schedule, Task
from boto_waiters_plus.runtime.schedule_events import Signals
from boto_waiters_plus.runtime.scheduler import Scheduler, Workers, run_in_thread
from boto_waiters_plus.runtime.sync import drive
from boto_waiters_plus.runtime.wait_run import WaitDescription, WaitRun
from boto_waiters_plus.testing import virtual_time as open_virtual_time

SUBJECT = WaitDescription(
    waiter="ThingReady",
    operation="DescribeThing",
    service=None,
    goal="the thing is ready",
    acceptors=(MatchedAcceptor(0, "success"), MatchedAcceptor(1, "failure")),
    states=(AcceptorState.SUCCESS, AcceptorState.FAILURE),
)


class ThrottledError(Exception):
    pass


class Thing:
    """What is polled: ready from some time on; notes when it was looked at."""

    def __init__(self, clock, *, ready_at=0.0, latency=0.0, fails=False, throttled=()):
        self.clock = clock
        self.ready_at = ready_at
        self.latency = latency
        self.fails = fails
        self.throttled = throttled
        self.looks = []
        self.times_left = []

    def seen(self):
        """What a look that begins now will answer."""
        now = self.clock.now
        self.looks.append(now)
        if any(begin <= now < end for begin, end in self.throttled):
            facts = Facts(acceptor=None, retryable=True, throttled=True)
            return Attempt(facts=facts, exception=ThrottledError(), error="Throttled")
        if now < self.ready_at:
            return Attempt(facts=Facts(acceptor=None), observed="creating")
        index = 1 if self.fails else 0
        return Attempt(facts=Facts(acceptor=index), response={"looks": len(self.looks)})

    def poll(self, time_left):
        self.times_left.append(time_left)
        attempt = self.seen()
        self.clock.advance(self.latency)
        return attempt


class VirtualCrew:
    """Calls that run side by side in virtual time."""

    def __init__(self, clock):
        self.clock = clock
        self.over = []
        self.running = []
        self.most = 0
        self.most_of = {}

    def call(self, call):
        thing = call.task.port
        thing.times_left.append(call.time_left)
        answer = Answer(call.task, thing.seen(), None)
        self.running.append(call.task)
        self.most = max(self.most, len(self.running))
        of_pool = sum(task.pool is call.task.pool for task in self.running)
        self.most_of[call.task.pool] = max(self.most_of.get(call.task.pool, 0), of_pool)
        self.clock.call_at(self.clock.now + thing.latency, lambda: self.over.append(answer))

    def is_set(self):
        return bool(self.over)

    def answers(self, seconds):
        self.clock.sleep_on(seconds, self)
        over, self.over = self.over, []
        for answer in over:
            self.running.remove(answer.task)
        return over

    def close(self):
        pass


def policy(**changes):
    return Policy(**{"min_delay": 2, "max_delay": 30, "max_wait": 300, **changes})


def wait_run(seed=0, **changes):
    return WaitRun(SUBJECT, policy(**changes), random=random.Random(seed))


def tasks_of(things, pool=None, **changes):
    pool = pool or Pool(Lane(), 1000)
    return [Task(wait_run(seed, **changes), thing, pool) for seed, thing in enumerate(things)]


def run(clock, tasks, **keywords):
    crew = VirtualCrew(clock)
    ended = list(Scheduler(tasks, crew=crew, **keywords).run())
    assert sorted(task.index for task in ended) == list(range(len(tasks)))
    return crew


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
def test_a_wait_among_others_looks_when_it_would_alone_where_there_is_room(worlds, policies):
    changes = [{"max_delay": 30, **policy} for policy in policies]
    alone = []
    for seed, world in enumerate(worlds):
        with open_virtual_time() as clock:
            thing = Thing(clock, **world)
            try:
                result = drive(wait_run(seed, **changes[seed]), thing)
            except Exception as error:
                result = error
            alone.append((thing.looks, thing.times_left, ending(result)))
    with open_virtual_time() as clock:
        things = [Thing(clock, **world) for world in worlds]
        pool = Pool(Lane(), 100)
        tasks = [
            Task(wait_run(seed, **changes[seed]), thing, pool) for seed, thing in enumerate(things)
        ]
        run(clock, tasks)
    together = [
        (thing.looks, thing.times_left, ending(task.result))
        for thing, task in zip(things, tasks, strict=True)
    ]
    for one, other in zip(alone, together, strict=True):
        assert other[0] == pytest.approx(one[0])
        assert other[1] == pytest.approx(one[1])
        assert other[2][:2] == one[2][:2]


@given(
    worlds=WORLDS,
    threads=st.integers(1, 4),
    limits=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    lanes=st.lists(st.integers(0, 1), min_size=3, max_size=3),
)
def test_calls_at_once_stay_within_threads_and_connections(worlds, threads, limits, lanes):
    with open_virtual_time() as clock:
        services = [Lane(), Lane()]
        pools = [Pool(services[lane], limit) for lane, limit in zip(lanes, limits, strict=True)]
        things = [Thing(clock, **world) for world in worlds]
        tasks = [Task(wait_run(seed), thing, pools[seed % 3]) for seed, thing in enumerate(things)]
        crew = run(clock, tasks, threads=threads)
        latest = clock.now
    assert crew.most <= threads
    assert all(most <= pool.limit for pool, most in crew.most_of.items())
    assert pools[0].calling == pools[1].calling == pools[2].calling == 0
    # Nothing outlives its time, however long it queued: the last call may end behind it.
    assert latest <= 300 + 20 + 0.01
    for task in tasks:
        assert isinstance(task.result, (ResponseOutcome, WaiterFailedError, WaiterTimeoutError))


def test_waits_of_a_client_with_thousands_do_not_hold_up_the_one_of_another(virtual_time):
    crowd, single = Pool(Lane(), 4), Pool(Lane(), 4)
    things = [Thing(virtual_time, latency=1) for _ in range(1001)]
    tasks = [Task(wait_run(), thing, crowd) for thing in things[:-1]]
    tasks.append(Task(wait_run(), things[-1], single))
    run(virtual_time, tasks, threads=8)
    assert things[-1].looks == [0]
    assert max(things[-2].looks) == 249


def test_first_looks_begin_in_the_order_given(virtual_time):
    things = [Thing(virtual_time, latency=1) for _ in range(7)]
    run(virtual_time, tasks_of(things, Pool(Lane(), 2)))
    assert [thing.looks for thing in things] == [[0], [0], [1], [1], [2], [2], [3]]


# --- time -------------------------------------------------------------------------------------


def test_time_counts_from_the_start_for_a_wait_that_has_to_queue(virtual_time):
    things = [Thing(virtual_time, latency=10) for _ in range(3)]
    tasks = tasks_of(things, Pool(Lane(), 1), max_wait=100)
    run(virtual_time, tasks)
    assert [task.result.elapsed for task in tasks] == [10, 20, 30]
    assert [thing.times_left for thing in things] == [[100], [90], [80]]


def test_a_wait_whose_time_passes_in_the_queue_ends_then(virtual_time):
    hung, queued = Thing(virtual_time, latency=1000), Thing(virtual_time)
    pool = Pool(Lane(), 1)
    tasks = [Task(wait_run(max_wait=2000), hung, pool), Task(wait_run(max_wait=20), queued, pool)]
    ended = {}
    for task in Scheduler(tasks, crew=VirtualCrew(virtual_time)).run():
        ended[task.index] = virtual_time.now
    assert isinstance(tasks[1].result, WaiterTimeoutError)
    assert ended[1] == pytest.approx(20, abs=0.01)
    assert queued.looks == []
    assert isinstance(tasks[0].result, ResponseOutcome)


def test_a_later_look_whose_time_passes_in_the_queue_ends_the_wait_with_what_it_saw(virtual_time):
    slow = Thing(virtual_time, latency=0.1, ready_at=1e9)
    hung = Thing(virtual_time, latency=1000)
    pool = Pool(Lane(), 1)
    tasks = [
        Task(wait_run(max_wait=20), slow, pool),
        Task(wait_run(max_wait=3000, initial_delay=1), hung, pool),
    ]
    ended = {}
    for task in Scheduler(tasks, crew=VirtualCrew(virtual_time)).run():
        ended[task.index] = virtual_time.now
    assert ended[0] == pytest.approx(20, abs=0.01)
    assert "last seen: creating" in str(tasks[0].result)


def test_a_look_that_is_due_when_the_time_ends_is_still_made(virtual_time):
    thing = Thing(virtual_time, ready_at=20)
    tasks = tasks_of([thing], max_wait=20, last_attempt="deadline", pace=lambda _: 20.0)
    run(virtual_time, tasks)
    assert thing.looks == [0, 20]
    assert isinstance(tasks[0].result, ResponseOutcome)


# --- outages and throttles --------------------------------------------------------------------


def looks_beside(clock, broken):
    """The looks at healthy things, beside those of a service whose answers take a minute."""
    lane = Lane()
    healthy = [Thing(clock, ready_at=7 * i, latency=0.1) for i in range(8)]
    tasks = [Task(wait_run(seed), thing, Pool(lane, 10)) for seed, thing in enumerate(healthy)]
    outage = Lane()
    others = [Thing(clock, latency=60, ready_at=1e9) for _ in range(broken)]
    for client in range(4):
        pool = Pool(outage, 10)
        of_client = others[client::4]
        tasks += [Task(wait_run(max_wait=200), thing, pool) for thing in of_client]
    run(clock, tasks, threads=32)
    return [thing.looks for thing in healthy]


def test_an_outage_of_one_service_leaves_the_timing_of_others_as_it_was():
    with open_virtual_time() as clock:
        without = looks_beside(clock, 0)
    with open_virtual_time() as clock:
        beside = looks_beside(clock, 400)
    assert beside == without


def test_services_that_hang_leave_threads_for_one_that_does_not(virtual_time):
    things = []
    tasks = []
    for _ in range(3):
        lane = Lane()
        for _ in range(50):
            thing = Thing(virtual_time, latency=60)
            things.append(thing)
            tasks.append(Task(wait_run(), thing, Pool(lane, 50)))
    healthy = Thing(virtual_time, ready_at=50, latency=0.1)
    tasks.append(Task(wait_run(initial_delay=1, max_delay=2), healthy, Pool(Lane(), 10)))
    run(virtual_time, tasks, threads=32)
    gaps = [after - before for before, after in zip(healthy.looks, healthy.looks[1:], strict=False)]
    assert healthy.looks[0] == 1
    assert max(gaps) <= 2.1 + 1e-9


def test_a_service_alone_gets_every_thread(virtual_time):
    things = [Thing(virtual_time, latency=1) for _ in range(16)]
    crew = run(virtual_time, tasks_of(things), threads=8)
    assert crew.most == 8


def test_a_service_gets_the_threads_of_others_that_are_done(virtual_time):
    first = [Thing(virtual_time, latency=1) for _ in range(4)]
    second = [Thing(virtual_time, latency=1) for _ in range(24)]
    tasks = tasks_of(first) + tasks_of(second)
    run(virtual_time, tasks, threads=8)
    starts = [sum(thing.looks == [moment] for thing in second) for moment in range(5)]
    # Half of what is free as long as there is another service, all of it then.
    assert starts == [3, 4, 8, 8, 1]


def test_a_throttle_makes_the_running_pauses_of_its_service_longer_and_of_no_other(virtual_time):
    throttled, same, other = Lane(), Lane(), Lane()
    del same
    changes = {"pace": lambda _: 10.0, "retry_transient": True}
    victim = Thing(virtual_time, ready_at=100, throttled=[(15, 25)])
    neighbour = Thing(virtual_time, ready_at=100)
    stranger = Thing(virtual_time, ready_at=100)
    tasks = [
        Task(wait_run(initial_delay=5, **changes), victim, Pool(throttled, 10)),
        Task(wait_run(**changes), neighbour, Pool(throttled, 10)),
        Task(wait_run(**changes), stranger, Pool(other, 10)),
    ]
    run(virtual_time, tasks)
    assert stranger.looks == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    # The pause from 10 to 20 ran when the throttle came at 15; later ones are as ever.
    assert neighbour.looks == [0, 10, 30, 40, 50, 60, 70, 80, 90, 100]
    assert victim.looks[:3] == [5, 15, 25]


def test_a_throttle_never_moves_a_look_that_has_no_time_behind_it(virtual_time):
    lane = Lane()
    changes = {"pace": lambda _: 10.0, "retry_transient": True}
    victim = Thing(virtual_time, ready_at=100, throttled=[(15, 25)])
    hurried = Thing(virtual_time, ready_at=20)
    tasks = [
        Task(wait_run(initial_delay=5, **changes), victim, Pool(lane, 10)),
        Task(wait_run(max_wait=29, **changes), hurried, Pool(lane, 10)),
    ]
    run(virtual_time, tasks)
    assert hurried.looks == [0, 10, 20]


def test_a_throttle_halves_the_calls_at_once_and_answers_bring_them_back(virtual_time):
    lane = Lane()
    things = [Thing(virtual_time, latency=1, throttled=[(0, 1)], ready_at=1) for _ in range(8)] + [
        Thing(virtual_time, latency=1) for _ in range(40)
    ]
    tasks = tasks_of(things, Pool(lane, 100), retry_transient=True, initial_delay=0)
    starts = {}
    run(virtual_time, tasks, threads=8)
    for thing in things:
        for look in thing.looks:
            starts[look] = starts.get(look, 0) + 1
    assert starts[0] == 8
    # Every one of the eight was a throttle: down to one, then one more each round of answers.
    assert [starts[second] for second in (1, 2, 3, 4)] == [1, 2, 2, 3]
    assert max(starts.values()) <= 8


# --- ends -------------------------------------------------------------------------------------


def test_what_a_port_raises_is_the_error_of_its_wait_alone(virtual_time):
    class Broken:
        def poll(self, time_left):
            raise ZeroDivisionError("a bug in a hook")

    pool = Pool(Lane(), 10)
    good = Thing(virtual_time)
    tasks = [Task(wait_run(), Broken(), pool), Task(wait_run(), good, pool)]
    list(Scheduler(tasks).run())
    assert isinstance(tasks[0].result, ZeroDivisionError)
    assert isinstance(tasks[1].result, ResponseOutcome)


def test_errors_of_waits_hold_no_frames_of_the_loop(virtual_time):
    tasks = tasks_of([Thing(virtual_time, fails=True)])
    run(virtual_time, tasks)
    assert isinstance(tasks[0].result, WaiterFailedError)
    assert tasks[0].result.__traceback__ is None


def test_what_is_no_exception_ends_all(virtual_time):
    class Exits:
        def poll(self, time_left):
            raise SystemExit(3)

    pool = Pool(Lane(), 10)
    tasks = [Task(wait_run(), Exits(), pool), *tasks_of([Thing(virtual_time, ready_at=100)], pool)]
    with pytest.raises(SystemExit):
        list(Scheduler(tasks).run())


def test_a_pace_that_raises_ends_its_wait_alone(virtual_time):
    pool = Pool(Lane(), 10)
    tasks = [
        Task(wait_run(pace=lambda _: "soon"), Thing(virtual_time, ready_at=9), pool),
        Task(wait_run(), Thing(virtual_time, ready_at=9), pool),
    ]
    run(virtual_time, tasks)
    assert isinstance(tasks[0].result, ValueError)
    assert isinstance(tasks[1].result, ResponseOutcome)


def test_a_cancel_event_ends_its_wait_alone(virtual_time):
    stop = threading.Event()
    pool = Pool(Lane(), 10)
    tasks = [
        Task(wait_run(), Thing(virtual_time, ready_at=100), pool, cancel=stop),
        Task(wait_run(), Thing(virtual_time, ready_at=100), pool),
    ]
    virtual_time.call_at(30, stop.set)
    ended = {task.index: virtual_time.now for task in Scheduler(tasks).run()}
    assert isinstance(tasks[0].result, WaiterCancelledError)
    assert ended[0] == 30
    assert isinstance(tasks[1].result, ResponseOutcome)
    assert ended[1] >= 100


def test_a_shared_cancel_event_ends_every_wait(virtual_time):
    stop = threading.Event()
    virtual_time.call_at(30, stop.set)
    tasks = tasks_of([Thing(virtual_time, ready_at=1e9) for _ in range(5)])
    list(Scheduler(tasks, cancels=[stop]).run())
    assert virtual_time.now == 30
    assert all(isinstance(task.result, WaiterCancelledError) for task in tasks)


def test_cancelled_while_the_call_runs_ends_at_once_and_its_answer_is_not_looked_at(virtual_time):
    stop = threading.Event()
    hung = Thing(virtual_time, latency=100)
    pool = Pool(Lane(), 10)
    tasks = [
        Task(wait_run(), hung, pool, cancel=stop),
        Task(wait_run(), Thing(virtual_time, ready_at=150), pool),
    ]
    virtual_time.call_at(30, stop.set)
    ended = {}
    for task in Scheduler(tasks, crew=VirtualCrew(virtual_time)).run():
        ended[task.index] = virtual_time.now
    assert isinstance(tasks[0].result, WaiterCancelledError)
    assert ended[0] == pytest.approx(30, abs=0.06)
    assert pool.calling == 0


def test_many_events_of_their_own_are_all_heeded(virtual_time):
    stops = [threading.Event() for _ in range(30)]
    pool = Pool(Lane(), 100)
    tasks = [
        Task(wait_run(), Thing(virtual_time, ready_at=1e9), pool, cancel=stop) for stop in stops
    ]
    for second, stop in enumerate(reversed(stops)):
        virtual_time.call_at(second, stop.set)
    ended = {task.index: virtual_time.now for task in Scheduler(tasks).run()}
    assert [ended[29 - second] for second in range(30)] == pytest.approx(range(30), abs=0.11)


def test_an_event_that_thousands_share_is_asked_at_the_cost_of_one(virtual_time):
    class Counted(Task):
        reads = 0

        @property
        def stage(self):
            Counted.reads += 1
            return Task.stage.__get__(self)

        @stage.setter
        def stage(self, value):
            Task.stage.__set__(self, value)

    stop = threading.Event()
    pool = Pool(Lane(), 1000)
    things = [Thing(virtual_time, ready_at=0 if index else 60) for index in range(1000)]
    tasks = [Counted(wait_run(), thing, pool, cancel=stop) for thing in things]
    schedule, signals = Schedule(1000), Signals(tasks, [])
    schedule.begin(tasks, 0)
    for call in list(schedule.calls(0)):
        schedule.answered(Answer(call.task, call.task.port.poll(None), None), 0)
    Counted.reads = 0
    for _ in range(1000):
        signals.heed(schedule, 0)
    assert Counted.reads < 10_000
    stop.set()
    signals.heed(schedule, 0)
    assert isinstance(tasks[0].result, WaiterCancelledError)
    assert signals.events == []


def test_a_signal_makes_its_waits_look_at_once(virtual_time):
    news = threading.Event()
    pool = Pool(Lane(), 10)
    things = [Thing(virtual_time, ready_at=12.5) for _ in range(3)]
    tasks = [
        Task(wait_run(max_delay=300, min_delay=100), thing, pool, wake=news) for thing in things[:2]
    ]
    tasks.append(Task(wait_run(max_delay=300, min_delay=100), things[2], pool))
    virtual_time.call_at(12.5, news.set)
    run(virtual_time, tasks)
    assert things[0].looks == things[1].looks == [0, 12.5]
    assert things[2].looks[1] >= 100
    assert not news.is_set()


def test_a_signal_during_a_call_makes_the_wait_look_again_behind_it(virtual_time):
    news = threading.Event()
    thing = Thing(virtual_time, ready_at=1, latency=5)
    task = Task(wait_run(min_delay=100, max_delay=300), thing, Pool(Lane(), 1), wake=news)
    virtual_time.call_at(2, news.set)
    run(virtual_time, [task])
    assert thing.looks == [0, 5]


# --- real threads -----------------------------------------------------------------------------


def workers_alive():
    return [t for t in threading.enumerate() if t.name.startswith("boto_waiters_plus call")]


class Barrier:
    """A port whose calls meet: all of them must run at once."""

    def __init__(self, parties):
        self.barrier = threading.Barrier(parties, timeout=30)

    def poll(self, time_left):
        self.barrier.wait()
        return Attempt(facts=Facts(acceptor=0), response={})


def test_calls_run_side_by_side_in_daemon_threads_which_are_gone_afterwards():
    port = Barrier(6)
    seen = []

    class Watching(Barrier):
        def poll(self, time_left):
            seen.append(threading.current_thread().daemon)
            return port.poll(time_left)

    watching = Watching(6)
    tasks = [Task(wait_run(), watching, Pool(Lane(), 6)) for _ in range(6)]
    list(Scheduler(tasks, threads=6).run())
    assert all(isinstance(task.result, ResponseOutcome) for task in tasks)
    assert seen == [True] * 6
    assert workers_alive() == []


def test_no_more_threads_than_calls_at_once(virtual_time):
    names = set()

    class Named(Thing):
        def poll(self, time_left):
            names.add(threading.current_thread().name)
            return super().poll(time_left)

    things = [Named(virtual_time, ready_at=i) for i in range(50)]
    list(Scheduler(tasks_of(things), threads=3).run())
    assert len(names) <= 3
    assert threading.current_thread().name not in names


def test_virtual_time_stands_still_while_threads_call(virtual_time):
    things = [Thing(virtual_time, ready_at=10 * i) for i in range(20)]
    tasks = tasks_of(things, pace=lambda _: 10.0)
    list(Scheduler(tasks).run())
    assert [thing.looks[-1] for thing in things] == [10 * i for i in range(20)]


def test_virtual_time_stands_still_for_a_call_that_takes_real_time(virtual_time):
    class Slow(Thing):
        def poll(self, time_left):
            before = virtual_time.now
            threading.Event().wait(0.1)
            passed.append(virtual_time.now - before)
            return super().poll(time_left)

    passed = []
    slow, quick = Slow(virtual_time), Thing(virtual_time, ready_at=0.5)
    pool = Pool(Lane(), 4)
    tasks = [
        Task(wait_run(initial_delay=0.02), slow, pool),
        Task(wait_run(pace=lambda _: 0.01), quick, pool),
    ]
    list(Scheduler(tasks).run())
    assert passed == [0]


def test_a_frozen_clock_and_a_patched_sleep_end_after_the_schedules_own_looks(monkeypatch):
    class Still:
        now = 0.0

        @staticmethod
        def advance(seconds):
            pass

    def alone():
        thing = Thing(Still, ready_at=1)
        with pytest.raises(WaiterTimeoutError):
            drive(wait_run(pace=lambda _: 10.0, max_wait=100), thing)
        return len(thing.looks)

    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with freezegun.freeze_time("2024-01-01"):
        things = [Thing(Still, ready_at=1) for _ in range(3)]
        tasks = tasks_of(things, pace=lambda _: 10.0, max_wait=100)
        list(Scheduler(tasks).run())
        expected = alone()
    assert [len(thing.looks) for thing in things] == [expected] * 3
    assert expected > 5
    assert all(isinstance(task.result, WaiterTimeoutError) for task in tasks)


class Hanging:
    """A call that ends when it is told to."""

    def __init__(self):
        self.begun = threading.Event()
        self.released = threading.Event()

    def poll(self, time_left):
        self.begun.set()
        assert self.released.wait(30)
        return Attempt(facts=Facts(acceptor=0), response={})


@pytest.fixture
def _ctrl_c_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_ctrl_c_interrupts")
def test_ctrl_c_ends_all_promptly_and_threads_end_with_their_calls():
    hanging = Hanging()
    tasks = [Task(wait_run(), hanging, Pool(Lane(), 4)) for _ in range(4)]

    def interrupt():
        assert hanging.begun.wait(30)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        list(Scheduler(tasks).run())
    left = workers_alive()
    assert left
    hanging.released.set()
    for thread in left:
        thread.join(30)
    assert workers_alive() == []


def test_closing_the_run_ends_calls_that_heed_the_stop():
    stop = threading.Event()

    class Stoppable:
        begun = threading.Event()

        def poll(self, time_left):
            self.begun.set()
            assert stop.wait(30)
            return Attempt(facts=Facts(acceptor=None), cut_off="cancel")

    tasks = [
        Task(wait_run(), Stoppable(), Pool(Lane(), 4)),
        Task(wait_run(), Barrier(1), Pool(Lane(), 4)),
    ]
    run = Scheduler(tasks, crew=Workers(stop=stop)).run()
    assert next(run) is tasks[1]
    run.close()
    assert stop.is_set()
    assert workers_alive() == []


def test_a_run_goes_on_in_its_thread_while_the_caller_is_busy():
    stop = threading.Event()
    second = Hanging()
    second.released.set()
    tasks = [
        Task(wait_run(), Barrier(1), Pool(Lane(), 1)),
        Task(wait_run(initial_delay=0.001), second, Pool(Lane(), 1)),
    ]
    ended = run_in_thread(Scheduler(tasks, cancels=[stop]).run(), stop)
    first = next(ended)
    # Nobody asks for the next, and yet it is looked at.
    assert first is tasks[0]
    assert second.begun.wait(30)
    assert next(ended) is tasks[1]
    assert list(ended) == []


def test_closing_a_run_in_a_thread_stops_it():
    stop = threading.Event()
    tasks = [
        Task(wait_run(), Barrier(1), Pool(Lane(), 1)),
        Task(wait_run(initial_delay=200), Barrier(1), Pool(Lane(), 1)),
    ]
    ended = run_in_thread(Scheduler(tasks, cancels=[stop]).run(), stop)
    assert next(ended) is tasks[0]
    ended.close()
    assert isinstance(tasks[1].result, WaiterCancelledError)
    assert not [t for t in threading.enumerate() if t.name.startswith("boto_waiters_plus sch")]


def test_an_error_of_a_run_in_a_thread_is_the_callers():
    def broken():
        raise ZeroDivisionError
        yield

    with pytest.raises(ZeroDivisionError):
        list(run_in_thread(broken(), threading.Event()))


def test_errors_of_waits_that_go_on_hold_no_frames(virtual_time):
    thing = Thing(virtual_time, throttled=[(0, 5)], ready_at=0)

    class Raising(Thing):
        def poll(self, time_left):
            attempt = thing.poll(time_left)
            if attempt.exception is not None:
                try:
                    raise attempt.exception
                except ThrottledError as error:
                    attempt.exception = error
            held.append(attempt)
            return attempt

    held = []
    tasks = tasks_of([Raising(virtual_time)], retry_transient=True)
    list(Scheduler(tasks).run())
    assert isinstance(tasks[0].result, ResponseOutcome)
    assert held[0].exception is not None
    assert held[0].exception.__traceback__ is None


class Telling(Thing):
    """Answers with a response that says when it was."""

    def seen(self):
        attempt = super().seen()
        attempt.last_response = attempt.response = {"State": "creating", "look": self.looks[-1]}
        return attempt


@pytest.mark.parametrize("count", [3, 600])
@pytest.mark.parametrize("stopped_at", [12, 1000])
def test_the_last_response_is_the_one_the_wait_saw(virtual_time, count, stopped_at):
    stop = threading.Event()
    virtual_time.call_at(stopped_at, stop.set)
    things = [Telling(virtual_time, ready_at=1e9) for _ in range(count)]
    tasks = tasks_of(things, pace=lambda _: 10.0, max_wait=25)
    run(virtual_time, tasks, cancels=[stop])
    assert things[0].looks[-1] == pytest.approx(10 if stopped_at == 12 else 24.75)
    assert [task.result.last_response for task in tasks] == [
        {"State": "creating", "look": thing.looks[-1]} for thing in things
    ]


def test_a_response_that_cannot_be_packed_stays_as_it_is(virtual_time):
    class Unpackable(Telling):
        def seen(self):
            attempt = super().seen()
            attempt.last_response["Body"] = threading.Lock()
            return attempt

    stop = threading.Event()
    virtual_time.call_at(12, stop.set)
    things = [Unpackable(virtual_time, ready_at=1e9) for _ in range(600)]
    tasks = tasks_of(things, pace=lambda _: 10.0)
    run(virtual_time, tasks, cancels=[stop])
    assert {task.result.last_response["look"] for task in tasks} == {10}
