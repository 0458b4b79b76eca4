"""Waits that share calls and a schedule, by a crew whose calls take virtual time side by side."""

import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus.engine.machine import Facts, Policy
from boto_waiters_plus.engine.model import AcceptorState, MatchedAcceptor
from boto_waiters_plus.exceptions import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from boto_waiters_plus.outcome import ResponseOutcome
from boto_waiters_plus.runtime.attempt import Attempt, Shares
from boto_waiters_plus.runtime.groups import Group
from boto_waiters_plus.runtime.schedule import Answer, Chunk, Lane, Pool, Task
from boto_waiters_plus.runtime.scheduler import Scheduler
from boto_waiters_plus.runtime.wait_run import WaitDescription, WaitRun
from boto_waiters_plus.testing import virtual_time as open_virtual_time

SUBJECT = WaitDescription(
    waiter="ThingReady",
    operation="DescribeThings",
    service=None,
    goal="the thing is ready",
    acceptors=(MatchedAcceptor(0, "success"), MatchedAcceptor(1, "retry")),
    states=(AcceptorState.SUCCESS, AcceptorState.RETRY),
)


class NotFoundError(Exception):
    pass


class World:
    """What is asked: things that are ready from some time on, and some that are unknown."""

    def __init__(self, clock, *, ready_at=None, unknown=(), latency=0.0):
        self.clock = clock
        self.ready_at = ready_at or {}
        self.unknown = dict.fromkeys(unknown, 1e9) if not isinstance(unknown, dict) else unknown
        """Until when a thing is unknown."""
        self.missing_is_retry = False
        self.raises = "any"
        """Of how many unknown things an answer is an error: `any`, `all` or `none`."""
        self.latency = latency
        self.throttled = ()
        self.more_pages = False
        self.calls = []

    def answer(self, names, time_left, *, shared):
        now = self.clock.now
        self.calls.append((now, list(names), time_left))
        if any(begin <= now < end for begin, end in self.throttled):
            facts = Facts(acceptor=None, retryable=True, throttled=True)
            attempts = [Attempt(facts=facts, exception=NotFoundError()) for _ in names]
            return Shares(attempts=tuple(attempts)) if shared else attempts[0]
        silent = {i for i, name in enumerate(names) if now < self.unknown.get(name, 0)}
        if silent and (
            self.raises == "any" or (self.raises == "all" and len(silent) == len(names))
        ):
            if shared:
                return Shares(instead="halve")
            index = 1 if self.missing_is_retry else None
            return Attempt(facts=Facts(acceptor=index), exception=NotFoundError(), error="none")
        if shared and self.more_pages:
            return Shares(instead="part")
        attempts = []
        for index, name in enumerate(names):
            ready = index not in silent and now >= self.ready_at.get(name, 0)
            attempts.append(
                Attempt(
                    facts=Facts(acceptor=0 if ready else None),
                    response={"name": name},
                    coalesced=shared,
                )
            )
        if not shared:
            return attempts[0]
        return Shares(attempts=tuple(attempts), silent=frozenset(silent))

    def calls_at(self):
        return {
            moment: len(list(calls))
            for moment, calls in itertools.groupby(self.calls, key=lambda call: call[0])
        }

    def looks_of(self, name):
        return [moment for moment, names, _ in self.calls if name in names]


class Thing:
    def __init__(self, world, name):
        self.world = world
        self.name = name

    def seen(self, time_left):
        return self.world.answer([self.name], time_left, shared=False)


class Things:
    def __init__(self, ports):
        self.world = ports[0].world
        self.names = [port.name for port in ports]

    def seen(self, time_left):
        return self.world.answer(self.names, time_left, shared=True)


class VirtualCrew:
    """Calls that run side by side in virtual time and end when their time does."""

    def __init__(self, clock):
        self.clock = clock
        self.over = []

    def call(self, call):
        port, clock = call.task.port, self.clock
        latency = port.world.latency
        latency = latency() if callable(latency) else latency
        seen = port.seen(call.time_left)
        if call.time_left is not None and latency > call.time_left:
            latency = call.time_left
            cut = Attempt(facts=Facts(acceptor=None), cut_off="deadline")
            seen = cut
            if isinstance(call.task, Chunk):
                seen = Shares(attempts=(cut,) * len(call.task.tasks))
        answer = Answer(call.task, seen, None)
        clock.call_at(clock.now + latency, lambda: self.over.append(answer))

    def is_set(self):
        return bool(self.over)

    def answers(self, seconds):
        self.clock.sleep_on(seconds, self)
        over, self.over = self.over, []
        return over

    def close(self):
        pass


def group(limit=10):
    return Group(Things, limit)


def task(world, name, within, pool, **changes):
    policy = Policy(**{"min_delay": 10, "max_delay": 60, "max_wait": 600, **changes})
    wait_run = WaitRun(SUBJECT, within.policy(policy), random=within.random)
    return Task(wait_run, Thing(world, name), pool, group=within, ids=(name,))


def tasks_of(world, count, within=None, **changes):
    within, pool = within or group(), Pool(Lane(), 100)
    return [task(world, str(index), within, pool, **changes) for index in range(count)]


def run(clock, tasks, **keywords):
    ended = {}
    for each in Scheduler(tasks, crew=VirtualCrew(clock), **keywords).run():
        ended[each.index] = clock.now
    assert sorted(ended) == list(range(len(tasks)))
    return ended


# --- calls ------------------------------------------------------------------------------------


def test_as_few_calls_as_the_limit_allows_ask_for_all(virtual_time):
    world = World(virtual_time, ready_at={str(i): 100 for i in range(95)})
    tasks = tasks_of(world, 95)
    run(virtual_time, tasks)
    assert set(world.calls_at().values()) == {10}
    assert max(len(names) for _, names, _ in world.calls) == 10
    assert all(each.result.response == {"name": str(i)} for i, each in enumerate(tasks))
    assert all(each.result.coalesced for each in tasks)


def test_calls_that_are_answered_one_after_the_other_stay_one_round(virtual_time):
    latencies = itertools.cycle([0.3, 1.1, 0.7, 2.5])
    world = World(virtual_time, ready_at={str(i): 1e9 for i in range(60)})
    world.latency = lambda: next(latencies)
    run(virtual_time, tasks_of(world, 60, max_attempts=8, max_wait=6000), threads=2)
    rounds = [world.looks_of(str(index)) for index in range(60)]
    assert {len(looks) for looks in rounds} == {8}
    # Six calls each, two at once: the third pair may begin two answers later.
    for looks in zip(*rounds, strict=True):
        assert max(looks) - min(looks) <= 3 * 2.5
    assert len(world.calls) == 6 * 8


def test_a_wait_that_asks_for_several_counts_as_many(virtual_time):
    world, within, pool = World(virtual_time), group(limit=4), Pool(Lane(), 10)
    tasks = [task(world, str(index), within, pool) for index in range(4)]
    for index, each in enumerate(tasks):
        each.ids = [f"{index}{i}" for i in range(3)] if index else ["00"]
    run(virtual_time, tasks)
    assert [names for _, names, _ in world.calls] == [["0", "1"], ["2"], ["3"]]


def test_what_two_ask_for_counts_once(virtual_time):
    world = World(virtual_time)
    tasks = tasks_of(world, 30, group(limit=2))
    for each in tasks:
        each.ids = ("same",)
    run(virtual_time, tasks)
    assert len(world.calls) == 1


def test_one_alone_makes_a_call_of_its_own(virtual_time):
    tasks = tasks_of(World(virtual_time), 1)
    run(virtual_time, tasks)
    assert tasks[0].result.coalesced is False


def test_groups_take_turns_with_others_of_their_client(virtual_time):
    world, pool = World(virtual_time, latency=1), Pool(Lane(), 1)
    many, few = group(limit=2), group()
    tasks = [task(world, f"m{index}", many, pool) for index in range(8)]
    tasks.append(task(world, "few", few, pool))
    run(virtual_time, tasks)
    assert world.looks_of("few") == [1]


# --- errors that may be about one -------------------------------------------------------------


def test_the_culprit_is_found_by_halving_within_the_round(virtual_time):
    world = World(virtual_time, unknown=["5"])
    tasks = tasks_of(world, 16, group(limit=16))
    run(virtual_time, tasks)
    sizes = sorted(len(names) for _, names, _ in world.calls)
    assert sizes == [1, 1, 2, 2, 4, 4, 8, 8, 16]
    assert virtual_time.now == 0
    assert isinstance(tasks[5].result, WaiterFailedError)
    assert tasks[5].result.attempts == 1
    others = [each.result for each in tasks if each is not tasks[5]]
    assert all(isinstance(result, ResponseOutcome) for result in others)
    assert {result.attempts for result in others} == {1}


def test_who_was_alone_stays_alone_as_long_as_its_looks_end_so(virtual_time):
    ready_at = {str(i): 400 for i in range(8)}
    world = World(virtual_time, ready_at=ready_at, unknown={"3": 200})
    world.missing_is_retry = True
    tasks = tasks_of(world, 8)
    run(virtual_time, tasks)
    counts = world.calls_at()
    moments = list(counts)
    first, *early = [moment for moment in moments if moment < 200]
    late = [moment for moment in moments if moment >= 200]
    assert counts[first] == 7
    assert {counts[moment] for moment in early} == {2}
    # Found alone once, then with the others again.
    assert [counts[moment] for moment in late] == [2, *[1] * (len(late) - 1)]
    assert all(isinstance(each.result, ResponseOutcome) for each in tasks)


def test_what_a_shared_call_raises_as_it_is_is_the_error_of_one(virtual_time):
    class Bad(Thing):
        def seen(self, time_left):
            raise ZeroDivisionError

    class Crew(VirtualCrew):
        def call(self, call):
            try:
                super().call(call)
            except ZeroDivisionError as error:
                self.over.append(Answer(call.task, None, error))

    class Joined(Things):
        def __init__(self, ports):
            super().__init__(ports)
            self.is_bad = any(isinstance(port, Bad) for port in ports)

        def seen(self, time_left):
            if self.is_bad:
                raise ZeroDivisionError
            return super().seen(time_left)

    world, within, pool = World(virtual_time), Group(Joined, 10), Pool(Lane(), 10)
    tasks = [task(world, str(index), within, pool) for index in range(6)]
    tasks[4].port = Bad(world, "4")
    list(Scheduler(tasks, crew=Crew(virtual_time)).run())
    kinds = [type(each.result) for each in tasks]
    assert kinds == [*[ResponseOutcome] * 4, ZeroDivisionError, ResponseOutcome]


@pytest.mark.parametrize(
    ("raises", "first", "later"),
    [
        # The chunk, then those two that were left out: nothing is said of them alone either.
        ("none", 2, 1),
        # The chunk, those two, each of them: errors, and they stay alone.
        ("all", 4, 3),
    ],
)
def test_what_an_answer_says_nothing_of_is_asked_for_again_once(virtual_time, raises, first, later):
    ready_at = {str(i): 1000 for i in range(8)}
    world = World(virtual_time, ready_at=ready_at, unknown=["2", "5"])
    world.raises, world.missing_is_retry = raises, True
    tasks = tasks_of(world, 8, max_attempts=4)
    run(virtual_time, tasks)
    assert list(world.calls_at().values()) == [first, later, later, later]
    assert world.calls[1][1] == ["2", "5"]
    assert {each.result.attempts for each in tasks} == {4}


def test_one_that_is_left_out_and_alone_ends_by_its_error(virtual_time):
    world = World(virtual_time, unknown=["2"])
    world.raises = "all"
    tasks = tasks_of(world, 4)
    run(virtual_time, tasks)
    assert isinstance(tasks[2].result, WaiterFailedError)
    assert tasks[2].result.attempts == 1
    assert isinstance(tasks[1].result, ResponseOutcome)


def test_throttles_are_not_split(virtual_time):
    world = World(virtual_time)
    world.throttled = [(0, 5)]
    tasks = tasks_of(world, 30, retry_transient=True)
    run(virtual_time, tasks)
    assert world.calls_at()[0] == 3
    assert len(world.calls) == 6


def test_an_answer_that_cannot_be_told_apart_ends_the_sharing(virtual_time):
    world = World(virtual_time, ready_at={str(i): 50 for i in range(25)})
    world.more_pages = True
    within = group()
    tasks = tasks_of(world, 25, within)
    run(virtual_time, tasks, threads=1)
    assert within.is_apart
    sizes = [len(names) for _, names, _ in world.calls]
    assert sizes[0] == 10
    assert set(sizes[1:]) == {1}
    # The answer was nobody's: those it was for are asked again at once, in the same attempt.
    assert world.calls_at()[0] == 1 + 25
    assert len(world.looks_of("0")) == tasks[0].result.attempts + 1
    assert len(world.looks_of("20")) == tasks[20].result.attempts
    assert all(not each.result.coalesced for each in tasks)


# --- one schedule -----------------------------------------------------------------------------


def test_who_joins_is_looked_at_with_the_others(virtual_time):
    world, within, pool = World(virtual_time), group(), Pool(Lane(), 10)
    world.ready_at = {"early": 400, "joins": 400}
    pace = {"pace": lambda _: 30.0}
    tasks = [
        task(world, "early", within, pool, **pace),
        task(world, "joins", within, pool, initial_delay=7, **pace),
    ]
    run(virtual_time, tasks)
    assert world.looks_of("early")[:3] == [0, 30, 60]
    assert world.looks_of("joins")[:2] == [30, 60]


def test_nobody_is_looked_at_before_its_initial_delay(virtual_time):
    world, within, pool = World(virtual_time), group(), Pool(Lane(), 10)
    world.ready_at = {"early": 400}
    pace = {"pace": lambda _: 30.0}
    tasks = [
        task(world, "early", within, pool, **pace),
        task(world, "joins", within, pool, initial_delay=45, **pace),
    ]
    run(virtual_time, tasks)
    assert world.looks_of("joins") == [60]


def test_who_has_no_time_for_the_look_of_all_is_looked_at_before(virtual_time):
    world, within, pool = World(virtual_time), group(), Pool(Lane(), 10)
    world.ready_at = {"early": 400}
    pace = {"pace": lambda _: 30.0}
    tasks = [
        task(world, "early", within, pool, **pace),
        task(world, "joins", within, pool, initial_delay=7, max_wait=32, **pace),
    ]
    run(virtual_time, tasks)
    assert world.looks_of("joins") == [7]
    assert world.looks_of("early")[:3] == [0, 30, 60]


def test_a_last_look_stays_where_it_is(virtual_time):
    world, within, pool = World(virtual_time), group(), Pool(Lane(), 10)
    world.ready_at = {"short": 24.0, "long": 100}
    pace = {"pace": lambda _: 20.0}
    tasks = [
        task(world, "short", within, pool, max_wait=25, last_attempt="deadline", **pace),
        task(world, "long", within, pool, **pace),
    ]
    run(virtual_time, tasks)
    assert world.looks_of("short") == [0, 20, 25]
    assert world.looks_of("long") == [0, 20, 40, 60, 80, 100]
    assert isinstance(tasks[0].result, ResponseOutcome)


def test_one_late_answer_puts_nobody_else_off(virtual_time):
    latencies = iter([0.1, 25.0])
    world = World(virtual_time, ready_at=dict.fromkeys("0123", 1e9))
    world.latency = lambda: next(latencies, 0.1)
    run(virtual_time, tasks_of(world, 4, group(limit=2), pace=lambda _: 30.0))
    # In time: at 30.1, at 60.2. The late one's pause ends at 55.
    assert world.looks_of("0")[:3] == pytest.approx([0, 30.1, 60.2])
    assert world.looks_of("2")[:3] == pytest.approx([0, 60.2, 90.3])


def test_answers_that_come_one_after_the_other_put_off_the_look_of_all(virtual_time):
    latencies = iter([0, 5, 10, 15, 20])
    world = World(virtual_time, ready_at={str(i): 1e9 for i in range(10)})
    world.latency = lambda: next(latencies, 0.1)
    run(virtual_time, tasks_of(world, 10, group(limit=2), pace=lambda _: 30.0))
    assert {tuple(world.looks_of(str(index))[:2]) for index in range(10)} == {(0, 50)}


def test_a_last_look_puts_nobody_else_off(virtual_time):
    world, within, pool = World(virtual_time), group(), Pool(Lane(), 10)
    world.ready_at = {"short": 1000, "long": 100}
    delays = {"min_delay": 20, "max_delay": 20}
    tasks = [
        task(world, "short", within, pool, max_wait=35, **delays),
        task(world, "long", within, pool, **delays),
    ]
    run(virtual_time, tasks)
    assert world.looks_of("short") == [0, 34.75]
    assert world.looks_of("long") == [0, 20, 40, 60, 80, 100]


def test_a_last_look_that_needs_long_is_not_held_for_the_others(virtual_time):
    world, within, pool = World(virtual_time, latency=16), group(), Pool(Lane(), 10)
    world.ready_at = {"short": 40, "later": 100}
    pace = {"pace": lambda _: 30.0}
    tasks = [
        task(world, "short", within, pool, max_wait=70, **pace),
        task(world, "later", within, pool, initial_delay=8, **pace),
    ]
    run(virtual_time, tasks)
    assert world.looks_of("short") == [0, 46]
    assert world.looks_of("later")[:2] == [8, 54]


def test_each_keeps_its_own_attempts(virtual_time):
    world, within, pool = World(virtual_time), group(), Pool(Lane(), 10)
    world.ready_at = {"few": 1000, "many": 1000}
    tasks = [
        task(world, "few", within, pool, max_attempts=2),
        task(world, "many", within, pool, max_attempts=4),
    ]
    run(virtual_time, tasks)
    assert [each.result.attempts for each in tasks] == [2, 4]
    assert all(isinstance(each.result, WaiterAttemptsError) for each in tasks)


def test_a_pace_of_the_callers_own_is_asked_once_for_all(virtual_time):
    draws = itertools.count(20)
    world = World(virtual_time, ready_at={str(i): 100 for i in range(30)})
    run(virtual_time, tasks_of(world, 30, pace=lambda _: float(next(draws))))
    assert world.calls_at() == {0: 3, 20: 3, 41: 3, 63: 3, 86: 3, 110: 3}


def test_draws_differ_from_round_to_round_and_stay_within_their_bounds():
    within = group()
    seen = set()
    for number in range(200):
        within.due = number
        within.begin(number)
        draws = {within.random(5, 8) for _ in range(20)}
        assert len(draws) == 1
        assert draws <= {5, 6, 7, 8}
        assert 0.5 <= within.random(0.5, 2.5) <= 2.5
        seen |= draws
    assert seen == {5, 6, 7, 8}


def test_a_signal_to_one_puts_nobody_else_off(virtual_time):
    world, within, pool = World(virtual_time), group(), Pool(Lane(), 10)
    world.ready_at = {"told": 400, "other": 400}
    pace = {"pace": lambda _: 30.0}
    tasks = [task(world, name, within, pool, **pace) for name in world.ready_at]
    tasks[0].wake = threading.Event()
    for moment in (12, 23, 28):
        virtual_time.call_at(moment, tasks[0].wake.set)
    run(virtual_time, tasks)
    assert world.looks_of("told")[:4] == [0, 12, 23, 28]
    assert world.looks_of("other")[:3] == [0, 30, 60]


# --- ends -------------------------------------------------------------------------------------


def test_a_call_that_hangs_ends_each_at_its_own_time(virtual_time):
    world, within, pool = World(virtual_time), group(), Pool(Lane(), 10)
    world.latency = 1000
    tasks = [task(world, str(seconds), within, pool, max_wait=seconds) for seconds in (20, 50, 80)]
    ended = run(virtual_time, tasks)
    assert [time_left for _, _, time_left in world.calls] == [80]
    assert ended == pytest.approx({0: 20, 1: 50, 2: 80}, abs=0.01)
    assert all(isinstance(each.result, WaiterTimeoutError) for each in tasks)


def test_one_that_ends_early_takes_nothing_from_the_others(virtual_time):
    world, within, pool = World(virtual_time), group(), Pool(Lane(), 10)
    world.latency = 30
    tasks = [task(world, str(seconds), within, pool, max_wait=seconds) for seconds in (20, 500)]
    ended = run(virtual_time, tasks)
    assert isinstance(tasks[0].result, WaiterTimeoutError)
    assert ended[0] == pytest.approx(20, abs=0.01)
    assert isinstance(tasks[1].result, ResponseOutcome)


def test_one_that_is_cancelled_during_the_call_takes_nothing_from_the_others(virtual_time):
    world = World(virtual_time, latency=30, unknown=["2"])
    tasks = tasks_of(world, 8)
    tasks[6].cancel = threading.Event()
    virtual_time.call_at(5, tasks[6].cancel.set)
    run(virtual_time, tasks)
    assert isinstance(tasks[6].result, WaiterCancelledError)
    assert isinstance(tasks[2].result, WaiterFailedError)
    others = [each.result for index, each in enumerate(tasks) if index not in (2, 6)]
    assert all(isinstance(result, ResponseOutcome) for result in others)
    assert all("6" not in names for _, names, _ in world.calls[1:])


def test_time_that_passes_while_halves_queue_ends_the_wait(virtual_time):
    world = World(virtual_time, latency=5, unknown=["0"])
    hung = World(virtual_time, latency=1000)
    tasks = tasks_of(world, 4, max_wait=45)
    tasks.append(task(hung, "hung", group(), Pool(Lane(), 1), max_wait=2000))
    # With one thread, what hangs is called between the chunk and its halves.
    ended = run(virtual_time, tasks, threads=1)
    assert [names for _, names, _ in world.calls] == [["0", "1", "2", "3"]]
    assert all(isinstance(each.result, WaiterTimeoutError) for each in tasks[:4])
    assert [ended[index] for index in range(4)] == pytest.approx([45] * 4, abs=0.01)


# --- whatever happens -------------------------------------------------------------------------

THINGS = st.lists(
    st.fixed_dictionaries(
        {
            "ready_at": st.floats(0, 150),
            "unknown_until": st.one_of(st.just(0.0), st.floats(0, 100), st.just(1e9)),
            "initial_delay": st.sampled_from([0, 0, 0, 5, 33]),
        }
    ),
    min_size=1,
    max_size=25,
)


@given(
    things=THINGS,
    limit=st.integers(2, 10),
    threads=st.integers(1, 4),
    latency=st.sampled_from([0.0, 0.2, 3.0]),
    retried=st.booleans(),
    raises=st.sampled_from(["any", "all", "none"]),
)
def test_each_ends_as_it_would_alone(things, limit, threads, latency, retried, raises):
    with open_virtual_time() as clock:
        world = World(clock, latency=latency)
        world.missing_is_retry, world.raises = retried, raises
        within, pool = group(limit), Pool(Lane(), 10)
        tasks = []
        for index, thing in enumerate(things):
            world.ready_at[str(index)] = thing["ready_at"]
            world.unknown[str(index)] = thing["unknown_until"]
            initial = thing["initial_delay"]
            tasks.append(task(world, str(index), within, pool, initial_delay=initial))
        run(clock, tasks, threads=threads)
        assert clock.now <= 600 + 0.01
    assert pool.calling == pool.lane.calling == 0
    assert all(len(names) <= limit for _, names, _ in world.calls)
    for index, (thing, each) in enumerate(zip(things, tasks, strict=True)):
        looks = world.looks_of(str(index))
        assert looks[0] >= thing["initial_delay"]
        unknown = looks[0] < thing["unknown_until"]
        if retried or raises == "none":
            expected = WaiterTimeoutError if thing["unknown_until"] > 600 else ResponseOutcome
            assert isinstance(each.result, expected)
        elif unknown and latency == 0:
            assert isinstance(each.result, WaiterFailedError)
        elif not unknown:
            assert isinstance(each.result, ResponseOutcome)
        if isinstance(each.result, ResponseOutcome):
            assert looks[-1] >= thing["ready_at"]
            assert each.result.response == {"name": str(index)}
